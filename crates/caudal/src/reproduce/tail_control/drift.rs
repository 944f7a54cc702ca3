//! Beyond the paper: thresholds that are worked out anew while rate and work drift.

use super::super::claim::{Finding, Limit, all};
use super::super::figure::{Figure, Kind, Source, Statement, Study};
use super::super::words::UNCHANGED;
use super::setting::against;
use super::show::{chart, ratios};
use super::{ADMIT, FEWER, STEAL, fewer};

pub(crate) const FIGURE_DRIFT: Figure = Figure {
    name: "tail-control-drift",
    title: "Tail-control, beyond the paper: thresholds that follow what drifts",
    shows: "Share of requests that miss a target on 16 cores while the rate changes between 400 and 4000 requests/s and the mean \
            work between 30 and 3 ms, every 10 s: with the table for the means of all requests (fixed), with the table of \
            what completed in the last 2 s, worked out each second (measured), and with the one for the rate and the work of the \
            time (oracle).",
    files: &[Source::alone(include_str!("../../../../../experiments/tail-control-drift.toml"))],
    kind: Kind::Points,
    statements: &STATEMENTS,
    charts: |measured| vec![chart(measured, FIGURE_DRIFT.title)],
    sheets: |measured| {
        let pairs =
            [(MEASURED, FIXED), (ORACLE, FIXED), (MEASURED, ORACLE), (FIXED, STEAL), (MEASURED, STEAL)];
        vec![ratios(measured, "", &pairs)]
    },
};

const FIXED: &str = "fixed";
const MEASURED: &str = "measured";
const ORACLE: &str = "oracle";

const fn statement(text: &'static str, reading: &'static str, judge: fn(&Study<'_>) -> Finding) -> Statement {
    Statement { text, source: "section 5.4 proposes it; ours", reading, needs: &[], judge }
}

static STATEMENTS: [Statement; 4] = [
    statement(
        "Thresholds from what completed lately let fewer requests miss than fixed ones, when the work drifts",
        "fewer misses at each target",
        |study| fewer(study.here(), MEASURED, FIXED),
    ),
    statement("They are ahead of steal-first and of admit-first", "fewer misses at each target", |study| {
        let over = |rival| against(study.here(), (MEASURED, rival), FEWER);
        all(&[over(STEAL), over(ADMIT)].into_iter().flatten().collect::<Vec<_>>())
    }),
    statement(
        "Nobody who knew rate and work would do much better",
        "at most 2 % more misses than with the oracle's thresholds",
        |study| all(&against(study.here(), (MEASURED, ORACLE), Limit::Below(1.0 + UNCHANGED))),
    ),
    statement(
        "Fixed thresholds are ahead of steal-first even when the work drifts",
        "fewer misses at each target",
        |study| fewer(study.here(), FIXED, STEAL),
    ),
];
