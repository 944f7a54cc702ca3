//! The errors that keep a check from reading the source. Every check returns them, and `main` prints the first one and ends.

use std::path::PathBuf;

/// A fault of the source tree itself, not one that the checks look for.
#[derive(Debug, thiserror::Error)]
pub enum LintError {
    /// A file or folder that cannot be read.
    #[error("{}: {source}", path.display())]
    Read {
        /// The file or folder.
        path: PathBuf,
        /// The system's answer.
        source: std::io::Error,
    },
    /// A file that is not Rust.
    #[error("{}:{line}: {error}", path.display())]
    Parse {
        /// The file.
        path: PathBuf,
        /// The line, from 1 on.
        line: usize,
        /// The parser's answer.
        error: syn::Error,
    },
    /// A module that is declared without a file.
    #[error("{}: there is no file for `mod {module};`", declared_in.display())]
    NoFile {
        /// The module's name.
        module: String,
        /// The file that declares it.
        declared_in: PathBuf,
    },
    /// A line of the list of what is known that is none.
    #[error("{}:{line}: write `circle CRATE: MODULE …`, `floors CRATE: MODULE …` or `docs CRATE: NUMBER`", path.display())]
    Known {
        /// The list.
        path: PathBuf,
        /// The line, from 1 on.
        line: usize,
    },
}
