//! Writing to stdout and stderr, either of which may be closed before the command is done: `caudal sim ... --json | head`. Every command
//! prints by the macros `outln!` and `errln!` of this file, never by `println!`, which would panic.

use std::io::{ErrorKind, Write};

/// Writes to stdout. If the reader has closed it, the process ends without an error, because the reader has read enough.
pub(crate) fn write(text: std::fmt::Arguments<'_>) {
    let Err(error) = std::io::stdout().lock().write_fmt(text) else { return };
    if error.kind() == ErrorKind::BrokenPipe {
        std::process::exit(0);
    }
    write_error(format_args!("can not write to stdout: {error}\n"));
    std::process::exit(i32::from(crate::exit_code::FAILED));
}

/// Writes to stderr, and ignores errors: no result depends on whether somebody reads it, and if an error message can not be
/// written, the exit code still tells of the error.
pub(crate) fn write_error(text: std::fmt::Arguments<'_>) {
    drop(std::io::stderr().lock().write_fmt(text));
}

/// As `eprintln!`.
macro_rules! errln {
    ($($text:tt)*) => { $crate::out::write_error(format_args!("{}\n", format_args!($($text)*))) };
}

/// As `eprint!`.
macro_rules! err {
    ($($text:tt)*) => { $crate::out::write_error(format_args!($($text)*)) };
}

/// As `print!`.
macro_rules! out {
    ($($text:tt)*) => { $crate::out::write(format_args!($($text)*)) };
}

/// As `println!`.
macro_rules! outln {
    () => { $crate::out::write(format_args!("\n")) };
    ($($text:tt)*) => { $crate::out::write(format_args!("{}\n", format_args!($($text)*))) };
}
