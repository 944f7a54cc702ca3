//! Q-Zilla, Figure 8: organizations of 2, 4 and 8 servers, preemption at no cost. `figures` lists it; `reproduction` simulates its file
//! of `experiments/`, and then asks here for statements, charts and tables.

use caudal_report::chart::Chart;

use super::super::cell::Cell;
use super::super::claim::{Ask, Finding, Limit, Needs, all, judge};
use super::super::figure::{Figure, FigureKind, Statement, Study};
use super::super::measured::Measured;
use super::super::words::{MUCH, UNCHANGED};
use super::average::{average, grows};
use super::{P99, RSC, SAME_LANES, chart, everywhere, pairs, ratio, sheets, sources};

const SHOWS: &str = "p99 of measured services at 70 % load, preemption at no cost: one queue (M/G/k), requests by known size \
                     on servers of their own with a lane for each (SITA) or as many as are best (G-SITA), by time served on \
                     servers of their own (PG-SITA), with servers that go where they are needed (SQD-SITA) and never idle \
                     (ISQD-SITA), processor sharing with 2 us, and SRPT. `scripts/q-zilla` found the lanes for each. `rocksdb-0.5` is no service of the paper's, and is shown for comparison.";

const fn part(
    name: &'static str,
    title: &'static str,
    files: &'static [super::super::figure::Source],
    statements: &'static [Statement],
    charts: fn(&Measured) -> Vec<Chart>,
) -> Figure {
    Figure { name, title, shows: SHOWS, files, kind: FigureKind::Points, statements, charts, sheets }
}

/// Two servers.
pub(crate) const FIGURE_8A: Figure = part(
    "q-zilla-figure-8a",
    "Q-Zilla, Figure 8a: organizations of 2 servers",
    sources!("8a"),
    &STATEMENTS_A,
    |measured| vec![chart(measured, FIGURE_8A.title, "M/G/k")],
);

/// Four servers.
pub(crate) const FIGURE_8B: Figure = part(
    "q-zilla-figure-8b",
    "Q-Zilla, Figure 8b: organizations of 4 servers",
    sources!("8b"),
    &STATEMENTS_B,
    |measured| vec![chart(measured, FIGURE_8B.title, "M/G/k")],
);

/// Eight servers.
pub(crate) const FIGURE_8C: Figure = part(
    "q-zilla-figure-8c",
    "Q-Zilla, Figure 8c: organizations of 8 servers",
    sources!("8c"),
    &STATEMENTS_C,
    |measured| vec![chart(measured, FIGURE_8C.title, "M/G/k")],
);

const ISQD: &str = "ISQD-SITA";
const WHERE: &str = "section 7.1, Figure 8";
const FACTOR: &str = "the (geometric) average over the services that both carry is above 1";
const NOT_WORSE: &str =
    "nowhere more than 2 % above; each with the lanes that were found for it, where both are not one queue";
const SAME: &str = "nowhere more than 2 % above; both with the lanes that were found for PG-SITA, or for the next that has any";

const fn statement(text: &'static str, reading: &'static str, judge: fn(&Study<'_>) -> Finding) -> Statement {
    Statement { text, source: WHERE, reading, needs: &[], judge }
}

/// `other` has a higher p99, on average.
fn higher(measured: &Measured, other: &str) -> Finding {
    all(&[average(measured, (other, ISQD), 1.0, Limit::Above(1.0))])
}

fn not_worse(measured: &Measured, first: &str, second: &str) -> Finding {
    all(&everywhere(measured, (first, second), Limit::Below(1.0 + UNCHANGED)))
}

const NEVER_WORSE: Statement = statement(
    "ISQD-SITA is never worse than M/G/k",
    "nowhere more than 2 % above, where it is not M/G/k itself",
    |study| not_worse(study.here(), ISQD, "M/G/k"),
);
const SQD_OWN: Statement = statement("SQD-SITA is no worse than PG-SITA", NOT_WORSE, |study| {
    not_worse(study.here(), "SQD-SITA", "PG-SITA")
});
const SQD_SAME: Statement =
    statement("SQD-SITA is no worse than PG-SITA with the same lanes", SAME, |study| {
        not_worse(study.here(), &format!("SQD-SITA{SAME_LANES}"), &format!("PG-SITA{SAME_LANES}"))
    });
const ISQD_OWN: Statement = statement("ISQD-SITA is no worse than SQD-SITA", NOT_WORSE, |study| {
    not_worse(study.here(), ISQD, "SQD-SITA")
});
const ISQD_SAME: Statement =
    statement("ISQD-SITA is no worse than SQD-SITA with the same lanes", SAME, |study| {
        not_worse(study.here(), &format!("ISQD-SITA{SAME_LANES}"), &format!("SQD-SITA{SAME_LANES}"))
    });
const GANGING: Statement = statement(
    "With a lane for each server, SITA has significantly higher tails than with as many lanes as are best",
    "G-SITA's p99 is more than a third below SITA's for most services",
    |study| judge(Needs::Most, &everywhere(study.here(), ("G-SITA", "SITA"), Limit::Below(1.0 - MUCH))),
);
const ABOVE_ONE_QUEUE: Statement = statement(
    "With a lane for each server, SITA's tails are in many cases even higher than those of M/G/k",
    "for most services",
    |study| judge(Needs::Most, &everywhere(study.here(), ("SITA", "M/G/k"), Limit::Above(1.0))),
);
const KNOWN_SIZES: Statement = statement(
    "In a few cases, (I)SQD-SITA falls short of (G-)SITA, which knows the sizes of requests",
    "G-SITA's p99 is more than 2 % lower than ISQD-SITA's for some service, where it has more than one lane",
    |study| judge(Needs::Any, &by_known_sizes(study.here())),
);

static STATEMENTS_A: [Statement; 9] = [
    statement(
        "ISQD-SITA improves the tail over M/G/k: 2.28 times with 2 servers, on average",
        FACTOR,
        |study| higher(study.here(), "M/G/k"),
    ),
    NEVER_WORSE,
    SQD_OWN,
    SQD_SAME,
    ISQD_OWN,
    ISQD_SAME,
    KNOWN_SIZES,
    statement(
        "With 2 servers, processor sharing outperforms ISQD-SITA: by 6 %, on average",
        "its p99 over ISQD-SITA's is below 1 on (geometric) average over the services that both carry",
        |study| all(&[average(study.here(), ("PS", ISQD), 1.0, Limit::Below(1.0))]),
    ),
    statement(
        "With 2 servers, SRPT outperforms ISQD-SITA: by 11 %, on average",
        "its p99 over ISQD-SITA's is below 1 on (geometric) average over the services that both carry",
        |study| all(&[average(study.here(), ("SRPT", ISQD), 1.0, Limit::Below(1.0))]),
    ),
];

static STATEMENTS_B: [Statement; 13] = [
    statement(
        "ISQD-SITA improves the tail over M/G/k: 3.39 times with 4 servers, on average",
        FACTOR,
        |study| higher(study.here(), "M/G/k"),
    ),
    Statement {
        text: "ISQD-SITA improves the tail over M/G/k by more with 4 servers than with 2",
        source: WHERE,
        reading: "(geometric) average over the services",
        needs: &["q-zilla-figure-8a"],
        judge: |study| more(study, "q-zilla-figure-8a", "with 4 servers over with 2"),
    },
    NEVER_WORSE,
    SQD_OWN,
    SQD_SAME,
    ISQD_OWN,
    ISQD_SAME,
    GANGING,
    ABOVE_ONE_QUEUE,
    KNOWN_SIZES,
    statement(
        "With 4 servers, ISQD-SITA consistently outperforms processor sharing: by 16 %, on average",
        "its p99 is lower for each service",
        |study| {
            let mean = average(study.here(), ("PS", ISQD), 1.0, Limit::Above(1.0));
            all(&everywhere(study.here(), (ISQD, "PS"), Limit::Below(1.0))).sized(&mean)
        },
    ),
    statement("With 4 servers, ISQD-SITA outperforms SRPT: by 24 %, on average", FACTOR, |study| {
        higher(study.here(), "SRPT")
    }),
    statement(
        "With 4 servers, SRPT outperforms ISQD-SITA for RSC only",
        "SRPT's p99 is lower for `block-cache`, and for no other service",
        |study| all(&only_for_rsc(study.here())),
    ),
];

static STATEMENTS_C: [Statement; 14] = [
    statement(
        "ISQD-SITA improves the tail over M/G/k: 4.76 times with 8 servers, on average",
        FACTOR,
        |study| higher(study.here(), "M/G/k"),
    ),
    Statement {
        text: "ISQD-SITA improves the tail over M/G/k by more with 8 servers than with 4",
        source: WHERE,
        reading: "(geometric) average over the services",
        needs: &["q-zilla-figure-8b"],
        judge: |study| more(study, "q-zilla-figure-8b", "with 8 servers over with 4"),
    },
    NEVER_WORSE,
    SQD_OWN,
    SQD_SAME,
    ISQD_OWN,
    ISQD_SAME,
    GANGING,
    ABOVE_ONE_QUEUE,
    KNOWN_SIZES,
    statement(
        "With 8 servers, ISQD-SITA consistently outperforms processor sharing",
        "its p99 is lower for each service",
        |study| all(&everywhere(study.here(), (ISQD, "PS"), Limit::Below(1.0))),
    ),
    statement(
        "With 8 servers, ISQD-SITA consistently outperforms SRPT",
        "its p99 is lower for each service",
        |study| all(&everywhere(study.here(), (ISQD, "SRPT"), Limit::Below(1.0))),
    ),
    statement(
        "With 8 servers, ISQD-SITA outperforms processor sharing: by 49 %, on average",
        FACTOR,
        |study| higher(study.here(), "PS"),
    ),
    statement("With 8 servers, ISQD-SITA outperforms SRPT: 2.13 times, on average", FACTOR, |study| {
        higher(study.here(), "SRPT")
    }),
];

fn more(study: &Study<'_>, there: &'static str, place: &str) -> Finding {
    all(&[grows((study.here(), study.figure(there)), ("M/G/k", ISQD), place)])
}

/// G-SITA with lanes against ISQD-SITA.
fn by_known_sizes<'a>(measured: &'a Measured) -> Vec<Ask<'a>> {
    let limit = Limit::Below(1.0 - UNCHANGED);
    let ask = |(a, b): (&'a Cell, &'a Cell)| ratio(a.workload.to_owned(), P99, a, b, limit);
    let known = pairs(measured, "G-SITA", ISQD).into_iter().filter(|(a, _)| !a.is_one_queue);
    known.map(ask).collect()
}

fn only_for_rsc<'a>(measured: &'a Measured) -> Vec<Ask<'a>> {
    let ask = |(a, b): (&'a Cell, &'a Cell)| {
        let limit = if a.workload == RSC { Limit::Above(1.0) } else { Limit::Below(1.0 + UNCHANGED) };
        ratio(a.workload.to_owned(), P99, a, b, limit)
    };
    pairs(measured, ISQD, "SRPT").into_iter().map(ask).collect()
}
