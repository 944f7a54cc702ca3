//! The command, as users call it.

mod answer;
mod cli;
mod lanes;
mod page;
mod reports;
mod results;
mod top;
