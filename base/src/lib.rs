//! What several packages share and what knows nothing of law: time and randomness as arguments, numbers and bytes as
//! text, roman numerals, invisible characters, networks of clients, the memory of the process, files that users name or
//! that are replaced whole, and a cache that is bounded in bytes.

pub mod base64;
pub mod byte_cache;
pub mod client_network;
pub mod clock;
pub mod decimal;
pub mod hex;
pub mod invisible;
pub mod process_memory;
pub mod random;
pub mod regular_file;
pub mod roman;
pub mod sentence;
pub mod thousands;
pub mod whole_file;
