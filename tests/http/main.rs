//! The HTTP service over real sockets and the sample corpus: the table walked, answers field by field, the transport.

mod answers;
mod documents;
mod house;
mod operations;
mod transport;

#[path = "../support/sample.rs"]
mod sample;
