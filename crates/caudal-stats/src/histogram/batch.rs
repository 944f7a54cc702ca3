//! Recording of many values at a time into a histogram, in vectors.
//! The simulator records its latencies by it.
//!
//! Extremes, sum and buckets of a batch come from plain loops that the compiler turns into vectors; what is left for
//! each value alone is to count it. For that, values are taken as `f64`: its top bits, exponent and the head of the
//! mantissa, *are* the bucket, but for a constant.

use super::{Histogram, PER_OCTAVE, PRECISION_BITS};
use crate::whole;

/// Values that one step of a loop takes: what is found out is kept apart for each place in a step, because a vector
/// adds and compares place by place.
const STEP: usize = 8;
/// Steps in a batch.
const STEPS: usize = 32;
/// Bits of an `f64` below those that make the bucket.
const REST_BITS: u32 = 52 - PRECISION_BITS;
/// The difference between the top bits of an `f64` and the number of its bucket: 2^8 is the first power of two with 256 buckets of its
/// own, and they begin at 256.
const BUCKET_0: u32 = ((1023 + PRECISION_BITS) << PRECISION_BITS) - PER_OCTAVE as u32;

/// The extremes and sums of a batch.
struct Found {
    low: f64,
    high: f64,
    sum: u64,
    /// All values, or-ed.
    any: u64,
}

impl Found {
    /// Writes the buckets of `values`. They mean nothing if a value is below 256 or not below [`whole::LIMIT`].
    #[inline(always)]
    fn of(values: &[[u64; STEP]], buckets: &mut [[u32; STEP]]) -> Found {
        let (mut low, mut high) = ([f64::INFINITY; STEP], [0.0; STEP]);
        let (mut sum, mut any) = ([0_u64; STEP], [0; STEP]);
        for (values, buckets) in values.iter().zip(buckets) {
            for i in 0..STEP {
                let float = whole::to_float(values[i]);
                low[i] = if float < low[i] { float } else { low[i] };
                high[i] = if float > high[i] { float } else { high[i] };
                sum[i] = sum[i].wrapping_add(values[i]);
                any[i] |= values[i];
                buckets[i] = ((float.to_bits() >> REST_BITS) as u32).wrapping_sub(BUCKET_0);
            }
        }
        Found {
            low: low.into_iter().fold(f64::INFINITY, f64::min),
            high: high.into_iter().fold(0.0, f64::max),
            sum: sum.into_iter().fold(0, u64::wrapping_add),
            any: any.into_iter().fold(0, |any, value| any | value),
        }
    }
}

impl Histogram {
    /// Adds all of `values`: as [`Histogram::record`] of each, but faster where there are dozens.
    pub fn record_all(&mut self, values: &[u64]) {
        let (steps, rest) = values.as_chunks();
        steps.chunks(STEPS).for_each(|batch| self.record_batch(batch));
        rest.iter().for_each(|&value| self.record(value));
    }

    #[inline(never)]
    fn record_batch(&mut self, values: &[[u64; STEP]]) {
        let mut buckets = [[0; STEP]; STEPS];
        let found = Found::of(values, &mut buckets);
        // Buckets of lower values are no heads of floats, and the bits of higher ones do not fit.
        if found.low < PER_OCTAVE as f64 || found.any >= whole::LIMIT {
            return values.as_flattened().iter().for_each(|&value| self.record(value));
        }
        let (low, high) = (found.low as u64, found.high as u64);
        if low < self.min || high - self.min > self.span {
            self.stretch(low, high);
        }
        let (counts, base) = (&mut self.counts[..], self.base as u32);
        for bucket in buckets[..values.len()].as_flattened() {
            counts[bucket.wrapping_sub(base) as usize] += 1;
        }
        self.count += (values.len() * STEP) as u64;
        self.sum += u128::from(found.sum);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn content(h: &Histogram) -> (Vec<u64>, usize, u64, u128, u64, u64) {
        (h.counts.clone(), h.base, h.count, h.sum, h.min(), h.max())
    }

    #[test]
    fn all_at_once_is_one_by_one() {
        // Batches of small numbers, of usual ones, of huge ones, and mixed; ends of octaves and of buckets among them.
        let mut state = 1_u64;
        let mut random = || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            state >> 11
        };
        for (bits, spread) in [(4, 6), (9, 12), (20, 30), (45, 8), (0, 53), (50, 3)] {
            let (mut all, mut single) = (Histogram::new(), Histogram::new());
            for count in [0, 1, 2, 255, 256, 257, 1000] {
                let edge = |shift: u64| [0, 1, (1 << shift) - 1, (1 << shift) + (1 << (shift / 2))];
                let values: Vec<u64> = (0..count)
                    .map(|i| {
                        let shift = bits + random() % spread;
                        (1 << shift)
                            + if i % 3 == 0 { edge(shift)[i / 3 % 4] } else { random() % (1 << shift) }
                    })
                    .collect();
                all.record_all(&values);
                values.iter().for_each(|&value| single.record(value));
                assert_eq!(content(&all), content(&single), "{bits} + 0..{spread} bits, {count} values");
            }
        }
    }

    #[test]
    fn nothing_is_nothing() {
        let mut h = Histogram::new();
        h.record_all(&[]);
        assert!(h.is_empty() && h.memory_bytes() == 0);
        h.record_all(&[u64::MAX, 0]);
        assert_eq!((h.min(), h.max(), h.count()), (0, u64::MAX, 2));
    }
}
