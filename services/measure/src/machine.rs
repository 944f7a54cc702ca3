//! The machine as the measurement needs it: a core for the thread, a clock, and readings of how busy others were meanwhile. A measurement
//! pins its thread at its begin, and reads the kernel's counts before, between and after its stretches.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::sys::resource::{UsageWho, getrusage};
use nix::time::{ClockId, clock_gettime};
use nix::unistd::Pid;

use crate::figures::percentile;

/// Keeps this thread on `core`, or on the last core that it may use; returns which.
pub(crate) fn pin(core: Option<usize>) -> Result<usize> {
    let this = Pid::from_raw(0);
    let allowed = sched_getaffinity(this)?;
    let core = match core {
        Some(core) => core,
        None => (0..CpuSet::count())
            .rfind(|&core| allowed.is_set(core).unwrap_or(false))
            .context("no core may be used")?,
    };
    let mut only = CpuSet::new();
    only.set(core).with_context(|| format!("there is no core {core}"))?;
    sched_setaffinity(this, &only).with_context(|| format!("core {core} may not be used"))?;
    Ok(core)
}

/// How often this thread had to give up its core so far.
pub(crate) fn times_switched_out() -> Result<i64> {
    Ok(getrusage(UsageWho::RUSAGE_THREAD)?.involuntary_context_switches())
}

/// The time that this thread has had its core so far. It includes interrupts. It does not include the time in which other threads
/// run, nor the time that the hypervisor takes and reports.
pub(crate) fn thread_time() -> Result<Duration> {
    Ok(clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID)?.into())
}

/// The kernel's count of interrupts by the timer of one core.
pub(crate) struct TimerInterrupts {
    file: File,
    text: Vec<u8>,
    core: usize,
}

impl TimerInterrupts {
    pub(crate) fn of(core: usize) -> Result<TimerInterrupts> {
        let file = File::open("/proc/interrupts").context("no /proc/interrupts")?;
        Ok(TimerInterrupts { file, text: vec![0; 1 << 18], core })
    }

    /// Interrupts since the machine started.
    pub(crate) fn count(&mut self) -> Result<u64> {
        let length = self.file.read_at(&mut self.text, 0)?;
        timer_interrupts(&String::from_utf8_lossy(&self.text[..length]), self.core)
            .context("/proc/interrupts does not count the timer's; this needs Linux on x86 or ARM")
    }
}

/// A line `LOC: 17 4 …` on x86, `9: 17 4 … GICv3 27 Level arch_timer` on ARM, under a line that names the cores.
fn timer_interrupts(text: &str, core: usize) -> Option<u64> {
    let name = format!("CPU{core}");
    let column = text.lines().next()?.split_whitespace().position(|cpu| cpu == name)?;
    let line = text.lines().find(|line| line.trim().starts_with("LOC:") || line.ends_with("arch_timer"))?;
    line.split_whitespace().nth(column + 1)?.parse().ok()
}

/// The difference of two readings of the clock right after each other, in ns: the median of many.
pub(crate) fn clock_cost_ns() -> u64 {
    let cost = |_| {
        let start = Instant::now();
        nanos(start.elapsed())
    };
    let mut costs: Vec<u64> = (0..100_000).map(cost).collect();
    costs.sort_unstable();
    percentile(&costs, 50.0)
}

pub(crate) fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

/// Mean time in ns of a fixed piece of work of some 10 us that needs nothing but the core: interruptions, stolen time
/// and a slower clock all lengthen it.
pub(crate) fn spin_ns() -> f64 {
    const SLICES: u32 = 20_000;
    let start = Instant::now();
    let mut value = 1_u64;
    for _ in 0..SLICES {
        for _ in 0..5_000 {
            // Each step waits for the one before.
            value = std::hint::black_box(value.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        }
    }
    start.elapsed().as_nanos() as f64 / f64::from(SLICES)
}

/// Readings of the kernel's accounts of all cores since it started, in ticks (a hundredth of a second).
#[derive(Clone, Debug, Default)]
pub(crate) struct Ticks {
    /// By core: busy with anything, and in all.
    cores: Vec<(usize, u64, u64)>,
    /// Time that the hypervisor took from the core that was asked for.
    stolen: u64,
}

impl Ticks {
    pub(crate) fn read(core: usize) -> Result<Ticks> {
        Ticks::parse(&std::fs::read_to_string("/proc/stat").context("no /proc/stat")?, core)
    }

    /// Columns: user, nice, system, idle, iowait, irq, softirq, steal (proc_stat(5)).
    fn parse(stat: &str, core: usize) -> Result<Ticks> {
        let mut ticks = Ticks::default();
        for line in stat.lines() {
            let mut fields = line.split_whitespace();
            let Some(number) = fields.next().and_then(|name| name.strip_prefix("cpu")?.parse().ok()) else {
                continue;
            };
            let columns: Vec<u64> = fields.map(str::parse).collect::<Result<_, _>>()?;
            ensure!(columns.len() >= 8, "/proc/stat has no column of stolen time");
            let all: u64 = columns[..8].iter().sum();
            ticks.cores.push((number, all - columns[3] - columns[4], all));
            if number == core {
                ticks.stolen = columns[7];
            }
        }
        Ok(ticks)
    }

    /// Share of time since `before` in which the cores other than `core` were busy; 0 if there are none.
    pub(crate) fn others_busy(&self, before: &Ticks, core: usize) -> f64 {
        let (mut busy, mut all) = (0, 0);
        for (now, then) in self.cores.iter().zip(&before.cores).filter(|(now, _)| now.0 != core) {
            busy += now.1.saturating_sub(then.1);
            all += now.2.saturating_sub(then.2);
        }
        if all == 0 { 0.0 } else { busy as f64 / all as f64 }
    }

    /// Milliseconds that the hypervisor says it took since `before`.
    pub(crate) fn stolen_ms(&self, before: &Ticks) -> u64 {
        self.stolen.saturating_sub(before.stolen) * 10
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_threads_time_stands_while_it_sleeps() {
        let (before, start) = (thread_time().unwrap(), Instant::now());
        std::thread::sleep(Duration::from_millis(300));
        spin_ns();
        let (got, passed) = (thread_time().unwrap() - before, start.elapsed());
        assert!(
            got > Duration::from_millis(1) && got + Duration::from_millis(290) < passed,
            "{got:?} of {passed:?}"
        );
    }

    #[test]
    fn accounts_are_read_and_compared() {
        let before =
            Ticks::parse("cpu 1 1 1 1 1 1 1 1\ncpu0 10 0 0 90 0 0 0 0 0 0\ncpu1 5 0 0 95 0 0 0 3\n", 1);
        let after = Ticks::parse("cpu0 35 0 5 150 10 0 0 0\ncpu1 6 0 0 190 5 0 0 5\nintr 1 2\n", 1);
        let (before, after) = (before.unwrap(), after.unwrap());
        assert_eq!(after.others_busy(&before, 1), 0.3);
        assert_eq!(after.stolen_ms(&before), 20);
        assert!(Ticks::parse("cpu0 1 2 3", 0).is_err());
    }

    #[test]
    fn timer_interrupts_are_those_of_the_core() {
        let x86 = "      CPU0  CPU2\n 28:   5   6  IO-APIC\n LOC:   17   4   Local timer interrupts\n";
        let arm = "      CPU0  CPU2\n 9:   17   4   GICv3  27 Level     arch_timer\n";
        for text in [x86, arm] {
            assert_eq!([0, 1, 2].map(|core| timer_interrupts(text, core)), [Some(17), None, Some(4)]);
        }
        let mut here = TimerInterrupts::of(pin(None).unwrap()).unwrap();
        let before = here.count().unwrap();
        let start = Instant::now();
        while here.count().unwrap() == before {
            assert!(start.elapsed() < Duration::from_secs(20), "a busy core's timer ticks");
        }
    }

    #[test]
    fn this_thread_can_be_kept_on_a_core() {
        let core = pin(None).unwrap();
        assert_eq!(pin(Some(core)).unwrap(), core);
        assert!(pin(Some(CpuSet::count())).is_err());
    }
}
