//! What a user of the crate sees: intervals that cover, comparisons, warm-up.

mod common;
mod comparing;
mod coverage;
mod properties;
mod warm_up;
