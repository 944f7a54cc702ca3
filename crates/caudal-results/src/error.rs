//! Everything that can go wrong between a file of points and its results.

use std::path::{Path, PathBuf};

use caudal_row::RowError;
use caudal_sim::experiment::ExperimentError;

/// Why there are no results, or not all.
///
/// What the system says stands in the message itself, and is no source that would be told once more.
#[derive(Debug, thiserror::Error, miette::Diagnostic)]
pub enum ResultsError {
    /// A file can not be read.
    #[error("can not read `{}`: {problem}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        problem: String,
    },
    /// A file can not be written.
    #[error("can not write `{}`: {problem}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        problem: String,
    },
    /// A directory holds results of another question.
    #[error("`{}` holds results of something else: {differs}", dir.display())]
    #[diagnostic(help("name another directory with --out, or remove this one"))]
    Foreign {
        /// The directory.
        dir: PathBuf,
        /// The parts of the question that differ.
        differs: String,
    },
    /// A line of a results directory is no row.
    #[error("a row can not be read: {problem}")]
    Row {
        /// The line, and the parser's reason.
        problem: String,
    },
    /// The report of a directory is not there, or not as this version writes it.
    #[error("{}: {problem}", path.display())]
    Report {
        /// The file.
        path: PathBuf,
        /// The system's or the parser's reason.
        problem: String,
    },
    /// A point can not be simulated.
    #[error("{point}: {problem}")]
    Point {
        /// Name of the point.
        point: String,
        /// The simulator's reason.
        problem: String,
    },
    /// A latency does not fit a histogram, or a histogram no log.
    #[error("{problem}")]
    Histogram {
        /// The library's reason.
        problem: String,
    },
    /// A window or a check that was asked for makes no sense for these points.
    #[error("{message}")]
    #[diagnostic(help("{help}"))]
    Refused {
        /// The value that was given, and its fault.
        message: String,
        /// The values that are allowed, and the edit that mends it.
        help: String,
    },
    /// The results can not be written as JSON.
    #[error("{problem}")]
    Json {
        /// The writer's reason.
        problem: String,
    },
    /// The flag to stop was set; what was done is kept.
    #[error("interrupted")]
    Interrupted,
}

impl ResultsError {
    /// Is it no fault of what was asked: a full disk, a file that is gone?
    #[must_use]
    pub fn is_failure(&self) -> bool {
        matches!(
            self,
            ResultsError::Read { .. } | ResultsError::Write { .. } | ResultsError::Histogram { .. }
        )
    }

    pub(crate) fn refused(message: impl Into<String>, help: impl Into<String>) -> ResultsError {
        ResultsError::Refused { message: message.into(), help: help.into() }
    }

    /// The file at `path` can not be read, for the reason that the system gave.
    #[must_use]
    pub fn read(path: &Path, problem: &dyn std::fmt::Display) -> ResultsError {
        ResultsError::Read { path: path.to_owned(), problem: problem.to_string() }
    }

    /// The file at `path` can not be written, for the reason that the system gave.
    #[must_use]
    pub fn write(path: &Path, problem: &dyn std::fmt::Display) -> ResultsError {
        ResultsError::Write { path: path.to_owned(), problem: problem.to_string() }
    }

    pub(crate) fn of_point(point: String, source: &ExperimentError) -> ResultsError {
        match source {
            ExperimentError::Interrupted(_) => ResultsError::Interrupted,
            source => ResultsError::Point { point, problem: source.to_string() },
        }
    }
}

impl From<RowError> for ResultsError {
    fn from(error: RowError) -> ResultsError {
        ResultsError::Row { problem: error.to_string() }
    }
}

impl From<serde_json::Error> for ResultsError {
    fn from(error: serde_json::Error) -> ResultsError {
        ResultsError::Json { problem: error.to_string() }
    }
}
