//! Tiny Quanta, Figures 5 to 12: Tiny Quanta with different quanta, beside rivals, and without its parts. The paper measured them; here
//! they are simulated. `figures` lists it; `reproduction` simulates its file of `experiments/`, and then asks here for statements, charts
//! and tables.

use super::super::claim::{Ask, Finding, Limit, all, one};
use super::super::figure::{Figure, FigureKind, Source, Statement, Study};
use super::super::measured::Measured;
use super::super::search::Within;
use super::super::words::MARGINAL;
use super::rates::{
    CALADAN, SHINJUKU, TQ, carries_less, carries_more, chart, millions, quantum, rate, sheet,
};

/// The budget of the paper's comparisons.
const BUDGET_US: u64 = 50;

macro_rules! file {
    ($name:literal) => {
        Source::alone(include_str!(concat!("../../../../experiments/tiny-quanta-figure-", $name, ".toml")))
    };
    ($name:literal, $workload:literal) => {
        Source {
            workload: $workload,
            text: include_str!(concat!(
                "../../../../experiments/tiny-quanta-figure-",
                $name,
                "/",
                $workload,
                ".toml"
            )),
        }
    };
}

const fn statement(
    text: &'static str,
    source: &'static str,
    reading: &'static str,
    judge: fn(&Study<'_>) -> Finding,
) -> Statement {
    Statement { text, source, reading, needs: &[], judge }
}

const HIGHEST: &str = "the highest rate of one system over that of the other";

/// Short requests with different quanta.
pub(crate) const FIGURE_5: Figure = Figure {
    name: "tiny-quanta-figure-5",
    title: "Tiny Quanta, Figure 5: short requests with different quanta",
    shows: "The highest rate at which p99.9 of the short requests of the extreme bimodal workload stays within 50 us under \
            Tiny Quanta on 16 workers, with quanta from 0.5 to 10 us.",
    files: &[file!("5")],
    kind: FigureKind::HighestLoad(|_| Within::Latency { class: "short", us: BUDGET_US }),
    statements: &STATEMENTS_5,
    charts: |measured| vec![chart(measured, FIGURE_5.title)],
    sheets: |measured| vec![sheet(measured)],
};

static STATEMENTS_5: [Statement; 2] = [
    statement(
        "For short requests, quanta of 2 us have the same maximum throughput as quanta of 10 us",
        "section 5.2, Figure 5",
        "the highest rate with 2 us is at most a tenth below that with 10 us",
        |study| one(quantum(study.here(), (2_000.0, 10_000.0), Limit::Above(1.0 - MARGINAL))),
    ),
    statement(
        "Quanta of 0.5 us still have a significant throughput",
        "section 5.2, Figure 5",
        "more than half of the highest rate with 2 us",
        |study| one(quantum(study.here(), (500.0, 2_000.0), Limit::Above(0.5))),
    ),
];

/// Long requests with different quanta.
pub(crate) const FIGURE_6: Figure = Figure {
    name: "tiny-quanta-figure-6",
    title: "Tiny Quanta, Figure 6: long requests with different quanta",
    shows: "The highest rate at which p99.9 of the long requests of the extreme bimodal workload stays within 5 ms under \
            Tiny Quanta on 16 workers, with quanta from 0.5 to 10 us.",
    files: &[file!("6")],
    kind: FigureKind::HighestLoad(|_| Within::Latency { class: "long", us: 5_000 }),
    statements: &STATEMENTS_6,
    charts: |measured| vec![chart(measured, FIGURE_6.title)],
    sheets: |measured| vec![sheet(measured)],
};

static STATEMENTS_6: [Statement; 2] = [
    statement(
        "For long requests, the throughput is almost identical for all quanta above 0.5 us",
        "section 5.2, Figure 6",
        "the highest rates with 1 and 2 us are within a tenth of that with 10 us",
        |study| {
            let same = Limit::Within(1.0 - MARGINAL, 1.0 + MARGINAL);
            all(&[1_000.0, 2_000.0].map(|own| quantum(study.here(), (own, 10_000.0), same)))
        },
    ),
    statement(
        "For long requests, quanta of 0.5 us have less throughput",
        "section 5.2, Figure 6",
        "the highest rate is below that with 1 us",
        |study| one(quantum(study.here(), (500.0, 1_000.0), Limit::Below(1.0))),
    ),
];

/// Bimodal workloads beside rivals.
pub(crate) const FIGURE_7: Figure = Figure {
    name: "tiny-quanta-figure-7",
    title: "Tiny Quanta, Figure 7: bimodal workloads beside Shinjuku and Caladan",
    shows: "The highest rate at which p99.9 of the short requests stays within 50 us, and that of the long ones within ten \
            times their service time, on 16 workers: extreme bimodal and high bimodal.",
    files: &[
        file!("7", "extreme-short"),
        file!("7", "extreme-long"),
        file!("7", "high-short"),
        file!("7", "high-long"),
    ],
    kind: FigureKind::HighestLoad(|about| match about {
        "extreme-long" => Within::Latency { class: "long", us: 5_000 },
        "high-long" => Within::Latency { class: "long", us: 1_000 },
        _ => Within::Latency { class: "short", us: BUDGET_US },
    }),
    statements: &STATEMENTS_7,
    charts: |measured| vec![chart(measured, FIGURE_7.title)],
    sheets: |measured| vec![sheet(measured)],
};

const OF_EXTREME: &str = "section 5.3, Extreme Bimodal, Figure 7";
const OF_HIGH: &str = "section 5.3, High Bimodal, Figure 7";
const LONG_LIMIT: &str =
    "the highest rate with p99.9 of the long requests within ten times their service time, which is ours";

static STATEMENTS_7: [Statement; 9] = [
    statement(
        "Extreme bimodal: TQ keeps short requests within 50 us up to 4.5 M/s",
        OF_EXTREME,
        "4 to 5 M/s",
        |study| millions(study.here(), "extreme-short", TQ, Limit::Within(4.0, 5.0)),
    ),
    statement(
        "Extreme bimodal, short requests: TQ carries 2.6 times the rate of Shinjuku",
        OF_EXTREME,
        HIGHEST,
        |study| carries_more(study.here(), "extreme-short", (TQ, SHINJUKU)),
    ),
    statement(
        "Extreme bimodal, short requests: TQ carries 2.1 times the rate of Caladan",
        OF_EXTREME,
        HIGHEST,
        |study| carries_more(study.here(), "extreme-short", (TQ, CALADAN)),
    ),
    statement(
        "Extreme bimodal, long requests: TQ carries 1.8 times the rate of Shinjuku",
        OF_EXTREME,
        LONG_LIMIT,
        |study| carries_more(study.here(), "extreme-long", (TQ, SHINJUKU)),
    ),
    statement(
        "Extreme bimodal, long requests: TQ carries 1.2 times the rate of Caladan",
        OF_EXTREME,
        LONG_LIMIT,
        |study| carries_more(study.here(), "extreme-long", (TQ, CALADAN)),
    ),
    statement(
        "High bimodal, short requests: TQ carries 1.65 times the rate of Caladan",
        OF_HIGH,
        HIGHEST,
        |study| carries_more(study.here(), "high-short", (TQ, CALADAN)),
    ),
    statement(
        "High bimodal, short requests: TQ carries 1.33 times the rate of Shinjuku",
        OF_HIGH,
        HIGHEST,
        |study| carries_more(study.here(), "high-short", (TQ, SHINJUKU)),
    ),
    statement(
        "High bimodal, short requests: Shinjuku carries more than Caladan",
        OF_HIGH,
        HIGHEST,
        |study| carries_more(study.here(), "high-short", (SHINJUKU, CALADAN)),
    ),
    statement(
        "High bimodal, long requests: TQ sustains the highest throughput",
        OF_HIGH,
        LONG_LIMIT,
        |study| {
            let ask = |other| rate(study.here(), "high-long", (TQ, other), Limit::Above(1.0));
            all(&[ask(SHINJUKU), ask(CALADAN)])
        },
    ),
];

/// TPC-C beside rivals.
pub(crate) const FIGURE_8: Figure = Figure {
    name: "tiny-quanta-figure-8",
    title: "Tiny Quanta, Figure 8: TPC-C beside Shinjuku and Caladan",
    shows: "The highest rate at which the p99.9 slowdown of all TPC-C requests stays within 10 on 16 workers.",
    files: &[file!("8")],
    kind: FigureKind::HighestLoad(|_| Within::Slowdown),
    statements: &STATEMENTS_8,
    charts: |measured| vec![chart(measured, FIGURE_8.title)],
    sheets: |measured| vec![sheet(measured)],
};

const OF_TPCC: &str = "section 5.3, TPC-C, Figure 8";

static STATEMENTS_8: [Statement; 2] = [
    statement(
        "TPC-C: TQ carries 1.29 times the rate of Caladan within a slowdown of 10",
        OF_TPCC,
        HIGHEST,
        |study| carries_more(study.here(), "", (TQ, CALADAN)),
    ),
    statement(
        "TPC-C: TQ carries 1.18 times the rate of Shinjuku within a slowdown of 10",
        OF_TPCC,
        HIGHEST,
        |study| carries_more(study.here(), "", (TQ, SHINJUKU)),
    ),
];

/// RocksDB beside rivals.
pub(crate) const FIGURE_9: Figure = Figure {
    name: "tiny-quanta-figure-9",
    title: "Tiny Quanta, Figure 9: RocksDB beside Shinjuku and Caladan",
    shows: "The highest rate at which p99.9 of gets stays within 50 us, and that of scans within ten times their service \
            time, on 16 workers: 0.5 % and 50 % of scans, service times as measured for this project.",
    files: &[file!("9", "0.5-get"), file!("9", "0.5-scan"), file!("9", "50-get"), file!("9", "50-scan")],
    kind: FigureKind::HighestLoad(|about| match about {
        "0.5-scan" | "50-scan" => Within::Latency { class: "scan", us: 8_000 },
        _ => Within::Latency { class: "get", us: BUDGET_US },
    }),
    statements: &STATEMENTS_9,
    charts: |measured| vec![chart(measured, FIGURE_9.title)],
    sheets: |measured| vec![sheet(measured)],
};

const OF_ROCKSDB: &str = "section 5.3, RocksDB, Figure 9";
const SCAN_LIMIT: &str =
    "the highest rate with p99.9 of scans within 8 ms, ten times their service time, which is ours";

static STATEMENTS_9: [Statement; 6] = [
    statement(
        "RocksDB with 0.5 % scans, gets: TQ carries 1.93 times the rate of Shinjuku",
        OF_ROCKSDB,
        HIGHEST,
        |study| carries_more(study.here(), "0.5-get", (TQ, SHINJUKU)),
    ),
    statement(
        "RocksDB with 0.5 % scans, gets: TQ carries 2.07 times the rate of Caladan",
        OF_ROCKSDB,
        HIGHEST,
        |study| carries_more(study.here(), "0.5-get", (TQ, CALADAN)),
    ),
    statement(
        "RocksDB with 50 % scans, gets: TQ carries 1.28 times the rate of Shinjuku",
        OF_ROCKSDB,
        HIGHEST,
        |study| carries_more(study.here(), "50-get", (TQ, SHINJUKU)),
    ),
    statement(
        "RocksDB with 50 % scans, gets: TQ carries 2.21 times the rate of Caladan",
        OF_ROCKSDB,
        HIGHEST,
        |study| carries_more(study.here(), "50-get", (TQ, CALADAN)),
    ),
    statement(
        "RocksDB with 0.5 % scans, scans: TQ carries 1.63 times the rate of Shinjuku",
        OF_ROCKSDB,
        SCAN_LIMIT,
        |study| carries_more(study.here(), "0.5-scan", (TQ, SHINJUKU)),
    ),
    statement(
        "RocksDB with 50 % scans, scans: TQ carries 1.13 times the rate of Shinjuku",
        OF_ROCKSDB,
        SCAN_LIMIT,
        |study| carries_more(study.here(), "50-scan", (TQ, SHINJUKU)),
    ),
];

/// Exponential service beside rivals.
pub(crate) const FIGURE_10: Figure = Figure {
    name: "tiny-quanta-figure-10",
    title: "Tiny Quanta, Figure 10: exponential service beside Shinjuku and Caladan",
    shows: "The highest rate at which p99.9 stays within 50 us on 16 workers, exponential service of mean 1 us.",
    files: &[file!("10")],
    kind: FigureKind::HighestLoad(|_| Within::Latency { class: "", us: BUDGET_US }),
    statements: &STATEMENTS_10,
    charts: |measured| vec![chart(measured, FIGURE_10.title)],
    sheets: |measured| vec![sheet(measured)],
};

const OF_EXP: &str = "section 5.3, Exponential, Figure 10";

static STATEMENTS_10: [Statement; 3] = [
    statement("Exponential: TQ carries 11 M/s within 50 us", OF_EXP, "10 to 12 M/s", |study| {
        millions(study.here(), "", TQ, Limit::Within(10.0, 12.0))
    }),
    statement("Exponential: TQ carries 6.85 times the rate of Shinjuku", OF_EXP, HIGHEST, |study| {
        carries_more(study.here(), "", (TQ, SHINJUKU))
    }),
    statement("Exponential: TQ carries 1.21 times the rate of Caladan", OF_EXP, HIGHEST, |study| {
        carries_more(study.here(), "", (TQ, CALADAN))
    }),
];

/// Variants of forced multitasking.
pub(crate) const FIGURE_11: Figure = Figure {
    name: "tiny-quanta-figure-11",
    title: "Tiny Quanta, Figure 11: without its cheap probes and yields",
    shows: "The highest rate at which p99.9 of gets stays within 50 us on 16 workers, RocksDB with 0.5 % scans: Tiny Quanta, \
            with probes that count instructions (TQ-IC), and with yields that take 1 us more (TQ-SLOW-YIELD).",
    files: &[file!("11")],
    kind: FigureKind::HighestLoad(|_| Within::Latency { class: "get", us: BUDGET_US }),
    statements: &STATEMENTS_11,
    charts: |measured| vec![chart(measured, FIGURE_11.title)],
    sheets: |measured| vec![sheet(measured)],
};

const OF_FORCED: &str = "section 5.4, Figure 11";

static STATEMENTS_11: [Statement; 2] = [
    statement("TQ-IC carries 62 % of TQ's rate", OF_FORCED, HIGHEST, |study| {
        carries_less(study.here(), "", ("TQ-IC", TQ))
    }),
    statement("TQ-SLOW-YIELD carries 81 % of TQ's rate", OF_FORCED, HIGHEST, |study| {
        carries_less(study.here(), "", ("TQ-SLOW-YIELD", TQ))
    }),
];

/// Variants of two-level scheduling.
pub(crate) const FIGURE_12: Figure = Figure {
    name: "tiny-quanta-figure-12",
    title: "Tiny Quanta, Figure 12: without its dispatcher, and without its sharing",
    shows: "The highest rate at which p99.9 of gets stays within 50 us on 16 workers, RocksDB with 0.5 % scans: Tiny Quanta, \
            with random placement (TQ-RAND), the shorter of two queues (TQ-POWER-TWO), and first come first served (TQ-FCFS).",
    files: &[file!("12")],
    kind: FigureKind::HighestLoad(|_| Within::Latency { class: "get", us: BUDGET_US }),
    statements: &STATEMENTS_12,
    charts: |measured| vec![chart(measured, FIGURE_12.title)],
    sheets: |measured| vec![sheet(measured)],
};

const OF_LEVELS: &str = "section 5.4, Figure 12";

static STATEMENTS_12: [Statement; 3] = [
    statement("TQ-RAND carries 53 % of TQ's rate", OF_LEVELS, HIGHEST, |study| {
        carries_less(study.here(), "", ("TQ-RAND", TQ))
    }),
    statement("TQ-FCFS carries 34 % of TQ's rate", OF_LEVELS, HIGHEST, |study| {
        carries_less(study.here(), "", ("TQ-FCFS", TQ))
    }),
    statement(
        "TQ-POWER-TWO has a similar throughput to TQ",
        OF_LEVELS,
        "the highest rates are within a tenth of each other",
        |study| similar(study.here()),
    ),
];

fn similar(measured: &Measured) -> Finding {
    let limit = Limit::Within(1.0 - MARGINAL, 1.0 + MARGINAL);
    let ask: Ask<'_> = rate(measured, "", ("TQ-POWER-TWO", TQ), limit);
    one(ask)
}
