//! Policies of one's own: a discipline and a dispatch policy that Caudal does not have, simulated beside
//! those that it has, on the same requests.
//!
//! * [`two_levels`] and [`neighbours`] are the policies: each implements one trait of `caudal-policy`.
//! * [`measure`] simulates any pair of them, or a system of a file, a few times over.

pub mod neighbours;
pub mod two_levels;

use caudal_config::Point;
use caudal_policy::allocation::Triggered;
use caudal_policy::discipline::Discipline;
use caudal_policy::dispatch::Dispatch;
use caudal_policy::rebalance::NoRebalance;
use caudal_sim::engine::{Length, Outcome, Policies, Run, Unwatched, simulate, simulate_with};
use caudal_stats::Replicated;

/// Independent runs of a system, each with a seed of its own.
pub const REPLICATIONS: u64 = 10;

/// How much of a run is left out at the start, and how much is measured.
pub const LENGTH: Length = Length { warm_up: 20_000, measured: 300_000 };

/// The slowdowns of each class of requests, times `caudal_sim::engine::SLOWDOWN_ONE`.
pub type Slowdowns = Vec<Replicated>;

/// What `point` describes, run under the seed `seed`.
pub fn run_of<'a>(point: &'a Point, length: Length, seed: u64) -> Run<'a> {
    Run { seed, ..Run::of(point, length) }
}

/// The system of `point` as it is.
pub fn built_in(run: &Run<'_>) -> Outcome {
    simulate(run, Unwatched)
}

/// The pools, cores and costs of `run` under other policies.
pub fn custom<Di: Discipline>(
    run: &Run<'_>,
    discipline: impl Fn() -> Di,
    dispatch: impl Dispatch,
) -> Outcome {
    let policies = Policies { discipline, dispatch, rebalance: NoRebalance, allocation: None::<Triggered> };
    simulate_with(run, policies, Unwatched)
}

/// Simulates `point` by `simulate` in [`REPLICATIONS`] runs. All systems see the same requests.
pub fn measure(point: &Point, simulate: impl Fn(&Run<'_>) -> Outcome) -> Slowdowns {
    let mut slowdowns = Slowdowns::new();
    for seed in 1..=REPLICATIONS {
        let outcome = simulate(&run_of(point, LENGTH, seed));
        slowdowns.resize_with(outcome.classes.len(), Replicated::default);
        for (all, class) in slowdowns.iter_mut().zip(&outcome.classes) {
            all.push(&class.slowdown);
        }
    }
    slowdowns
}
