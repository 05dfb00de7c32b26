//! The inner loops for x86-64 with AVX2. Codes are widened to 16 bits, multiplied and added in pairs.

use std::arch::x86_64::*;

use super::LANES;
use super::rows::{ROWS_AT_ONCE, loops_over_rows};
use super::scalar::row_at;

loops_over_rows!("avx2");

#[target_feature(enable = "avx2")]
pub(super) fn dot_of_codes(left: &[i8], right: &[i8]) -> i32 {
    let mut sums = [_mm256_setzero_si256(); 2];
    for (left, right) in left.as_chunks::<LANES>().0.iter().zip(right.as_chunks::<LANES>().0) {
        let (left, right) = (widened(left), widened(right));
        for (sum, (left, right)) in sums.iter_mut().zip(left.into_iter().zip(right)) {
            *sum = _mm256_add_epi32(*sum, _mm256_madd_epi16(left, right));
        }
    }
    sum_of_integers(_mm256_add_epi32(sums[0], sums[1]))
}

#[target_feature(enable = "avx2")]
pub(super) fn score(query: &[f32], codes: &[i8], residuals: &[u8]) -> f32 {
    let mut lanes = [_mm256_setzero_ps(); 4];
    let groups = query.as_chunks::<LANES>().0.iter();
    let rows = codes.as_chunks::<LANES>().0.iter().zip(residuals.as_chunks::<{ LANES / 2 }>().0);
    for (query, (codes, residuals)) in groups.zip(rows) {
        let nibbles = nibbles_as_i16(residuals);
        let query: &[[f32; 8]; 4] = bytemuck::cast_ref(query);
        for (half, (codes, nibbles)) in widened(codes).into_iter().zip(nibbles).enumerate() {
            let sixteenths =
                _mm256_sub_epi16(_mm256_add_epi16(_mm256_slli_epi16::<4>(codes), nibbles), _mm256_set1_epi16(8));
            let low = _mm256_cvtepi16_epi32(_mm256_castsi256_si128(sixteenths));
            let high = _mm256_cvtepi16_epi32(_mm256_extracti128_si256::<1>(sixteenths));
            for (quarter, values) in [(2 * half, low), (2 * half + 1, high)] {
                let product = _mm256_mul_ps(load_f32(&query[quarter]), _mm256_cvtepi32_ps(values));
                lanes[quarter] = _mm256_add_ps(lanes[quarter], product);
            }
        }
    }
    let eight = _mm256_add_ps(_mm256_add_ps(lanes[0], lanes[1]), _mm256_add_ps(lanes[2], lanes[3]));
    let four = _mm_add_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps::<1>(eight));
    let two = _mm_add_ps(four, _mm_movehl_ps(four, four));
    _mm_cvtss_f32(_mm_add_ss(two, _mm_shuffle_ps::<1>(two, two)))
}

#[inline]
#[target_feature(enable = "avx2")]
fn dot_of_query(query: &[i16], row: &[i8]) -> i32 {
    let mut sums = [_mm256_setzero_si256(); 2];
    for (query, codes) in query.as_chunks::<LANES>().0.iter().zip(row.as_chunks::<LANES>().0) {
        let query: &[[i16; 16]; 2] = bytemuck::cast_ref(query);
        for (sum, (query, codes)) in sums.iter_mut().zip(query.iter().zip(widened(codes))) {
            *sum = _mm256_add_epi32(*sum, _mm256_madd_epi16(load_i16(query), codes));
        }
    }
    sum_of_integers(_mm256_add_epi32(sums[0], sums[1]))
}

#[inline]
#[target_feature(enable = "avx2")]
fn four_dots(query: &[i16], rows: [&[i8]; ROWS_AT_ONCE]) -> [i32; ROWS_AT_ONCE] {
    let mut sums = [_mm256_setzero_si256(); ROWS_AT_ONCE];
    let [a, b, c, d] = rows.map(|row| row.as_chunks::<16>().0);
    for ((((query, a), b), c), d) in query.as_chunks::<16>().0.iter().zip(a).zip(b).zip(c).zip(d) {
        let query = load_i16(query);
        for (sum, codes) in sums.iter_mut().zip([a, b, c, d]) {
            *sum = _mm256_add_epi32(*sum, _mm256_madd_epi16(query, _mm256_cvtepi8_epi16(load_i8(codes))));
        }
    }
    let pairs = _mm256_hadd_epi32(_mm256_hadd_epi32(sums[0], sums[1]), _mm256_hadd_epi32(sums[2], sums[3]));
    let dots = _mm_add_epi32(_mm256_castsi256_si128(pairs), _mm256_extracti128_si256::<1>(pairs));
    [
        _mm_extract_epi32::<0>(dots),
        _mm_extract_epi32::<1>(dots),
        _mm_extract_epi32::<2>(dots),
        _mm_extract_epi32::<3>(dots),
    ]
}

#[inline]
#[target_feature(enable = "avx2")]
fn widened(codes: &[i8; LANES]) -> [__m256i; 2] {
    let halves: &[[i8; 16]; 2] = bytemuck::cast_ref(codes);
    [_mm256_cvtepi8_epi16(load_i8(&halves[0])), _mm256_cvtepi8_epi16(load_i8(&halves[1]))]
}

/// The low nibbles of sixteen bytes, then their high nibbles.
#[inline]
#[target_feature(enable = "avx2")]
fn nibbles_as_i16(pairs: &[u8; LANES / 2]) -> [__m256i; 2] {
    let pairs = _mm256_cvtepu8_epi16(load_i8(bytemuck::cast_ref(pairs)));
    [_mm256_and_si256(pairs, _mm256_set1_epi16(15)), _mm256_srli_epi16::<4>(pairs)]
}

#[inline]
#[target_feature(enable = "avx2")]
fn sum_of_integers(eight: __m256i) -> i32 {
    let four = _mm_add_epi32(_mm256_castsi256_si128(eight), _mm256_extracti128_si256::<1>(eight));
    let two = _mm_add_epi32(four, _mm_shuffle_epi32::<0b01_00_11_10>(four));
    _mm_cvtsi128_si32(_mm_add_epi32(two, _mm_shuffle_epi32::<0b10_11_00_01>(two)))
}

#[inline]
#[target_feature(enable = "avx2")]
fn load_i8(values: &[i8; 16]) -> __m128i {
    #[expect(unsafe_code, reason = "vector loads take raw pointers")]
    // SAFETY: reads 16 bytes, as many as the reference covers; the load needs no alignment.
    unsafe {
        _mm_loadu_si128(values.as_ptr().cast())
    }
}

#[inline]
#[target_feature(enable = "avx2")]
fn load_i16(values: &[i16; 16]) -> __m256i {
    #[expect(unsafe_code, reason = "vector loads take raw pointers")]
    // SAFETY: reads 32 bytes, as many as the reference covers; the load needs no alignment.
    unsafe {
        _mm256_loadu_si256(values.as_ptr().cast())
    }
}

#[inline]
#[target_feature(enable = "avx2")]
fn load_f32(values: &[f32; 8]) -> __m256 {
    #[expect(unsafe_code, reason = "vector loads take raw pointers")]
    // SAFETY: reads 32 bytes, as many as the reference covers; the load needs no alignment.
    unsafe {
        _mm256_loadu_ps(values.as_ptr())
    }
}
