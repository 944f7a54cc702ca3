//! The arguments that say how a request forks into parallel tasks: `--loops` and `--serial`. `plan` has them among its own; `arrives`
//! turns them into overrides of the workload's file when that is read.

use clap::Args;

use crate::numbers;

/// The parts of a request that can run in parallel, where its workload does not say it or says something else.
#[derive(Args, Clone, Copy, Debug, Default)]
pub(crate) struct Forks {
    /// Requests can run in parallel: so many loops, one after another [default: what the workload's `dag` says, or one core a
    /// request]
    #[arg(long, value_name = "N", value_parser = numbers::count, allow_hyphen_values = true)]
    loops: Option<u32>,
    /// Share of each request's work around its loops, which only one core can do at a time, as in 10%
    #[arg(long, value_name = "SHARE", value_parser = numbers::share, allow_hyphen_values = true)]
    serial: Option<f64>,
}

impl Forks {
    fn keys(self) -> impl Iterator<Item = (&'static str, String)> {
        let loops = self.loops.map(|loops| ("loops", loops.to_string()));
        // With a point: `serial` is a number and not an integer.
        let serial = self.serial.map(|serial| ("serial", format!("{serial:?}")));
        loops.into_iter().chain(serial)
    }

    /// The key of a workload, or nothing: `dag = { loops = 4, serial = 0.1 }`.
    pub(crate) fn key(self) -> String {
        let keys: Vec<String> = self.keys().map(|(key, value)| format!("{key} = {value}")).collect();
        if keys.is_empty() { String::new() } else { format!("dag = {{ {} }}\n", keys.join(", ")) }
    }

    /// The same as settings that win over those of a file.
    pub(crate) fn overrides(self) -> Vec<String> {
        self.keys().map(|(key, value)| format!("workload.dag.{key}={value}")).collect()
    }

    /// The same as options of a command: ` --loops 4 --serial 0.1`.
    pub(crate) fn options(self) -> String {
        self.keys().map(|(key, value)| format!(" --{key} {value}")).collect()
    }
}
