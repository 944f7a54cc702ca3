//! The ends of a command: the answer no, an error as it is printed, an interruption; each with its [exit code](crate::exit_code).
//! Commands return these errors; the program's `main` prints the error by [`report`], once, at the end.

use std::fmt;
use std::process::ExitCode;

use caudal_config::{ConfigError, Problem};
use caudal_results::ResultsError;
use caudal_tune::{TuneError, spelled};
use miette::{Diagnostic, LabeledSpan, Report, Severity, SourceCode};

use crate::answer::Screen;
use crate::exit_code::{BAD_INPUT, FAILED, INTERRUPTED, NO};

/// The text of `--help` on exit codes.
pub(crate) const HELP: &str = "\
Exit codes:
  0    done
  1    the answer is no (no system meets the target, ...)
  2    bad input: nothing was simulated
  3    something else went wrong (a full disk, ...)
  130  interrupted: what was done is printed; with a results directory, the same command goes on";

/// An error that is no fault of the input.
#[derive(Debug, thiserror::Error, miette::Diagnostic)]
#[error("{0}")]
pub(crate) struct Failure(pub(crate) String);

/// Ctrl-C, or a signal to end.
#[derive(Debug, thiserror::Error, miette::Diagnostic)]
#[error("interrupted{0}")]
pub(crate) struct Interrupted(pub(crate) String);

/// A problem as it is drawn: its text of one line has the help in it, a drawing has that below.
#[derive(Debug)]
struct Drawn(Problem);

impl fmt::Display for Drawn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Problem { file, line, column, message, .. } = &self.0;
        write!(f, "{file}:{line}:{column}: {message}")
    }
}

impl std::error::Error for Drawn {}

impl Diagnostic for Drawn {
    fn severity(&self) -> Option<Severity> {
        self.0.severity()
    }
    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        Diagnostic::help(&self.0)
    }
    fn source_code(&self) -> Option<&dyn SourceCode> {
        self.0.source_code()
    }
    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        self.0.labels()
    }
}

/// Prints the answer where arithmetic alone says no; it is data, not an error.
///
/// # Errors
/// What is something else.
pub(crate) fn no(error: TuneError, json: bool) -> Result<ExitCode, TuneError> {
    if !error.is_no() {
        return Err(error);
    }
    let text = error.to_string();
    if json {
        let why = text.strip_prefix("unreachable: ").unwrap_or(&text);
        outln!("{}", serde_json::json!({ "unreachable": why }));
    } else {
        let mut screen = Screen::new();
        screen.headline(&spelled(&text));
        out!("{screen}");
    }
    Ok(ExitCode::from(NO))
}

/// Prints an error and says which code it means.
pub(crate) fn report(error: &Report) -> ExitCode {
    if let Some(interrupted) = error.downcast_ref::<Interrupted>() {
        errln!("{interrupted}");
        return ExitCode::from(INTERRUPTED);
    }
    // Whatever could not be done after Ctrl-C, such as reading the rest of a file, is not the input's fault.
    if crate::global::is_stopping() {
        errln!("interrupted");
        return ExitCode::from(INTERRUPTED);
    }
    match error.downcast_ref::<ConfigError>() {
        // Each problem with the line that it is in; the error itself would only say the first once more.
        Some(config) if !config.problems().is_empty() => {
            for problem in config.problems() {
                errln!("{:?}", Report::new(Drawn(problem.clone())));
            }
        }
        _ => errln!("{error:?}"),
    }
    let of_results = error.downcast_ref::<ResultsError>().is_some_and(ResultsError::is_failure);
    let failed = of_results || error.downcast_ref::<Failure>().is_some();
    ExitCode::from(if failed { FAILED } else { BAD_INPUT })
}
