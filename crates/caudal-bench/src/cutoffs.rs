//! The rows about `caudal lanes`: how long a search for cutoffs takes until start and winner are as precise as was asked. `caudal-bench`
//! calls [`searches`] when its table has this group; it uses two threads.

use std::sync::atomic::AtomicBool;
use std::time::Instant;

use caudal_config::{Costs, File, LatencyStatistic, Measure};
use caudal_tune::lanes::{Family, LANES_MAX, LanesAnswer, LanesQuestion, find};
use caudal_tune::{Budget, Control, NoJournal};

use crate::machine::{on_all_cores, process_cpu_s};
use crate::measure::Figure;
use crate::row::{Row, Target, short};

/// The workloads that lanes are searched for, each with its name in the rows.
const WORKLOADS: [(&str, &str); 3] = [
    ("extreme bimodal", "\"extreme-bimodal\""),
    ("log-normal", "{ distribution = \"log-normal\", mean = \"1us\", scv = 10 }"),
    ("RocksDB, 0.5 % scans", "\"rocksdb-0.5\""),
];
/// The budget of `caudal lanes`, in seconds.
const BUDGET_S: f64 = 10.0;

/// The question: 8 servers, load 0.7, the shortest p99, preemptions that cost nothing.
fn question(service: &str, quick: bool) -> LanesQuestion {
    let text = format!("[workload]\nservice = {service}\n[system]\ncores = 8");
    let file = File::parse(&text, "bench.toml").expect("the workloads of the bench are right");
    LanesQuestion {
        workload: file.workload.expect("there is one"),
        workload_name: "bench".to_owned(),
        family: Family::IsqdSita,
        cores: 8,
        contexts: None,
        load: 0.7,
        target: LatencyStatistic::parse("p99").expect("a statistic"),
        also: Vec::new(),
        reservations: None,
        lanes_max: LANES_MAX,
        costs: Costs::FREE,
        measure: Measure::default(),
        budget: Budget::seconds(if quick { BUDGET_S / 10.0 } else { BUDGET_S }),
        quick,
        drifts: Vec::new(),
    }
}

/// One row a workload: the whole of `caudal lanes`, rivals included, on two threads.
pub(crate) fn searches(quick: bool) -> Vec<Row> {
    WORKLOADS.map(|(name, service)| row(name, &question(service, quick))).into()
}

fn row(name: &str, question: &LanesQuestion) -> Row {
    let (mut wall_s, mut cpu_s, mut answer) = (0.0, 0.0, None);
    on_all_cores(|| {
        let stop = AtomicBool::new(false);
        let control = Control { threads: 2, stop: &stop, progress: &|_| {} };
        let (wall, before_s) = (Instant::now(), process_cpu_s());
        answer = find(question, &control, &NoJournal).ok();
        wall_s = wall.elapsed().as_secs_f64();
        cpu_s = process_cpu_s() - before_s;
    });
    let answer = answer.expect("nobody stops it, and the questions of the bench can be asked");
    // A search that ended before its answer was as precise as asked has no time.
    let value = if precise(&answer) { wall_s } else { f64::NAN };
    Row {
        work: format!("cutoff search, 8 servers, load 0.7, {name}"),
        unit: "s",
        measured: Figure::of([value]),
        wall: None,
        target: Target::AtMost(20.0),
        detail: format!(
            "by wall clock, {} s of CPU time on two threads; {} of {} layouts, {:.0} M requests",
            short(cpu_s),
            answer.layout,
            answer.steps.iter().map(|step| step.tried.len()).sum::<usize>(),
            answer.simulated as f64 / 1e6,
        ),
    }
}

/// Whether start and winner are known to 5 %, at a confidence of 95 %.
fn precise(answer: &LanesAnswer) -> bool {
    let judged = || answer.judged.iter().take(2);
    judged().count() == 2 && judged().all(|judged| judged.target.relative_half_width() <= 0.05)
}
