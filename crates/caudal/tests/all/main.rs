//! The command, as users call it.

mod cli;
mod lanes;
mod page;
mod reports;
mod results;
mod top;
