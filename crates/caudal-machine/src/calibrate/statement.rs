//! What a calibration states: a table with intervals, the `[costs]` that the simulator reads, and both as JSON.

use caudal_config::Stalls;
use caudal_policy::Picos;
use serde::Serialize;
use serde_json::{Value, json};

use super::{Bench, StallProcess, Trials};
use crate::busy::Busy;

/// One measured number.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Item {
    /// What it is called.
    pub name: &'static str,
    /// In ns: the median of the rounds, the lowest and the highest.
    pub median: f64,
    /// See `median`.
    pub low: f64,
    /// See `median`.
    pub high: f64,
    /// Rounds.
    pub rounds: usize,
    /// What it is.
    pub what: &'static str,
    /// What the papers have, or the project's notes.
    pub papers: &'static str,
}

/// Everything that was measured.
#[derive(Clone, Debug)]
pub struct Calibration {
    /// The numbers, those that no key of `[costs]` holds included.
    pub items: Vec<Item>,
    /// The keys of `[costs]` that follow from them, all but the stalls: key, value, and from what.
    pub costs: Vec<(&'static str, String, &'static str)>,
    /// When the machine takes cores away, if it was seen to.
    pub stalls: Option<StallProcess>,
    /// Who else was about.
    pub busy: Busy,
    /// Were all rounds done?
    pub complete: bool,
    /// Frequency of the time stamp counter, in Hz.
    pub tsc_hz: f64,
}

/// Name, what it is, what others have measured.
const KNOWN: [(&str, &str, &str); 16] = [
    (
        "switch pair",
        "to a coroutine and back",
        "3 (corosensei, nothing called in between), 40 with its scheduler (Tiny Quanta)",
    ),
    ("probe, clock", "a probe that reads the clock and goes on", "9 (one clock reading)"),
    ("probe, budget", "a probe that counts and goes on", "1"),
    ("probe, flag", "a probe that looks at a flag and goes on", "0.5"),
    ("cold path", "a probe that is due, with a hook that does nothing", ""),
    ("turn", "from one quantum to the next: yield, scheduler, switch", "40 (Tiny Quanta, section 4)"),
    (
        "overrun",
        "a quantum of 1 us is longer by that, with a probe every 200 ns",
        "430 (Tiny Quanta, Table 3)",
    ),
    ("arrival to run", "from the source to the request's code, worker idle and awake", ""),
    ("dispatcher, one alone", "the dispatcher is busy with a request that came alone", ""),
    ("request to request", "from the end of an empty request to the begin of the next, in the inbox", ""),
    ("dispatcher", "the dispatcher's time for each request of a full batch, JSQ-MSQ", "71 (Tiny Quanta)"),
    ("hop", "from core to core through a ring", "56 (half a cache line's round trip)"),
    ("steal check", "a look at the queue of a worker that changes it", "100 (McClure et al.)"),
    ("steal", "a request is taken out of another's queue", "100 (McClure et al.)"),
    ("wake-up after 20 µs", "from submission to run, everybody asleep", "16000"),
    ("wake-up after 200 µs", "the same", "24000"),
];
/// As [`KNOWN`].
const WAKE_LATE: (&str, &str, &str) = ("wake-up after 2 ms", "the same", "36000");

impl Calibration {
    pub(super) fn new(
        bench: &Bench,
        trials: &Trials,
        stalls: Option<StallProcess>,
        busy: Busy,
        complete: bool,
    ) -> Calibration {
        let item = |&(name, what, papers): &(&'static str, &'static str, &'static str)| {
            let spread = caudal_measure::compare::Spread::of(trials.of(name))?;
            let (median, low, high, rounds) = (spread.median, spread.low, spread.high, spread.trials);
            Some(Item { name, median, low, high, rounds, what, papers })
        };
        let items: Vec<Item> = KNOWN.iter().chain([&WAKE_LATE]).filter_map(item).collect();
        let costs = costs(&items);
        Calibration { items, costs, stalls, busy, complete, tsc_hz: bench.tsc.hz() }
    }

    /// The stalls as the simulator reads them.
    pub fn stall_process(&self) -> Option<Stalls> {
        self.stalls.as_ref().and_then(StallProcess::process)
    }

    /// The `[costs]` of this machine, as a file that `--costs` of the simulator's commands takes.
    pub fn to_toml(&self) -> String {
        let mut text =
            "# What scheduling costs on this machine, measured by `caudal calibrate`.\n".to_owned();
        if !self.complete {
            text += "# It was interrupted: what stands here was measured in fewer rounds, what is missing was not measured.\n";
        }
        if let Some(warning) = self.busy.warning() {
            text += &format!("# Caution: {warning}.\n");
        }
        text += "\n[costs]\n";
        for (key, value, from) in &self.costs {
            let line = format!("{key} = {value}");
            text += &format!("{line:<26} # {from}\n");
        }
        if let Some(stalls) = self.stall_process() {
            let pair = |&(share, length): &(f64, Picos)| format!("[{share:?}, \"{length}\"]");
            let lengths: Vec<String> = stalls.lengths.iter().map(pair).collect();
            let rate = stalls.rate.per_s();
            text += &format!("stalls = {{ rate = \"{rate}/s\", lengths = [{}] }}\n", lengths.join(", "));
        }
        text
    }

    /// All of it.
    pub fn to_json(&self) -> Value {
        let costs: serde_json::Map<String, Value> = self
            .costs
            .iter()
            .map(|(key, value, _)| ((*key).to_owned(), value.trim_matches('"').into()))
            .collect();
        let stats = self.stalls.as_ref().map(StallProcess::stats);
        let stats = stats.map(|stats| {
            json!({
                "per_second": stats.per_second, "share": stats.share, "p50_ns": stats.p50_ns, "p99_ns": stats.p99_ns,
                "max_ns": stats.max_ns, "count": stats.count, "observed_ns": stats.observed_ns,
            })
        });
        let by_cpu = self.stalls.as_ref().map(StallProcess::by_cpu).unwrap_or_default();
        json!({
            "complete": self.complete,
            "tsc_hz": self.tsc_hz,
            "measured": self.items,
            "costs": costs,
            "stalls": self.stall_process(),
            "stall_statistics": stats,
            "stalls_per_second_by_cpu": by_cpu.into_iter().map(|(cpu, rate)| json!({ "cpu": cpu, "per_second": rate })).collect::<Vec<_>>(),
            "busy": self.busy,
            "warning": self.busy.warning(),
        })
    }
}

/// The keys of `[costs]`, as far as what they follow from was measured.
///
/// A request that comes to an idle worker takes the dispatcher, the hop and its start; one that waits in the inbox takes the
/// end of the one before it and its own start. The sums are what was measured; how they are shared out between their parts
/// follows from what each of them takes alone.
fn costs(items: &[Item]) -> Vec<(&'static str, String, &'static str)> {
    let of = |name: &str| items.iter().find(|item| item.name == name).map(|item| item.median);
    let mut keys = Vec::new();
    let mut set = |key, ns: Option<f64>, from| {
        if let Some(ns) = ns {
            keys.push((key, format!("\"{}\"", Picos((ns * 10.0).round() as u64 * 100)), from));
        }
    };
    set("preemption", of("turn"), "turn");
    set("overrun", of("overrun"), "overrun");
    set("dispatcher", of("dispatcher"), "dispatcher");
    let shared = || {
        let (to_run, between, dispatcher) =
            (of("arrival to run")?, of("request to request")?, of("dispatcher")?);
        let start = (to_run - dispatcher - of("hop")?).clamp(0.0, between);
        Some((start, between - start, (to_run - dispatcher - start).max(0.0)))
    };
    set("start", shared().map(|(start, _, _)| start), "arrival to run, less dispatcher and hop");
    set("finish", shared().map(|(_, finish, _)| finish), "request to request, less start");
    set("hop", shared().map(|(_, _, hop)| hop), "arrival to run, less dispatcher and start");
    set("steal_check", of("steal check"), "steal check");
    set("steal", of("steal"), "steal");
    set("wake_up", of("wake-up after 200 µs"), "wake-up after 200 us");
    if of("wake-up after 200 µs").is_some() {
        keys.push(("sleep_after", "\"1ms\"".to_owned(), "the runtime's own, unless it is told otherwise"));
    }
    if let Some(probe) = of("probe, clock") {
        let factor = 1.0 + probe / caudal_measure::work::CHUNK_NS;
        keys.push(("probe_factor", format!("{factor:.4}"), "a probe that reads the clock every 200 ns"));
    }
    keys
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(name: &'static str, median: f64) -> Item {
        Item { name, median, low: median, high: median, rounds: 5, what: "", papers: "" }
    }

    #[test]
    fn the_parts_of_a_way_make_what_was_measured() {
        let items = [
            item("arrival to run", 300.0),
            item("dispatcher", 70.0),
            item("hop", 60.0),
            item("request to request", 120.0),
        ];
        let found = costs(&items);
        let of = |key: &str| {
            let text = &found.iter().find(|cost| cost.0 == key).unwrap().1;
            Picos::parse(text.trim_matches('"')).unwrap().0 / 1000
        };
        // 170 ns are left for the start, of which more than 120 would leave nothing for the end.
        assert_eq!((of("start"), of("finish"), of("hop"), of("dispatcher")), (120, 0, 110, 70));
        assert_eq!(of("dispatcher") + of("hop") + of("start"), 300);
    }

    #[test]
    fn what_was_not_measured_is_not_stated() {
        let found = costs(&[item("turn", 42.0)]);
        assert_eq!(
            found.iter().map(|cost| (cost.0, cost.1.as_str())).collect::<Vec<_>>(),
            [("preemption", "\"42ns\"")]
        );
        assert!(costs(&[]).is_empty());
    }
}
