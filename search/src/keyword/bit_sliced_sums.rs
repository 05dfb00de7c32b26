//! Adds up the weights of the words that documents contain, for 64 documents at a time.
//!
//! Each weight is rounded to a small integer. The sums are bit-sliced: one machine word holds the
//! same bit of the sums of 64 documents. An addition takes a few operations per bit of each weight,
//! while the steps of `threshold` double with every word or two. The rounding error is known, so a
//! document reaches a sum certainly, possibly, or not at all.

/// Weights are rounded to this many bits.
const WEIGHT_BITS: usize = 4;
const WEIGHT_MAX: f32 = ((1 << WEIGHT_BITS) - 1) as f32;

/// Groups of 64 documents that are added at the same time.
const LANES: usize = 8;

/// Maximum number of bits of a sum.
const PLANES_MAX: usize = 12;

/// Safety margin in units, larger than any error of floating-point sums.
const ROUNDING_MARGIN: f32 = 0.01;

type Lanes = [u64; LANES];

/// Sums over the documents of a window.
#[derive(Debug)]
pub(super) struct BitSlicedSums {
    /// The weight that counts as 1.
    unit: f32,
    /// By how much all rounded weights together can be too large or too small, in units.
    rounding_excess: f32,
    rounding_deficit: f32,
    /// For each bit: the words whose rounded weight has it set.
    words: [Vec<usize>; WEIGHT_BITS],
    planes: usize,
    /// The bits of the sums, lowest bit first, for [`LANES`] groups each.
    sums: Vec<[Lanes; PLANES_MAX]>,
    carried: [Vec<Lanes>; 2],
}

impl BitSlicedSums {
    pub(super) fn new(weights: &[f32]) -> Self {
        let unit = weights.iter().fold(f32::MIN_POSITIVE, |most, &weight| most.max(weight)) / WEIGHT_MAX;
        let (mut over, mut under, mut total) = (0.0, 0.0, 0);
        let mut words: [Vec<usize>; WEIGHT_BITS] = Default::default();
        for (word, weight) in weights.iter().enumerate() {
            let rounded = (weight / unit).round();
            let error = rounded - weight / unit;
            over += error.max(0.0);
            under += (-error).max(0.0);
            total += rounded as usize;
            for (bit, words) in words.iter_mut().enumerate() {
                if rounded as usize >> bit & 1 == 1 {
                    words.push(word);
                }
            }
        }
        let planes = (usize::BITS - total.leading_zeros()) as usize;
        assert!(
            planes <= PLANES_MAX,
            "{} words are too many: their sum exceeds the maximum number of bits",
            weights.len()
        );
        Self {
            unit,
            rounding_excess: over,
            rounding_deficit: under,
            words,
            planes,
            sums: Vec::new(),
            carried: Default::default(),
        }
    }

    /// The smallest count with which a document certainly reaches `sum`.
    pub(super) fn certain_count(&self, sum: f32) -> u32 {
        (sum / self.unit + self.rounding_excess + ROUNDING_MARGIN).ceil().max(0.0) as u32
    }

    /// The smallest count with which a document can reach `sum`.
    pub(super) fn possible_count(&self, sum: f32) -> u32 {
        (sum / self.unit - self.rounding_deficit - ROUNDING_MARGIN).ceil().max(0.0) as u32
    }

    /// Adds up the counts; `has` gives the bitmap of the documents that contain a word.
    pub(super) fn add_up<'w>(&mut self, has: impl Fn(usize) -> &'w [u64], groups: usize) {
        self.sums.clear();
        let Self { words, planes, sums, carried: [carried, carries], .. } = self;
        for start in (0..groups).step_by(LANES) {
            let mut bits = [Lanes::default(); PLANES_MAX];
            carried.clear();
            for (plane, sum) in bits[..*planes].iter_mut().enumerate() {
                let own = words.get(plane).map(Vec::as_slice).unwrap_or_default();
                let own = own.iter().map(|&word| lanes(has(word), start));
                let mut inputs = own.chain(carried.iter().copied());
                while let Some(first) = inputs.next() {
                    let second = inputs.next().unwrap_or_default();
                    carries.push(full_adder(sum, first, second));
                }
                drop(inputs);
                std::mem::swap(carried, carries);
                carries.clear();
            }
            sums.push(bits);
        }
    }

    /// The documents of a group whose count is at least `least`.
    #[inline]
    pub(super) fn at_least(&self, least: u32, group: usize) -> u64 {
        if least >> self.planes != 0 {
            return 0;
        }
        let bits = &self.sums[group / LANES][..self.planes];
        bits.iter().enumerate().fold(!0, |reached, (plane, lanes)| match least >> plane & 1 {
            1 => lanes[group % LANES] & reached,
            _ => lanes[group % LANES] | reached,
        })
    }
}

#[inline]
fn lanes(documents: &[u64], start: usize) -> Lanes {
    let documents = documents.get(start..).unwrap_or_default();
    documents.first_chunk().copied().unwrap_or_else(|| {
        let mut lanes = Lanes::default();
        lanes.iter_mut().zip(documents).for_each(|(lane, &documents)| *lane = documents);
        lanes
    })
}

/// A full adder: adds two bits to a sum, and returns the carry.
#[inline]
fn full_adder(sum: &mut Lanes, first: Lanes, second: Lanes) -> Lanes {
    std::array::from_fn(|lane| {
        let (own, first, second) = (sum[lane], first[lane], second[lane]);
        sum[lane] = own ^ first ^ second;
        own & first | second & (own ^ first)
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn sums_are_between_their_bounds(
            weights in prop::collection::vec(prop_oneof![0.01..10.0_f32, Just(1.0), Just(2.0), Just(0.0)], 1..=64),
            share in -0.1..1.1_f32,
            groups in 1..20_usize,
            seed in any::<u64>(),
        ) {
            let wanted = weights.iter().sum::<f32>() * share;
            let mut random = hornbook_base::random::SplitMix64(seed);
            let has: Vec<Vec<u64>> = weights.iter().map(|_| (0..groups).map(|_| random.draw()).collect()).collect();
            let mut sums = BitSlicedSums::new(&weights);
            sums.add_up(|word| &has[word], groups);
            let (surely, possibly) = (sums.certain_count(wanted), sums.possible_count(wanted));
            for doc in 0..groups * 64 {
                let bit = |docs: u64| docs >> (doc % 64) & 1 == 1;
                let own = has.iter().zip(&weights).filter(|(word, _)| bit(word[doc / 64]));
                let sum: f32 = own.map(|(_, weight)| weight).sum();
                prop_assert!(sum >= wanted || !bit(sums.at_least(surely, doc / 64)), "{sum} of {wanted}");
                prop_assert!(sum < wanted || bit(sums.at_least(possibly, doc / 64)), "{sum} of {wanted}");
                // Rounding leaves only sums near the limit undecided.
                let is_clear = (sum - wanted).abs() > sums.unit * (weights.len() as f32 + 1.0);
                prop_assert!(!is_clear || bit(sums.at_least(surely, doc / 64)) == (sum >= wanted), "{sum} of {wanted}");
            }
        }
    }

    #[test]
    fn weights_that_are_whole_units_are_added_up_exactly() {
        let mut sums = BitSlicedSums::new(&[15.0, 4.0, 1.0]);
        let has = [[0b1010], [0b0110], [0b1100]];
        sums.add_up(|word| &has[word], 1);
        assert_eq!((sums.certain_count(16.0), sums.possible_count(16.0)), (17, 16));
        let counted = |least| sums.at_least(least, 0);
        assert_eq!((counted(19), counted(16), counted(5)), (0b0010, 0b1010, 0b1110));
        assert_eq!((counted(21), counted(0)), (0, !0));
    }
}
