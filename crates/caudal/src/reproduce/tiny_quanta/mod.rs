//! Tiny Quanta, Figures 1, 2 and 4: why small quanta, why cheap ones, and why two levels do.

mod figure_1;
mod figure_2;
mod figure_4;

use caudal_report::chart::Unit;

pub(crate) use self::figure_1::FIGURE_1;
pub(crate) use self::figure_2::FIGURE_2;
pub(crate) use self::figure_4::FIGURE_4;
use super::cell::{Cell, Stat};
use crate::table::digits;

const SLOWDOWN: Stat = Stat::Slowdown(99.9);
const LONG: Stat = Stat::LongSlowdown(99.9);

const ACROSS: (&str, Unit, fn(&Cell) -> f64) = ("rate", Unit::PerSecond, |cell| cell.rate_per_s);

fn rate_column(cell: &Cell) -> String {
    format!("{} M/s", digits(cell.rate_per_s / 1e6))
}
