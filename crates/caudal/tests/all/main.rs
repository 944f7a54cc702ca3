//! The command, as users call it.

mod answer;
mod cli;
mod guides;
mod inputs;
mod lanes;
mod load;
mod page;
mod reports;
mod results;
mod serve;
mod top;
