//! The use of the processors by others: by other threads, and by other machines under the same hypervisor. Calibrations and fidelity runs
//! look before and after they measure, and warn. It reads `/proc`.

use serde::Serialize;

/// The accounts of processor time in `/proc` at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Moment {
    /// Threads that run or want to, this one included.
    pub runnable: u32,
    /// Time of all processors since the start, in clock ticks: with threads of this system, taken away by the hypervisor, and in all.
    pub busy_ticks: u64,
    /// See `busy_ticks`.
    pub steal_ticks: u64,
    /// See `busy_ticks`.
    pub all_ticks: u64,
}

/// Use of the processors by others between two moments.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Busy {
    /// Threads that wanted to run besides ours, at most, at the times of the checks.
    pub others: u32,
    /// Share of the processors' time that the hypervisor accounts as taken away.
    pub steal_share: f64,
}

impl Moment {
    /// The accounts now; zeros where `/proc` does not say.
    pub fn now() -> Moment {
        let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
        Moment::of(&read("/proc/loadavg"), &read("/proc/stat"))
    }

    fn of(loadavg: &str, stat: &str) -> Moment {
        let runnable =
            loadavg.split_whitespace().nth(3).and_then(|field| field.split('/').next()?.parse().ok());
        let ticks: Vec<u64> = stat
            .lines()
            .find_map(|line| line.strip_prefix("cpu "))
            .unwrap_or_default()
            .split_whitespace()
            // Time of guests is in the times before it.
            .take(8)
            .filter_map(|field| field.parse().ok())
            .collect();
        let [user, nice, system, idle, wait, irq, soft, steal] = ticks[..] else {
            return Moment { runnable: runnable.unwrap_or(0), ..Moment::default() };
        };
        let busy_ticks = user + nice + system + irq + soft;
        let all_ticks = busy_ticks + idle + wait + steal;
        Moment { runnable: runnable.unwrap_or(0), busy_ticks, steal_ticks: steal, all_ticks }
    }
}

impl Busy {
    /// The use between two moments, with `ours` threads of this process that run.
    pub fn between(before: Moment, after: Moment, ours: u32) -> Busy {
        let all = after.all_ticks.saturating_sub(before.all_ticks).max(1);
        let steal_share = after.steal_ticks.saturating_sub(before.steal_ticks) as f64 / all as f64;
        Busy { others: after.runnable.max(before.runnable).saturating_sub(ours), steal_share }
    }

    /// A warning for whoever reads the numbers; `None` where nobody else was about.
    pub fn warning(&self) -> Option<String> {
        let mut parts = Vec::new();
        if self.others > 0 {
            let threads = if self.others == 1 { "thread" } else { "threads" };
            parts.push(format!("{} other {threads} wanted to run", self.others));
        }
        if self.steal_share > 0.01 {
            parts.push(format!("the hypervisor took {:.1} % of the time", self.steal_share * 100.0));
        }
        (!parts.is_empty()).then(|| {
            format!(
                "the machine was busy: {}. Medians of single actions hold within some 20 %; stalls, and everything that takes \
                 longer than a microsecond, are those of a busy machine",
                parts.join(", and ")
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_the_kernel_writes() {
        let stat = "cpu  10 1 5 100 4 2 3 20 7 0\ncpu0 1 2 3 4 5 6 7 8 9 10\n";
        let moment = Moment::of("8.48 6.01 4.31 3/210 30654\n", stat);
        assert_eq!(moment, Moment { runnable: 3, busy_ticks: 21, steal_ticks: 20, all_ticks: 145 });
        assert_eq!(Moment::of("", ""), Moment::default());
    }

    #[test]
    fn says_who_else_was_about() {
        let before = Moment { runnable: 1, busy_ticks: 0, steal_ticks: 0, all_ticks: 0 };
        let quiet = Moment { runnable: 2, busy_ticks: 500, steal_ticks: 1, all_ticks: 1000 };
        assert_eq!(Busy::between(before, quiet, 2).warning(), None);
        let loud = Moment { runnable: 5, steal_ticks: 50, ..quiet };
        let warning = Busy::between(before, loud, 2).warning().unwrap();
        assert!(warning.contains("3 other threads") && warning.contains("5.0 %"), "{warning}");
    }
}
