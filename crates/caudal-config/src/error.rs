//! Errors in a file: what is wrong, where, and what would be right. Reading a file returns all of its errors at once, up to
//! [`ConfigError::PROBLEMS_MAX`]; the command prints them with their places.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use miette::{Diagnostic, LabeledSpan, NamedSource, Severity, SourceCode, SourceSpan};

use crate::finding::{Finding, SourceText};

/// Bytes of the largest file that is read.
pub(crate) const BYTES_MAX: u64 = 4 << 20;

/// One thing that is wrong, and where.
#[derive(Clone, Debug)]
pub struct Problem {
    /// The file as it was named, or `--set` for an override of the command line.
    pub file: String,
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// The key, with its tables: `system.discipline.quantum`. Empty if the text is no TOML.
    pub key: String,
    /// The value that was given, and why it is refused.
    pub message: String,
    /// The values that are allowed, or the edit that mends it.
    pub help: Option<String>,
    span: SourceSpan,
    source: Arc<NamedSource<String>>,
}

impl Problem {
    fn locate(finding: Finding, sources: &[SourceText]) -> Problem {
        let place = finding.place;
        // A finding without a place is about the file as a whole.
        let (source, start, end) = match sources.get(place.source) {
            Some(source) => (source, place.start, place.end),
            None => (&sources[0], 0, 0),
        };
        let text = source.text.inner();
        let start = floor_char(text, start);
        let end = floor_char(text, end).max(start);
        let before = &text[..start];
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        Problem {
            file: source.name.clone(),
            line: before.matches('\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
            key: finding.key,
            message: finding.message,
            help: finding.help,
            span: (start, end - start).into(),
            source: Arc::clone(&source.text),
        }
    }
}

/// The start of the character that `at` is in.
fn floor_char(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// `file:line:column: message (help)`, on one line.
impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}: {}", self.file, self.line, self.column, self.message)?;
        match &self.help {
            Some(help) => write!(f, " ({help})"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Problem {}

/// The same problem as a diagnostic, which draws the place and shows the help apart. So a program that draws it takes the message alone, and
/// not the `Display`, which includes the help.
impl Diagnostic for Problem {
    fn severity(&self) -> Option<Severity> {
        Some(Severity::Error)
    }
    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        self.help.as_ref().map(|help| Box::new(help) as Box<dyn fmt::Display>)
    }
    fn source_code(&self) -> Option<&dyn SourceCode> {
        Some(&*self.source)
    }
    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        let label = (!self.key.is_empty()).then(|| self.key.clone());
        Some(Box::new(std::iter::once(LabeledSpan::new_with_span(label, self.span))))
    }
}

/// Why a file was refused.
pub enum ConfigError {
    /// The file can not be read.
    Io {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: std::io::Error,
    },
    /// The file is larger than any description of a system needs to be.
    TooLarge {
        /// The file.
        path: PathBuf,
        /// Its size in bytes.
        bytes: u64,
    },
    /// The file has problems, at least one, in the order of the text.
    Invalid(Vec<Problem>),
}

impl ConfigError {
    /// Most problems that are reported at once.
    pub const PROBLEMS_MAX: usize = 20;

    pub(crate) fn invalid(mut findings: Vec<Finding>, sources: &[SourceText]) -> ConfigError {
        findings.sort_by(|a, b| a.place.cmp(&b.place).then_with(|| a.message.cmp(&b.message)));
        findings.dedup_by(|a, b| a.place == b.place && a.message == b.message);
        findings.truncate(ConfigError::PROBLEMS_MAX);
        ConfigError::Invalid(findings.into_iter().map(|finding| Problem::locate(finding, sources)).collect())
    }

    /// The problems inside the file; empty if it could not be read at all.
    pub fn problems(&self) -> &[Problem] {
        match self {
            ConfigError::Invalid(problems) => problems,
            _ => &[],
        }
    }
}

/// The same text as `Display`, because a program whose `main` returns a `Result` prints errors by `Debug`.
impl fmt::Debug for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ConfigError::Io { path, source } => write!(f, "cannot read {}: {source}", path.display()),
            ConfigError::TooLarge { path, bytes } => write!(
                f,
                "{} has {bytes} bytes; a description of a system has at most {}",
                path.display(),
                BYTES_MAX
            ),
            ConfigError::Invalid(problems) => {
                for (i, problem) in problems.iter().enumerate() {
                    write!(f, "{}{problem}", if i == 0 { "" } else { "\n" })?;
                }
                Ok(())
            }
        }
    }
}

/// Without a source: the message includes the system's reason already.
impl std::error::Error for ConfigError {}

impl Diagnostic for ConfigError {
    fn related<'a>(&'a self) -> Option<Box<dyn Iterator<Item = &'a dyn Diagnostic> + 'a>> {
        Some(Box::new(self.problems().iter().map(|problem| problem as &dyn Diagnostic)))
    }
}
