//! The doctor's check of control groups: a limit on the processors' time stops threads as a stall does. [`super`] calls it once, with the
//! facts that were read. Pure.

use super::Severity::Serious;
use super::{Finding, MachineFacts};

const ADVICE: &str = "give whole processors instead of a share of their time: docker --cpuset-cpus instead of --cpus, Kubernetes' static CPU \
     manager with whole CPUs as requests and limits";

/// Limits of this process's groups, the root's included.
pub(super) fn quota(seen: &MachineFacts) -> Vec<Finding> {
    let own = seen.text("/proc/self/cgroup").unwrap_or_default();
    let group = |line: &str| line.rsplit(':').next().unwrap_or("/").trim_end_matches('/').to_owned();
    let unified = own.lines().find(|line| line.starts_with("0::")).map(group);
    let of_cpu =
        |line: &&str| line.split(':').nth(1).is_some_and(|names| names.split(',').any(|name| name == "cpu"));
    let first = own.lines().find(of_cpu).map(group);
    let mut findings = Vec::new();
    for path in upwards(unified.as_deref().unwrap_or(""), "/sys/fs/cgroup", "cpu.max") {
        findings.extend(unified_quota(seen, &path));
    }
    for path in upwards(first.as_deref().unwrap_or(""), "/sys/fs/cgroup/cpu", "cpu.cfs_quota_us") {
        findings.extend(first_quota(seen, &path));
    }
    findings
}

/// `file` in the group and all above it.
fn upwards(group: &str, base: &str, file: &str) -> Vec<String> {
    let mut paths = vec![format!("{base}{group}/{file}")];
    let mut at = group;
    while let Some((above, _)) = at.rsplit_once('/') {
        paths.push(format!("{base}{above}/{file}"));
        at = above;
    }
    paths
}

/// Version 2: `max 100000`, or microseconds of each period.
fn unified_quota(seen: &MachineFacts, path: &str) -> Option<Finding> {
    let text = seen.text(path)?;
    let (quota, period) = text.split_once(' ')?;
    let quota: u64 = quota.parse().ok()?;
    Some(limited(quota, period.parse().ok()?, format!("{path}: {text}")))
}

/// Version 1: −1, or microseconds of each period.
fn first_quota(seen: &MachineFacts, path: &str) -> Option<Finding> {
    let quota = seen.number(path)?;
    let period = seen.number(&path.replace("quota", "period"))?;
    Some(limited(quota, period, format!("{path}: {quota}")))
}

fn limited(quota_us: u64, period_us: u64, evidence: String) -> Finding {
    let cpus = quota_us as f64 / period_us.max(1) as f64;
    let what = format!(
        "this process may run {cpus:.2} processors' worth of time: once it is used up, all of its threads stand still for the \
         rest of each {} ms",
        period_us as f64 / 1000.0
    );
    Finding::new("cpu-quota", Serious, what, evidence).advice(ADVICE)
}
