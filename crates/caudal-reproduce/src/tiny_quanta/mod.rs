//! Tiny Quanta: why quanta should be small and cheap, and why two levels of scheduling make that possible (Figures 1, 2 and 4, which the
//! paper simulated), and how that compares with rivals (Figures 5 to 12 and 16, which it measured, and which are simulated here).
//! `figures` lists what is in the files beside this one.

mod figure_1;
mod figure_16;
mod figure_2;
mod figure_4;
mod figures_5_12;
mod latencies;
mod rates;

use caudal_report::chart::Unit;

pub(crate) use self::figure_1::FIGURE_1;
pub(crate) use self::figure_2::FIGURE_2;
pub(crate) use self::figure_4::FIGURE_4;
pub(crate) use self::figure_16::FIGURE_16;
pub(crate) use self::figures_5_12::{
    FIGURE_5, FIGURE_6, FIGURE_7, FIGURE_8, FIGURE_9, FIGURE_10, FIGURE_11, FIGURE_12,
};
pub(crate) use self::latencies::LATENCIES;
use super::cell::{Cell, Stat};
use caudal_results::table::digits;

const SLOWDOWN: Stat = Stat::Slowdown(99.9);
const LONG: Stat = Stat::LongSlowdown(99.9);

const ACROSS: (&str, Unit, fn(&Cell) -> f64) = ("rate", Unit::PerSecond, |cell| cell.rate_per_s);

fn rate_column(cell: &Cell) -> String {
    format!("{} M/s", digits(cell.rate_per_s / 1e6))
}
