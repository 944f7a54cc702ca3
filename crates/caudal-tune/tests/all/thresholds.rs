//! Tables of tail-control for services.

use caudal_policy::Picos;
use caudal_policy::parallelism::ParallelismConfig;
use caudal_policy::parallelism::thresholds::Knowledge;
use caudal_tune::TuneError;
use caudal_tune::thresholds::{Binning, ThresholdAnswer, ThresholdQuestion, thresholds};
use caudal_workload::{Service, ServiceSpec};

fn service(text: &str) -> Service {
    let file =
        format!("[workload]\nservice = {text}\nload = 0.5\n[system]\ncores = 1\ndiscipline = \"fcfs\"");
    let point =
        caudal_config::File::parse(&file, "test.toml").expect("a file").points().expect("points").remove(0);
    point.workload.service.clone()
}

/// The paper's: mean 10 ms, standard deviation 13 ms.
fn log_normal() -> Service {
    service("{ distribution = \"log-normal\", mean = \"10ms\", scv = 1.69 }")
}

fn asked(service: &Service, target_us: u64, rate_per_s: f64) -> ThresholdQuestion<'_> {
    ThresholdQuestion {
        service,
        target: Picos::from_micros(target_us),
        class_targets: Vec::new(),
        rate_per_s,
        cores: 16,
        binning: Binning::Log(200),
        most_active: 100,
        serial: 0.0,
        knowledge: Knowledge::Processed,
    }
}

fn table(question: &ThresholdQuestion<'_>) -> ThresholdAnswer {
    thresholds(question).expect("a table")
}

/// What is written is read again, and is the table.
#[test]
fn the_table_is_a_policy() {
    let text = "[workload]\nservice = \"log-normal-10ms\"\n[system]\ncores = 1";
    let workload =
        caudal_config::File::parse(text, "test.toml").expect("a file").workload.expect("a workload");
    for knowledge in [Knowledge::Processed, Knowledge::Clairvoyant] {
        let question = ThresholdQuestion {
            service: &workload.service,
            target: Picos::from_micros(25_000),
            class_targets: Vec::new(),
            rate_per_s: 1_200.0,
            cores: 16,
            binning: Binning::Log(1_000),
            most_active: 200,
            serial: 0.0,
            knowledge,
        };
        let found = thresholds(&question).expect("a table");
        let policy = found.policy_toml(&question, 1.0);
        let file = format!("[workload]\nservice = \"log-normal-10ms\"\ndag = {{}}\nload = 0.5\n{policy}");
        let read = caudal_config::File::parse(&file, "policy.toml").expect("what is written can be read");
        let points = read.points().expect("a point");
        let parallelism = points[0].system.parallelism.clone();
        let (ParallelismConfig::TailControl(config) | ParallelismConfig::Clairvoyant(config)) = parallelism
        else {
            panic!("{policy}")
        };
        let table = config.tables(&[]).expect("thresholds");
        for row in &found.rows {
            is_in_six_digits(table.at(0, row.active), row.threshold_ns * 1e3);
        }
        assert_eq!(table.at(0, 10_000), table.at(0, 200));
    }
}

/// Not shorter than `ps` but for a rounded picosecond, and at most a hundred thousandth longer.
fn is_in_six_digits(written: Picos, ps: f64) {
    let longer = written.0 as f64 - ps;
    assert!((-1.0..=ps * 1e-5).contains(&longer), "{written} for {ps} ps");
}

/// Figure 4: with more active requests, the threshold falls; with a longer target, it is nowhere lower.
#[test]
fn thresholds_fall_with_the_load_and_rise_with_the_target() {
    let service = log_normal();
    for rate_per_s in [800.0, 1_000.0, 1_200.0] {
        let tables = [10_000, 14_770, 20_000, 30_000].map(|target| {
            table(&ThresholdQuestion { most_active: 60, ..asked(&service, target, rate_per_s) })
        });
        assert!(tables.iter().all(ThresholdAnswer::is_monotone), "at {rate_per_s}");
        for pair in tables.windows(2) {
            let higher =
                pair[0].rows.iter().zip(&pair[1].rows).all(|(a, b)| a.threshold_ns <= b.threshold_ns);
            assert!(higher, "at {rate_per_s}");
        }
        let last = tables[0].rows.last().expect("rows");
        assert!(last.threshold_ns < tables[0].rows[0].threshold_ns / 4.0, "at {rate_per_s}");
    }
}

/// The formulas do not promise it: where nearly all that are active miss the target anyway, one more may raise the
/// threshold.
#[test]
fn a_threshold_may_rise_where_all_is_lost() {
    let service = log_normal();
    let found = table(&asked(&service, 10_000, 800.0));
    let at = |active: usize| found.rows[active - 1];
    assert!(!found.is_monotone() && at(73).threshold_ns > at(72).threshold_ns);
    assert!(at(73).misses > Some(100.0), "{:?}", at(73));
}

#[test]
fn bins_keep_the_mean() {
    let service = log_normal();
    for bins in [20, 200, 2_000] {
        let found =
            table(&ThresholdQuestion { binning: Binning::Log(bins), ..asked(&service, 25_000, 1_000.0) });
        // What lies beyond the last one in ten million is left out.
        assert!((found.mean_ns.0 / found.mean_ns.1 - 1.0).abs() < 1e-4, "{bins}: {:?}", found.mean_ns);
        assert!((found.busy - 10.0).abs() < 1e-2);
    }
}

#[test]
fn the_maximum_of_wide_bins_is_refused() {
    let service = log_normal();
    let paper = |bins| {
        thresholds(&ThresholdQuestion { binning: Binning::Paper(bins), ..asked(&service, 25_000, 800.0) })
    };
    let Err(TuneError::Thresholds(why)) = paper(25) else { panic!("25 bins") };
    assert!(why.contains("another load"), "{why}");
    let found = paper(20_000).expect("narrow bins");
    assert!(
        found.mean_ns.0 > found.mean_ns.1 && found.mean_ns.0 < 1.01 * found.mean_ns.1,
        "{:?}",
        found.mean_ns
    );
}

#[test]
fn measured_and_two_point_works_have_a_bin_for_each() {
    let service = ServiceSpec::named("extreme-bimodal").compile(".".as_ref()).expect("a workload");
    let found = table(&ThresholdQuestion { cores: 4, ..asked(&service, 100, 1e5) });
    assert_eq!(found.bins, 2);
    assert!(
        found.rows.iter().all(|row| [500.0, 500_000.0].contains(&row.threshold_ns.round())),
        "{:?}",
        found.rows[0]
    );
    assert!((found.hopeless - 0.005).abs() < 1e-9, "500 us on 4 cores are 125");
}

#[test]
fn what_nothing_helps_is_unreachable() {
    let service = log_normal();
    let unreachable = |question: &ThresholdQuestion<'_>| match thresholds(question) {
        Err(TuneError::Unreachable(why)) => why,
        other => panic!("{other:?}"),
    };
    assert!(unreachable(&asked(&service, 25_000, 1_700.0)).contains("16 cores"));
    let constant = service_of_10_ms();
    let serial = ThresholdQuestion { serial: 0.5, ..asked(&constant, 4_000, 100.0) };
    assert!(unreachable(&serial).contains("5.00 ms"), "{}", unreachable(&serial));
    assert!(thresholds(&ThresholdQuestion { serial: 0.3, ..serial }).is_ok());
}

fn service_of_10_ms() -> Service {
    service("{ distribution = \"constant\", value = \"10ms\" }")
}

/// Small requests that can not use all cores have less time to wait: fewer of them are sure of their target.
#[test]
fn a_span_makes_more_small_requests_miss() {
    let service = log_normal();
    let question = asked(&service, 25_000, 1_000.0);
    let (parallel, serial) =
        (table(&question), table(&ThresholdQuestion { serial: 0.5, ..question.clone() }));
    let misses = |found: &ThresholdAnswer| found.rows.iter().filter_map(|row| row.misses).sum::<f64>();
    assert!(misses(&serial) > misses(&parallel));
}

/// Spans of `examples/recorded-graphs.csv` were worked out apart from this.
#[test]
fn recorded_graphs_bring_their_spans() {
    let example = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/recorded-graphs.toml");
    let workload = caudal_config::File::read(example).expect("the example").workload.expect("a workload");
    let service = &workload.service;
    let found = table(&asked(service, 1_000, 1_200.0));
    assert!((found.hopeless - 13.0 / 30.0).abs() < 1e-9, "{}", found.hopeless);
    let bins = caudal_sim::thresholds::bins(service, Binning::Log(200), 0.0);
    let span_us: f64 = bins.iter().map(|bin| bin.share * bin.span_s * 1e6).sum();
    assert!((span_us - 5_727.0 * 0.159_273_870_845_701_66).abs() < 1e-6, "{span_us}");
    // The one request of its bin.
    let longest = bins.last().expect("bins");
    assert!((longest.most_s - 18_951e-6).abs() < 1e-12 && longest.span_s < 1_452e-6);
    let refused = |question: &ThresholdQuestion<'_>| thresholds(question).expect_err("refused").to_string();
    let short = refused(&asked(service, 300, 1_200.0));
    assert!(short.contains("the shortest request takes 379 µs alone on 16 cores"), "{short}");
    let twice = refused(&ThresholdQuestion { serial: 0.1, ..asked(service, 1_000, 1_200.0) });
    assert!(twice.contains("leave out --serial"), "{twice}");
}

fn two_classes() -> Service {
    service(
        "{ distribution = \"mixture\", classes = [\
         { name = \"get\", weight = 0.95, service = { distribution = \"exponential\", mean = \"5ms\" } }, \
         { name = \"scan\", weight = 0.05, service = { distribution = \"exponential\", mean = \"100ms\" } }] }",
    )
}

#[test]
fn classes_have_targets_of_their_own() {
    let service = two_classes();
    let plain = asked(&service, 10_000, 1_200.0);
    let both = ThresholdQuestion {
        class_targets: vec![("scan".to_owned(), Picos::from_micros(400_000))],
        ..plain.clone()
    };
    let found = table(&both);
    let names: Vec<_> = found.tables().iter().map(|(class, _)| class.map(str::to_owned)).collect();
    assert_eq!(names, [Some("get".to_owned()), Some("scan".to_owned())]);
    assert!((found.mean_ns.0 / 9.75e6 - 1.0).abs() < 1e-3, "bins hold all requests: {:?}", found.mean_ns);
    // Scans have time: of what is given up for the gets, they are most.
    let at = |class: usize| found.classes[class].rows[39].threshold_ns;
    assert!(at(1) <= at(0), "{} {}", at(1), at(0));
    assert!(found.csv(1.0).starts_with("class,active,threshold_ns\n\"get\",1,"));
    // The same target for both is a table that is no worse than the one for all.
    let same = ThresholdQuestion {
        class_targets: vec![("scan".to_owned(), Picos::from_micros(10_000))],
        binning: Binning::Log(300),
        ..plain.clone()
    };
    for (row, all) in
        table(&same).rows.iter().zip(&table(&ThresholdQuestion { binning: Binning::Log(300), ..plain }).rows)
    {
        assert!(row.misses.unwrap_or(f64::MAX) <= all.misses.unwrap_or(f64::MAX) * 1.02, "{row:?} {all:?}");
    }
}

#[test]
fn classes_that_are_none_and_targets_twice_are_refused() {
    let service = two_classes();
    let refused = |class_targets: Vec<(String, Picos)>| {
        let question = ThresholdQuestion { class_targets, ..asked(&service, 10_000, 1_200.0) };
        thresholds(&question).expect_err("refused").to_string()
    };
    let scan = ("scan".to_owned(), Picos::from_micros(1));
    assert!(refused(vec![("put".to_owned(), Picos::from_micros(1))]).contains("it has get, scan"));
    assert!(refused(vec![scan.clone(), scan]).contains("two targets"));
}

#[test]
fn classes_have_the_bins_that_are_asked_for() {
    let service = two_classes();
    let asked = |bins| ThresholdQuestion {
        class_targets: vec![("scan".to_owned(), Picos::from_micros(400_000))],
        binning: Binning::Log(bins),
        most_active: 20,
        ..asked(&service, 10_000, 1_200.0)
    };
    let bins = |count| table(&asked(count)).bins;
    assert!(bins(800) > 600 && bins(100) <= 200, "{} {}", bins(800), bins(100));
    let refused = thresholds(&asked(5_001)).expect_err("refused").to_string();
    assert!(refused.contains("5001 bins are not made where classes have targets"), "{refused}");
}

#[test]
fn a_target_that_next_to_all_requests_miss_is_unreachable() {
    let service = log_normal();
    // On 16 cores, 1 us is 16 us of work: less than any request in ten billion has.
    let error = thresholds(&asked(&service, 1, 1_200.0)).expect_err("unreachable");
    assert!(error.is_no() && error.to_string().contains("100.00 %"), "{error}");
    let hard = table(&asked(&service, 300, 1_200.0));
    assert!((0.5..0.999).contains(&hard.hopeless), "{}", hard.hopeless);
}

#[test]
fn a_table_of_classes_is_a_policy() {
    let service = two_classes();
    let question = ThresholdQuestion {
        class_targets: vec![("scan".to_owned(), Picos::from_micros(400_000))],
        ..asked(&service, 10_000, 1_200.0)
    };
    let found = table(&question);
    let read =
        caudal_config::File::parse(&found.policy_toml(&question, 0.5), "policy.toml").expect("a policy");
    let ParallelismConfig::TailControl(config) = &read.systems[0].system.parallelism else {
        panic!("{read:?}")
    };
    let tables = config.tables(service.classes()).expect("thresholds");
    for (class, rows) in found.classes.iter().enumerate() {
        for row in &rows.rows {
            is_in_six_digits(tables.at(class as u8, row.active), row.threshold_ns * 1e3 * 0.5);
        }
    }
}

mod refined {
    use std::sync::Arc;
    use std::sync::atomic::AtomicBool;

    use caudal_config::Measure;
    use caudal_tune::Control;
    use caudal_tune::thresholds::{RefineQuestion, Refined, refine};
    use caudal_workload::{Arrivals, Dag, DagSpec};

    use super::*;

    fn refined(question: &ThresholdQuestion<'_>, threads: usize, dag: Dag) -> Result<Refined, TuneError> {
        let (measure, arrivals) = (Measure::default(), Arrivals::poisson());
        let asked = RefineQuestion {
            question,
            arrivals: &arrivals,
            dag: Arc::new(dag.into()),
            measure: &measure,
            requests: 1_000,
        };
        let control = Control { threads, stop: &AtomicBool::new(false), progress: &|_| {} };
        refine(&asked, &table(question), &control)
    }

    /// What the table promises is looked at, all on the same requests.
    #[test]
    #[ignore = "long: make test-long"]
    fn multiples_are_tried_and_the_best_is_judged_on_fresh_requests() {
        let service = log_normal();
        let question = asked(&service, 20_000, 1_200.0);
        let dag = DagSpec::default().compile().expect("a loop");
        let found = refined(&question, 2, dag.clone()).expect("refined");
        assert_eq!(format!("{found:?}"), format!("{:?}", refined(&question, 1, dag).expect("refined")));
        let scales: Vec<f64> = found.tried.iter().map(|trial| trial.scale).collect();
        assert!(scales.is_sorted() && scales.len() >= 9 && scales.contains(&1.0), "{scales:?}");
        let late =
            |scale: f64| found.tried.iter().find(|trial| trial.scale == scale).expect("tried").late.estimate;
        // A quarter of each threshold gives up requests that would have made it.
        assert!(late(0.25) > 1.2 * late(1.0), "{} {}", late(0.25), late(1.0));
        let names: Vec<&str> = found.judged.iter().map(|judged| judged.policy.as_str()).collect();
        assert!(names.contains(&"the table") && names.contains(&"steal-first"), "{names:?}");
        assert_eq!(found.judged.iter().filter(|judged| judged.chosen_over.is_none()).count(), 1);
        if found.scale != 1.0 {
            let table = found.judged.iter().find(|judged| judged.policy == "the table").expect("judged");
            assert!(
                table.chosen_over.expect("compared").high < 1.0,
                "only what is certainly better is chosen"
            );
        }
    }

    /// Scans take longer than what all others have time for, and have time themselves.
    #[test]
    #[ignore = "long: make test-long"]
    fn who_is_late_is_told_by_the_target_of_its_class() {
        let service = two_classes();
        let question = ThresholdQuestion {
            class_targets: vec![("scan".to_owned(), Picos::from_micros(400_000_000))],
            ..asked(&service, 1_000_000, 400.0)
        };
        let dag = DagSpec::default().compile().expect("a loop");
        let found = refined(&question, 2, dag).expect("refined");
        for judged in &found.judged {
            assert!(judged.late.estimate == 0.0 && judged.late.high < 0.01, "{judged:?}");
        }
    }

    #[test]
    fn requests_that_do_not_fork_are_refused() {
        let service = log_normal();
        let error = refined(&asked(&service, 20_000, 1_200.0), 1, Dag::default()).expect_err("refused");
        assert!(error.to_string().contains("one core"), "{error}");
    }
}
