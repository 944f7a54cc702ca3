//! Tail-control, Figure 7, second reading: thresholds of a table that ends at twice the average number of active requests. `figures`
//! lists it; `reproduction` simulates its file of `experiments/`, and then asks here for statements, charts and tables.

use super::super::claim::{Ask, Finding, Limit, Needs, all, judge};
use super::super::figure::{Figure, FigureKind, Source, Statement, Study};
use super::super::measured::Measured;
use super::super::words::{MUCH, UNCHANGED};
use super::setting::{Setting, settings};
use super::show::{chart, ratios};
use super::{CONTROL, FEWER, STEAL};

macro_rules! file {
    ($load:literal) => {
        Source {
            workload: $load,
            text: include_str!(concat!(
                "../../../../experiments/tail-control-figure-7-short-table/",
                $load,
                ".toml"
            )),
        }
    };
}

pub(crate) const FIGURE_7_SHORT_TABLE: Figure = Figure {
    name: "tail-control-figure-7-short-table",
    title: "Tail-control, Figure 7, second reading: a table as long as the paper's heuristic says",
    shows: "As Figure 7, with tables of thresholds that end at twice the average number of active requests: 2, 3 and 6 rows at \
            light, medium and heavy load. All but one say that nobody is large.",
    files: &[file!("light"), file!("medium"), file!("heavy")],
    kind: FigureKind::Points,
    statements: &STATEMENTS,
    charts: |measured| vec![chart(measured, FIGURE_7_SHORT_TABLE.title)],
    sheets: |measured| {
        let systems = [(CONTROL, STEAL), (EARLY, STEAL)];
        super::setting::loads(measured).into_iter().map(|load| ratios(measured, load, &systems)).collect()
    },
};

/// The system of the one target whose table gives anybody up.
const EARLY: &str = "tail-control, 4.02ms";
/// See [`EARLY`].
const EARLY_AT: &str = "light, 4.02ms";

const fn statement(text: &'static str, reading: &'static str, judge: fn(&Study<'_>) -> Finding) -> Statement {
    Statement { text, source: "sections 4.1 and 5.1, Figure 7", reading, needs: &[], judge }
}

static STATEMENTS: [Statement; 4] = [
    statement(
        "Under heavy load and the two longest targets, tail-control is the same schedule as steal-first (the table's length by the paper's heuristic)",
        "misses within 2 % of steal-first's",
        |study| {
            let same = Limit::Within(1.0 - UNCHANGED, 1.0 + UNCHANGED);
            all(&over_steal_first(two_longest(study.here()), same))
        },
    ),
    statement(
        "Where steal-first is best, tail-control does not increase the misses by serialising requests unnecessarily (the table's length by the paper's heuristic)",
        "nowhere more than 2 % above those of steal-first",
        |study| all(&over_steal_first(settings(study.here()), Limit::Below(1.0 + UNCHANGED))),
    ),
    statement(
        "Even for the finance server's work, tail-control significantly improves the miss ratio in some cases (the table's length by the paper's heuristic)",
        "more than a third below steal-first's in some setting (a load and a target)",
        |study| judge(Needs::Any, &over_steal_first(settings(study.here()), Limit::Below(1.0 - MUCH))),
    ),
    statement(
        "Under medium load with the longest target, tail-control improves on steal-first: by 36 % (the table's length by the paper's heuristic)",
        "fewer misses",
        |study| {
            let mut medium = settings(study.here()).into_iter().filter(|setting| setting.load == "medium");
            let longest: Vec<Setting<'_>> = medium.next_back().into_iter().collect();
            all(&over_steal_first(longest, FEWER))
        },
    ),
];

/// Tail-control's misses over steal-first's, with the table of each target.
fn over_steal_first<'a>(settings: Vec<Setting<'a>>, limit: Limit) -> Vec<Ask<'a>> {
    let ask = |setting: Setting<'a>| {
        let control = if setting.name() == EARLY_AT { EARLY } else { CONTROL };
        Some(setting.ratio((control, STEAL))?.ask(setting.name(), limit))
    };
    settings.into_iter().filter_map(ask).collect()
}

fn two_longest(measured: &Measured) -> Vec<Setting<'_>> {
    let heavy: Vec<Setting<'_>> =
        settings(measured).into_iter().filter(|setting| setting.load == "heavy").collect();
    heavy[heavy.len().saturating_sub(2)..].to_vec()
}
