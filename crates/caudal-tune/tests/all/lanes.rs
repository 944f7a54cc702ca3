//! Searches for lanes, from question to answer.

use std::collections::HashMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use caudal_config::{Costs, File, LatencyStatistic, Measure};
use caudal_tune::lanes::{Drift, Family, JudgedSystem, LANES_MAX, LanesAnswer, LanesQuestion, Layout, find};
use caudal_tune::{Budget, Control, Journal, NoJournal, TuneError};

const HEAVY: &str = "{ distribution = \"bimodal\", short = \"1us\", long = \"100us\", p_long = 0.02 }";

fn question(service: &str, family: Family, cores: u32) -> LanesQuestion {
    let text = format!("[workload]\nservice = {service}\n[system]\ncores = 1");
    LanesQuestion {
        workload: File::parse(&text, "test.toml").expect("a file").workload.expect("a workload"),
        workload_name: "test".to_owned(),
        family,
        cores,
        contexts: None,
        load: 0.6,
        target: LatencyStatistic::parse("p97").expect("a statistic"),
        also: Vec::new(),
        reservations: None,
        lanes_max: LANES_MAX,
        costs: Costs::FREE,
        measure: Measure::default(),
        budget: Budget::seconds(3.0),
        quick: true,
        drifts: Vec::new(),
    }
}

fn asked(question: &LanesQuestion, journal: &dyn Journal) -> Result<LanesAnswer, TuneError> {
    let stop = AtomicBool::new(false);
    find(question, &Control { threads: 2, stop: &stop, progress: &|_| {} }, journal)
}

fn answer(question: &LanesQuestion) -> LanesAnswer {
    asked(question, &NoJournal).expect("an answer")
}

#[test]
fn short_requests_get_a_lane_and_one_queue_is_worse() {
    let found = answer(&question(HEAVY, Family::IsqdSita, 4));
    assert!(found.layout.lanes() >= 2, "{}", found.layout);
    let first = found.layout.cutoffs[0].0;
    assert!(
        (1_000_000..100_000_000).contains(&first),
        "the first lane ends between the two: {}",
        found.layout
    );
    let versus = found.against_one_queue.as_ref().expect("both keep up");
    assert!(versus.target.high < 0.5, "{:?}", versus.target);
    let names: Vec<&str> = found.judged.iter().map(|judged| judged.system.as_str()).collect();
    assert_eq!(names[..2], ["isqd-sita", "one queue"]);
    assert!(names.ends_with(&["LAS, 2us", "processor sharing, 2us", "SRPT, sizes known"]), "{names:?}");
    assert!(found.policy_toml.contains("isqd-sita"), "{}", found.policy_toml);
    let read = File::parse(
        &format!("[workload]\nservice = \"exp-1us\"\nload = 0.5\n{}", found.policy_toml),
        "policy.toml",
    );
    assert_eq!(
        read.expect("a file").points().expect("points")[0].system,
        Family::IsqdSita.system(&found.layout)
    );
}

/// A percentile that rare bursts make: in most replications both are alike.
#[test]
#[ignore = "long: make test-long"]
fn lanes_are_found_for_far_percentiles() {
    let target = LatencyStatistic::parse("p99.9 slowdown").expect("a statistic");
    let asked = question("\"extreme-bimodal\"", Family::IsqdSita, 8);
    let found =
        answer(&LanesQuestion { load: 0.25, target, quick: false, budget: Budget::seconds(5.0), ..asked });
    assert!(found.layout.lanes() > 1 && found.is_worth_it(), "{}", found.headline);
    // Nothing that could have been the answer is certainly shorter.
    let own = &found.judged[0];
    let better = |judged: &JudgedSystem| judged.layout.is_some() && judged.target.high < own.target.low;
    assert!(!found.judged.iter().any(better), "{}", found.headline);
}

/// Most requests are short, and have three of four servers: half of them for the few long ones makes the short ones wait.
#[test]
fn lanes_are_found_where_the_first_has_most_servers() {
    let service = r#"{ distribution = "mixture", classes = [
        { name = "short", weight = 0.9998, service = { distribution = "log-normal", mean = "150ns", sd = "30ns" } },
        { name = "long", weight = 0.0002, service = { distribution = "constant", value = "30us" } },
    ] }"#;
    let asked = question(service, Family::IsqdSita, 4);
    let target = LatencyStatistic::parse("p99").expect("a statistic");
    let found =
        answer(&LanesQuestion { load: 0.7, target, quick: false, budget: Budget::seconds(10.0), ..asked });
    assert_eq!(found.layout.reservations, [3, 1], "{}", found.headline);
    assert!(found.is_worth_it(), "{}", found.headline);
}

#[test]
fn rivals_of_long_services_take_longer_slices() {
    let found = answer(&question("\"log-normal-10ms\"", Family::IsqdSita, 4));
    let names: Vec<&str> = found.judged.iter().map(|judged| judged.system.as_str()).collect();
    assert!(names.ends_with(&["LAS, 20us", "processor sharing, 20us", "SRPT, sizes known"]), "{names:?}");
}

#[test]
fn requests_that_are_all_alike_need_no_lanes() {
    let question = question("{ distribution = \"constant\", value = \"1us\" }", Family::SqdSita, 4);
    let found = answer(&question);
    assert_eq!(found.layout, Layout::single(4));
    assert!(found.headline.starts_with("One queue"), "{}", found.headline);
    assert!(found.against_one_queue.is_none());
}

#[test]
fn the_answer_does_not_depend_on_threads() {
    let question = question(HEAVY, Family::SqdSita, 4);
    let stop = AtomicBool::new(false);
    let with = |threads| {
        let found = find(&question, &Control { threads, stop: &stop, progress: &|_| {} }, &NoJournal)
            .expect("an answer");
        serde_json::to_string(&found.steps).expect("JSON") + &found.headline + &found.explanation.join("")
    };
    assert_eq!(with(1), with(3));
}

/// What a search simulated, but for its first layout, which is always tried.
fn searched(found: &LanesAnswer) -> u64 {
    found.steps[1..].iter().map(|step| step.requests).sum()
}

#[test]
#[ignore = "long: make test-long"]
fn a_race_does_not_go_beyond_the_budget() {
    // Near saturation replications are long: all first lanes that there may be would take many times as much.
    let base = LanesQuestion { load: 0.95, ..question(HEAVY, Family::SqdSita, 8) };
    for requests in [1, 4_000_000, 12_000_000] {
        let question = LanesQuestion { budget: Budget { requests }, ..base.clone() };
        let found = answer(&question);
        assert!(found.cut_short, "{requests}: {:?}", found.explanation);
        assert!(searched(&found) <= requests, "{} of {requests}", searched(&found));
        assert_eq!(searched(&found) > requests / 2, requests > 1, "what there is is made use of");
        assert!(found.explanation.iter().any(|line| line.contains("The budget ended the search")));
    }
}

#[test]
fn a_race_that_is_cut_short_is_the_same_on_any_threads_and_in_pieces() {
    let budget = Budget { requests: 700_000 };
    let question = LanesQuestion { budget, ..question(HEAVY, Family::SqdSita, 4) };
    let whole = answer(&question);
    assert!(whole.cut_short && whole.steps.iter().any(|step| step.cut_short), "{:?}", whole.explanation);
    let stop = AtomicBool::new(false);
    let alone = find(&question, &Control { threads: 1, stop: &stop, progress: &|_| {} }, &NoJournal);
    assert_eq!(text(&alone.expect("an answer")), text(&whole));
    assert_eq!(text(&in_pieces(&question).0), text(&whole));
}

#[test]
fn given_reservations_get_cutoffs() {
    let asked = LanesQuestion {
        reservations: Some(vec![2, 1, 1]),
        ..question("{ distribution = \"log-normal\", mean = \"10us\", scv = 10 }", Family::PreemptiveSita, 4)
    };
    let found = answer(&asked);
    assert_eq!(found.layout.reservations, [2, 1, 1]);
    assert!(found.layout.cutoffs[0] < found.layout.cutoffs[1]);
}

#[test]
fn further_limits_are_kept() {
    // Of preemptive SITA, what the short requests gain the long ones pay.
    let free = question(HEAVY, Family::PreemptiveSita, 4);
    let long = |found: &LanesAnswer| {
        let latency = &found.judged[0].row.classes.0[1].1.latency_ns;
        latency.percentiles.iter().find(|(percentile, _)| *percentile == 99.0).expect("p99").1
    };
    let unbound = long(&answer(&free)).estimate;
    let limit = 0.8 * unbound;
    let also = vec![format!("long p99 < {limit:.0}ns").parse().expect("a target")];
    let bound = answer(&LanesQuestion { also, ..free });
    assert!(long(&bound).low < limit, "{:?} is not below {limit}", long(&bound));
}

#[test]
fn lanes_are_tried_under_what_may_come() {
    let base = question(HEAVY, Family::SqdSita, 4);
    let drifts = vec![
        Drift {
            name: "twice as many long ones".to_owned(),
            load: 0.6,
            workload: question(&HEAVY.replace("0.02", "0.04"), Family::SqdSita, 4).workload,
        },
        Drift { name: "test".to_owned(), load: 0.9, workload: base.workload.clone() },
    ];
    let found = answer(&LanesQuestion { drifts, ..base });
    assert_eq!(found.drifts.len(), 2);
    for drift in &found.drifts {
        assert_eq!(drift.kept.layout.as_ref(), Some(&found.layout));
        let loss = drift.loss.filter(|loss| loss.low <= loss.estimate && loss.estimate <= loss.high);
        assert!(drift.kept.row.overloaded || loss.is_some_and(|loss| loss.high > 0.8), "{drift:?}");
        assert!(!drift.halves, "nothing was measured");
    }
}

#[test]
#[ignore = "long: make test-long"]
fn lanes_for_what_may_come_are_fitted_on_one_half_and_judged_on_the_other() {
    let base = question("\"rocksdb-0.5\"", Family::IsqdSita, 8);
    let scans = question("\"rocksdb-10\"", Family::IsqdSita, 8).workload;
    let drift = Drift { name: "more scans".to_owned(), load: 0.6, workload: scans };
    let asked = LanesQuestion { drifts: vec![drift], ..base };
    let found = answer(&asked);
    let drift = &found.drifts[0];
    assert!(drift.halves);
    assert_ne!(drift.refitted.layout, drift.kept.layout, "there is something to gain");
    let loss = drift.loss.expect("both keep up");
    // On the same requests, the ratio is known better than both of its sides are.
    let width = drift.kept.target.relative_half_width() + drift.refitted.target.relative_half_width();
    assert!(loss.relative_half_width() < width && loss.estimate > 0.9, "{loss:?}");
    assert!(found.explanation.iter().any(|line| line.contains("that those were not fitted to")));
    // In pieces, it is the same.
    let (pieces, _) = in_pieces(&asked);
    assert_eq!(pieces.drifts[0].loss, drift.loss);
    assert_eq!(text(&pieces), text(&found));
}

#[test]
fn measured_values_are_fitted_on_one_half() {
    let found = answer(&LanesQuestion { cores: 8, ..question("\"rocksdb-0.5\"", Family::IsqdSita, 8) });
    assert!(found.halves && found.explanation.iter().any(|line| line.contains("one half")));
    assert!(!answer(&question(HEAVY, Family::IsqdSita, 2)).halves);
}

#[test]
fn what_can_not_be_asked_is_refused() {
    let base = || question(HEAVY, Family::IsqdSita, 4);
    let refused = |question: LanesQuestion| question.check().expect_err("refused").to_string();
    assert!(refused(LanesQuestion { load: 1.0, ..base() }).contains("load is 1.000"));
    assert!(refused(LanesQuestion { cores: 0, ..base() }).contains("cores"));
    assert!(
        refused(LanesQuestion { reservations: Some(vec![2, 1]), ..base() }).contains("sum to the 4 servers")
    );
    assert!(refused(LanesQuestion { reservations: Some(vec![4, 0]), ..base() }).contains("above 0"));
    let target = LatencyStatistic::parse("scan p99").expect("a statistic");
    assert!(refused(LanesQuestion { target, ..base() }).contains("no class `scan`"));
    let costs = Costs { probe_factor: 1.8, ..Costs::FREE };
    assert!(refused(LanesQuestion { costs, ..base() }).contains("load is 1.080"), "probes are work");
}

/// Keeps entries, and stops the search after so many.
#[derive(Default)]
struct StoppingJournal {
    entries: Mutex<HashMap<(u64, u64), serde_json::Value>>,
    stop: AtomicBool,
    stop_after: AtomicU64,
}

impl Journal for StoppingJournal {
    fn recall(&self, step: usize, entry: usize) -> Option<serde_json::Value> {
        self.entries.lock().expect("no panic").get(&(step as u64, entry as u64)).cloned()
    }

    fn keep(&self, entry: serde_json::Value) {
        let place = (entry["step"].as_u64().expect("a step"), entry["entry"].as_u64().expect("an entry"));
        let before = self.entries.lock().expect("no panic").insert(place, entry);
        assert!(before.is_none(), "{place:?} was known already");
        if self.stop_after.fetch_sub(1, Ordering::Relaxed) == 1 {
            self.stop.store(true, Ordering::Relaxed);
        }
    }
}

fn text(answer: &LanesAnswer) -> String {
    serde_json::to_string(&answer.steps).expect("JSON") + &answer.explanation.join("\n")
}

/// The answer to `question` by a search that is broken off after every second entry of its journal, and how often it was.
fn in_pieces(question: &LanesQuestion) -> (LanesAnswer, u32) {
    let journal = StoppingJournal::default();
    let mut rounds = 0;
    loop {
        journal.stop.store(false, Ordering::Relaxed);
        journal.stop_after.store(2, Ordering::Relaxed);
        let control = Control { threads: 2, stop: &journal.stop, progress: &|_| {} };
        match find(question, &control, &journal) {
            Ok(found) if !found.interrupted => return (found, rounds),
            Ok(_) | Err(TuneError::Interrupted) => rounds += 1,
            Err(error) => panic!("{error}"),
        }
    }
}

#[test]
fn a_search_that_is_broken_off_again_and_again_ends_with_the_same_answer() {
    let question = question(HEAVY, Family::SqdSita, 4);
    let whole = answer(&question);
    let (pieces, rounds) = in_pieces(&question);
    assert!(rounds >= 3, "{rounds}");
    assert_eq!(text(&whole), text(&pieces));
}
