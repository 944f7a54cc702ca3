//! Q-Zilla, Figure 1: one queue for each context, for each core, or for all. `figures` lists it; `reproduction` simulates its file of
//! `experiments/`, and then asks here for statements, charts and tables.

use super::super::claim::{Limit, Needs, all, judge};
use super::super::figure::{Figure, FigureKind, Statement};
use super::super::measured::Measured;
use super::super::words::{SIMILAR, UNCHANGED};
use super::average::average;
use super::{ROUTING, chart, everywhere, pairs, sheets, sources};
use crate::claim::Ask;

/// Organizations of queues on cores of two contexts.
pub(crate) const FIGURE_1: Figure = Figure {
    name: "q-zilla-figure-1",
    title: "Q-Zilla, Figure 1: organizations of queues",
    shows: "p99 of measured services on 16 cores of two contexts at 70 % load: a queue for each context (scale-out), for each \
            core (hierarchical), or for all (scale-up) with a lock of 71 ns or for nothing. `rocksdb-0.5` is no service of the paper's, and is shown for \
            comparison.",
    files: sources!("1"),
    kind: FigureKind::Points,
    statements: &STATEMENTS,
    charts: |measured| vec![chart(measured, FIGURE_1.title, "scale-out")],
    sheets,
};

const IDEAL: &str = "scale-up, ideal";

static STATEMENTS: [Statement; 5] = [
    Statement {
        text: "An ideal scale-up organization has a lower tail than a scale-out organization: 8.3 times, on average",
        source: "section 2.1, Figure 1",
        reading: "of the factor, that it is above 1 on (geometric) average over the services, and under each of them",
        needs: &[],
        judge: |study| {
            let mut asks = everywhere(study.here(), (IDEAL, "scale-out"), Limit::Below(1.0));
            asks.push(average(study.here(), ("scale-out", IDEAL), 1.0, Limit::Above(1.0)));
            all(&asks).sized(&average(study.here(), ("scale-out", IDEAL), 1.0, Limit::Above(1.0)))
        },
    },
    Statement {
        text: "In practice, synchronisation leaves scale-up only a part of that: 1.93 times",
        source: "section 2.1, Figure 1",
        reading: "under each service, the p99 with the lock is above that of the ideal",
        needs: &[],
        judge: |study| {
            let part = average(study.here(), ("scale-out", "scale-up"), 1.0, Limit::Above(1.0));
            all(&everywhere(study.here(), ("scale-up", IDEAL), Limit::Above(1.0))).sized(&part)
        },
    },
    Statement {
        text: "A hierarchical organization has a slightly higher tail than practical scale-up: 16 %",
        source: "section 2.1, Figure 1",
        reading: "above 1, by a quarter at most, on (geometric) average over the services that both carry",
        needs: &[],
        judge: |study| {
            let slightly = Limit::Within(1.0, 1.0 + SIMILAR);
            all(&[average(study.here(), ("hierarchical", "scale-up"), 1.0, slightly)])
        },
    },
    Statement {
        text: "Services without a heavy tail, such as McRouter, have a lower tail with the hierarchical organization than with \
               practical scale-up",
        source: "section 2.1, Figure 1",
        reading: "the p99 of `routing`; a shared queue whose lock can not let its requests pass is higher",
        needs: &[],
        judge: |study| judge(Needs::All, &of_routing(study.here())),
    },
    Statement {
        text: "Between the hierarchical organization and ideal scale-up there is a gap: about 4 times",
        source: "section 2.1, Figure 1",
        reading: "above 1.02 under each service",
        needs: &[],
        judge: |study| {
            let gap = average(study.here(), ("hierarchical", IDEAL), 1.0, Limit::Above(1.0));
            all(&everywhere(study.here(), ("hierarchical", IDEAL), Limit::Above(1.0 + UNCHANGED))).sized(&gap)
        },
    },
];

fn of_routing(measured: &Measured) -> Vec<Ask<'_>> {
    let ask = |(a, b)| super::ratio("routing".to_owned(), super::P99, a, b, Limit::Below(1.0));
    let pairs = pairs(measured, "hierarchical", "scale-up");
    pairs.into_iter().filter(|(a, _)| a.workload == ROUTING).map(ask).collect()
}
