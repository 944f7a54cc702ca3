//! Random streams, one for each seed and purpose, and the choice of one of many in constant time. The samplers of service times and of
//! arrivals draw from them, and the halves of measured values are drawn by one. Pure.

use rand_core::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

/// The generator of everything here.
pub(crate) type Stream = Xoshiro256PlusPlus;

/// The name of a stream of a seed; the numbers are arbitrary and must never change.
#[derive(Clone, Copy)]
#[repr(u64)]
pub(crate) enum Purpose {
    Service = 0x5e57_1ce0_0000_0001,
    Arrivals = 0xa221_7a15_0000_0002,
    Halves = 0x4a1f_e500_0000_0003,
}

/// A stream of `seed` that no other purpose shares.
pub(crate) fn stream(seed: u64, purpose: Purpose) -> Stream {
    Stream::seed_from_u64(splitmix64(splitmix64(seed) ^ purpose as u64))
}

/// One output of SplitMix64 (Steele, Lea, Flood, OOPSLA 2014): a bijection that scatters neighbours.
fn splitmix64(seed: u64) -> u64 {
    let mut z = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Maps 64 random bits to `0..n` (Lemire, TOMACS 2019, without the rejection: its bias is below n/2^64).
#[inline]
pub(crate) fn below(bits: u64, n: usize) -> usize {
    ((u128::from(bits) * n as u128) >> 64) as usize
}

/// Maps 64 random bits to [0, 1).
#[inline]
pub(crate) fn unit(bits: u64) -> f64 {
    (bits >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
}

/// Walker's alias table, built as Vose does: one multiplication and one comparison a choice.
#[derive(Clone, Debug)]
pub(crate) struct Alias {
    entries: Box<[AliasEntry]>,
}

#[derive(Clone, Copy, Debug)]
struct AliasEntry {
    keep_below: u64,
    other: u32,
}

impl Alias {
    /// A table for `weights` (not negative, some positive, need not sum to 1).
    pub(crate) fn new(weights: &[f64]) -> Alias {
        let total: f64 = weights.iter().sum();
        debug_assert!(total > 0.0 && weights.iter().all(|&w| w >= 0.0) && weights.len() < u32::MAX as usize);
        let scale = weights.len() as f64 / total;
        let mut share: Vec<f64> = weights.iter().map(|w| w * scale).collect();
        let mut entries: Box<[AliasEntry]> =
            (0..weights.len()).map(|i| AliasEntry { keep_below: u64::MAX, other: i as u32 }).collect();
        let (mut small, mut large): (Vec<usize>, Vec<usize>) =
            (0..weights.len()).partition(|&i| share[i] < 1.0);
        while let (Some(&l), Some(s)) = (large.last(), small.pop()) {
            entries[s] = AliasEntry { keep_below: (share[s] * 2f64.powi(64)) as u64, other: l as u32 };
            share[l] -= 1.0 - share[s];
            if share[l] < 1.0 {
                large.pop();
                small.push(l);
            }
        }
        // What is left over differs from 1 by rounding only, unless its weight is 0.
        for s in small {
            if weights[s] == 0.0 {
                let other = weights.iter().position(|&w| w > 0.0).unwrap_or(s);
                entries[s] = AliasEntry { keep_below: 0, other: other as u32 };
            }
        }
        Alias { entries }
    }

    /// The choice that 64 random bits make: their high part the entry, their low part which half of it.
    #[inline]
    pub(crate) fn pick(&self, bits: u64) -> usize {
        let product = u128::from(bits) * self.entries.len() as u128;
        let slot = (product >> 64) as usize;
        let entry = self.entries[slot];
        // A mask, because a branch on a random bit would be mispredicted half of the time.
        let keep = usize::from((product as u64) < entry.keep_below).wrapping_neg();
        (slot & keep) | (entry.other as usize & !keep)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_core::Rng;

    #[test]
    fn alias_gives_every_choice_its_weight() {
        let weights = [0.44, 0.04, 0.0, 0.44, 0.04, 0.04];
        let alias = Alias::new(&weights);
        let mut rng = stream(7, Purpose::Service);
        let mut counts = [0u32; 6];
        let draws = 1_000_000;
        for _ in 0..draws {
            counts[alias.pick(rng.next_u64())] += 1;
        }
        for (count, weight) in counts.iter().zip(weights) {
            let sd = (weight * (1.0 - weight) / f64::from(draws)).sqrt();
            assert!((f64::from(*count) / f64::from(draws) - weight).abs() <= 5.0 * sd, "{counts:?}");
        }
        assert_eq!(counts[2], 0, "a weight of 0 is never chosen");
    }

    #[test]
    fn streams_of_a_seed_differ_by_purpose_and_neighbouring_seeds_differ() {
        let mut first: Vec<u64> = Vec::new();
        for seed in 0..4 {
            first.push(stream(seed, Purpose::Service).next_u64());
            first.push(stream(seed, Purpose::Arrivals).next_u64());
        }
        first.sort_unstable();
        first.dedup();
        assert_eq!(first.len(), 8);
    }

    #[test]
    fn splitmix_agrees_with_its_published_outputs() {
        assert_eq!(splitmix64(0), 0xe220_a839_7b1d_cdaf);
        assert_eq!(splitmix64(0x9e37_79b9_7f4a_7c15), 0x6e78_9e6a_a1b9_65f4);
    }
}
