//! Running the compiler, and saying what went wrong.

use std::ffi::OsString;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Command, ExitCode, ExitStatus};

use crate::error::DriverError;
use crate::words::response_file;

/// Bad input, as everywhere in `caudal`.
const BAD_INPUT: u8 = 2;

/// Says an error and what would be right, and which exit code it means.
pub fn complain(name: &str, error: &DriverError) -> ExitCode {
    eprintln!("{name}: error: {error}");
    let help = error.help();
    if !help.is_empty() {
        eprintln!("{name}: help: {help}");
    }
    ExitCode::from(BAD_INPUT)
}

/// Becomes `program`: signals and exit codes are its own. Comes back only where that failed.
pub fn replace_process(program: &Path, args: &[OsString]) -> DriverError {
    let source = Command::new(program).args(args).exec();
    DriverError::NotRun { program: program.to_owned(), source }
}

/// Runs clang and waits for its end. Words that are too many for a command line go by a response file.
///
/// # Errors
/// It could not be started.
pub fn run_clang(clang: &Path, words: Vec<OsString>) -> Result<ExitStatus, DriverError> {
    const BYTES_MAX: usize = 100_000;
    if words.iter().map(|word| word.len() + 1).sum::<usize>() < BYTES_MAX {
        return spawn(clang, &words);
    }
    let file = response_file(&words)?;
    let mut at = OsString::from("@");
    at.push(file.path());
    spawn(clang, &[at])
}

fn spawn(program: &Path, args: &[OsString]) -> Result<ExitStatus, DriverError> {
    let not_run = |source| DriverError::NotRun { program: program.to_owned(), source };
    Command::new(program).args(args).status().map_err(not_run)
}

/// What a shell would say: a signal is 128 and its number.
pub fn exit_code(status: ExitStatus) -> ExitCode {
    let code = status.code().or_else(|| Some(128 + status.signal()?)).unwrap_or(1);
    ExitCode::from(u8::try_from(code).unwrap_or(1))
}
