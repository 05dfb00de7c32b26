//! Randomness as an argument: the program passes the system's generator, a test passes a seeded one.

use std::fs::File;
use std::io::{self, Read};

/// For tests; never for real keys.
pub use hornbook_base::random::SplitMix64 as SeededEntropy;

pub trait Entropy: Send {
    fn fill(&mut self, bytes: &mut [u8]) -> io::Result<()>;
}

/// The system's generator for secrets.
pub struct SystemEntropy;

impl Entropy for SystemEntropy {
    fn fill(&mut self, bytes: &mut [u8]) -> io::Result<()> {
        File::open("/dev/urandom")?.read_exact(bytes)
    }
}

impl Entropy for SeededEntropy {
    fn fill(&mut self, bytes: &mut [u8]) -> io::Result<()> {
        for byte in bytes {
            *byte = self.draw() as u8;
        }
        Ok(())
    }
}
