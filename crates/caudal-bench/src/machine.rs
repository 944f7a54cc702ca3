//! The machine: clocks, cores, memory. Every row reads the clocks here around its runs; [`describe`] stands above the table. Only
//! [`on_all_cores`] changes anything: the affinity of its thread.

use std::time::Instant;

use rustix::time::{ClockId, clock_gettime};

/// Time that something took.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Took {
    /// CPU seconds of the thread. Other programs change them only through shared caches.
    pub(crate) cpu_s: f64,
    /// Seconds on the wall.
    pub(crate) wall_s: f64,
}

fn seconds(clock: ClockId) -> f64 {
    let time = clock_gettime(clock);
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

/// CPU seconds of all threads of the process.
pub(crate) fn process_cpu_s() -> f64 {
    seconds(ClockId::ProcessCPUTime)
}

/// CPU seconds of this thread.
pub(crate) fn thread_cpu_s() -> f64 {
    seconds(ClockId::ThreadCPUTime)
}

/// Runs `work` and takes its time on this thread.
pub(crate) fn timed<T>(work: impl FnOnce() -> T) -> (T, Took) {
    let (wall, cpu_s) = (Instant::now(), thread_cpu_s());
    let result = std::hint::black_box(work());
    (result, Took { cpu_s: thread_cpu_s() - cpu_s, wall_s: wall.elapsed().as_secs_f64() })
}

/// Runs `work` free to use every core, where the process was pinned to one.
#[cfg(target_os = "linux")]
pub(crate) fn on_all_cores<T>(work: impl FnOnce() -> T) -> T {
    use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
    let before = sched_getaffinity(None);
    let mut all = CpuSet::new();
    (0..CpuSet::MAX_CPU).for_each(|cpu| all.set(cpu));
    // Where this is not allowed, the work stays on one core, and the figures of the table show it.
    let _ = sched_setaffinity(None, &all);
    let result = work();
    if let Ok(before) = before {
        let _ = sched_setaffinity(None, &before);
    }
    result
}

/// Other systems do not pin.
#[cfg(not(target_os = "linux"))]
pub(crate) fn on_all_cores<T>(work: impl FnOnce() -> T) -> T {
    work()
}

/// Most memory that the process has had resident, in bytes; `None` where there is no `/proc`.
pub(crate) fn peak_memory_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib * 1024)
}

/// The processor and how busy it is, by which a reader judges the figures.
pub(crate) fn describe() -> String {
    let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
    let about = read("/proc/cpuinfo");
    let model = about.lines().find_map(|line| line.strip_prefix("model name")?.split_once(':'));
    let model = model.map_or("unknown processor", |(_, name)| name.trim());
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let cores = on_all_cores(|| std::thread::available_parallelism().map_or(cores, usize::from));
    let load = read("/proc/loadavg");
    let load = load.split(' ').next().filter(|load| !load.is_empty()).unwrap_or("unknown");
    format!("{model}, {cores} cores, load average {load}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_and_memory_go_up() {
        let (sum, took) = timed(|| (0..30_000_000_u64).fold(0, |sum, i| std::hint::black_box(sum ^ i)));
        assert_eq!(sum, 0);
        assert!(took.cpu_s > 0.0 && took.wall_s > 0.0 && process_cpu_s() >= took.cpu_s);
        if cfg!(target_os = "linux") {
            let before = peak_memory_bytes().unwrap();
            let block = std::hint::black_box(vec![1_u8; 64 << 20]);
            assert!(peak_memory_bytes().unwrap() >= before.max(block.len() as u64));
        }
    }
}
