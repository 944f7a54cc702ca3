//! Errors of plans, searches and comparisons: what was asked, and what would be right. Public functions of this crate return them when they check
//! a question, or when a simulation fails or is interrupted; the command prints them.

/// An error of a plan, a search or a comparison.
#[derive(Debug, thiserror::Error)]
pub enum TuneError {
    /// A question without a target.
    #[error("a plan needs a latency target; write one such as \"get p99.9 < 50us\"")]
    NoTarget,
    /// A target is for a class that the workload lacks.
    #[error("target `{target}`: the workload has no class `{class}`; {instead}")]
    UnknownClass {
        /// The target.
        target: String,
        /// The class that it names.
        class: String,
        /// A description of what would be right.
        instead: String,
    },
    /// A target on a mean that is infinite.
    #[error(
        "target `{target}`: the mean slowdown is infinite, because service times may be as short as they like and \
         requests wait all the same; ask for a percentile, as in `{instead}`"
    )]
    NoMean {
        /// The target.
        target: String,
        /// A target that means something.
        instead: String,
    },
    /// A system that has no preset.
    #[error("no system is called `{name}`; {hint}")]
    UnknownSystem {
        /// The name as it was given.
        name: String,
        /// The name that it probably stands for, or all that there are.
        hint: String,
    },
    /// A system that is to be considered twice.
    #[error("the system `{0}` is named twice, or more often; name each system once")]
    SystemTwice(String),
    /// No system that could win is left.
    #[error("none of the systems can win: {reasons}")]
    NoCandidate {
        /// The reason for each system that is left out.
        reasons: String,
    },
    /// A machine that is not simulated.
    #[error("{0} cores are not simulated; write a number from 1 to {max}", max = caudal_config::CORES_MAX)]
    Cores(u32),
    /// Reservations that do not fit the servers.
    #[error(
        "the reservations are {given:?}: give 1 to {most} numbers above 0, one for each lane, that sum to the {cores} servers"
    )]
    Reservations {
        /// The reservations as they were given.
        given: Vec<u32>,
        /// The number of servers.
        cores: u32,
        /// The largest number of lanes.
        most: usize,
    },
    /// Hardware contexts that are wrong, or a question that they do not allow.
    #[error("{0}")]
    Contexts(String),
    /// A table of thresholds that can not be asked for.
    #[error("{0}")]
    Thresholds(String),
    /// A target that arithmetic alone rules out, whatever is scheduled how.
    #[error("unreachable: {0}")]
    Unreachable(String),
    /// A budget that allows no simulation.
    #[error("a budget of 0 holds no simulation; give it some seconds, as in 40s")]
    NoBudget,
    /// A load that not even a machine without overheads holds.
    #[error(
        "unreachable: the load is {load:.3} of the machine: no system carries that; ask for less, or give it more cores"
    )]
    Overload {
        /// The load.
        load: f64,
    },
    /// Arrivals that can not be scaled to a load.
    #[error(
        "recorded arrivals come at a rate of their own, which can not be searched; say scale = true in `arrivals`, \
         or ask for the fewest cores at that rate"
    )]
    RecordedArrivals,
    /// The simulator can not do it.
    #[error("{system}: {message}")]
    Simulator {
        /// The system.
        system: String,
        /// The simulator's message.
        message: String,
    },
    /// Stopped before anything was known.
    #[error("interrupted before anything was known")]
    Interrupted,
}

impl TuneError {
    /// Is nothing wrong with the question, and the answer no, without a simulation?
    pub fn is_no(&self) -> bool {
        matches!(self, TuneError::Unreachable(_) | TuneError::Overload { .. })
    }
}
