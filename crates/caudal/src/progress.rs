//! Progress on stderr, with the time that is left. Commands that simulate for long make a [`ProgressLine`] and move it on after each
//! point; it writes to stderr only, and only to a terminal.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use caudal_results::Progress;

use crate::global::Global;

/// A bar that counts steps and shows the rate of simulated requests.
pub(crate) struct ProgressLine {
    bar: ProgressBar,
    requests: std::sync::atomic::AtomicU64,
    began: std::time::Instant,
}

impl ProgressLine {
    /// A bar of so many steps; hidden under `--quiet` and where stderr is no terminal.
    pub(crate) fn new(global: &Global, steps: u64, what: &str) -> ProgressLine {
        let target = if global.quiet { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() };
        let bar = ProgressBar::with_draw_target(Some(steps), target);
        let style = ProgressStyle::with_template("{prefix} {wide_bar} {pos}/{len} · {eta} left · {msg}");
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()).progress_chars("█▉▊▋▌▍▎▏ "));
        bar.set_prefix(what.to_owned());
        bar.enable_steady_tick(Duration::from_millis(200));
        ProgressLine { bar, requests: 0.into(), began: std::time::Instant::now() }
    }

    /// How many requests have been simulated.
    pub(crate) fn requests_done(&self) -> u64 {
        self.requests.load(std::sync::atomic::Ordering::Relaxed)
    }

    /// Names the phase that runs now.
    pub(crate) fn phase(&self, what: &'static str) {
        if self.bar.prefix() != what {
            self.bar.set_prefix(what);
        }
    }

    /// A line of data on stdout, without tearing the bar.
    pub(crate) fn note_data(&self, data: &str) {
        self.bar.suspend(|| outln!("{data}"));
    }

    /// The bar goes away.
    pub(crate) fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

impl ProgressLine {
    /// Shows what a library tells of its progress.
    pub(crate) fn tell(&self, progress: Progress) {
        match progress {
            Progress::Requests(more) => self.requests(more),
            Progress::Step => self.step(),
            Progress::MoreSteps(more) => self.bar.inc_length(more),
            Progress::Done(done) => self.set_done(done),
        }
    }

    /// `more` requests have been simulated.
    pub(crate) fn requests(&self, more: u64) {
        let all = self.requests.fetch_add(more, std::sync::atomic::Ordering::Relaxed) + more;
        let rate = all as f64 / self.began.elapsed().as_secs_f64().max(1e-3) / 1e6;
        self.bar.set_message(format!("{rate:.1} M requests/s"));
    }

    /// A step is done.
    pub(crate) fn step(&self) {
        self.bar.inc(1);
    }

    /// `done` steps are done in all.
    pub(crate) fn set_done(&self, done: u64) {
        self.bar.set_position(done);
    }
}
