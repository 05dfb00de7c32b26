//! The four inner loops of vector search, one version per instruction set, chosen once at run time.
//!
//! All versions give the same bits: integer sums are exact in any order, and the one floating-point loop, `score`, has
//! a fixed order of additions (see `scalar::score`). An index therefore gives the same results on every machine.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "aarch64")]
mod neon;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod rows;
mod scalar;

/// Dimensions are a multiple of this, so no variant has a tail to handle.
pub(crate) const LANES: usize = 32;

/// A variant of the inner loops. One that the processor does not support cannot be created.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kernel(Variant);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Variant {
    Scalar,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    #[cfg(target_arch = "aarch64")]
    Neon,
}

/// Calls a function of the module of a kernel's variant.
macro_rules! call_variant {
    ($kernel:expr, $name:ident($($argument:expr),*)) => {
        match $kernel.0 {
            Variant::Scalar => scalar::$name($($argument),*),
            #[cfg(target_arch = "x86_64")]
            #[expect(unsafe_code, reason = "calling AVX2 code from code compiled for any x86-64")]
            // SAFETY: `Variant::Avx2` is only made by `detect`, after the processor was found to have AVX2.
            Variant::Avx2 => unsafe { avx2::$name($($argument),*) },
            #[cfg(target_arch = "aarch64")]
            #[expect(unsafe_code, reason = "code for NEON may run only where the processor has it")]
            // SAFETY: `Variant::Neon` is only made by `detect`, after the processor was found to have NEON.
            Variant::Neon => unsafe { neon::$name($($argument),*) },
        }
    };
}

impl Kernel {
    /// The fastest variant that this processor can run.
    pub fn detect() -> Self {
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("avx2") {
            return Self(Variant::Avx2);
        }
        #[cfg(target_arch = "aarch64")]
        if std::arch::is_aarch64_feature_detected!("neon") {
            return Self(Variant::Neon);
        }
        Self::scalar()
    }

    /// The variant that runs everywhere.
    pub const fn scalar() -> Self {
        Self(Variant::Scalar)
    }

    /// Computes the dot products of a query with consecutive rows, one for each element of `dots`.
    ///
    /// Exact as long as the magnitudes of the query sum to at most `QUERY_STEPS_SUM_MAX`.
    pub(crate) fn dots_of_consecutive_rows(self, query: &[i16], rows: &[i8], dots: &mut [i32]) {
        assert!(
            query.len().is_multiple_of(LANES) && rows.len() == query.len() * dots.len(),
            "rows do not fit the query"
        );
        call_variant!(self, dots_in_run(query, rows, dots));
    }

    /// Computes the dot products of a query with the rows of the given numbers. A number past the end gives `i32::MIN`.
    pub(crate) fn dots_at(self, query: &[i16], rows: &[i8], numbers: &[u32], dots: &mut [i32]) {
        assert!(query.len().is_multiple_of(LANES) && numbers.len() == dots.len(), "one dot product per row number");
        call_variant!(self, dots_at(query, rows, numbers, dots));
    }

    /// The dot product of two rows of codes. Exact up to 2^17 dimensions.
    pub fn dot_of_codes(self, left: &[i8], right: &[i8]) -> i32 {
        assert!(left.len().is_multiple_of(LANES) && left.len() == right.len(), "rows of different lengths");
        call_variant!(self, dot_of_codes(left, right))
    }

    /// The dot product of a query with one row at its full 12 bits, in units of a sixteenth of the row's scale.
    pub(crate) fn score(self, query: &[f32], codes: &[i8], residuals: &[u8]) -> f32 {
        let fits =
            query.len().is_multiple_of(LANES) && codes.len() == query.len() && residuals.len() * 2 == query.len();
        assert!(fits, "row and query of different lengths");
        call_variant!(self, score(query, codes, residuals))
    }
}

/// Asks the processor to fetch values that will be read soon. It has no effect on processors other than x86-64.
#[inline]
pub(crate) fn prefetch<T>(values: &[T]) {
    #[cfg(target_arch = "x86_64")]
    {
        const CACHE_LINE: usize = 64;
        let bytes = size_of_val(values);
        let first = values.as_ptr().cast::<i8>();
        for offset in (0..bytes).step_by(CACHE_LINE) {
            #[expect(unsafe_code, reason = "the prefetch instruction takes a raw pointer")]
            // SAFETY: a prefetch reads nothing into the program and cannot fault; the address is inside `values`.
            unsafe {
                std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_T0 }>(first.wrapping_add(offset));
            }
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = values;
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn row(dims: usize) -> impl Strategy<Value = (Vec<i8>, Vec<u8>)> {
        (prop::collection::vec(any::<i8>(), dims), prop::collection::vec(any::<u8>(), dims / 2))
    }

    proptest! {
        #[test]
        fn every_variant_gives_the_same_bits(
            (query, exact, rows) in (1usize..=12).prop_flat_map(|groups| {
                let dims = groups * LANES;
                (
                    prop::collection::vec(-32767i16..=32767, dims),
                    prop::collection::vec(-1.0f32..1.0, dims),
                    prop::collection::vec(row(dims), 1..11),
                )
            }),
        ) {
            // Keep the sums within 32 bits, as the steps of a real query do.
            let query: Vec<i16> = query.iter().map(|step| step / query.len() as i16).collect();
            let (fast, plain) = (Kernel::detect(), Kernel::scalar());
            let codes: Vec<i8> = rows.iter().flat_map(|(codes, _)| codes.iter().copied()).collect();
            let naive: Vec<i32> = rows
                .iter()
                .map(|(codes, _)| query.iter().zip(codes).map(|(&q, &c)| i32::from(q) * i32::from(c)).sum())
                .collect();
            let numbers: Vec<u32> = (0..rows.len() as u32).rev().chain([u32::MAX]).collect();
            for kernel in [fast, plain] {
                let mut dots = vec![0; rows.len()];
                kernel.dots_of_consecutive_rows(&query, &codes, &mut dots);
                prop_assert_eq!(&dots, &naive);
                let mut dots = vec![0; numbers.len()];
                kernel.dots_at(&query, &codes, &numbers, &mut dots);
                prop_assert_eq!(dots.pop(), Some(i32::MIN));
                dots.reverse();
                prop_assert_eq!(&dots, &naive);
            }
            let (first, first_residuals) = &rows[0];
            for (codes, residuals) in &rows {
                let naive: i32 = first.iter().zip(codes).map(|(&a, &b)| i32::from(a) * i32::from(b)).sum();
                prop_assert_eq!(fast.dot_of_codes(first, codes), naive);
                prop_assert_eq!(plain.dot_of_codes(first, codes), naive);
                let fast = fast.score(&exact, codes, residuals);
                prop_assert_eq!(fast.to_bits(), plain.score(&exact, codes, residuals).to_bits());
            }
            prop_assert_eq!(first_residuals.len() * 2, first.len());
        }
    }

    #[test]
    fn extreme_values_do_not_overflow() {
        // The largest steps that a query may have, with the most negative codes that a byte can store.
        let dims = 512;
        let query = vec![32767i16; dims];
        let codes = vec![-128i8; dims];
        for kernel in [Kernel::detect(), Kernel::scalar()] {
            let mut dots = [0];
            kernel.dots_of_consecutive_rows(&query, &codes, &mut dots);
            assert_eq!(dots[0], -128 * 32767 * 512);
            assert_eq!(kernel.dot_of_codes(&codes, &codes), 128 * 128 * 512);
        }
    }
}
