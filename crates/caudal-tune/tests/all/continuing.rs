//! Plans that end early, go on or run on other threads: the same question gives the same bits, and nothing known is lost.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use caudal_tune::{Budget, Control, Journal, NoJournal, Plan, Question, TuneError, plan, plan_with};
use serde_json::Value;

use crate::asked::{DISPERSED, planned, question};

/// Everything but the time that it took.
pub(crate) fn bits(plan: &Plan) -> String {
    let mut rows = plan.rows.clone();
    rows.iter_mut().for_each(|row| row.wall_s = 0.0);
    serde_json::to_string(&(plan, rows)).expect("JSON")
}

#[test]
fn the_number_of_threads_does_not_change_a_bit() {
    let mut question =
        question("extreme-bimodal", "short p99.9 < 20us", &["caudal-ps", "work-stealing", "ideal"]);
    question.budget = Budget { requests: 3_000_000 };
    assert_eq!(bits(&planned(&question, 1)), bits(&planned(&question, 3)));
}

#[test]
fn an_interrupted_plan_keeps_what_it_knows() {
    let question = question("extreme-bimodal", "short p99.9 < 20us", &["caudal-ps", "work-stealing"]);
    let stop = AtomicBool::new(false);
    let seen = std::sync::atomic::AtomicU64::new(0);
    let progress = |progress: caudal_tune::Progress| {
        use std::sync::atomic::Ordering::Relaxed;
        if seen.fetch_add(progress.requests, Relaxed) > 500_000 {
            stop.store(true, Relaxed);
        }
    };
    let plan =
        plan(&question, &Control { threads: 1, stop: &stop, progress: &progress }).expect("what is known");
    assert!(plan.interrupted && !plan.rows.is_empty());
    stop.store(true, std::sync::atomic::Ordering::Relaxed);
    let control = Control { threads: 1, stop: &stop, progress: &|_| {} };
    assert!(matches!(caudal_tune::plan(&question, &control), Err(TuneError::Interrupted)));
}

/// Lines of a file, so to say; those that were recalled are counted.
#[derive(Default)]
struct Kept(Mutex<Vec<String>>, AtomicU64);

impl Journal for Kept {
    fn recall(&self, step: usize, entry: usize) -> Option<Value> {
        let lines = self.0.lock().unwrap();
        let read = lines.iter().map(|line| serde_json::from_str::<Value>(line).unwrap());
        let found = read.into_iter().find(|line| line["step"] == step && line["entry"] == entry);
        self.1.fetch_add(u64::from(found.is_some()), Ordering::Relaxed);
        found
    }

    fn keep(&self, entry: Value) {
        self.0.lock().unwrap().push(entry.to_string());
    }
}

#[test]
fn a_plan_that_was_broken_off_goes_on_to_the_same_bits() {
    let question =
        question("extreme-bimodal", "short p99.9 < 20us", &["caudal-stealing", "caudal-ps", "ps-fluid"]);
    let go = |journal: &dyn Journal, stop: &AtomicBool, stop_after: u64| {
        let simulated = AtomicU64::new(0);
        let progress = |progress: caudal_tune::Progress| {
            if simulated.fetch_add(progress.requests, Ordering::Relaxed) >= stop_after {
                stop.store(true, Ordering::Relaxed);
            }
        };
        let plan = plan_with(&question, &Control { threads: 2, stop, progress: &progress }, journal);
        (plan, simulated.into_inner())
    };
    let (whole, all) = go(&NoJournal, &AtomicBool::new(false), u64::MAX);
    let whole = whole.unwrap();
    assert!(whole.systems.iter().any(|line| line.tuning.is_some()), "tuning is a part of what is kept");
    let journal = Kept::default();
    let (part, _) = go(&journal, &AtomicBool::new(false), all / 2);
    let part = part.unwrap();
    assert!(
        part.interrupted && part.headline.starts_with("So far, as it was interrupted: "),
        "{}",
        part.headline
    );
    let kept = journal.0.lock().unwrap().len();
    assert!(kept > 3, "{kept}");
    let (rest, again) = go(&journal, &AtomicBool::new(false), u64::MAX);
    assert_eq!(journal.1.load(Ordering::Relaxed), kept as u64, "all of it is made use of");
    assert!(again < all, "{again} of {all}");
    assert_eq!(bits(&rest.unwrap()), bits(&whole));
    let (done, nothing) = go(&journal, &AtomicBool::new(false), u64::MAX);
    assert_eq!((bits(&done.unwrap()), nothing), (bits(&whole), 0));
}

#[test]
fn without_a_budget_nothing_is_claimed() {
    let asked = question("extreme-bimodal", "short p99.9 < 20us", &DISPERSED);
    let with = |requests| Question { budget: Budget { requests }, ..asked.clone() };
    let stop = AtomicBool::new(false);
    let control = Control { threads: 1, stop: &stop, progress: &|_| {} };
    assert!(matches!(plan(&with(0), &control), Err(TuneError::NoBudget)));
    let little = plan(&with(1_000), &control).unwrap();
    assert!(little.winner.is_none());
    assert!(little.headline.starts_with("Nothing was shown within the budget"), "{}", little.headline);
    assert!(!little.explanation.join(" ").contains("falls behind"), "{:?}", little.explanation);
}
