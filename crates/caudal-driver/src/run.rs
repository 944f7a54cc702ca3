//! Runs the compiler, and prints errors. `cc.rs` and `cargo caudal` call it at the end of a call, when clang's command line is complete.

use std::ffi::OsString;
use std::io::Write;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Command, ExitCode, ExitStatus};

use crate::error::DriverError;
use crate::words::response_file;

/// Bad input, as everywhere in `caudal`.
const BAD_INPUT: u8 = 2;

/// Says an error and what would be right, and which exit code it means.
pub fn complain(name: &str, error: &DriverError) -> ExitCode {
    say_error(name, error, &error.help())
}

/// The same for any error; `help` may be empty.
pub fn say_error(name: &str, error: &dyn std::error::Error, help: &str) -> ExitCode {
    say(&format!("{name}: error: {error}\n"));
    if !help.is_empty() {
        say(&format!("{name}: help: {help}\n"));
    }
    ExitCode::from(BAD_INPUT)
}

/// On stderr, which may be closed: then the exit code still says it.
pub fn say(text: &str) {
    drop(std::io::stderr().lock().write_all(text.as_bytes()));
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

/// The exit code as a shell gives it: a signal is 128 and its number.
pub fn exit_code(status: ExitStatus) -> ExitCode {
    let code = status.code().or_else(|| Some(128 + status.signal()?)).unwrap_or(1);
    ExitCode::from(u8::try_from(code).unwrap_or(1))
}
