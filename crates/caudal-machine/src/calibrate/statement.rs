//! The statement of a calibration: a table with intervals, the `[costs]` that the simulator reads, and both as JSON.
//! [`super::calibrate()`] makes one after all rounds, or when it is interrupted. `caudal calibrate` prints it; fidelity runs of the runtime
//! take the costs out of it. Pure.

use caudal_config::Stalls;
use caudal_policy::Picos;
use serde::Serialize;
use serde_json::{Value, json};

use super::{StallProcess, Trials};
use crate::busy::Busy;

/// One measured number.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Item {
    /// The key of the cost in a policy file.
    pub name: &'static str,
    /// In ns: the median of the rounds, the lowest and the highest.
    pub median: f64,
    /// See `median`.
    pub low: f64,
    /// See `median`.
    pub high: f64,
    /// Rounds.
    pub rounds: usize,
    /// A description of the cost.
    pub what: &'static str,
    /// The value in the papers, or in the project's notes.
    pub papers: &'static str,
}

/// Everything that was measured.
#[derive(Clone, Debug)]
pub struct Calibration {
    /// The numbers, those that no key of `[costs]` holds included.
    pub items: Vec<Item>,
    /// The measurements that came out impossible.
    pub refused: Vec<Refused>,
    /// The keys of `[costs]` that follow from them, all but the stalls: key, value, and from what.
    pub costs: Vec<(&'static str, String, &'static str)>,
    /// The stalls of the machine, if any were seen.
    pub stalls: Option<StallProcess>,
    /// The use of the processors by others meanwhile.
    pub busy: Busy,
    /// Were all rounds done?
    pub complete: bool,
    /// Frequency of the time stamp counter, in Hz.
    pub tsc_hz: f64,
}

/// An action that is measured.
struct Known {
    name: &'static str,
    /// A description of the cost.
    what: &'static str,
    /// The value that others have measured, in ns.
    elsewhere: &'static str,
    /// The longest time that the action takes on any machine, in ns. A longer median means that other programs had the core.
    most_ns: f64,
}

const fn known(name: &'static str, most_ns: f64, what: &'static str, elsewhere: &'static str) -> Known {
    Known { name, what, elsewhere, most_ns }
}

const KNOWN: [Known; 17] = [
    known(
        "switch pair",
        1e3,
        "to a coroutine and back",
        "3 (corosensei, nothing called in between), 40 with its scheduler (Tiny Quanta)",
    ),
    known("probe, clock", 500.0, "a probe that reads the clock and goes on", "9 (one clock reading)"),
    known("probe, budget", 500.0, "a probe that counts and goes on", "1"),
    known("probe, flag", 500.0, "a probe that checks a flag and goes on", "0.5"),
    known("cold path", 2e3, "a probe that is due, with a hook that does nothing", ""),
    known(
        "turn",
        5e3,
        "from one quantum to the next: yield, scheduler, switch",
        "40 (Tiny Quanta, section 4)",
    ),
    known(
        "overrun",
        5e3,
        "a quantum of 1 us is longer by that, with a probe every 200 ns",
        "430 (Tiny Quanta, Table 3)",
    ),
    known("arrival to run", 2e4, "from the source to the request's code, worker idle and awake", ""),
    known("dispatcher, one alone", 2e4, "the dispatcher is busy with a request that came alone", ""),
    known(
        "request to request",
        1e4,
        "from the end of an empty request to the begin of the next, in the inbox",
        "",
    ),
    known(
        "dispatcher",
        1e4,
        "the dispatcher's time for each request of a full batch, JSQ-MSQ",
        "71 (Tiny Quanta)",
    ),
    known("hop", 5e3, "from core to core through a ring", "56 (half a cache line's round trip)"),
    known("steal check", 5e3, "a poll of the queue of a worker that changes it", "100 (McClure et al.)"),
    known("steal", 1e4, "a request is taken out of another's queue", "100 (McClure et al.)"),
    known("wake-up after 20 µs", 1e6, "from submission to run, everybody asleep", "16000"),
    known("wake-up after 200 µs", 1e6, "the same", "24000"),
    known("wake-up after 2 ms", 1e6, "the same", "36000"),
];

/// An action whose time is not stated, because other programs had the cores in every round.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Refused {
    /// The key of the cost in a policy file.
    pub name: &'static str,
    /// The shortest of the rounds' medians, in ns.
    pub shortest_ns: f64,
    /// The longest time that any machine takes, in ns.
    pub most_ns: f64,
}

impl Calibration {
    pub(super) fn new(
        trials: &Trials,
        stalls: Option<StallProcess>,
        busy: Busy,
        complete: bool,
        tsc_hz: f64,
    ) -> Calibration {
        let (mut items, mut refused) = (Vec::new(), Vec::new());
        for &Known { name, what, elsewhere: papers, most_ns } in &KNOWN {
            let rounds = trials.of(name);
            let plausible: Vec<f64> = rounds.iter().copied().filter(|&ns| ns <= most_ns).collect();
            if let Some(spread) = caudal_measure::compare::Spread::of(&plausible) {
                let (median, low, high, rounds) = (spread.median, spread.low, spread.high, spread.trials);
                items.push(Item { name, median, low, high, rounds, what, papers });
            } else if let Some(shortest_ns) = rounds.iter().copied().min_by(f64::total_cmp) {
                refused.push(Refused { name, shortest_ns, most_ns });
            }
        }
        let costs = costs(&items);
        Calibration { items, refused, costs, stalls, busy, complete, tsc_hz }
    }

    /// The stalls as the simulator reads them.
    pub fn stall_process(&self) -> Option<Stalls> {
        self.stalls.as_ref().and_then(StallProcess::process)
    }

    /// For each cost that is not stated, a line with the reason, and a last line with what to do. Empty if all costs are stated.
    pub fn missing(&self) -> Vec<String> {
        let mut lines: Vec<String> = (self.refused.iter())
            .map(|refused| {
                format!(
                    "Not stated: `{}`, of which the shortest median was {}, and no machine takes longer than {}: others had the cores.",
                    refused.name,
                    Picos::from_nanos(refused.shortest_ns as u64),
                    Picos::from_nanos(refused.most_ns as u64)
                )
            })
            .collect();
        if let Some(stalls) = self.stalls.as_ref().filter(|stalls| stalls.process().is_none()) {
            lines.push(format!(
                "Not stated: `stalls`. The cores were away for {:.1} % of the time, {} times; it takes two, and at most 95 %.",
                100.0 * stalls.stats().share,
                stalls.count()
            ));
        }
        if !lines.is_empty() {
            lines.push(
                "`caudal calibrate --real-time` keeps others off the cores while it measures.".to_owned(),
            );
        }
        lines
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
        for line in self.missing() {
            text += &format!("# {line}\n");
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

    /// The whole calibration as JSON.
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
            "refused": self.refused,
            "costs": costs,
            "stalls": self.stall_process(),
            "stall_statistics": stats,
            "stalls_per_second_by_cpu": by_cpu.into_iter().map(|(cpu, rate)| json!({ "cpu": cpu, "per_second": rate })).collect::<Vec<_>>(),
            "busy": self.busy,
            "warning": self.busy.warning(),
        })
    }
}

/// The keys of `[costs]` whose numbers were measured: key, value, and the trials that it follows from.
///
/// A request that comes to an idle worker takes the dispatcher, the hop and its start; a request that waits in the inbox takes the
/// end of the request before it and its own start. These two sums were measured. The dispatcher and the hop were measured alone, too: what
/// they leave of the first sum is the start, and what the start leaves of the second sum is the end.
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
    fn the_parts_of_a_path_make_what_was_measured() {
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

    /// A calibration of `rounds` medians of each action.
    fn of_rounds(rounds: &[(&'static str, &[f64])], stalls: Option<StallProcess>) -> Calibration {
        let mut trials = Trials::default();
        rounds.iter().for_each(|(name, values)| values.iter().for_each(|&value| trials.push(name, value)));
        Calibration::new(&trials, stalls, Busy::default(), true, 2e9)
    }

    #[test]
    fn what_no_machine_takes_is_refused_and_said() {
        let found = of_rounds(&[("hop", &[75.0, 2e6, 80.0]), ("arrival to run", &[1.9e6, 2.1e6])], None);
        let hop = &found.items[0];
        assert_eq!(
            (hop.name, hop.median, hop.rounds),
            ("hop", 77.5, 2),
            "the rounds that were not disturbed"
        );
        assert_eq!(found.refused, [Refused { name: "arrival to run", shortest_ns: 1.9e6, most_ns: 2e4 }]);
        assert!(found.costs.iter().all(|(key, ..)| *key != "hop"), "it follows from what is not known");
        let text = found.to_toml();
        assert!(text.contains("# Not stated: `arrival to run`") && text.contains("--real-time"), "{text}");
        assert_eq!(found.to_json()["refused"][0]["name"], "arrival to run");
    }

    #[test]
    fn stalls_that_can_not_be_stated_are_said() {
        let mut away = StallProcess::default();
        away.add(0, [990_000_000, 5_000_000].into_iter(), 1_000_000_000);
        let text = of_rounds(&[], Some(away)).to_toml();
        assert!(
            text.contains("# Not stated: `stalls`. The cores were away for 99.5 % of the time"),
            "{text}"
        );
        let mut often = StallProcess::default();
        often.add(0, [12_000_000; 66].into_iter(), 1_000_000_000);
        let text = of_rounds(&[], Some(often)).to_toml();
        assert!(
            text.contains("stalls = {") && !text.contains("Not stated"),
            "four other programs want the core: {text}"
        );
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
