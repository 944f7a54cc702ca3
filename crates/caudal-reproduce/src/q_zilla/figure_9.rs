//! Q-Zilla, Figure 9: cores with 2, 4 and 8 hardware contexts. `figures` lists it; `reproduction` simulates its file of `experiments/`,
//! and then asks here for statements, charts and tables.

use caudal_report::chart::Chart;

use super::super::claim::{Finding, Limit, Needs, all, judge};
use super::super::figure::{Figure, FigureKind, Source, Statement, Study};
use super::super::measured::Measured;
use super::super::words::{COMPETITIVE, MUCH, UNCHANGED};
use super::average::{average, grows};
use super::{chart, everywhere, sheets, sources};

const SHOWS: &str = "p99 of measured services on a core with hardware contexts at 70 % load: first come first served (SMT), \
                     turns of 2 us (HSMT), a lane for each context (ESMT), lanes that share the contexts (CoreZilla); and \
                     of an ideal queue for 32 cores, or for all contexts of 32 cores, at the same load. `rocksdb-0.5` is no service of the paper's, and is shown for comparison.";

const fn part(
    name: &'static str,
    title: &'static str,
    files: &'static [Source],
    statements: &'static [Statement],
    charts: fn(&Measured) -> Vec<Chart>,
) -> Figure {
    Figure { name, title, shows: SHOWS, files, kind: FigureKind::Points, statements, charts, sheets }
}

/// Two contexts.
pub(crate) const FIGURE_9A: Figure = part(
    "q-zilla-figure-9a",
    "Q-Zilla, Figure 9a: cores with 2 hardware contexts",
    sources!("9a"),
    &STATEMENTS_A,
    |measured| vec![chart(measured, FIGURE_9A.title, "SMT")],
);

/// Four contexts.
pub(crate) const FIGURE_9B: Figure = part(
    "q-zilla-figure-9b",
    "Q-Zilla, Figure 9b: cores with 4 hardware contexts",
    sources!("9b"),
    &STATEMENTS_B,
    |measured| vec![chart(measured, FIGURE_9B.title, "SMT")],
);

/// Eight contexts.
pub(crate) const FIGURE_9C: Figure = part(
    "q-zilla-figure-9c",
    "Q-Zilla, Figure 9c: cores with 8 hardware contexts",
    sources!("9c"),
    &STATEMENTS_C,
    |measured| vec![chart(measured, FIGURE_9C.title, "SMT")],
);

const CORE: &str = "CoreZilla";
const CORES: &str = "ideal, 32 cores";
const CONTEXTS: &str = "ideal, all contexts";
const WHERE: &str = "section 7.2, Figure 9";
const FACTOR: &str = "the (geometric) average over the services that both carry is above 1";
/// How much longer a request takes on a core's 2, 4 or 8 contexts than alone: what an ideal server at that speed takes
/// longer than one of full speed, at the same utilization.
const SLOWER: [f64; 3] = [2.0 / 1.6, 4.0 / 2.3, 8.0 / 2.8];

const fn statement(text: &'static str, reading: &'static str, judge: fn(&Study<'_>) -> Finding) -> Statement {
    Statement { text, source: WHERE, reading, needs: &[], judge }
}

fn higher(measured: &Measured, other: &str) -> Finding {
    all(&[average(measured, (other, CORE), 1.0, Limit::Above(1.0))])
}

/// CoreZilla's p99 over that of an ideal queue, on average; `slower` is the ideal's.
fn ideal(measured: &Measured, other: &str, slower: f64, limit: Limit) -> Finding {
    all(&[average(measured, (CORE, other), 1.0 / slower, limit)])
}

const ABOVE: Limit = Limit::Above(1.0);
const BELOW: Limit = Limit::Below(1.0);

const NEVER_SHORT: Statement =
    statement("CoreZilla never falls short of SMT", "nowhere more than 2 % above", |study| {
        all(&everywhere(study.here(), (CORE, "SMT"), Limit::Below(1.0 + UNCHANGED)))
    });
const OTHERS_DO: Statement =
    statement("ESMT and HSMT may have higher tails than SMT", "each of them has for some service", |study| {
        let some = |other| judge(Needs::Any, &everywhere(study.here(), (other, "SMT"), ABOVE));
        super::super::claim::each(&[("ESMT", some("ESMT")), ("HSMT", some("HSMT"))])
    });
const HSMT: Statement = statement(
    "CoreZilla significantly outperforms HSMT",
    "its p99 is more than a third lower for each service",
    |study| all(&everywhere(study.here(), (CORE, "HSMT"), Limit::Below(1.0 - MUCH))),
);

static STATEMENTS_A: [Statement; 8] = [
    statement(
        "CoreZilla improves the tail over SMT: 2.25 times with 2 contexts, on average",
        FACTOR,
        |study| higher(study.here(), "SMT"),
    ),
    NEVER_SHORT,
    statement(
        "CoreZilla improves the tail over ESMT: by 38 % with 2 contexts, on average",
        FACTOR,
        |study| higher(study.here(), "ESMT"),
    ),
    OTHERS_DO,
    HSMT,
    statement(
        "With 2 contexts, CoreZilla's tail is higher than that of an ideal queue for 32 cores, by 31 % (first reading)",
        "32 servers of a context's speed; (geometric) average",
        |study| ideal(study.here(), CORES, SLOWER[0], ABOVE),
    ),
    statement(
        "With 2 contexts, CoreZilla's tail is higher than that of an ideal queue for 32 cores, by 31 % (second reading)",
        "32 servers of a whole core's speed; (geometric) average",
        |study| ideal(study.here(), CORES, 1.0, ABOVE),
    ),
    statement(
        "With 2 contexts, CoreZilla's tail is higher than that of an ideal queue for 32 cores, by 31 % (third reading)",
        "all contexts of 32 cores; (geometric) average",
        |study| ideal(study.here(), CONTEXTS, 1.0, ABOVE),
    ),
];

static STATEMENTS_B: [Statement; 10] = [
    statement(
        "CoreZilla improves the tail over SMT: 3.23 times with 4 contexts, on average",
        FACTOR,
        |study| higher(study.here(), "SMT"),
    ),
    more(
        "CoreZilla improves the tail over SMT by more with 4 contexts than with 2",
        &["q-zilla-figure-9a"],
        |study| grown(study, "q-zilla-figure-9a", "SMT", "with 4 contexts over with 2"),
    ),
    NEVER_SHORT,
    statement(
        "CoreZilla improves the tail over ESMT: 2.83 times with 4 contexts, on average",
        FACTOR,
        |study| higher(study.here(), "ESMT"),
    ),
    Statement {
        text: "ESMT is only slightly behind CoreZilla with 2 contexts, and falls well short with 4",
        source: WHERE,
        reading: "on (geometric) average it is at most a half above with 2, and farther behind with 4",
        needs: &["q-zilla-figure-9a"],
        judge: |study| {
            let few = study.figure("q-zilla-figure-9a");
            let slightly = Limit::Within(1.0, 1.0 + COMPETITIVE);
            let few = all(&[average(few, ("ESMT", CORE), 1.0, slightly)]);
            let more = grown(study, "q-zilla-figure-9a", "ESMT", "with 4 contexts over with 2");
            super::super::claim::each(&[("with 2", few), ("with 4", more)])
        },
    },
    OTHERS_DO,
    HSMT,
    statement(
        "With 4 contexts, CoreZilla's tail is higher than that of an ideal queue for 32 cores, by 22 % (first reading)",
        "32 servers of a context's speed; (geometric) average",
        |study| ideal(study.here(), CORES, SLOWER[1], ABOVE),
    ),
    statement(
        "With 4 contexts, CoreZilla's tail is higher than that of an ideal queue for 32 cores, by 22 % (second reading)",
        "32 servers of a whole core's speed; (geometric) average",
        |study| ideal(study.here(), CORES, 1.0, ABOVE),
    ),
    statement(
        "With 4 contexts, CoreZilla's tail is higher than that of an ideal queue for 32 cores, by 22 % (third reading)",
        "all contexts of 32 cores; (geometric) average",
        |study| ideal(study.here(), CONTEXTS, 1.0, ABOVE),
    ),
];

static STATEMENTS_C: [Statement; 9] = [
    statement(
        "CoreZilla improves the tail over SMT: 4.38 times with 8 contexts, on average",
        FACTOR,
        |study| higher(study.here(), "SMT"),
    ),
    more(
        "CoreZilla improves the tail over SMT by more with 8 contexts than with 4",
        &["q-zilla-figure-9b"],
        |study| grown(study, "q-zilla-figure-9b", "SMT", "with 8 contexts over with 4"),
    ),
    NEVER_SHORT,
    statement(
        "CoreZilla improves the tail over ESMT: 3.07 times with 8 contexts, on average",
        FACTOR,
        |study| higher(study.here(), "ESMT"),
    ),
    OTHERS_DO,
    HSMT,
    statement(
        "With 8 contexts, CoreZilla's tail is lower than that of an ideal queue for 32 cores, by 12 % (first reading)",
        "32 servers of a context's speed; (geometric) average",
        |study| ideal(study.here(), CORES, SLOWER[2], BELOW),
    ),
    statement(
        "With 8 contexts, CoreZilla's tail is lower than that of an ideal queue for 32 cores, by 12 % (second reading)",
        "32 servers of a whole core's speed; (geometric) average",
        |study| ideal(study.here(), CORES, 1.0, BELOW),
    ),
    statement(
        "With 8 contexts, CoreZilla's tail is lower than that of an ideal queue for 32 cores, by 12 % (third reading)",
        "all contexts of 32 cores; (geometric) average",
        |study| ideal(study.here(), CONTEXTS, 1.0, BELOW),
    ),
];

const fn more(
    text: &'static str,
    needs: &'static [&'static str],
    judge: fn(&Study<'_>) -> Finding,
) -> Statement {
    Statement { text, source: WHERE, reading: "(geometric) average over the services", needs, judge }
}

fn grown(study: &Study<'_>, there: &'static str, other: &str, place: &str) -> Finding {
    all(&[grows((study.here(), study.figure(there)), (other, CORE), place)])
}
