//! Numbers of a runtime at some moment, and the difference between two such moments. Programs and services ask for them on threads of their
//! own: what workers publish is read, and no worker is stopped or waits for that.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{Acquire, Relaxed};
use std::time::UNIX_EPOCH;

use serde::{Deserialize, Serialize};

use crate::base::clock::now;
use crate::board::histogram::Histogram;
use crate::board::measured::Taken;
use crate::board::{SharedWorker, Slice};
use crate::kernel::shared::Shared;

/// Are the times when the machine took a core away from its worker in the histograms?
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Stalls {
    /// They are: times are as they were.
    #[default]
    Raw,
}

/// Name, process and version of a runtime.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    /// Its name; of its program, unless [`Builder::name`](crate::Builder::name) says otherwise.
    pub name: String,
    /// Its process.
    pub pid: u32,
    /// Its version of this crate.
    pub version: String,
}

/// Numbers of a runtime since it started, or since an earlier snapshot.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Snapshot {
    /// The runtime.
    pub runtime: Identity,
    /// When it started, in milliseconds since 1970.
    pub started_unix_ms: u64,
    /// For how long it has run.
    pub uptime_ns: u64,
    /// Span of the numbers, until now.
    pub interval_ns: u64,
    /// Contents of the histograms.
    pub stalls: Stalls,
    /// In the order of registration.
    pub classes: Vec<ClassStats>,
    /// By number.
    pub workers: Vec<WorkerStats>,
    /// Requests that ended otherwise than by returning, and other events.
    pub counters: Counters,
    /// Stacks of coroutines.
    pub stacks: StackStats,
    /// More requests come than the workers can do: none was idle for half a second, and a queue is half full or refused some.
    #[serde(default)]
    pub overloaded: bool,
}

/// Measurements of the requests of a class, on all workers. Whoever has been counted in `sojourn` has been in `service`
/// and `queueing` as well; requests that have started and not ended are in `queueing` only.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ClassStats {
    /// Its name.
    pub name: String,
    /// From arrival to start, in ns.
    pub queueing: Histogram,
    /// Time on a worker, in ns.
    pub service: Histogram,
    /// From arrival to completion, in ns.
    pub sojourn: Histogram,
    /// Quanta that were used up, a request each.
    pub quanta: Histogram,
    /// Times that it was taken off its worker before its end, a request each; waiting for something is none.
    pub preemptions: Histogram,
    /// From the end of a quantum until the request gave its worker back, in ns.
    pub lateness: Histogram,
    /// Critical sections, each from the entry of the outermost one to its exit, in ns: nobody else of the worker could run. Those that
    /// were entered by [`no_preempt`](crate::no_preempt) or `caudal_critical_enter`; the inlined ones are not measured.
    #[serde(default)]
    pub sections: Histogram,
    /// Requests of it went on for many quanta, and none has passed a probe: nothing can pre-empt them. Their code was built without.
    #[serde(default)]
    pub unprobed: bool,
}

/// Numbers of a worker.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct WorkerStats {
    /// Time on requests.
    pub busy_ns: u64,
    /// Time on finding out what to run.
    pub scheduling_ns: u64,
    /// Time without anything to do.
    pub idle_ns: u64,
    /// Requests that have ended there.
    pub finished: u64,
    /// Requests that it took from the inboxes of others.
    pub received: u64,
    /// Requests that it has taken in and that have not ended, now.
    pub inside: u32,
    /// Requests in its inbox, now.
    pub inbox: u64,
    /// The class of the request that it runs now.
    pub running: Option<String>,
    /// For how long it has been in that request without a switch.
    pub running_ns: u64,
    /// It is too long: others take its unstarted requests.
    pub stuck: bool,
    /// Time for which it was ready to run and had no core, because others had it; it is in the other times as well. By the kernel, to
    /// within half a second; 0 where the kernel does not say.
    #[serde(default)]
    pub waited_ns: u64,
    /// It was so for a tenth of its time or more in the last half of a second.
    #[serde(default)]
    pub starved: bool,
}

/// Requests that ended otherwise than by returning, and other events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counters {
    /// Requests whose handlers panicked.
    pub panicked: u64,
    /// Requests that were cancelled.
    pub cancelled: u64,
    /// Requests that had not started by their deadline.
    pub expired: u64,
    /// Requests whose coroutines were given up.
    pub abandoned: u64,
    /// Requests that had not started when the runtime stopped.
    pub stopped: u64,
    /// Requests that found a full queue and were refused.
    pub refused: u64,
    /// Requests that ended inside of critical sections.
    pub unbalanced: u64,
    /// Times that a worker was found stuck in a handler.
    pub stuck: u64,
    /// Replies that sinks could not send before their workers ended, at most.
    #[serde(default)]
    pub unsent: u64,
}

/// Stacks of coroutines, now.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StackStats {
    /// How many are mapped.
    pub mapped: u64,
    /// How many there may be.
    pub limit: u64,
    /// The size of each.
    pub bytes: u64,
}

/// Name, process and version.
pub(crate) fn identity(shared: &Shared) -> Identity {
    let name = shared.settings.name.clone().unwrap_or_else(own_name);
    Identity { name, pid: std::process::id(), version: env!("CARGO_PKG_VERSION").to_owned() }
}

/// The name of this program's file.
fn own_name() -> String {
    let path = std::env::current_exe().unwrap_or_default();
    path.file_name().map_or_else(|| "?".to_owned(), |name| name.to_string_lossy().into_owned())
}

/// Reads everything.
pub(crate) fn take(shared: &Arc<Shared>) -> Snapshot {
    let ns = |cycles: u64| shared.clock.picos(cycles).0 / 1_000;
    let ns_per_cycle = 1e9 / shared.clock.hz();
    let names = shared.settings.classes.all();
    let classes = names.iter().enumerate();
    // Before the boards: what is counted here has been counted there.
    let unprobed = shared.unprobed.load(Relaxed);
    let classes = classes.map(|(class, name)| ClassStats {
        unprobed: unprobed >> class & 1 == 1,
        ..of_class(name, shared.classes.taken(class as u16), ns_per_cycle)
    });
    let classes = classes.collect();
    let workers = shared.workers.iter().map(|worker| of_worker(worker, shared)).collect();
    let stacks = shared.stacks.get().map_or_else(StackStats::default, |budget| StackStats {
        mapped: budget.mapped() as u64,
        limit: budget.limit().stacks as u64,
        bytes: budget.config().size as u64,
    });
    let uptime_ns = ns(now().saturating_sub(shared.began.cycles));
    let started = shared.began.at.duration_since(UNIX_EPOCH).unwrap_or_default();
    Snapshot {
        runtime: identity(shared),
        started_unix_ms: u64::try_from(started.as_millis()).unwrap_or(u64::MAX),
        uptime_ns,
        interval_ns: uptime_ns,
        stalls: Stalls::Raw,
        classes,
        workers,
        counters: counters(shared),
        stacks,
        overloaded: shared.overloaded.load(Relaxed),
    }
}

fn of_class(name: &str, taken: Taken, ns_per_cycle: f64) -> ClassStats {
    ClassStats {
        name: name.to_owned(),
        queueing: taken.queueing.scaled(ns_per_cycle),
        service: taken.service.scaled(ns_per_cycle),
        sojourn: taken.sojourn.scaled(ns_per_cycle),
        quanta: taken.quanta,
        preemptions: taken.preemptions,
        lateness: taken.lateness.scaled(ns_per_cycle),
        sections: taken.sections.scaled(ns_per_cycle),
        unprobed: false,
    }
}

fn of_worker(worker: &SharedWorker, shared: &Shared) -> WorkerStats {
    let (board, spent) = (&worker.board, &worker.spent);
    let ns = |cycles: u64| shared.clock.picos(cycles).0 / 1_000;
    let started = spent.started.load(Acquire);
    if started == 0 {
        return WorkerStats::default();
    }
    // What it does now is not accounted for yet. One slice may be counted twice, or not at all, for a moment.
    let (slice, idle_since) = (board.slice_start.load(Acquire), board.idle_since.load(Relaxed));
    let accounted = spent.accounted.load(Acquire);
    let (mut busy, mut idle) = (spent.busy.load(Relaxed), spent.idle.load(Relaxed));
    let time = now();
    if slice != 0 {
        busy += time.saturating_sub(slice.max(accounted));
    } else if idle_since != 0 {
        idle += time.saturating_sub(accounted);
    }
    let all = time.saturating_sub(started);
    let busy = busy.min(all);
    let idle = idle.min(all - busy);
    let class = || shared.settings.classes.name(Slice(board.slice.load(Relaxed)).class()).to_owned();
    WorkerStats {
        busy_ns: ns(busy),
        scheduling_ns: ns(all - busy - idle),
        idle_ns: ns(idle),
        finished: board.finished.load(Relaxed),
        received: board.received.load(Relaxed),
        inside: board.inside.load(Relaxed),
        inbox: worker.inbox.len() as u64,
        running: (slice != 0).then(class),
        running_ns: if slice == 0 { 0 } else { ns(time.saturating_sub(slice)) },
        stuck: board.stuck.load(Relaxed) != 0,
        waited_ns: worker.pressure.waited_ns.load(Relaxed),
        starved: worker.pressure.starved.load(Relaxed) != 0,
    }
}

fn counters(shared: &Shared) -> Counters {
    let counts = &shared.counts;
    let of = |count: &AtomicU64| count.load(Relaxed);
    Counters {
        panicked: of(&counts.panicked),
        cancelled: of(&counts.cancelled),
        expired: of(&counts.expired),
        abandoned: of(&counts.abandoned),
        stopped: of(&counts.stopped),
        refused: of(&counts.refused),
        unbalanced: of(&counts.unbalanced),
        stuck: of(&counts.stuck),
        unsent: of(&counts.unsent),
    }
}

impl Snapshot {
    /// The difference between `earlier` and this, both of one runtime. Numbers of a moment (requests inside, inboxes, stacks) are this
    /// one's.
    #[must_use]
    pub fn since(&self, earlier: &Snapshot) -> Snapshot {
        let classes = self.classes.iter().enumerate();
        let classes = classes.map(|(i, now)| match earlier.classes.get(i) {
            Some(then) => now.since(then),
            None => now.clone(),
        });
        let workers = self.workers.iter().zip(&earlier.workers).map(|(now, then)| now.since(then));
        Snapshot {
            runtime: self.runtime.clone(),
            interval_ns: self.uptime_ns.saturating_sub(earlier.uptime_ns),
            classes: classes.collect(),
            workers: workers.collect(),
            counters: self.counters.since(&earlier.counters),
            ..*self
        }
    }

    /// The class of that name.
    pub fn class(&self, name: &str) -> Option<&ClassStats> {
        self.classes.iter().find(|class| class.name == name)
    }

    /// Requests that have ended on all workers.
    pub fn finished(&self) -> u64 {
        self.workers.iter().map(|worker| worker.finished).sum()
    }
}

impl ClassStats {
    fn since(&self, earlier: &ClassStats) -> ClassStats {
        let since = |now: &Histogram, then: &Histogram| match then.is_empty() {
            // An empty one has no unit yet.
            true => now.clone(),
            false => now.since(then),
        };
        ClassStats {
            name: self.name.clone(),
            queueing: since(&self.queueing, &earlier.queueing),
            service: since(&self.service, &earlier.service),
            sojourn: since(&self.sojourn, &earlier.sojourn),
            quanta: since(&self.quanta, &earlier.quanta),
            preemptions: since(&self.preemptions, &earlier.preemptions),
            lateness: since(&self.lateness, &earlier.lateness),
            sections: since(&self.sections, &earlier.sections),
            unprobed: self.unprobed,
        }
    }
}

impl WorkerStats {
    fn since(&self, earlier: &WorkerStats) -> WorkerStats {
        WorkerStats {
            busy_ns: self.busy_ns.saturating_sub(earlier.busy_ns),
            scheduling_ns: self.scheduling_ns.saturating_sub(earlier.scheduling_ns),
            idle_ns: self.idle_ns.saturating_sub(earlier.idle_ns),
            finished: self.finished.wrapping_sub(earlier.finished),
            received: self.received.wrapping_sub(earlier.received),
            waited_ns: self.waited_ns.saturating_sub(earlier.waited_ns),
            ..self.clone()
        }
    }

    /// The shares of its time on requests, on finding out what to run, and on nothing; they add up to 1, or are all 0 before it has
    /// begun.
    pub fn shares(&self) -> [f64; 3] {
        let times = [self.busy_ns, self.scheduling_ns, self.idle_ns].map(|ns| ns as f64);
        let all: f64 = times.iter().sum();
        times.map(|time| if all > 0.0 { time / all } else { 0.0 })
    }
}

impl Counters {
    /// With their names.
    pub fn all(&self) -> [(&'static str, u64); 9] {
        let Counters { panicked, cancelled, expired, abandoned, stopped, refused, unbalanced, stuck, unsent } =
            *self;
        [
            ("panicked", panicked),
            ("cancelled", cancelled),
            ("expired", expired),
            ("abandoned", abandoned),
            ("stopped", stopped),
            ("refused", refused),
            ("unbalanced", unbalanced),
            ("stuck", stuck),
            ("unsent", unsent),
        ]
    }

    fn since(&self, earlier: &Counters) -> Counters {
        Counters {
            panicked: self.panicked.saturating_sub(earlier.panicked),
            cancelled: self.cancelled.saturating_sub(earlier.cancelled),
            expired: self.expired.saturating_sub(earlier.expired),
            abandoned: self.abandoned.saturating_sub(earlier.abandoned),
            stopped: self.stopped.saturating_sub(earlier.stopped),
            refused: self.refused.saturating_sub(earlier.refused),
            unbalanced: self.unbalanced.saturating_sub(earlier.unbalanced),
            stuck: self.stuck.saturating_sub(earlier.stuck),
            unsent: self.unsent.saturating_sub(earlier.unsent),
        }
    }
}
