//! Li et al., PPoPP 2016 (tail-control): requests that run in parallel, and the share of them that misses a target. The files of its
//! figures share the statements of this one; `figures` lists them.
//!
//! The paper's light and medium loads and its targets can not be read in its text, and its two services' work is published as
//! pictures. So sizes of effects are shown beside the paper's, and signs and orders are judged. A ratio of two systems'
//! misses decides when its interval is within ± 10 %, or far from the limit ([`miss`]).

/// The files of a figure, one for each load.
macro_rules! sources {
    ($figure:literal) => {
        &[sources!($figure, "light"), sources!($figure, "medium"), sources!($figure, "heavy")]
    };
    ($figure:literal, $load:literal) => {
        $crate::figure::Source {
            workload: $load,
            text: include_str!(concat!(
                "../../../../experiments/tail-control-figure-",
                $figure,
                "/",
                $load,
                ".toml"
            )),
        }
    };
}

mod beyond;
mod drift;
mod figure_10;
mod figure_11;
mod figure_12;
mod figure_15;
mod figure_2;
mod figure_4;
mod figure_6;
mod figure_7;
mod figure_7_short_table;
mod figure_8;
mod figure_9;
mod figures_13_14;
mod loops;
mod miss;
mod setting;
mod show;
mod small;
#[cfg(test)]
mod written_tables;

pub(crate) use self::beyond::FIGURE_BEYOND;
pub(crate) use self::drift::FIGURE_DRIFT;
pub(crate) use self::figure_2::FIGURE_2;
pub(crate) use self::figure_4::FIGURE_4;
pub(crate) use self::figure_6::FIGURE_6;
pub(crate) use self::figure_7::FIGURE_7;
pub(crate) use self::figure_7_short_table::FIGURE_7_SHORT_TABLE;
pub(crate) use self::figure_8::FIGURE_8;
pub(crate) use self::figure_9::FIGURE_9;
pub(crate) use self::figure_10::FIGURE_10;
pub(crate) use self::figure_11::FIGURE_11;
pub(crate) use self::figure_12::FIGURE_12;
pub(crate) use self::figure_15::FIGURE_15;
pub(crate) use self::figures_13_14::{FIGURE_13, FIGURE_14};
pub(crate) use self::loops::FIGURE_LOOPS;
use self::setting::{against, settings};
pub(crate) use self::small::FIGURE_SMALL;
use super::claim::{Ask, Finding, Limit, Needs, all, judge};
use super::measured::Measured;

/// The systems.
const STEAL: &str = "steal-first";
const ADMIT: &str = "admit-first";
const CONTROL: &str = "tail-control";

/// The first misses fewer targets than the second.
const FEWER: Limit = Limit::Below(1.0);
/// The first misses more targets than the second.
const MORE: Limit = Limit::Above(1.0);
/// How [`fewer`] judges.
const EVERYWHERE: &str = "fewer misses at every load and target";
/// How [`ahead_of_both`] judges.
const THAN_BETTER: &str = "fewer misses at every load and target than the one of the two that misses fewer there; tables have \
                           the ratios to both";

/// Does `first` miss fewer targets than `second`, at every load and target?
fn fewer(measured: &Measured, first: &str, second: &str) -> Finding {
    all(&against(measured, (first, second), FEWER))
}

/// Does tail-control miss fewer targets than the better of its rivals, at every load and target?
fn ahead_of_both(measured: &Measured) -> Finding {
    let mut asks: Vec<Ask<'_>> = Vec::new();
    for setting in settings(measured) {
        let Some(rival) = setting.better([STEAL, ADMIT]) else { continue };
        let place = format!("{}, over {rival}:", setting.name());
        asks.extend(setting.ratio((CONTROL, rival)).map(|ratio| ratio.ask(place, FEWER)));
    }
    all(&asks)
}

/// Are more than half of these true?
fn mostly(asks: &[Ask<'_>]) -> Finding {
    judge(Needs::Most, asks)
}
