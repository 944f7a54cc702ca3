//! Beyond the paper: thresholds that are worked out anew while rate and work drift. `figures` lists it; `reproduction` simulates its file
//! of `experiments/`, and then asks here for statements, charts and tables.

use caudal_policy::Picos;

use super::super::claim::{Ask, Finding, Limit, all};
use super::super::figure::{Figure, FigureKind, Source, Statement, Study};
use super::super::words::UNCHANGED;
use super::setting::{Setting, against, settings};
use super::show::{chart, ratios};
use super::{ADMIT, FEWER, STEAL, fewer};

pub(crate) const FIGURE_DRIFT: Figure = Figure {
    name: "tail-control-drift",
    title: "Tail-control, beyond the paper: thresholds that follow what drifts",
    shows: "Share of requests that miss a target on 16 cores while the rate changes between 400 and 4000 requests/s and the mean \
            work between 30 and 3 ms, every 10 s: with the table for the means of all requests (fixed), with those for all \
            requests together (mixture), with the table of what completed in the last 2 s, worked out each second (measured), and with the one for the rate and the work of the \
            time (oracle).",
    files: &[Source::alone(include_str!("../../../../experiments/tail-control-drift.toml"))],
    kind: FigureKind::Points,
    statements: &STATEMENTS,
    charts: |measured| vec![chart(measured, FIGURE_DRIFT.title)],
    sheets: |measured| {
        let mixture = MIXTURES.iter().flat_map(|(name, _)| [(MEASURED, *name), (*name, STEAL)]);
        let others =
            [(MEASURED, FIXED), (ORACLE, FIXED), (MEASURED, ORACLE), (FIXED, STEAL), (MEASURED, STEAL)];
        vec![ratios(measured, "", &others.into_iter().chain(mixture).collect::<Vec<_>>())]
    },
};

const FIXED: &str = "fixed";
/// The systems that know all requests together, and the target for which they are made.
const MIXTURES: [(&str, Picos); 2] =
    [("mixture, 20ms", Picos::from_micros(20_000)), ("mixture, 28ms", Picos::from_micros(28_000))];
const MEASURED: &str = "measured";
const ORACLE: &str = "oracle";

const fn statement(text: &'static str, reading: &'static str, judge: fn(&Study<'_>) -> Finding) -> Statement {
    Statement { text, source: "section 5.4 proposes it; ours", reading, needs: &[], judge }
}

static STATEMENTS: [Statement; 5] = [
    statement(
        "Thresholds from what completed lately let fewer requests miss than fixed ones, when the work drifts",
        "fewer misses at each target",
        |study| fewer(study.here(), MEASURED, FIXED),
    ),
    statement(
        "They are ahead of fixed ones that are made for all requests together, too",
        "fewer misses at each target than with the table for it",
        |study| all(&settings(study.here()).into_iter().filter_map(over_mixture).collect::<Vec<_>>()),
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

/// Are there fewer misses with measured thresholds than with those for all requests together and the same target?
fn over_mixture(setting: Setting<'_>) -> Option<Ask<'_>> {
    let (name, _) = MIXTURES.iter().find(|(_, target)| *target == setting.late)?;
    Some(setting.ratio((MEASURED, name))?.ask(setting.name(), FEWER))
}
