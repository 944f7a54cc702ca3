//! Errors of reading rows; [`crate::Row::from_lines`] returns them.

use thiserror::Error;

/// A line that is not a row of results.
#[derive(Debug, Error)]
#[error("line {line} is not a row of results (a JSON object with at least `system`): {source}")]
pub struct RowError {
    /// The line, counted from 1.
    pub line: usize,
    /// The parser's error, with the column.
    pub source: serde_json::Error,
}
