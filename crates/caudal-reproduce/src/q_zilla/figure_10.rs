//! Q-Zilla, Figure 10: how often requests are preempted. `figures` lists it; `reproduction` simulates its file of `experiments/`, and
//! then asks here for statements, charts and tables.

use caudal_stats::Estimate;

use super::super::cell::CONFIDENCE;
use super::super::cell::{Cell, apart};
use super::super::claim::{Ask, Claim, Limit, Needs, all, judge};
use super::super::figure::{Figure, FigureKind, Statement};
use super::super::measured::Measured;
use super::super::sheet::Sheet;
use super::super::words::MUCH;
use super::{P99, RSC, chart, judged, pairs, sheet, sources};
use caudal_results::table;

/// Preemptions of eight servers in eight lanes.
pub(crate) const FIGURE_10: Figure = Figure {
    name: "q-zilla-figure-10",
    title: "Q-Zilla, Figure 10: preemptions of a request",
    shows: "How often a request is preempted, on average, with 8 servers in 8 lanes at 70 % load, preemption at no cost: \
            preemptive SITA, SQD-SITA and ISQD-SITA, each with the ends of lanes that were found for it. `rocksdb-0.5` is no service \
            of the paper's.",
    files: sources!("10"),
    kind: FigureKind::Points,
    statements: &STATEMENTS,
    charts: |measured| vec![chart(measured, "Their p99", "P-SITA")],
    sheets: |measured| vec![preemptions(measured), sheet(measured, P99)],
};

static STATEMENTS: [Statement; 4] = [
    Statement {
        text: "ISQD-SITA increases the number of preemptions over SQD-SITA",
        source: "section 7.3, Figure 10",
        reading: "for most services",
        needs: &[],
        judge: |study| judge(Needs::Most, &against(study.here(), "SQD-SITA", Limit::Above(1.0), |_| true)),
    },
    Statement {
        text: "ISQD-SITA often has significantly fewer preemptions than preemptive SITA",
        source: "section 7.3, Figure 10",
        reading: "more than a third fewer for most services",
        needs: &[],
        judge: |study| {
            judge(Needs::Most, &against(study.here(), "P-SITA", Limit::Below(1.0 - MUCH), |_| true))
        },
    },
    Statement {
        text: "For RSC, ISQD-SITA has more preemptions than preemptive SITA: 0.84 of a request against 0.63",
        source: "section 7.3, Figure 10",
        reading: "`block-cache`",
        needs: &[],
        judge: |study| all(&against(study.here(), "P-SITA", Limit::Above(1.0), |name| name == RSC)),
    },
    Statement {
        text: "The number of preemptions of (I)SQD-SITA is small",
        source: "section 7.3, Figure 10",
        reading: "less than one of a request, on average, for each service",
        needs: &[],
        judge: |study| all(&few(study.here())),
    },
];

fn of(cell: &Cell, confidence: f64) -> Estimate {
    cell.preemptions().interval(confidence).at_least(0.0)
}

/// Preemptions of a request under ISQD-SITA, over those under `other`.
fn against<'a>(
    measured: &'a Measured,
    other: &str,
    limit: Limit,
    which: impl Fn(&str) -> bool,
) -> Vec<Ask<'a>> {
    let ask = |(a, b): (&'a Cell, &'a Cell)| -> Ask<'a> {
        Box::new(move |confidence| {
            let each = 1.0 - (1.0 - confidence) / 2.0;
            let ratio = apart(of(a, each), of(b, each));
            let place = format!(
                "{}, {} against {}:",
                a.workload,
                table::digits(of(a, each).estimate),
                table::digits(of(b, each).estimate)
            );
            Claim::new(place, ratio, limit).about(&[a, b])
        })
    };
    let pairs = pairs(measured, "ISQD-SITA", other).into_iter();
    pairs.filter(|(a, b)| which(a.workload) && !a.overloaded && !b.overloaded).map(ask).collect()
}

fn few<'a>(measured: &'a Measured) -> Vec<Ask<'a>> {
    let blind = |cell: &&Cell| cell.system != "P-SITA" && !cell.overloaded;
    let judged = judged(measured);
    let shown = measured.cells.iter().filter(blind).filter(|cell| judged.contains(&cell.workload));
    let ask = |cell: &'a Cell| -> Ask<'a> {
        Box::new(move |confidence| {
            let place = format!("{}, {}", cell.workload, cell.system);
            Claim::new(place, of(cell, confidence), Limit::Below(1.0)).about(&[cell])
        })
    };
    shown.map(ask).collect()
}

fn preemptions(measured: &Measured) -> Sheet {
    let workloads = measured.values(|cell| cell.workload);
    let row = |system: &String| {
        let shown = |workload: &&str| match measured.of(workload, system) {
            None => "–".to_owned(),
            Some(cell) if cell.overloaded => "overload".to_owned(),
            Some(cell) => table::estimate(&of(cell, CONFIDENCE), table::digits),
        };
        let mut row = vec![system.clone()];
        row.extend(workloads.iter().map(shown));
        row
    };
    let mut head = vec!["system".to_owned()];
    head.extend(workloads.iter().map(|&name| name.to_owned()));
    Sheet {
        title: "Preemptions of a request (± half-width of the 95 % interval)".to_owned(),
        head,
        rows: measured.values(|cell| cell.system.clone()).iter().map(row).collect(),
    }
}
