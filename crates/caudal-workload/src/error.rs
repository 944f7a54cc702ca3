//! Errors of workloads, each with its place and with what would be right, and questions that only the user can answer. Reading and compiling a
//! workload returns them; the configuration adds the place in its file, and the command prints them.

use std::fmt;
use std::path::PathBuf;

/// Why a workload was refused.
#[derive(Debug, thiserror::Error)]
pub enum WorkloadError {
    /// A name that no workload has.
    #[error("no workload is called `{name}`; {hint}")]
    UnknownName {
        /// The name that was asked for.
        name: String,
        /// The nearest names, or all of them.
        hint: String,
    },
    /// A key whose value makes no sense.
    #[error("`{key}` = {value}: {expected}")]
    Value {
        /// The key, with its path inside the table: `classes[1].weight`.
        key: String,
        /// Its value, as written.
        value: String,
        /// A description of what would be right.
        expected: String,
    },
    /// Probabilities that are none.
    #[error("`{key}`: the probabilities sum to {sum}; they must sum to 1 (within 1e-9)")]
    Sum {
        /// The key that holds them.
        key: String,
        /// The sum that was found instead of 1.
        sum: f64,
    },
    /// A file that cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
    /// A row of a file that cannot be used.
    #[error("{}:{line}:{column}: {problem}", path.display())]
    Row {
        /// The file.
        path: PathBuf,
        /// Line, from 1.
        line: u64,
        /// Column of the field's first character in the line, from 1, in bytes.
        column: usize,
        /// The problem of that row.
        problem: RowProblem,
    },
    /// A request that can not fork like that.
    #[error("{0}")]
    Dag(String),
    /// Something about a file that only its user knows.
    #[error(transparent)]
    Ask(Box<Ask>),
    /// Reading was interrupted: see [`crate::stop_reading_when`].
    #[error("interrupted")]
    Interrupted,
    /// A file that is wrong as a whole, or does not fit what is said about it.
    #[error("{}: {problem}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The problem, and what would be right.
        problem: String,
    },
}

/// Something about a file that only its user knows, with the answers that it may have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ask {
    /// The file.
    pub path: PathBuf,
    /// The fact that is not known, and why it matters.
    pub problem: String,
    /// The kind of thing that an answer sets.
    pub key: AskKey,
    /// The answers, the likeliest first, and what each of them means.
    pub answers: Vec<Answer>,
}

/// The setting that an answer to [`Ask`] fills in; its name on the command line and in files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AskKey {
    /// The unit of the times.
    Unit,
    /// The column of the times.
    Column,
    /// The column that says how often each time occurs.
    CountColumn,
    /// The character before the decimals.
    Decimal,
    /// A condition on the rows that are meant.
    Where,
}

/// An answer to [`Ask`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The setting that this answer fills in: that of the question, unless the answer has one of its own.
    pub key: AskKey,
    /// Its value.
    pub value: String,
    /// The meaning that the file then has, in words.
    pub means: String,
}

impl AskKey {
    /// The key of a file's table.
    pub fn key(self) -> &'static str {
        match self {
            AskKey::Unit => "unit",
            AskKey::Column => "column",
            AskKey::CountColumn => "count_column",
            AskKey::Decimal => "decimal",
            AskKey::Where => "where",
        }
    }
}

impl fmt::Display for Ask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path.display(), self.problem)?;
        let key = self.key.key();
        if self.answers.is_empty() {
            return write!(f, "; say it by `--{}` (`{key} = …` in a file)", key.replace('_', "-"));
        }
        write!(f, ". Say which it is (`{key} = …` in a file):")?;
        let option = |answer: &Answer| {
            let quote = if answer.value.contains(|c: char| !c.is_alphanumeric() && !"_-.=".contains(c)) {
                "'"
            } else {
                ""
            };
            format!("--{} {quote}{}{quote}", answer.key.key().replace('_', "-"), answer.value)
        };
        let width = self.answers.iter().map(|answer| option(answer).chars().count()).max().unwrap_or(0);
        for answer in &self.answers {
            write!(f, "\n  {:<width$}  {}", option(answer), answer.means)?;
        }
        Ok(())
    }
}

impl std::error::Error for Ask {}

impl WorkloadError {
    pub(crate) fn dag(problem: String) -> WorkloadError {
        WorkloadError::Dag(problem)
    }
}

/// A fault of one row of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RowProblem {
    /// An empty field where a value should stand.
    Empty,
    /// Text that is no number.
    NotANumber(String),
    /// NaN or infinite.
    NotFinite(String),
    /// A number below zero.
    Negative(String),
    /// Zero, or so short that it rounds to zero picoseconds.
    Zero(String),
    /// Less than half a picosecond, but not 0.
    TooShort(String),
    /// Above [`crate::LONGEST_PS`].
    TooLong(String),
    /// Another number of columns than the first row.
    Columns {
        /// Columns of the first row.
        expected: usize,
        /// The number of columns of this row.
        found: usize,
    },
    /// A class without a name, or with one that cannot be a name.
    ClassName(String),
    /// The 257th class.
    TooManyClasses(String),
    /// A timestamp before the one above it.
    BackInTime(String),
    /// Anything that a file format of its own brings along.
    Format(String),
}

impl fmt::Display for RowProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("empty; every row needs a time such as 1592"),
            Self::NotANumber(text) => {
                write!(f, "`{text}` is not a number; write a time such as 1592, or 1.6us")
            }
            Self::NotFinite(text) => write!(f, "`{text}` is not finite; times are numbers such as 1592"),
            Self::Negative(text) => write!(f, "`{text}` is negative; a time is longer than 0"),
            Self::Zero(text) => write!(f, "`{text}` is zero at a resolution of 1ps; a time is longer than 0"),
            Self::TooShort(text) => {
                write!(f, "`{text}` is less than a picosecond, which nothing takes; is the unit right?")
            }
            Self::TooLong(text) => {
                write!(f, "`{text}` is longer than an hour, the longest time here; is the unit right?")
            }
            Self::Columns { expected, found } => {
                let s = if *found == 1 { "" } else { "s" };
                write!(f, "{found} column{s}, but the first row has {expected}; every row needs the same")
            }
            Self::ClassName(text) => {
                write!(f, "`{text}` cannot name a class; use 1 to 64 printable characters")
            }
            Self::TooManyClasses(text) => {
                write!(f, "`{text}` is the 257th class; at most 256 are possible (is this the class column?)")
            }
            Self::BackInTime(text) => {
                write!(f, "`{text}` is earlier than the row above; timestamps must not decrease")
            }
            Self::Format(text) => f.write_str(text),
        }
    }
}

impl WorkloadError {
    /// A key with an impossible value.
    pub(crate) fn value(
        key: impl Into<String>,
        value: impl fmt::Display,
        expected: impl Into<String>,
    ) -> WorkloadError {
        WorkloadError::Value { key: key.into(), value: value.to_string(), expected: expected.into() }
    }

    /// The same error, seen from the table around it: `weight` becomes `classes[1].weight`.
    pub(crate) fn under(mut self, parent: &str) -> WorkloadError {
        if let Self::Value { key, .. } | Self::Sum { key, .. } = &mut self {
            *key = format!("{parent}.{key}");
        }
        self
    }
}
