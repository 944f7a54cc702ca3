//! Beyond the paper: what tail-control may gain by more than it has, and what no order of requests gets past. `figures` lists it;
//! `reproduction` simulates its file of `experiments/`, and then asks here for statements, charts and tables.

use super::super::claim::{Ask, Finding, Limit, all};
use super::super::figure::{Figure, FigureKind, Source, Statement, Study};
use super::super::measured::Measured;
use super::super::sheet::Sheet;
use super::super::words::UNCHANGED;
use super::miss::Product;
use super::setting::{against, at, loads, targets};
use super::show::{chart, ratios};
use super::{ADMIT, CONTROL, FEWER, STEAL};

/// A file of the figure.
macro_rules! file {
    ($name:literal) => {
        Source {
            workload: $name,
            text: include_str!(concat!("../../../../experiments/tail-control-beyond/", $name, ".toml")),
        }
    };
}

pub(crate) const FIGURE_BEYOND: Figure = Figure {
    name: "tail-control-beyond",
    title: "Tail-control, beyond the paper: other thresholds, lanes, known serial parts, and bounds",
    shows: "Share of requests that miss a target on 16 cores at 1200 requests/s: as in Figures 8c (log-normal), 6c (bing-like) \
            and 10 (serial), with thresholds that are multiples of the table's; with a lane of cores that take nothing of requests \
            that were processed for longer than the mean; where what is left of serial parts is known; and on one core that is 16 \
            times as fast, in the order of arrival and by the least work that is left (fast-core).",
    files: &[file!("log-normal"), file!("bing-like"), file!("serial"), file!("fast-core")],
    kind: FigureKind::Points,
    statements: &STATEMENTS,
    charts: |measured| vec![chart(measured, FIGURE_BEYOND.title)],
    sheets,
};

const KNOWS: &str = "tc-clairvoyant";
const SCALED: [&str; 2] = ["thresholds x 0.7", "thresholds x 1.4"];
const LANES: [&str; 2] = ["lane of 2", "lane of 4"];
const SPANS: &str = "serial parts known";
/// On one fast core.
const FAST: &str = "fast-core";
const IN_ORDER: &str = "in order";
const LEAST_LEFT: &str = "least left first";
/// The work of the one fast core's requests.
const SAME: &str = "log-normal";

const fn statement(text: &'static str, reading: &'static str, judge: fn(&Study<'_>) -> Finding) -> Statement {
    Statement { text, source: "ours", reading, needs: &[], judge }
}

static STATEMENTS: [Statement; 5] = [
    statement(
        "Multiples of the formulas' thresholds are no better than these",
        "0.7 and 1.4 times them nowhere have more than 2 % fewer misses",
        |study| all(&each(study.here(), &SCALED, Limit::Above(1.0 - UNCHANGED))),
    ),
    statement(
        "A lane for small requests lets fewer miss than tail-control alone",
        "fewer misses with 2 and with 4 cores of 16, for each work and target",
        |study| all(&each(study.here(), &LANES, FEWER)),
    ),
    statement(
        "Who knows what is left of serial parts lets fewer miss",
        "fewer misses at each target, where a tenth of the work is serial",
        |study| all(&against(study.here(), (SPANS, CONTROL), FEWER)),
    ),
    statement(
        "Steal-first comes near to one fast core in the order of arrival",
        "at most 2 % more misses on 16 cores than on one that is 16 times as fast, for log-normal work",
        |study| all(&fast(study.here(), (STEAL, IN_ORDER), Limit::Below(1.0 + UNCHANGED))),
    ),
    statement(
        "The order of least work left is a bound that tail-control with known work does not reach",
        "fewer misses on one fast core in that order, for log-normal work",
        |study| all(&fast(study.here(), (KNOWS, LEAST_LEFT), Limit::Above(1.0))),
    ),
];

/// Are the misses of these over tail-control's where `limit` says, for each work and target?
fn each<'a>(measured: &'a Measured, systems: &[&'static str], limit: Limit) -> Vec<Ask<'a>> {
    let of =
        |load| systems.iter().flat_map(move |&system| at(targets(measured, load), (system, CONTROL), limit));
    loads(measured).into_iter().flat_map(of).collect()
}

/// The misses of a system on 16 cores over those of another one on one fast core, which saw the same requests.
fn fast<'a>(measured: &'a Measured, (system, other): (&str, &str), limit: Limit) -> Vec<Ask<'a>> {
    let pairs = targets(measured, SAME).into_iter().zip(targets(measured, FAST));
    let ask = |(here, there): (super::setting::Setting<'a>, super::setting::Setting<'a>)| {
        let ratio = Product::ratio(here.aim(system)?, there.aim(other)?);
        Some(ratio.ask(here.late.to_string(), limit))
    };
    pairs.filter_map(ask).collect()
}

fn sheets(measured: &Measured) -> Vec<Sheet> {
    let over = |names: &[&'static str]| names.iter().map(|&name| (name, CONTROL)).collect::<Vec<_>>();
    let all = [&SCALED[..], &LANES, &[SPANS, KNOWS, STEAL, ADMIT]].concat();
    let pairs = |load: &str| match load {
        FAST => vec![(LEAST_LEFT, IN_ORDER)],
        "serial" => over(&all),
        _ => over(&all.iter().copied().filter(|&name| name != SPANS).collect::<Vec<_>>()),
    };
    loads(measured).into_iter().map(|load| ratios(measured, load, &pairs(load))).collect()
}
