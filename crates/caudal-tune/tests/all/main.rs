//! What a user of the crate sees: plans, lanes, thresholds, contests and rates that break even.

mod break_even;
mod budgets;
mod contests;
mod lanes;
mod plans;
mod thresholds;
