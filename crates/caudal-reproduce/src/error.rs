//! The errors of a reproduction: of files, simulations and results. All steps return them, and the command prints them.

use std::path::PathBuf;

use caudal_config::ConfigError;
use caudal_results::ResultsError;
use caudal_sim::experiment::ExperimentError;

use super::parallel::RunError;

/// Why a figure could not be simulated, or its pages not be made.
#[derive(Debug, thiserror::Error, miette::Diagnostic)]
pub enum ReproduceError {
    /// No figure has this name.
    #[error("no figure is called `{name}`")]
    #[diagnostic(help("write all, none, or one of {}", known.join(", ")))]
    Unknown {
        /// The name that was given.
        name: String,
        /// The names of all figures.
        known: Vec<&'static str>,
    },
    /// The file of a figure is wrong.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Config(#[from] ConfigError),
    /// Of a point, no thresholds can be worked out.
    #[error("{point}: {problem}")]
    Thresholds {
        /// Name of the point.
        point: String,
        /// The reason.
        problem: String,
    },
    /// A point can not be simulated.
    #[error("{place}, {point}: {problem}")]
    Point {
        /// The figure.
        place: String,
        /// Name of the point.
        point: String,
        /// The simulator's reason.
        problem: String,
    },
    /// A file can not be read or written.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Results(#[from] ResultsError),
    /// A record that pages are made of is not there, or of other files and statements.
    #[error("{} has nothing of {figure} that its files and statements, as they are now, have made", path.display())]
    #[diagnostic(help("name {figure} too, or all"))]
    Stale {
        /// The record's file.
        path: PathBuf,
        /// The figure.
        figure: &'static str,
    },
    /// The flag to stop was set; figures that were done are kept.
    #[error("interrupted")]
    Interrupted,
}

impl ReproduceError {
    pub(crate) fn broken(RunError { point, source }: RunError, place: &str) -> ReproduceError {
        match source {
            ExperimentError::Interrupted(_) => ReproduceError::Interrupted,
            source => ReproduceError::Point { place: place.to_owned(), point, problem: source.to_string() },
        }
    }
}
