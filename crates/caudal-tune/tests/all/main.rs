//! What a user of the crate sees: plans, lanes, thresholds, contests and rates that break even.

mod asked;
mod break_even;
mod budgets;
mod contests;
mod continuing;
mod lanes;
mod plans;
mod sentences;
mod targets;
mod thresholds;
