//! The doctor's checks of the kernel and its settings. [`super`] calls each once, with the facts that were read. Pure.

use super::Severity::{Note, Serious, Warning};
use super::{Finding, MachineFacts};

/// The first kernel with MADV_GUARD_INSTALL: guards under stacks that take no mapping each.
const GUARDS_SINCE: (u32, u32) = (6, 13);
/// Mappings that suffice for some 30,000 stacks with guards of their own.
const MAPS_MIN: u64 = 65_530;

fn release(seen: &MachineFacts) -> Option<((u32, u32), String)> {
    let text = seen.text("/proc/sys/kernel/osrelease")?;
    let mut numbers = text.split(|c: char| !c.is_ascii_digit()).filter_map(|part| part.parse().ok());
    Some(((numbers.next()?, numbers.next()?), text.clone()))
}

pub(super) fn version(seen: &MachineFacts) -> Vec<Finding> {
    let Some((version, text)) = release(seen).filter(|found| found.0 < GUARDS_SINCE) else {
        return Vec::new();
    };
    let what = format!(
        "Linux {}.{} has no MADV_GUARD_INSTALL: each stack's guard is a mapping of its own",
        version.0, version.1
    );
    vec![Finding::new("kernel-version", Note, what, format!("/proc/sys/kernel/osrelease: {text}")).advice(
        "raise vm.max_map_count where more than 30,000 requests are to be in the system at once, or take Linux 6.13",
    )]
}

/// The timer interrupt: each takes a microsecond or two of the running request.
pub(super) fn ticks(seen: &MachineFacts) -> Vec<Finding> {
    let full = seen.text("/sys/devices/system/cpu/nohz_full").unwrap_or_default();
    if !full.is_empty() && full != "(null)" {
        return Vec::new();
    }
    let config = release(seen).and_then(|(_, release)| seen.text(&format!("/boot/config-{release}")));
    let hz = config
        .and_then(|config| config.lines().find_map(|line| Some(line.strip_prefix("CONFIG_HZ=")?.to_owned())));
    let (what, evidence) = match hz {
        Some(hz) => {
            (format!("the timer interrupts every core {hz} times a second"), format!("CONFIG_HZ={hz}"))
        }
        None => (
            "the timer interrupts every busy core at each tick".to_owned(),
            "the rate is not to be read here".to_owned(),
        ),
    };
    let evidence = format!(
        "{evidence}; /sys/devices/system/cpu/nohz_full: {}",
        if full.is_empty() { "empty" } else { &full }
    );
    vec![Finding::new("timer-ticks", Note, what, evidence).advice(
        "boot with nohz_full= and rcu_nocbs= for the workers' processors (the kernel must have CONFIG_NO_HZ_FULL)",
    )]
}

pub(super) fn isolation(seen: &MachineFacts) -> Vec<Finding> {
    let isolated = seen.text("/sys/devices/system/cpu/isolated").unwrap_or_default();
    if !isolated.is_empty() || seen.boot_option("isolcpus").is_some() || !seen.exists("/proc/cmdline") {
        return Vec::new();
    }
    let what =
        "no processor is kept free of other threads: the kernel may put anybody beside a pinned worker";
    let evidence = "/sys/devices/system/cpu/isolated: empty; /proc/cmdline: no isolcpus=";
    vec![Finding::new("no-isolated-processors", Note, what, evidence).advice(
        "boot with isolcpus= for the workers' processors, or give them a cpuset partition (cpuset.cpus.partition = isolated)",
    )]
}

pub(super) fn huge_pages(seen: &MachineFacts) -> Vec<Finding> {
    let path = "/sys/kernel/mm/transparent_hugepage/enabled";
    let Some(text) = seen.text(path).filter(|text| text.contains("[always]")) else { return Vec::new() };
    let what = "transparent huge pages everywhere: a stack that is touched once may take 2 MB, and the compaction of memory stalls";
    vec![
        Finding::new("huge-pages", Warning, what, format!("{path}: {text}"))
            .advice("echo madvise > /sys/kernel/mm/transparent_hugepage/enabled"),
    ]
}

pub(super) fn maps(seen: &MachineFacts) -> Vec<Finding> {
    let path = "/proc/sys/vm/max_map_count";
    let Some(count) = seen.number(path).filter(|&count| count < MAPS_MIN) else { return Vec::new() };
    let what = format!("a process may have {count} mappings, which bounds the stacks of requests");
    vec![
        Finding::new("max-map-count", Warning, what, format!("{path}: {count}"))
            .advice("sysctl vm.max_map_count=1048576"),
    ]
}

pub(super) fn real_time(seen: &MachineFacts) -> Vec<Finding> {
    let limits = seen.limits;
    let mut findings = Vec::new();
    if !limits.privileged && limits.real_time_priority == 0 {
        let what = "threads of this process may not have real-time priority: everybody else's threads are their equals";
        findings.push(Finding::new("no-real-time", Note, what, "RLIMIT_RTPRIO: 0").advice(
            "for measurements, ulimit -r 1 or CAP_SYS_NICE; a service does better with processors of its own",
        ));
    }
    let path = "/proc/sys/kernel/sched_rt_runtime_us";
    let period = seen.number("/proc/sys/kernel/sched_rt_period_us").unwrap_or(1_000_000);
    if let Some(runtime) = seen.number(path).filter(|&runtime| runtime < period) {
        let what = format!(
            "a spinning real-time thread is stopped for {} ms of every {} ms",
            (period - runtime) / 1000,
            period / 1000
        );
        findings.push(Finding::new("real-time-throttling", Note, what, format!("{path}: {runtime}")).advice(
            "keep measurements under SCHED_FIFO shorter than that, and workers of a service out of it",
        ));
    }
    findings
}

pub(super) fn counters(seen: &MachineFacts) -> Vec<Finding> {
    let devices = "/sys/bus/event_source/devices";
    let has_counters = seen.names(devices).iter().any(|name| name.starts_with("cpu"));
    if has_counters || !seen.exists(devices) {
        return Vec::new();
    }
    let what = "there are no hardware counters: perf stat can not say where cycles went";
    vec![
        Finding::new("no-counters", Note, what, format!("{devices}: no cpu"))
            .advice("count instructions with callgrind, or measure on a machine that has them"),
    ]
}

pub(super) fn watchdogs(seen: &MachineFacts) -> Vec<Finding> {
    let path = "/proc/sys/kernel/watchdog";
    let Some(value) = seen.number(path).filter(|&value| value != 0) else { return Vec::new() };
    let what = "the kernel's watchdog runs on every core every few seconds, before everybody else";
    vec![Finding::new("watchdog", Note, what, format!("{path}: {value}")).advice(
        "sysctl kernel.watchdog=0 on machines where tails above 10 us matter, or kernel.watchdog_cpumask without the workers",
    )]
}

pub(super) fn slack(seen: &MachineFacts) -> Vec<Finding> {
    let path = "/proc/self/timerslack_ns";
    let Some(slack_ns) = seen.number(path).filter(|&slack_ns| slack_ns > 100_000) else { return Vec::new() };
    let what = format!(
        "sleeps of this process end up to {} µs late, so that the kernel can do several at once",
        slack_ns / 1000
    );
    let severity = if slack_ns > 10_000_000 { Serious } else { Warning };
    vec![
        Finding::new("timer-slack", severity, what, format!("{path}: {slack_ns}"))
            .advice("prctl(PR_SET_TIMERSLACK, 1), or echo 1 > /proc/PID/timerslack_ns"),
    ]
}
