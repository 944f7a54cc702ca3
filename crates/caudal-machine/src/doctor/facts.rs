//! The facts that a machine reports about itself, in files and by system calls.
//! Every check of the doctor reads them.

use std::path::{Path, PathBuf};

use caudal_measure::pin::allowed_cpus;

/// The limits of a process, as system calls report them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Processors that it may use.
    pub cpus: usize,
    /// RLIMIT_RTPRIO: the highest real-time priority that it may take.
    pub real_time_priority: u64,
    /// It is root, or may set any priority.
    pub privileged: bool,
}

impl Limits {
    /// The limits of this process.
    pub fn of_this_process() -> Limits {
        let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
        // SAFETY: the pointer is valid for the call.
        let known = unsafe { libc::getrlimit(libc::RLIMIT_RTPRIO, &mut limit) } == 0;
        Limits {
            cpus: allowed_cpus().map_or(0, |cpus| cpus.0.len()),
            real_time_priority: if known { limit.rlim_cur } else { 0 },
            // SAFETY: no precondition.
            privileged: unsafe { libc::geteuid() } == 0,
        }
    }
}

/// The files of a machine, under their root.
#[derive(Clone, Debug)]
pub struct MachineFacts {
    root: PathBuf,
    /// The limits of the process, which no file has.
    pub limits: Limits,
}

impl MachineFacts {
    pub(super) fn new(root: &Path, limits: Limits) -> MachineFacts {
        MachineFacts { root: root.to_owned(), limits }
    }

    /// The text of `path`, without blanks around it; `None` if there is no such file.
    pub(super) fn text(&self, path: &str) -> Option<String> {
        let text = std::fs::read_to_string(self.root.join(path.trim_start_matches('/'))).ok()?;
        Some(text.trim().to_owned())
    }

    pub(super) fn number(&self, path: &str) -> Option<u64> {
        self.text(path)?.parse().ok()
    }

    pub(super) fn exists(&self, path: &str) -> bool {
        self.root.join(path.trim_start_matches('/')).exists()
    }

    /// Names in a directory, in order.
    pub(super) fn names(&self, path: &str) -> Vec<String> {
        let entries = std::fs::read_dir(self.root.join(path.trim_start_matches('/'))).into_iter().flatten();
        let mut names: Vec<String> =
            entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        names.sort_unstable();
        names
    }

    /// The words after `key` in `/proc/cpuinfo`, of the first processor.
    pub(super) fn cpuinfo(&self, key: &str) -> Vec<String> {
        let info = self.text("/proc/cpuinfo").unwrap_or_default();
        let line = info.lines().find(|line| line.split(':').next().is_some_and(|name| name.trim() == key));
        let words = line.and_then(|line| line.split_once(':')).map_or("", |(_, words)| words);
        words.split_whitespace().map(str::to_owned).collect()
    }

    /// Numbers of the processors that there are files of.
    pub(super) fn cpus(&self) -> Vec<usize> {
        let number = |name: &String| name.strip_prefix("cpu")?.parse().ok();
        self.names("/sys/devices/system/cpu").iter().filter_map(number).collect()
    }

    /// The value of `key=` on the kernel's command line.
    pub(super) fn boot_option(&self, key: &str) -> Option<String> {
        let line = self.text("/proc/cmdline")?;
        line.split_whitespace().find_map(|word| Some(word.strip_prefix(key)?.strip_prefix('=')?.to_owned()))
    }
}
