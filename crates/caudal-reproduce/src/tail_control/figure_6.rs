//! Tail-control, Figure 6: the work of a web search at three loads. `figures` lists it; `reproduction` simulates its file of
//! `experiments/`, and then asks here for statements, charts and tables.

use super::super::claim::{Ask, Finding, all, each};
use super::super::figure::{Figure, FigureKind, Statement, Study};
use super::super::measured::Measured;
use super::setting::{Setting, against, at, loads, longest, shortest, targets};
use super::show::{chart, sheets};
use super::{ADMIT, CONTROL, FEWER, STEAL, THAN_BETTER, ahead_of_both, mostly};

pub(crate) const FIGURE_6: Figure = Figure {
    name: "tail-control-figure-6",
    title: "Tail-control, Figure 6: work like Bing's",
    shows: "Share of requests that miss a target on 16 cores, for requests of 10 ms of work on average, 3.5 % of them beyond \
            55 ms, that are four parallel loops, one after another: 800, 1000 and 1200 requests/s, five targets each.",
    files: sources!("6"),
    kind: FigureKind::Points,
    statements: &STATEMENTS,
    charts: |measured| vec![chart(measured, FIGURE_6.title)],
    sheets,
};

const fn statement(text: &'static str, reading: &'static str, judge: fn(&Study<'_>) -> Finding) -> Statement {
    Statement { text, source: "section 5.1, Figure 6", reading, needs: &[], judge }
}

static STATEMENTS: [Statement; 5] = [
    statement(
        "For Bing's work, admit-first performs better than steal-first in most cases",
        "fewer misses in more than half of the settings (a load and a target)",
        |study| mostly(&against(study.here(), (ADMIT, STEAL), FEWER)),
    ),
    statement(
        "As the target gets longer, steal-first improves in comparison to admit-first",
        "its misses over admit-first's are lower at the longest target than at the shortest, at each load",
        |study| all(&from_shortest_to_longest(study.here(), (STEAL, ADMIT))),
    ),
    statement(
        "For Bing's work, steal-first slightly overtakes admit-first at the longest target",
        "fewer misses at each load",
        |study| all(&at(longest(study.here()), (STEAL, ADMIT), FEWER)),
    ),
    statement(
        "For Bing's work, tail-control misses fewer targets in all settings: by 35 % to 58 % than steal-first, by 24 % to 65 % \
         than admit-first",
        THAN_BETTER,
        |study| ahead_of_both(study.here()),
    ),
    statement(
        "Tail-control improves more when the load is heavier and the target shorter",
        "its misses over steal-first's are lower at the shortest target than at the longest at each load, and lower at the \
         heavy load than at the light one for each rank of the target",
        |study| {
            let shorter = all(&from_longest_to_shortest(study.here(), (CONTROL, STEAL)));
            let heavier = all(&from_light_to_heavy(study.here(), (CONTROL, STEAL)));
            each(&[("shorter", shorter), ("heavier", heavier)])
        },
    ),
];

/// Is the ratio of two systems lower in the setting `here` than in the setting `there`?
fn lower<'a>(here: Setting<'a>, there: Setting<'a>, systems: (&str, &str)) -> Option<Ask<'a>> {
    let place = format!("{} against {}:", here.name(), there.name());
    Some(here.ratio(systems)?.over(there.ratio(systems)?).ask(place, FEWER))
}

fn from_shortest_to_longest<'a>(measured: &'a Measured, systems: (&str, &str)) -> Vec<Ask<'a>> {
    let pairs = longest(measured).into_iter().zip(shortest(measured));
    pairs.filter_map(|(long, short)| lower(long, short, systems)).collect()
}

fn from_longest_to_shortest<'a>(measured: &'a Measured, systems: (&str, &str)) -> Vec<Ask<'a>> {
    let pairs = longest(measured).into_iter().zip(shortest(measured));
    pairs.filter_map(|(long, short)| lower(short, long, systems)).collect()
}

fn from_light_to_heavy<'a>(measured: &'a Measured, systems: (&str, &str)) -> Vec<Ask<'a>> {
    let loads = loads(measured);
    let [Some(&light), Some(&heavy)] = [loads.first(), loads.last()] else { return Vec::new() };
    let pairs = targets(measured, heavy).into_iter().zip(targets(measured, light));
    pairs.filter_map(|(heavy, light)| lower(heavy, light, systems)).collect()
}
