//! stdout, which may be closed before we are done: `caudal sim ... --json | head`.

use std::io::{ErrorKind, Write};

/// Writes to stdout. Whoever reads may have read enough; that is no error, and the end of our work.
pub(crate) fn write(text: std::fmt::Arguments<'_>) {
    let Err(error) = std::io::stdout().lock().write_fmt(text) else { return };
    if error.kind() == ErrorKind::BrokenPipe {
        std::process::exit(0);
    }
    eprintln!("can not write to stdout: {error}");
    std::process::exit(i32::from(crate::exit::FAILED));
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
