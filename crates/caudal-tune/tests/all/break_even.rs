//! The off-line profile of load adaptation, where its answer is known.

use std::sync::atomic::AtomicBool;

use caudal_config::{File, LatencyStatistic};
use caudal_policy::Picos;
use caudal_policy::contexts::LoadAdaptationConfig;
use caudal_tune::break_even::{Profile, ProfileQuestion, profile};
use caudal_tune::{Control, NoJournal, TuneError};

/// Asks for a window of length 0.
const NO_WINDOW: &str = "# no window";

/// Requests of 1 us on a core of two contexts that do `both` times what one does.
fn asked(both: f64, counts: &[u32], system: &str) -> Result<Profile, TuneError> {
    let text = format!(
        "[workload]\nservice = {{ distribution = \"constant\", value = \"1us\" }}\nload = 0.5\n[system]\ncores = 1\n\
         discipline = \"fcfs\"\ncontexts = {{ count = 2, throughput = [1, {both}] }}\n{system}\n[measure]\nseed = 4"
    );
    let point = File::parse(&text, "test.toml").expect("a file").points().expect("points").remove(0);
    let question = ProfileQuestion {
        workload: &point.workload,
        system: &point.system,
        costs: &point.costs,
        counts: counts.to_vec(),
        window: if system == NO_WINDOW { Picos::ZERO } else { Picos::from_micros(5_000) },
        target: &LatencyStatistic::parse("mean").expect("a statistic"),
        measure: &point.measure,
        quick: true,
    };
    let stop = AtomicBool::new(false);
    profile(&question, &Control { threads: 2, stop: &stop, progress: &|_| {} }, &NoJournal)
}

fn table(profile: &Profile) -> LoadAdaptationConfig {
    profile.adaptation.expect("nobody stopped it")
}

fn found(both: f64) -> Profile {
    asked(both, &[1, 2], "").expect("a profile")
}

/// Two contexts that do no more than one together only make requests of equal length wait for each other.
#[test]
fn contexts_that_add_nothing_are_switched_off() {
    let profile = found(1.0);
    assert_eq!(*table(&profile).contexts, [1]);
    assert!(profile.break_even.is_empty() && table(&profile).fault().is_none());
}

/// Two contexts that do not slow each other down are two cores.
#[test]
fn contexts_that_cost_nothing_are_always_on() {
    let profile = found(2.0);
    assert_eq!(*table(&profile).contexts, [2]);
    let [one, two] = &profile.curves[..] else { panic!("two curves") };
    let last = one.points.len() - 1;
    assert!(one.points[last].overloaded && !two.points[last].overloaded, "at 95 % of two");
    assert!((one.points[0].target.estimate - 1_000.0).abs() < 50.0, "nobody waits at 1 %");
}

/// With two at 0.65 of the speed each, two requests that meet take 2.54 us together, and 2.5 us one after the other: one
/// context is better at low rates. It carries 1 M/s, and two carry 1.3.
#[test]
fn between_them_lies_a_break_even_rate() {
    let profile = found(1.3);
    assert_eq!(*table(&profile).contexts, [1, 2]);
    let [step] = &profile.break_even[..] else { panic!("{:?}", profile.break_even) };
    assert!(step.per_s.estimate > 0.05e6 && step.per_s.estimate < 0.95e6, "{step:?}");
    assert!(step.per_s.low <= step.per_s.estimate && step.per_s.high >= step.per_s.estimate, "{step:?}");
    assert_eq!(table(&profile).break_even_per_s[0], step.per_s.estimate.round() as u32);
}

#[test]
fn the_same_question_has_the_same_answer() {
    let text = |profile: &Profile| serde_json::to_string(profile).expect("JSON");
    assert_eq!(text(&found(1.3)), text(&found(1.3)));
}

#[test]
fn what_can_not_be_asked_is_refused() {
    for counts in [&[1][..], &[2, 1], &[0, 2], &[1, 4]] {
        assert!(matches!(asked(1.3, counts, ""), Err(TuneError::Contexts(_))), "{counts:?}");
    }
    assert!(matches!(asked(1.3, &[1, 2], NO_WINDOW), Err(TuneError::Contexts(_))));
}
