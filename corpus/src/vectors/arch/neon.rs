//! The inner loops for 64-bit Arm, whose processors all have NEON. Codes are widened to 16 bits, multiplied to 32 bits
//! and added.

use std::arch::aarch64::*;

use super::LANES;
use super::rows::{ROWS_AT_ONCE, loops_over_rows};
use super::scalar::row_at;

loops_over_rows!("neon");

#[target_feature(enable = "neon")]
pub(super) fn dot_of_codes(left: &[i8], right: &[i8]) -> i32 {
    let mut sums = [vdupq_n_s32(0); 2];
    for (left, right) in left.as_chunks::<16>().0.iter().zip(right.as_chunks::<16>().0) {
        let (left, right) = (load_i8(left), load_i8(right));
        // The largest product, of -128 with itself, fits in 16 bits.
        sums[0] = vpadalq_s16(sums[0], vmull_s8(vget_low_s8(left), vget_low_s8(right)));
        sums[1] = vpadalq_s16(sums[1], vmull_high_s8(left, right));
    }
    vaddvq_s32(vaddq_s32(sums[0], sums[1]))
}

#[target_feature(enable = "neon")]
pub(super) fn score(query: &[f32], codes: &[i8], residuals: &[u8]) -> f32 {
    let mut lanes = [[vdupq_n_f32(0.0); 2]; 4];
    let groups = query.as_chunks::<LANES>().0.iter();
    let rows = codes.as_chunks::<LANES>().0.iter().zip(residuals.as_chunks::<{ LANES / 2 }>().0);
    for (query, (codes, residuals)) in groups.zip(rows) {
        let query: &[[[f32; 4]; 2]; 4] = bytemuck::cast_ref(query);
        let codes: &[[i8; 16]; 2] = bytemuck::cast_ref(codes);
        let nibbles = nibbles(residuals);
        for (half, (codes, nibbles)) in codes.iter().zip(nibbles).enumerate() {
            let codes = widened(load_i8(codes));
            let nibbles = [vmovl_u8(vget_low_u8(nibbles)), vmovl_high_u8(nibbles)];
            for (quarter, (codes, nibbles)) in (2 * half..).zip(codes.into_iter().zip(nibbles)) {
                let sixteenths = vaddq_s16(vshlq_n_s16::<4>(codes), vreinterpretq_s16_u16(nibbles));
                let sixteenths = vsubq_s16(sixteenths, vdupq_n_s16(8));
                let values = [vmovl_s16(vget_low_s16(sixteenths)), vmovl_high_s16(sixteenths)];
                for (lane, (query, values)) in lanes[quarter].iter_mut().zip(query[quarter].iter().zip(values)) {
                    // Not fused: the format wants each product rounded.
                    *lane = vaddq_f32(*lane, vmulq_f32(load_f32(query), vcvtq_f32_s32(values)));
                }
            }
        }
    }
    let [low, high] = [0, 1].map(|place| {
        vaddq_f32(vaddq_f32(lanes[0][place], lanes[1][place]), vaddq_f32(lanes[2][place], lanes[3][place]))
    });
    let four = vaddq_f32(low, high);
    let two = vadd_f32(vget_low_f32(four), vget_high_f32(four));
    vget_lane_f32::<0>(two) + vget_lane_f32::<1>(two)
}

#[inline]
#[target_feature(enable = "neon")]
fn dot_of_query(query: &[i16], row: &[i8]) -> i32 {
    let mut sums = [vdupq_n_s32(0); 4];
    for (query, codes) in query.as_chunks::<16>().0.iter().zip(row.as_chunks::<16>().0) {
        let query: &[[i16; 8]; 2] = bytemuck::cast_ref(query);
        let codes = widened(load_i8(codes));
        for (place, (query, codes)) in (0..).step_by(2).zip(query.iter().zip(codes)) {
            let query = load_i16(query);
            sums[place] = vmlal_s16(sums[place], vget_low_s16(query), vget_low_s16(codes));
            sums[place + 1] = vmlal_high_s16(sums[place + 1], query, codes);
        }
    }
    vaddvq_s32(vaddq_s32(vaddq_s32(sums[0], sums[1]), vaddq_s32(sums[2], sums[3])))
}

#[inline]
#[target_feature(enable = "neon")]
fn four_dots(query: &[i16], rows: [&[i8]; ROWS_AT_ONCE]) -> [i32; ROWS_AT_ONCE] {
    let mut sums = [vdupq_n_s32(0); ROWS_AT_ONCE];
    let [a, b, c, d] = rows.map(|row| row.as_chunks::<16>().0);
    for ((((query, a), b), c), d) in query.as_chunks::<16>().0.iter().zip(a).zip(b).zip(c).zip(d) {
        let query: &[[i16; 8]; 2] = bytemuck::cast_ref(query);
        let query = [load_i16(&query[0]), load_i16(&query[1])];
        for (sum, codes) in sums.iter_mut().zip([a, b, c, d]) {
            for (query, codes) in query.into_iter().zip(widened(load_i8(codes))) {
                *sum = vmlal_s16(*sum, vget_low_s16(query), vget_low_s16(codes));
                *sum = vmlal_high_s16(*sum, query, codes);
            }
        }
    }
    [vaddvq_s32(sums[0]), vaddvq_s32(sums[1]), vaddvq_s32(sums[2]), vaddvq_s32(sums[3])]
}

#[inline]
#[target_feature(enable = "neon")]
fn widened(codes: int8x16_t) -> [int16x8_t; 2] {
    [vmovl_s8(vget_low_s8(codes)), vmovl_high_s8(codes)]
}

/// The low nibbles of sixteen bytes, then their high nibbles.
#[inline]
#[target_feature(enable = "neon")]
fn nibbles(pairs: &[u8; LANES / 2]) -> [uint8x16_t; 2] {
    let pairs = vreinterpretq_u8_s8(load_i8(bytemuck::cast_ref(pairs)));
    [vandq_u8(pairs, vdupq_n_u8(15)), vshrq_n_u8::<4>(pairs)]
}

#[inline]
#[target_feature(enable = "neon")]
fn load_i8(values: &[i8; 16]) -> int8x16_t {
    #[expect(unsafe_code, reason = "vector loads take raw pointers")]
    // SAFETY: reads 16 bytes, as many as the reference covers; the load needs no alignment.
    unsafe {
        vld1q_s8(values.as_ptr())
    }
}

#[inline]
#[target_feature(enable = "neon")]
fn load_i16(values: &[i16; 8]) -> int16x8_t {
    #[expect(unsafe_code, reason = "vector loads take raw pointers")]
    // SAFETY: reads 16 bytes, as many as the reference covers; the load needs no alignment beyond that of `i16`.
    unsafe {
        vld1q_s16(values.as_ptr())
    }
}

#[inline]
#[target_feature(enable = "neon")]
fn load_f32(values: &[f32; 4]) -> float32x4_t {
    #[expect(unsafe_code, reason = "vector loads take raw pointers")]
    // SAFETY: reads 16 bytes, as many as the reference covers; the load needs no alignment beyond that of `f32`.
    unsafe {
        vld1q_f32(values.as_ptr())
    }
}
