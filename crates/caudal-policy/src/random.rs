//! Randomness as an argument: counter-based, so that a host can skip draws that it does not need. Hosts make a [`Draw`] for each decision and
//! hand it to the policy, which has no random state of its own; the same seed gives the same decisions on every host.

/// A draw for one decision: a short stream that is a function of what is being decided.
///
/// Two policies that see the same request get the same draw, which is what common random numbers need.
/// Making one costs a multiplication; the mixing is left to the draws that are really made.
#[derive(Clone, Debug)]
pub struct Draw(u64);

impl Draw {
    /// The draw of decision `number` under `seed`, which must be well mixed itself ([`hash`] makes such).
    #[inline]
    pub const fn new(seed: u64, number: u64) -> Draw {
        Draw(seed ^ number.wrapping_mul(0xA24B_AED4_963E_E407))
    }

    /// The next 64 random bits: SplitMix64.
    #[inline]
    pub const fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        finish(self.0)
    }

    /// A uniform number below `n`, which must not be zero. The bias is below `n` / 2^64.
    #[inline]
    pub const fn below(&mut self, n: u32) -> u32 {
        ((self.bits() as u128 * n as u128) >> 64) as u32
    }
}

/// A well-mixed word from two: the finaliser of SplitMix64 (Steele, Lea, Flood, OOPSLA 2014), twice.
#[inline]
pub const fn hash(seed: u64, number: u64) -> u64 {
    finish(finish(seed ^ 0xD1B5_4A32_D192_ED03).wrapping_add(number.wrapping_mul(0x9E37_79B9_7F4A_7C15)))
}

#[inline]
const fn finish(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_are_uniform_enough_and_repeatable() {
        let mut counts = [0_u32; 10];
        for number in 0..100_000 {
            counts[Draw::new(hash(7, 0), number).below(10) as usize] += 1;
        }
        // 10,000 each, standard deviation 95: five of them.
        assert!(counts.iter().all(|&count| count.abs_diff(10_000) < 475), "{counts:?}");
        assert_eq!(Draw::new(1, 2).bits(), Draw::new(1, 2).bits());
        assert_ne!(Draw::new(1, 2).bits(), Draw::new(2, 1).bits());
    }
}
