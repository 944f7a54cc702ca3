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

/// Figure 4: with more active requests, the threshold falls; with a longer target, it is nowhere lower.
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
            rate_per_s: 1_200.0,
            cores: 16,
            binning: Binning::Log(1_000),
            most_active: 200,
            serial: 0.0,
            knowledge,
        };
        let found = thresholds(&question).expect("a table");
        let policy = found.policy_toml(&question);
        let file = format!("[workload]\nservice = \"log-normal-10ms\"\ndag = {{}}\nload = 0.5\n{policy}");
        let read = caudal_config::File::parse(&file, "policy.toml").expect("what is written can be read");
        let points = read.points().expect("a point");
        let parallelism = points[0].system.parallelism.clone();
        let (ParallelismConfig::TailControl(config) | ParallelismConfig::Clairvoyant(config)) = parallelism
        else {
            panic!("{policy}")
        };
        let table = config.table().expect("thresholds");
        for row in &found.rows {
            assert_eq!(table.at(row.active).0, (row.threshold_ns * 1e3).round() as u64, "{}", row.active);
        }
        assert_eq!(table.at(10_000), table.at(200));
    }
}

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
    assert!(short.contains("the shortest request takes 379 us alone on 16 cores"), "{short}");
    let twice = refused(&ThresholdQuestion { serial: 0.1, ..asked(service, 1_000, 1_200.0) });
    assert!(twice.contains("leave out --serial"), "{twice}");
}
