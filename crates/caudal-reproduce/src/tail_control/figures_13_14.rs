//! Tail-control, Figures 13 and 14: Figures 6c and 8c with two more systems, the library's own scheduler and a tail-control that knows
//! the work of requests. `figures` lists it; `reproduction` simulates its file of `experiments/`, and then asks here for statements,
//! charts and tables.

use super::super::claim::{Ask, Finding, Limit, all};
use super::super::figure::{Figure, FigureKind, Source, Statement, Study};
use super::super::measured::Measured;
use super::super::sheet::Sheet;
use super::super::words::{MARGINAL, SIMILAR, UNCHANGED};
use super::setting::{against, at, longest, shortest};
use super::show::{chart, sheet};
use super::{ADMIT, CONTROL, FEWER, STEAL, fewer, mostly};

const fn part(
    name: &'static str,
    title: &'static str,
    shows: &'static str,
    files: &'static [Source],
    statements: &'static [Statement],
    charts: fn(&Measured) -> Vec<caudal_report::chart::Chart>,
) -> Figure {
    Figure { name, title, shows, files, kind: FigureKind::Points, statements, charts, sheets }
}

/// Work like Bing's.
pub(crate) const FIGURE_13: Figure = part(
    "tail-control-figure-13",
    "Tail-control, Figure 13: default-TBB and known work, for work like Bing's",
    "Share of requests that miss a target on 16 cores at 1200 requests/s, as in Figure 6c, with the library's own \
     scheduler, which puts requests into the deque of a random worker, and tail-control that knows the work of requests.",
    &[Source::alone(include_str!("../../../../experiments/tail-control-figure-13.toml"))],
    &STATEMENTS_13,
    |measured| vec![chart(measured, FIGURE_13.title)],
);

/// Log-normal work.
pub(crate) const FIGURE_14: Figure = part(
    "tail-control-figure-14",
    "Tail-control, Figure 14: default-TBB and known work, for log-normal work",
    "Share of requests that miss a target on 16 cores at 1200 requests/s, as in Figure 8c, with the library's own \
     scheduler, which puts requests into the deque of a random worker, and tail-control that knows the work of requests.",
    &[Source::alone(include_str!("../../../../experiments/tail-control-figure-14.toml"))],
    &STATEMENTS_14,
    |measured| vec![chart(measured, FIGURE_14.title)],
);

const TBB: &str = "default-tbb";
const KNOWS: &str = "tc-clairvoyant";

const fn statement(text: &'static str, reading: &'static str, judge: fn(&Study<'_>) -> Finding) -> Statement {
    Statement { text, source: "section 5.6, Figures 13 and 14", reading, needs: &[], judge }
}

const NEAR: Statement = statement(
    "Default-TBB is comparable to admit-first or worse in most settings",
    "misses no more than a tenth below admit-first's, at more than half of the targets",
    |study| mostly(&against(study.here(), (TBB, ADMIT), Limit::Above(1.0 - MARGINAL))),
);
const AHEAD: Statement =
    statement("Tail-control outperforms default-TBB", "fewer misses at each target", |study| {
        fewer(study.here(), CONTROL, TBB)
    });
const BOUND: Statement = statement(
    "Tail-control that knows the work is a lower bound of tail-control",
    "misses nowhere more than 2 % above tail-control's",
    |study| all(&against(study.here(), (KNOWS, CONTROL), Limit::Below(1.0 + UNCHANGED))),
);
const CLOSE: Statement = statement(
    "Tail-control is comparable to the one that knows the work when the target is long",
    "at most a quarter more misses at the longest target",
    |study| all(&at(longest(study.here()), (CONTROL, KNOWS), Limit::Below(1.0 + SIMILAR))),
);
const SHORT: Statement = statement(
    "Knowing the work improves tail-control much more when the target is short",
    "misses over tail-control's are lower at the shortest target than at the longest",
    |study| all(&sooner(study.here())),
);

/// By as much as the paper says.
const fn by(text: &'static str, judge: fn(&Study<'_>) -> Finding) -> Statement {
    statement(text, "so many fewer misses at each target", judge)
}

static STATEMENTS_13: [Statement; 6] = [
    NEAR,
    AHEAD,
    by("Tail-control outperforms default-TBB by at least 31 %", |study| {
        all(&against(study.here(), (CONTROL, TBB), Limit::Below(1.0 - 0.31)))
    }),
    BOUND,
    CLOSE,
    SHORT,
];

static STATEMENTS_14: [Statement; 6] = [
    NEAR,
    AHEAD,
    by("Tail-control outperforms default-TBB by at least 32 %", |study| {
        all(&against(study.here(), (CONTROL, TBB), Limit::Below(1.0 - 0.32)))
    }),
    BOUND,
    CLOSE,
    SHORT,
];

fn sooner(measured: &Measured) -> Vec<Ask<'_>> {
    let pairs = shortest(measured).into_iter().zip(longest(measured));
    let ask = pairs.filter_map(|(short, long)| {
        let ratio = short.ratio((KNOWS, CONTROL))?.over(long.ratio((KNOWS, CONTROL))?);
        Some(ratio.ask(format!("{} against {}:", short.late, long.late), FEWER))
    });
    ask.collect()
}

fn sheets(measured: &Measured) -> Vec<Sheet> {
    vec![sheet(measured, "", &[STEAL, ADMIT, TBB, KNOWS])]
}
