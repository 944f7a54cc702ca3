//! The options and the state that all commands share: threads, precision, form of the output, the request to stop. The program's `main`
//! makes one [`Global`] from the arguments and hands it to the command. It installs the handler of Ctrl-C, whose flag every simulation
//! and reader asks.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use caudal_results::{Control, Progress};
use clap::Args;
use miette::{MietteHandlerOpts, miette};

/// Options of every command.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Options of every command")]
pub(crate) struct Shared {
    /// Threads to simulate on [default: all cores]
    #[arg(long, global = true, value_name = "N", value_parser = crate::numbers::threads, allow_hyphen_values = true)]
    pub(crate) threads: Option<usize>,
    /// Settle for 10 % precision: a first answer in seconds
    #[arg(long, global = true)]
    pub(crate) quick: bool,
    /// Print one JSON object a line instead of tables
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// No progress on stderr
    #[arg(long, short, global = true)]
    pub(crate) quiet: bool,
}

/// The options of every command, and the flag to stop.
#[derive(Clone, Debug)]
pub(crate) struct Global {
    /// Threads to simulate on, at least 1.
    pub(crate) threads: usize,
    pub(crate) quick: bool,
    pub(crate) json: bool,
    pub(crate) quiet: bool,
    /// Set by the first Ctrl-C; the second one ends the process at once.
    pub(crate) stop: Arc<AtomicBool>,
}

impl Global {
    /// Threads and stop for a library, which tells `progress` how far it is.
    pub(crate) fn control<'a>(&'a self, progress: &'a (dyn Fn(Progress) + Sync)) -> Control<'a, Progress> {
        Control { threads: self.threads, stop: &self.stop, progress }
    }

    pub(crate) fn new(shared: &Shared) -> miette::Result<Global> {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let threads = shared.threads.unwrap_or(cores);
        if !(1..=1024).contains(&threads) {
            return Err(miette!(
                help = "write a number from 1 to 1024",
                "--threads {threads} can not be had"
            ));
        }
        let Shared { quick, json, quiet, .. } = *shared;
        Ok(Global { threads, quick, json, quiet, stop: watch_for_interrupts()? })
    }
}

/// The work to do before a second Ctrl-C, or SIGTERM, ends the process in the middle of something.
static BEFORE_EXIT: OnceLock<fn()> = OnceLock::new();

/// Has `tidy_up` called before a second Ctrl-C ends the process; the first caller's holds.
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
pub(crate) fn before_exit(tidy_up: fn()) {
    let _ = BEFORE_EXIT.set(tidy_up);
}

/// See [`Global::stop`].
static STOP: OnceLock<Arc<AtomicBool>> = OnceLock::new();

/// Did Ctrl-C come, or a signal to end?
pub(crate) fn is_stopping() -> bool {
    STOP.get().is_some_and(|stop| stop.load(Ordering::Relaxed))
}

/// The flag that the first Ctrl-C sets. Inputs that are being read hear it as well.
fn watch_for_interrupts() -> miette::Result<Arc<AtomicBool>> {
    let stop = STOP.get_or_init(Arc::default).clone();
    caudal_workload::stop_reading_when(stop.clone());
    let flag = stop.clone();
    ctrlc::set_handler(move || {
        if flag.swap(true, Ordering::Relaxed) {
            if let Some(tidy_up) = BEFORE_EXIT.get() {
                tidy_up();
            }
            std::process::exit(i32::from(crate::exit_code::INTERRUPTED));
        }
        errln!("\nstopping; once more to stop at once");
    })
    .map_err(|error| miette!("can not watch for Ctrl-C: {error}"))?;
    Ok(stop)
}

/// Errors without colours or drawing characters where nobody could see them.
pub(crate) fn install_error_style() {
    let handler = |_: &_| -> Box<dyn miette::ReportHandler> {
        // Names have hyphens, and are to be copied in one piece.
        let splitter = textwrap::WordSplitter::NoHyphenation;
        Box::new(MietteHandlerOpts::new().width(100).context_lines(1).word_splitter(splitter).build())
    };
    // Fails only if it was set before, which nobody does.
    let _ = miette::set_hook(Box::new(handler));
}
