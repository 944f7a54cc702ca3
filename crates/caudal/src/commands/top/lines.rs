//! The text of a sample of `caudal top`: one line for each class of requests, one for each worker. `top` prints these lines as they are;
//! `view` puts the same cells into the tables of the live view. Pure functions.

use caudal_rt::stats::{ClassStats, Snapshot, WorkerStats};
use serde_json::{Value, json};

use caudal_results::table::{Table, digits, time};

/// Heads of the columns of classes.
pub(super) const CLASS_HEADS: [&str; 9] =
    ["class", "rate", "p50", "p99", "p99.9", "queueing p99", "service p50", "preempt/req", "section p99"];
/// Heads of the columns of workers, without that of the bar.
pub(super) const WORKER_HEADS: [&str; 8] =
    ["worker", "busy", "scheduling", "idle", "rate", "inside", "inbox", "runs"];

/// A rate a second: `1.2 M/s`.
pub(super) fn rate(per_s: f64) -> String {
    match per_s {
        rate if rate >= 999.5e3 => format!("{} M/s", digits(rate / 1e6)),
        rate if rate >= 999.5 => format!("{} k/s", digits(rate / 1e3)),
        rate => format!("{} /s", digits(rate)),
    }
}

fn per_s(count: u64, sample: &Snapshot) -> f64 {
    count as f64 / (sample.interval_ns as f64 / 1e9).max(1e-9)
}

/// Requests of a class that ended, a second.
pub(super) fn class_rate(class: &ClassStats, sample: &Snapshot) -> f64 {
    per_s(class.sojourn.count(), sample)
}

/// A percentile of a histogram of times; none where nothing was recorded.
fn percentile(histogram: &caudal_rt::histogram::Histogram, percentile: f64) -> String {
    if histogram.is_empty() { "–".to_owned() } else { time(histogram.percentile(percentile)) }
}

/// The cells of a class.
pub(super) fn class(class: &ClassStats, sample: &Snapshot) -> Vec<String> {
    let preemptions = class.preemptions.mean();
    vec![
        class.name.clone(),
        rate(class_rate(class, sample)),
        percentile(&class.sojourn, 50.0),
        percentile(&class.sojourn, 99.0),
        percentile(&class.sojourn, 99.9),
        percentile(&class.queueing, 99.0),
        percentile(&class.service, 50.0),
        if preemptions.is_nan() { "–".to_owned() } else { digits(preemptions) },
        percentile(&class.sections, 99.0),
    ]
}

/// The cells of a worker.
pub(super) fn worker(number: usize, worker: &WorkerStats, sample: &Snapshot) -> Vec<String> {
    let shares = worker.shares().map(|share| format!("{:.1} %", 100.0 * share));
    let [busy, scheduling, idle] = shares;
    let stuck = if worker.stuck { " (stuck)" } else { "" };
    vec![
        number.to_string(),
        busy,
        scheduling,
        idle,
        rate(per_s(worker.finished, sample)),
        worker.inside.to_string(),
        worker.inbox.to_string(),
        worker.running.as_ref().map_or_else(|| "–".to_owned(), |class| format!("{class}{stuck}")),
    ]
}

/// The part of the sample in which others had the worker's core.
fn waited(worker: &WorkerStats, sample: &Snapshot) -> f64 {
    (worker.waited_ns as f64 / (sample.interval_ns as f64).max(1.0)).min(1.0)
}

/// Warnings: the fault that the sample shows and what to do about it, a line each.
pub(super) fn warnings(sample: &Snapshot) -> Vec<String> {
    let mut lines = Vec::new();
    let starved: Vec<String> = (sample.workers.iter().enumerate())
        .filter(|(_, worker)| worker.starved)
        .map(|(number, worker)| format!("worker {number} {:.0} %", 100.0 * waited(worker, sample)))
        .collect();
    if !starved.is_empty() {
        lines.push(format!(
            "starved: others have the core of {} of the time; `caudal doctor` says who runs",
            starved.join(", ")
        ));
    }
    if sample.overloaded {
        lines.push("overloaded: more requests come than the workers can do; those that have not started wait or are refused".to_owned());
    }
    let unprobed: Vec<&str> =
        sample.classes.iter().filter(|class| class.unprobed).map(|class| &*class.name).collect();
    if !unprobed.is_empty() {
        lines.push(format!(
            "without probes: nothing can pre-empt requests of {}; build with `cargo caudal build` or `caudal cc`",
            unprobed.join(", ")
        ));
    }
    lines
}

/// `5 s of kv (1234), up 60 s; stalls: raw`
pub(super) fn head(sample: &Snapshot) -> String {
    let (name, pid) = (&sample.runtime.name, sample.runtime.pid);
    let (interval, uptime) = (time(sample.interval_ns as f64), time(sample.uptime_ns as f64));
    format!("{interval} of {name} ({pid}), up {uptime}; times are raw: stalls of the machine are in them")
}

/// Events that happened in the sample, and the stacks.
pub(super) fn counters(sample: &Snapshot) -> String {
    let events = sample.counters.all();
    let events: Vec<String> = events
        .iter()
        .filter(|(_, count)| *count > 0)
        .map(|(name, count)| format!("{name} {count}"))
        .collect();
    let events = if events.is_empty() { "no failures".to_owned() } else { events.join(", ") };
    format!("{events}; {} of at most {} stacks", sample.stacks.mapped, sample.stacks.limit)
}

/// The whole sample as plain tables.
pub(super) fn tables(sample: &Snapshot) -> String {
    let mut classes = Table::new(&CLASS_HEADS);
    sample.classes.iter().for_each(|of| classes.row(class(of, sample)));
    let mut workers = Table::new(&WORKER_HEADS);
    sample.workers.iter().enumerate().for_each(|(number, of)| workers.row(worker(number, of, sample)));
    let warnings: String = warnings(sample).iter().map(|line| format!("{line}\n")).collect();
    format!("{}\n\n{classes}\n{workers}\n{}\n{warnings}", head(sample), counters(sample))
}

/// The sample as one object.
pub(super) fn json(id: &str, sample: &Snapshot) -> Value {
    let of_class = |class: &ClassStats| {
        let times = |histogram: &caudal_rt::histogram::Histogram| match histogram.is_empty() {
            true => Value::Null,
            false => json!({
                "p50": histogram.percentile(50.0), "p99": histogram.percentile(99.0),
                "p999": histogram.percentile(99.9), "max": histogram.max(), "mean": histogram.mean(),
            }),
        };
        let mean = |histogram: &caudal_rt::histogram::Histogram| {
            if histogram.is_empty() { Value::Null } else { json!(histogram.mean()) }
        };
        json!({
            "class": class.name, "requests": class.sojourn.count(), "rate_per_s": class_rate(class, sample),
            "sojourn_ns": times(&class.sojourn), "queueing_ns": times(&class.queueing),
            "service_ns": times(&class.service), "lateness_ns": times(&class.lateness),
            "sections_ns": times(&class.sections), "unprobed": class.unprobed,
            "quanta_per_request": mean(&class.quanta), "preemptions_per_request": mean(&class.preemptions),
        })
    };
    let of_worker = |(number, worker): (usize, &WorkerStats)| {
        let [busy, scheduling, idle] = worker.shares();
        json!({
            "worker": number, "busy": busy, "scheduling": scheduling, "idle": idle, "finished": worker.finished,
            "received": worker.received, "inside": worker.inside, "inbox": worker.inbox,
            "running": worker.running, "stuck": worker.stuck, "waited_ns": worker.waited_ns, "starved": worker.starved,
        })
    };
    json!({
        "runtime": id, "name": sample.runtime.name, "uptime_ns": sample.uptime_ns, "interval_ns": sample.interval_ns,
        "stalls": sample.stalls, "classes": sample.classes.iter().map(of_class).collect::<Vec<_>>(),
        "workers": sample.workers.iter().enumerate().map(of_worker).collect::<Vec<_>>(),
        "counters": sample.counters, "stacks": sample.stacks, "overloaded": sample.overloaded,
    })
}
