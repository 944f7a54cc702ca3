//! Q-Zilla, Figures 8 to 10 with a service of which the longest requests bring much of the work, at loads that rise with the servers.
//! `figures` lists it; `reproduction` simulates its file of `experiments/`, and then asks here for statements, charts and tables.
//!
//! No organization makes the p99 shorter than that of the service alone, so what can be gained over one queue is p99(M/G/k) over
//! p99(service). In the measured services the longest 1 % bring 2 to 10 % of the work, and with 4 and 8 servers at 70 % there is
//! little to gain. The paper says neither, but its loads are break-even points, which rise with the servers.

use caudal_report::chart::Chart;

use super::super::cell::{Cell, apart};
use super::super::claim::{Ask, Claim, Finding, Limit, all};
use super::super::figure::{Figure, FigureKind, Source, Statement, Study};
use super::super::measured::Measured;
use super::super::words::UNCHANGED;
use super::{P99, chart, ratio, sheets};

macro_rules! file {
    ($figure:literal, $servers:literal) => {
        Source {
            workload: $servers,
            text: include_str!(concat!(
                "../../../../experiments/q-zilla-figure-",
                $figure,
                "-pareto/",
                $servers,
                ".toml"
            )),
        }
    };
}

/// Organizations of servers.
pub(crate) const FIGURE_8_PARETO: Figure = Figure {
    name: "q-zilla-figure-8-pareto",
    title: "Q-Zilla, Figures 8 and 10, second reading: a bounded Pareto at loads that rise",
    shows: "p99 of a bounded Pareto service (exponent 1.3, 1 to 1,000 us), whose longest 1 % bring a quarter of the work, at loads of \
            0.5, 0.8 and 0.9 with 2, 4 and 8 servers: the organizations of Figure 8, and the eight lanes of Figure 10.",
    files: &[
        file!("8", "2-servers"),
        file!("8", "4-servers"),
        file!("8", "8-servers"),
        file!("8", "8-lanes"),
    ],
    kind: FigureKind::Points,
    statements: &STATEMENTS_8,
    charts: charts_8,
    sheets,
};

/// Cores with hardware contexts.
pub(crate) const FIGURE_9_PARETO: Figure = Figure {
    name: "q-zilla-figure-9-pareto",
    title: "Q-Zilla, Figure 9, second reading: a bounded Pareto at loads that rise",
    shows: "p99 of a bounded Pareto service (exponent 1.3, 1 to 1,000 us), whose longest 1 % bring a quarter of the work, at loads of \
            0.5, 0.8 and 0.9 on a core with 2, 4 and 8 hardware contexts.",
    files: &[file!("9", "2-contexts"), file!("9", "4-contexts"), file!("9", "8-contexts")],
    kind: FigureKind::Points,
    statements: &STATEMENTS_9,
    charts: |measured| vec![chart(measured, FIGURE_9_PARETO.title, "SMT")],
    sheets,
};

/// Its other files have no lanes of Figure 10, and that one no queue to compare with.
fn charts_8(measured: &Measured) -> Vec<Chart> {
    let cells: Vec<Cell> = measured.cells.iter().filter(|cell| cell.workload != "8-lanes").cloned().collect();
    let shown = Measured { cells, ..Measured::default() };
    vec![chart(&shown, FIGURE_8_PARETO.title, "M/G/k")]
}

const READING: &str = "the p99 of the one over that of the other is above 1";
const GROWS: &str = "that ratio against the same with half as many, at their loads";

const fn of_8(text: &'static str, reading: &'static str, judge: fn(&Study<'_>) -> Finding) -> Statement {
    Statement { text, source: "section 7.1, Figure 8", reading, needs: &[], judge }
}

const fn of_9(text: &'static str, reading: &'static str, judge: fn(&Study<'_>) -> Finding) -> Statement {
    Statement { text, source: "section 7.2, Figure 9", reading, needs: &[], judge }
}

const ISQD: (&str, &str) = ("M/G/k", "ISQD-SITA");
const CORE: (&str, &str) = ("SMT", "CoreZilla");

static STATEMENTS_8: [Statement; 6] = [
    of_8(
        "ISQD-SITA improves the tail over M/G/k: 2.28 times with 2 servers, on average (bounded Pareto)",
        READING,
        |study| all(&above(study.here(), "2-servers", ISQD)),
    ),
    of_8(
        "ISQD-SITA improves the tail over M/G/k: 3.39 times with 4 servers, on average (bounded Pareto)",
        READING,
        |study| all(&above(study.here(), "4-servers", ISQD)),
    ),
    of_8(
        "ISQD-SITA improves the tail over M/G/k: 4.76 times with 8 servers, on average (bounded Pareto)",
        READING,
        |study| all(&above(study.here(), "8-servers", ISQD)),
    ),
    of_8(
        "ISQD-SITA improves the tail over M/G/k by more with 4 servers than with 2 (bounded Pareto)",
        GROWS,
        |study| all(&grows(study.here(), ("4-servers", "2-servers"), ISQD)),
    ),
    of_8(
        "ISQD-SITA improves the tail over M/G/k by more with 8 servers than with 4 (bounded Pareto)",
        GROWS,
        |study| all(&grows(study.here(), ("8-servers", "4-servers"), ISQD)),
    ),
    of_8("ISQD-SITA is no worse than SQD-SITA (bounded Pareto)", "nowhere more than 2 % above", |study| {
        let asks = ["2-servers", "4-servers", "8-servers"].map(|servers| {
            of(study.here(), servers, ("ISQD-SITA", "SQD-SITA"), Limit::Below(1.0 + UNCHANGED))
        });
        all(&asks.into_iter().flatten().collect::<Vec<_>>())
    }),
];

static STATEMENTS_9: [Statement; 5] = [
    of_9(
        "CoreZilla improves the tail over SMT: 2.25 times with 2 contexts, on average (bounded Pareto)",
        READING,
        |study| all(&above(study.here(), "2-contexts", CORE)),
    ),
    of_9(
        "CoreZilla improves the tail over SMT: 3.23 times with 4 contexts, on average (bounded Pareto)",
        READING,
        |study| all(&above(study.here(), "4-contexts", CORE)),
    ),
    of_9(
        "CoreZilla improves the tail over SMT: 4.38 times with 8 contexts, on average (bounded Pareto)",
        READING,
        |study| all(&above(study.here(), "8-contexts", CORE)),
    ),
    of_9(
        "CoreZilla improves the tail over SMT by more with 4 contexts than with 2 (bounded Pareto)",
        GROWS,
        |study| all(&grows(study.here(), ("4-contexts", "2-contexts"), CORE)),
    ),
    of_9(
        "CoreZilla improves the tail over SMT by more with 8 contexts than with 4 (bounded Pareto)",
        GROWS,
        |study| all(&grows(study.here(), ("8-contexts", "4-contexts"), CORE)),
    ),
];

fn pair<'a>(measured: &'a Measured, servers: &str, systems: (&str, &str)) -> Option<(&'a Cell, &'a Cell)> {
    measured.of(servers, systems.0).zip(measured.of(servers, systems.1))
}

/// Is the p99 of the first system over that of the second where `limit` says?
fn of<'a>(measured: &'a Measured, servers: &str, systems: (&str, &str), limit: Limit) -> Option<Ask<'a>> {
    let (a, b) = pair(measured, servers, systems)?;
    Some(ratio(format!("{} over {} at load {}", systems.0, systems.1, a.load), P99, a, b, limit))
}

fn above<'a>(measured: &'a Measured, servers: &str, systems: (&str, &str)) -> Vec<Ask<'a>> {
    of(measured, servers, systems, Limit::Above(1.0)).into_iter().collect()
}

/// Is that ratio greater with more servers than with fewer?
fn grows<'a>(
    measured: &'a Measured,
    (more, fewer): (&'static str, &'static str),
    systems: (&str, &str),
) -> Vec<Ask<'a>> {
    let both = pair(measured, more, systems).zip(pair(measured, fewer, systems));
    let ask = |(own, other): ((&'a Cell, &'a Cell), (&'a Cell, &'a Cell))| -> Ask<'a> {
        Box::new(move |confidence| {
            // Each of the two at half of what is allowed to go wrong.
            let each = 1.0 - (1.0 - confidence) / 2.0;
            let ratio = |(a, b)| P99.ratio(a, b, each);
            let value = apart(ratio(own), ratio(other));
            let cells = [own.0, own.1, other.0, other.1];
            Claim::new(format!("{more} over {fewer}:"), value, Limit::Above(1.0)).about(&cells)
        })
    };
    both.map(ask).into_iter().collect()
}
