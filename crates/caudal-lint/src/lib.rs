//! Checks of the workspace's own code that the compiler and clippy do not have.

pub mod circles;
mod error;
pub mod modules;

pub use error::LintError;
