//! The doctor's checks of processors: how many there are, how fast they are, and who else uses them. [`super`] calls each once, with the
//! facts that were read. Pure.

use super::Severity::{Note, Serious, Warning};
use super::{Finding, MachineFacts};

/// Share of stolen time from which on it shows in tails.
const STEAL_SHARE: f64 = 0.001;

pub(super) fn allowed(seen: &MachineFacts) -> Vec<Finding> {
    let (may, online) = (seen.limits.cpus, seen.cpus().len());
    let evidence = format!("sched_getaffinity: {may} of {online} in /sys/devices/system/cpu");
    let mut findings = Vec::new();
    if may == 1 {
        let what =
            "this process may use one processor: a dispatcher and a worker would take it from each other";
        findings.push(Finding::new("one-processor", Serious, what, evidence).advice(
            "give it more (taskset, cpuset, docker --cpuset-cpus), or take a system without a dispatcher and one worker",
        ));
    } else if may > 0 && may < online {
        let what = format!("this process may use {may} of {online} processors");
        findings.push(
            Finding::new("part-of-processors", Note, what, evidence)
                .advice("plan for those; make sure that nobody else may use them"),
        );
    }
    findings
}

pub(super) fn clock(seen: &MachineFacts) -> Vec<Finding> {
    let flags = seen.cpuinfo("flags");
    let missing: Vec<&str> = ["constant_tsc", "nonstop_tsc"]
        .into_iter()
        .filter(|flag| !flags.iter().any(|has| has == flag))
        .collect();
    if flags.is_empty() || missing.is_empty() {
        return Vec::new();
    }
    let what =
        "the time stamp counter may change its rate or stand still: quanta and all times would be wrong";
    let evidence = format!("/proc/cpuinfo: flags lack {}", missing.join(", "));
    vec![
        Finding::new("time-stamp-counter", Serious, what, evidence)
            .advice("use a processor, or a hypervisor setting, with an invariant counter"),
    ]
}

pub(super) fn siblings(seen: &MachineFacts) -> Vec<Finding> {
    let path = |cpu| format!("/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list");
    let shared = |cpu: &usize| {
        let list = seen.text(&path(*cpu))?;
        list.contains([',', '-']).then_some((*cpu, list))
    };
    let Some((cpu, list)) = seen.cpus().iter().find_map(shared) else { return Vec::new() };
    let what =
        "processors share cores with siblings (SMT): a neighbour's work makes a quantum up to twice as long";
    vec![Finding::new("smt", Warning, what, format!("{}: {list}", path(cpu))).advice(
        "pin workers to one processor of each core and leave its sibling idle, or switch SMT off: echo off > \
         /sys/devices/system/cpu/smt/control",
    )]
}

pub(super) fn governor(seen: &MachineFacts) -> Vec<Finding> {
    let path = |cpu| format!("/sys/devices/system/cpu/cpu{cpu}/cpufreq/scaling_governor");
    let slow =
        |cpu: &usize| Some((*cpu, seen.text(&path(*cpu)).filter(|governor| governor != "performance")?));
    let Some((cpu, governor)) = seen.cpus().iter().find_map(slow) else { return Vec::new() };
    let what = "processors change their frequency with the load: the first requests after a pause are slower";
    vec![
        Finding::new("frequency-scaling", Warning, what, format!("{}: {governor}", path(cpu)))
            .advice("cpupower frequency-set -g performance"),
    ]
}

pub(super) fn turbo(seen: &MachineFacts) -> Vec<Finding> {
    let intel = ("/sys/devices/system/cpu/intel_pstate/no_turbo", "0");
    let others = ("/sys/devices/system/cpu/cpufreq/boost", "1");
    let on = |(path, on): (&'static str, &str)| {
        seen.text(path).filter(|value| value == on).map(|value| (path, value))
    };
    let Some((path, value)) = on(intel).or(on(others)) else { return Vec::new() };
    let what = "the frequency depends on how many cores are busy (turbo): service times do as well";
    vec![
        Finding::new("turbo", Note, what, format!("{path}: {value}"))
            .advice("leave it on for speed; switch it off for measurements that are to be compared"),
    ]
}

pub(super) fn idle_states(seen: &MachineFacts) -> Vec<Finding> {
    let base = "/sys/devices/system/cpu/cpu0/cpuidle";
    let deep = |state: &String| {
        let file = |name: &str| seen.number(&format!("{base}/{state}/{name}"));
        (file("disable")? == 0 && file("latency")? > 10).then_some((state.clone(), file("latency")?))
    };
    let Some((state, latency_us)) = seen.names(base).iter().rev().find_map(deep) else { return Vec::new() };
    let what = format!("an idle processor takes {latency_us} us to come back from its deepest sleep");
    vec![Finding::new("deep-sleep", Warning, what, format!("{base}/{state}/latency: {latency_us}")).advice(
        "let workers spin instead of sleeping, or boot with processor.max_cstate=1 (intel_idle.max_cstate=1), or hold \
         /dev/cpu_dma_latency open with 0 in it",
    )]
}

pub(super) fn steal(seen: &MachineFacts) -> Vec<Finding> {
    let stat = seen.text("/proc/stat").unwrap_or_default();
    let line = stat.lines().next().unwrap_or_default();
    let ticks: Vec<u64> =
        line.split_whitespace().skip(1).take(8).filter_map(|field| field.parse().ok()).collect();
    let [.., stolen] = ticks[..] else { return Vec::new() };
    let share = stolen as f64 / ticks.iter().sum::<u64>().max(1) as f64;
    if ticks.len() < 8 || share < STEAL_SHARE {
        return Vec::new();
    }
    let what = format!(
        "the hypervisor gave {:.2} % of the processors' time to others since the start",
        share * 100.0
    );
    let severity = if share > 0.02 { Serious } else { Warning };
    vec![Finding::new("steal-time", severity, what, format!("/proc/stat: {line}")).advice(
        "take dedicated processors (a host of one's own, pinned virtual CPUs); `caudal calibrate` measures what is left, \
         and `--costs` simulates it",
    )]
}

pub(super) fn hypervisor(seen: &MachineFacts) -> Vec<Finding> {
    if !seen.cpuinfo("flags").iter().any(|flag| flag == "hypervisor") {
        return Vec::new();
    }
    let what =
        "this is a virtual machine: its cores are taken away at times, which no setting in it can prevent";
    vec![
        Finding::new("virtual-machine", Note, what, "/proc/cpuinfo: flags has hypervisor")
            .advice("measure the stalls with `caudal calibrate`, and judge tails with them in mind"),
    ]
}
