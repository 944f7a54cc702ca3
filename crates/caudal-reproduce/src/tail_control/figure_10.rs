//! Tail-control, Figure 10: requests of which a tenth is done one after the other. `figures` lists it; `reproduction` simulates its file
//! of `experiments/`, and then asks here for statements, charts and tables.

use super::super::claim::{Ask, Finding, all};
use super::super::figure::{Figure, FigureKind, Source, Statement, Study};
use super::setting::{Setting, targets};
use super::show::{chart, sheets};
use super::{ADMIT, CONTROL, MORE, STEAL, THAN_BETTER, ahead_of_both};

pub(crate) const FIGURE_10: Figure = Figure {
    name: "tail-control-figure-10",
    title: "Tail-control, Figure 10: requests with serial parts",
    shows: "Share of requests that miss a target on 16 cores, for Figure 6's work at 1200 requests/s when a tenth of each \
            request is done by one core alone, half of that before the parallel loops and half after them.",
    files: &[Source::alone(include_str!("../../../../experiments/tail-control-figure-10.toml"))],
    kind: FigureKind::Points,
    statements: &STATEMENTS,
    charts: |measured| vec![chart(measured, FIGURE_10.title)],
    sheets,
};

const WHERE: &str = "section 5.3, Figure 10";
/// The same without serial parts, at the same load.
const WITHOUT: (&str, &str) = ("tail-control-figure-6", "heavy");

const fn less(text: &'static str, judge: fn(&Study<'_>) -> Finding) -> Statement {
    let reading = "its misses over theirs are higher than in Figure 6c, for each rank of the target";
    Statement { text, source: WHERE, reading, needs: &[WITHOUT.0], judge }
}

static STATEMENTS: [Statement; 3] = [
    Statement {
        text: "With serial parts, tail-control still improves over steal-first and admit-first: by 17 % to 46 %",
        source: WHERE,
        reading: THAN_BETTER,
        needs: &[],
        judge: |study| ahead_of_both(study.here()),
    },
    less("With serial parts, tail-control improves less over steal-first", |study| {
        all(&higher_than_without(study, STEAL))
    }),
    less("With serial parts, tail-control improves less over admit-first", |study| {
        all(&higher_than_without(study, ADMIT))
    }),
];

fn higher_than_without<'a>(study: &Study<'a>, rival: &str) -> Vec<Ask<'a>> {
    let without = targets(study.figure(WITHOUT.0), WITHOUT.1);
    let ask = |(here, there): (Setting<'a>, Setting<'a>)| {
        let place = format!("{} against {} without:", here.late, there.late);
        let ratio = here.ratio((CONTROL, rival))?.over(there.ratio((CONTROL, rival))?);
        Some(ratio.ask(place, MORE))
    };
    targets(study.here(), "").into_iter().zip(without).filter_map(ask).collect()
}
