//! A snapshot in Prometheus' text format (version 0.0.4). A program with a metrics page asks for it at each scrape, and the socket when a
//! client asks. It returns text.
//!
//! Times are in seconds, as that world has it. A bucket's bound lies within one of the runtime's own, narrower buckets: those
//! values count as below it, so a count is off by at most what lies within 3 % of the bound.

use std::fmt::Write;

use caudal_rt::histogram::Histogram;
use caudal_rt::stats::{ClassStats, Snapshot, WorkerStats};

/// Bounds of buckets of times, in ns: 100 ns to 10 s.
const TIMES_NS: [f64; 25] = [
    1e2, 2.5e2, 5e2, 1e3, 2.5e3, 5e3, 1e4, 2.5e4, 5e4, 1e5, 2.5e5, 5e5, 1e6, 2.5e6, 5e6, 1e7, 2.5e7, 5e7,
    1e8, 2.5e8, 5e8, 1e9, 2.5e9, 5e9, 1e10,
];
/// Bounds of buckets of numbers of quanta and preemptions.
const COUNTS: [f64; 14] = [0.0, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0, 1e3, 1e4, 1e5, 1e6];

/// A histogram of each class.
struct OfClass {
    name: &'static str,
    help: &'static str,
    of: fn(&ClassStats) -> &Histogram,
    /// Bounds, and what one of their units is in that of the text.
    bounds: &'static [f64],
    unit: f64,
}

const HISTOGRAMS: [OfClass; 7] = [
    OfClass {
        name: "caudal_request_queueing_seconds",
        help: "From arrival to start of a request.",
        of: |class| &class.queueing,
        bounds: &TIMES_NS,
        unit: 1e-9,
    },
    OfClass {
        name: "caudal_request_service_seconds",
        help: "Time of a request on a worker.",
        of: |class| &class.service,
        bounds: &TIMES_NS,
        unit: 1e-9,
    },
    OfClass {
        name: "caudal_request_sojourn_seconds",
        help: "From arrival to completion of a request.",
        of: |class| &class.sojourn,
        bounds: &TIMES_NS,
        unit: 1e-9,
    },
    OfClass {
        name: "caudal_request_quanta",
        help: "Quanta that a request used up.",
        of: |class| &class.quanta,
        bounds: &COUNTS,
        unit: 1.0,
    },
    OfClass {
        name: "caudal_request_preemptions",
        help: "Times that a request was taken off its worker before its end.",
        of: |class| &class.preemptions,
        bounds: &COUNTS,
        unit: 1.0,
    },
    OfClass {
        name: "caudal_yield_lateness_seconds",
        help: "From the end of a quantum until the request gave its worker back.",
        of: |class| &class.lateness,
        bounds: &TIMES_NS,
        unit: 1e-9,
    },
    OfClass {
        name: "caudal_critical_section_seconds",
        help: "Time of a request in a critical section, in which its worker can run nothing else.",
        of: |class| &class.sections,
        bounds: &TIMES_NS,
        unit: 1e-9,
    },
];

/// A number of each worker: name, kind, help, labels beside the worker's, value.
type OfWorker = (&'static str, &'static str, &'static str, fn(&WorkerStats) -> Vec<(&'static str, f64)>);

const NUMBERS: [OfWorker; 8] = [
    ("caudal_worker_time_seconds_total", "counter", "Where the time of a worker went.", |worker| {
        let in_state = |state, ns: u64| (state, ns as f64 / 1e9);
        vec![
            in_state("state=\"busy\"", worker.busy_ns),
            in_state("state=\"scheduling\"", worker.scheduling_ns),
            in_state("state=\"idle\"", worker.idle_ns),
        ]
    }),
    ("caudal_requests_finished_total", "counter", "Requests that have ended on a worker.", |worker| {
        vec![("", worker.finished as f64)]
    }),
    (
        "caudal_requests_received_total",
        "counter",
        "Requests that a worker took from the inboxes of others.",
        |worker| vec![("", worker.received as f64)],
    ),
    ("caudal_worker_requests", "gauge", "Requests that a worker has taken in and not ended.", |worker| {
        vec![("", f64::from(worker.inside))]
    }),
    ("caudal_worker_inbox_requests", "gauge", "Requests in the inbox of a worker.", |worker| {
        vec![("", worker.inbox as f64)]
    }),
    ("caudal_worker_stuck", "gauge", "1 while a worker is stuck in a handler.", |worker| {
        vec![("", f64::from(u8::from(worker.stuck)))]
    }),
    (
        "caudal_worker_waited_seconds_total",
        "counter",
        "Time for which a worker was ready to run and had no core, because others had it; it is in the other times as well.",
        |worker| vec![("", worker.waited_ns as f64 / 1e9)],
    ),
    (
        "caudal_worker_starved",
        "gauge",
        "1 while others have a worker's core for a tenth of the time or more.",
        |worker| vec![("", f64::from(u8::from(worker.starved)))],
    ),
];

/// The snapshot in Prometheus' text format, to be served as `text/plain; version=0.0.4`. Take one since the start of the runtime:
/// Prometheus wants counters that only grow.
pub(crate) fn text(snapshot: &Snapshot) -> String {
    let mut text = Text(String::new());
    for histogram in &HISTOGRAMS {
        text.head(
            histogram.name,
            "histogram",
            &format!("{} Raw: stalls of the machine are in it.", histogram.help),
        );
        for class in &snapshot.classes {
            text.histogram(histogram, class);
        }
    }
    for (name, kind, help, values) in NUMBERS {
        text.head(name, kind, help);
        for (number, worker) in snapshot.workers.iter().enumerate() {
            for (label, value) in values(worker) {
                let comma = if label.is_empty() { "" } else { "," };
                text.sample(name, &format!("worker=\"{number}\"{comma}{label}"), value);
            }
        }
    }
    totals(snapshot, &mut text);
    text.0
}

fn totals(snapshot: &Snapshot, text: &mut Text) {
    for (event, count) in snapshot.counters.all() {
        let name = match event {
            "stuck" => "caudal_stuck_total".to_owned(),
            "unsent" => "caudal_replies_unsent_total".to_owned(),
            event => format!("caudal_requests_{event}_total"),
        };
        text.head(&name, "counter", help_of(event));
        text.sample(&name, "", count as f64);
    }
    for (name, help, value) in [
        ("caudal_stacks", "Stacks of coroutines that are mapped.", snapshot.stacks.mapped),
        ("caudal_stacks_limit", "Stacks that there may be.", snapshot.stacks.limit),
        (
            "caudal_overloaded",
            "1 while more requests come than the workers can do.",
            u64::from(snapshot.overloaded),
        ),
    ] {
        text.head(name, "gauge", help);
        text.sample(name, "", value as f64);
    }
    text.head("caudal_uptime_seconds", "gauge", "For how long the runtime has run.");
    text.sample("caudal_uptime_seconds", "", snapshot.uptime_ns as f64 / 1e9);
    text.head("caudal_runtime_info", "gauge", "Which runtime it is.");
    let (name, version) = (escaped(&snapshot.runtime.name), escaped(&snapshot.runtime.version));
    text.sample("caudal_runtime_info", &format!("name=\"{name}\",version=\"{version}\",stalls=\"raw\""), 1.0);
}

fn help_of(event: &str) -> &'static str {
    match event {
        "panicked" => "Requests whose handlers panicked.",
        "cancelled" => "Requests that were cancelled.",
        "expired" => "Requests that had not started by their deadline.",
        "abandoned" => "Requests whose coroutines were given up.",
        "stopped" => "Requests that had not started when the runtime stopped.",
        "refused" => "Requests that found a full queue.",
        "stuck" => "Times that a worker was found stuck in a handler.",
        "unsent" => "Replies that could not be sent before their worker ended.",
        _ => "Requests that ended inside of critical sections.",
    }
}

/// The text so far.
struct Text(String);

impl Text {
    fn line(&mut self, line: std::fmt::Arguments<'_>) {
        // Writing to a string does not fail.
        let _ = writeln!(self.0, "{line}");
    }

    fn head(&mut self, name: &str, kind: &str, help: &str) {
        self.line(format_args!("# HELP {name} {help}"));
        self.line(format_args!("# TYPE {name} {kind}"));
    }

    fn sample(&mut self, name: &str, labels: &str, value: f64) {
        if labels.is_empty() {
            self.line(format_args!("{name} {value}"));
        } else {
            self.line(format_args!("{name}{{{labels}}} {value}"));
        }
    }

    fn histogram(&mut self, OfClass { name, of, bounds, unit, .. }: &OfClass, class: &ClassStats) {
        let (histogram, label) = (of(class), escaped(&class.name));
        let buckets = format!("{name}_bucket");
        for bound in *bounds {
            let below = histogram.count() - histogram.count_above(*bound);
            let le = rounded(bound * unit);
            self.sample(&buckets, &format!("class=\"{label}\",le=\"{le}\""), below as f64);
        }
        self.sample(&buckets, &format!("class=\"{label}\",le=\"+Inf\""), histogram.count() as f64);
        let class = format!("class=\"{label}\"");
        self.sample(&format!("{name}_sum"), &class, histogram.sum() * unit);
        self.sample(&format!("{name}_count"), &class, histogram.count() as f64);
    }
}

/// Two significant digits, which is all that bounds have: 250 ns are 2.5e-7 s, whatever the product of two rounded numbers is.
fn rounded(value: f64) -> f64 {
    format!("{value:.1e}").parse().unwrap_or(value)
}

/// A label's value: backslash, quote and line break are escaped.
fn escaped(value: &str) -> String {
    value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}
