//! The budget of a search, counted in simulated requests, because a budget of seconds would change results from run to run. `planning`
//! and the search for lanes take one and charge each simulation to it. Pure.

/// Requests a second that a budget in seconds stands for: two cores, the mix of systems of a plan.
pub const REQUESTS_PER_S: u64 = 6_000_000;

/// How many requests a plan may simulate, all systems together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// Requests. Each phase gets a fixed share of what is left; a search never starts a stage that its share does not hold.
    pub requests: u64,
}

impl Budget {
    /// The budget that is simulated in about so many seconds on two cores, at [`REQUESTS_PER_S`].
    pub fn seconds(seconds: f64) -> Budget {
        Budget { requests: (seconds.max(0.0) * REQUESTS_PER_S as f64) as u64 }
    }
}

impl Default for Budget {
    /// The budget of forty seconds.
    fn default() -> Budget {
        Budget::seconds(40.0)
    }
}
