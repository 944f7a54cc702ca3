//! Power of *k* choices, also called enqueue choice: the shortest of a few pools drawn at random.
//!
//! ## What it does
//! Draws `k` different open pools and takes the one with the fewest unfinished requests; the first drawn
//! wins ties. The request first lands at a random worker, which pays `costs.enqueue` to look and to move
//! it, unless it is the chosen one.
//! ## When it helps
//! Two choices shorten the longest queue exponentially against one.
//! ## When it hurts
//! Every request pays, also when no queue is long; at 1 us of service and 100 ns a move that is a tenth of
//! the capacity. A request that is placed can not move any more: stranded behind a long one, it waits.
//! ## Parameters
//! `k` (default 2): 1 to the number of pools.
//! ## Source
//! Mitzenmacher, IEEE TPDS 2001; McClure et al., NSDI 2022, sections 3.2.1 and 4.1 (two choices, 100 ns).
//! ## Example
//! `dispatch = { policy = "power-of-k", k = 2 }`

use super::{Asks, Dispatch, Placement, Pools};
use crate::PoolId;
use crate::random::Draw;

/// The parameters in a policy file.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
pub struct PowerOfKConfig {
    /// Pools compared for each request; 1 to 16.
    pub k: u32,
}

impl PowerOfKConfig {
    /// More choices than this are not sampled any more: use `jsq`.
    pub const K_MAX: u32 = 16;
}

impl Default for PowerOfKConfig {
    fn default() -> Self {
        PowerOfKConfig { k: 2 }
    }
}

/// The policy's decisions; what they are is in the [module](self). A host asks once for each request that arrives: the engine of the simulator, or
/// in the runtime the dispatcher or whoever submits. It answers from what the host shows and hands in, and touches nothing else.
#[derive(Clone, Debug)]
pub struct PowerOfK {
    k: u32,
}

impl PowerOfK {
    /// A dispatcher with `config.k` choices.
    ///
    /// # Panics
    /// If `config.k` is not in 1 ..= [`PowerOfKConfig::K_MAX`].
    pub fn new(config: PowerOfKConfig) -> PowerOfK {
        assert!((1..=PowerOfKConfig::K_MAX).contains(&config.k), "k = {} choices", config.k);
        PowerOfK { k: config.k }
    }
}

impl Dispatch for PowerOfK {
    fn asks(&self) -> Asks {
        Asks::Counts
    }

    fn on_arrival(&mut self, mut draw: Draw, pools: &mut impl Pools) -> Placement {
        let open = pools.open();
        let landed = pools.nth(draw.below(open));
        let mut sampled = [0_u32; PowerOfKConfig::K_MAX as usize];
        let mut best: Option<(u32, PoolId)> = None;
        for n in 0..self.k.min(open) as usize {
            let i = nth_unsampled(draw.below(open - n as u32), &mut sampled[..=n]);
            let pool = pools.nth(i);
            let unfinished = pools.unfinished(pool);
            if best.is_none_or(|(least, _)| unfinished < least) {
                best = Some((unfinished, pool));
            }
        }
        match best {
            Some((_, pool)) => Placement::Moved { landed, pool },
            None => Placement::Pool(landed),
        }
    }
}

/// The `i`-th number that is not in the sorted front of `sampled`; puts it there, keeping the order.
fn nth_unsampled(mut i: u32, sampled: &mut [u32]) -> u32 {
    let last = sampled.len() - 1;
    let mut place = 0;
    while place < last && sampled[place] <= i {
        i += 1;
        place += 1;
    }
    sampled.copy_within(place..last, place + 1);
    sampled[place] = i;
    i
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    #[test]
    fn samples_are_distinct_and_uniform() {
        let mut counts = [[0_u32; 5]; 5];
        for number in 0..20_000 {
            let mut draw = Draw::new(3, number);
            let mut sampled = [0; 3];
            let picks: Vec<u32> =
                (0..3).map(|n| nth_unsampled(draw.below(5 - n as u32), &mut sampled[..=n])).collect();
            assert!(picks[0] != picks[1] && picks[1] != picks[2] && picks[0] != picks[2]);
            counts[picks[0] as usize][picks[1] as usize] += 1;
        }
        for (first, row) in counts.iter().enumerate() {
            for (second, &count) in row.iter().enumerate() {
                assert!(first == second || count.abs_diff(1_000) < 160, "{counts:?}");
            }
        }
    }
}
