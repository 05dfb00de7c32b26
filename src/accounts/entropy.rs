//! Randomness as an argument: the program's edge hands in the machine's, a test a seeded one.

use std::fs::File;
use std::io::{self, Read};

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

/// A fixed sequence from a seed, for tests and drills; never for real keys.
pub struct SeededEntropy(pub u64);

impl SeededEntropy {
    /// SplitMix64.
    pub fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `bound`.
    pub fn below(&mut self, bound: u64) -> u64 {
        self.draw() % bound
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
