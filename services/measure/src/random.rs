//! Streams of random numbers, by seed: the same seed makes the same requests in the same order. All services draw from them when their
//! data and requests are made, before anything is measured.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;

pub(crate) type Stream = Xoshiro256PlusPlus;

/// The use of a stream; the numbers are arbitrary and must never change.
#[derive(Clone, Copy)]
#[repr(u64)]
pub(crate) enum Purpose {
    Vocabulary = 0x5e57_0001,
    Words = 0x5e57_0002,
    Keys = 0x5e57_0003,
    Blocks = 0x5e57_0004,
    Popularity = 0x5e57_0005,
    Remote = 0x5e57_0006,
    Clusters = 0x5e57_0007,
    Vectors = 0x5e57_0008,
    Queries = 0x5e57_0009,
    Planes = 0x5e57_000a,
    Contracts = 0x5e57_000b,
    Portfolios = 0x5e57_000c,
    Lengths = 0x5e57_000d,
}

/// A stream of `seed` that no other purpose shares.
pub(crate) fn stream(seed: u64, purpose: Purpose) -> Stream {
    Stream::seed_from_u64(scatter(scatter(seed) ^ purpose as u64))
}

/// One output of SplitMix64 (Steele, Lea, Flood, OOPSLA 2014): a bijection that scatters neighbours.
pub(crate) fn scatter(value: u64) -> u64 {
    let mut z = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use rand::Rng;

    use super::*;

    #[test]
    fn a_seed_is_a_stream_and_purposes_do_not_share_theirs() {
        let first = |seed, purpose| stream(seed, purpose).next_u64();
        assert_eq!(first(1, Purpose::Keys), first(1, Purpose::Keys));
        assert_ne!(first(1, Purpose::Keys), first(2, Purpose::Keys));
        assert_ne!(first(1, Purpose::Keys), first(1, Purpose::Words));
    }
}
