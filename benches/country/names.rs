//! Names and rare words of one jurisdiction, so that the vocabulary keeps growing like that of real law.
//!
//! A drawn name is new with a probability that falls with the number of draws (the Pitman-Yor
//! process), so the number of names grows as a power of the draws. Otherwise an existing name is
//! drawn, old ones most often (Zipf's law). A name is computed from its number; no name is stored.

use hornbook_base::random::SplitMix64;

const BEGINNINGS: [&str; 48] = [
    "al", "an", "ar", "bar", "bel", "ben", "bur", "cal", "car", "chel", "cor", "dal", "del", "dor", "el", "fair",
    "fen", "gal", "gar", "glen", "hal", "har", "hol", "jas", "kel", "ken", "lan", "lor", "mar", "mel", "mor", "nor",
    "oak", "or", "pel", "per", "quin", "ral", "red", "ros", "san", "sel", "stan", "tal", "ver", "wal", "wes", "win",
];
const MIDDLES: [&str; 40] = [
    "a", "ba", "be", "ca", "da", "de", "do", "e", "fi", "ga", "ge", "i", "ka", "la", "le", "li", "lo", "ma", "me",
    "mi", "na", "ne", "ni", "no", "o", "pa", "ra", "re", "ri", "ro", "sa", "se", "ta", "te", "ti", "to", "u", "va",
    "ve", "wa",
];
const ENDINGS: [&str; 40] = [
    "berg", "bor", "brook", "bury", "by", "cester", "combe", "cote", "dale", "den", "don", "field", "ford", "gate",
    "ham", "hill", "hurst", "land", "ley", "lin", "low", "mere", "mond", "mont", "mouth", "nell", "port", "ridge",
    "rick", "sett", "shaw", "stead", "stone", "ton", "vale", "ville", "well", "wick", "wood", "worth",
];

/// The number of names grows as this power of the number of draws.
const DISCOUNT: f64 = 0.78;
const STRENGTH: f64 = 40.0;

/// At each of these numbers, names get one more syllable.
const LONGER_FROM: [u64; 2] = [500, 12_000];

pub(crate) struct Names {
    seed: u64,
    drawn: u64,
    known: u64,
}

impl Names {
    pub(crate) fn new(seed: u64) -> Self {
        Self { seed, drawn: 0, known: 0 }
    }

    /// Appends a name in lower case.
    pub(crate) fn draw(&mut self, random: &mut SplitMix64, out: &mut String) {
        let known = self.known as f64;
        let new = (STRENGTH + DISCOUNT * known) / (STRENGTH + self.drawn as f64);
        self.drawn += 1;
        let number = if unit(random) < new {
            self.known += 1;
            self.known - 1
        } else {
            (known.powf(unit(random)) as u64).min(self.known.max(1)) - 1
        };
        let mut of_name = SplitMix64(self.seed ^ number.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        out.push_str(BEGINNINGS[of_name.index(BEGINNINGS.len())]);
        for _ in LONGER_FROM.iter().filter(|&&from| number >= from) {
            out.push_str(MIDDLES[of_name.index(MIDDLES.len())]);
        }
        out.push_str(ENDINGS[of_name.index(ENDINGS.len())]);
    }
}

/// A number from 0 to 1.
pub(crate) fn unit(random: &mut SplitMix64) -> f64 {
    (random.draw() >> 11) as f64 / (1_u64 << 53) as f64
}
