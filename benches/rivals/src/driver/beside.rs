//! What stands under a table: the given contestants beside theory, and the least of what the others' p99 are beside theirs.

use caudal_measure::compare::Spread;

use super::table::{COMPARED, against_first, long, number, short, us, values};
use super::theory::{QUANTUM_NS, Theory};
use super::turn::Reports;
use super::{AtLoad, Series};

/// Prints it; of theory also where a single contestant is shown.
pub(crate) fn print(at: &AtLoad) {
    let theory = Theory::of(&at.mix, at.load, QUANTUM_NS);
    println!(
        "theory: mean of the short ones {} us (processor sharing), {} us (first quantum first, quantum {} us); of the long ones \
         {} us (processor sharing)",
        number(Some(theory.sharing_us)),
        number(Some(theory.fresh_first_us)),
        us(QUANTUM_NS),
        number(Some(theory.long_us))
    );
    let beside = at.given.max(usize::from(at.series.len() == 1));
    at.series.iter().take(beside).for_each(|series| against_theory(series, &theory));
    if at.given > 0 {
        least(at, "run to completion", false);
        least(at, "edited by hand", true);
    }
}

fn against_theory(series: &Series, theory: &Theory) {
    let over = |value: fn(&Reports) -> f64, theory: f64| {
        let ratios: Vec<f64> = values(series, value).iter().map(|value| value / theory).collect();
        Spread::of(&ratios).map_or_else(|| "-".to_owned(), said)
    };
    let mean = |turn: &Reports| short(&turn.generator).filtered.mean_ns * 1e-3;
    println!(
        "{:<18}mean g {} × processor sharing, {} × first quantum first; long p50 {} × raw, {} × g",
        series.contestant.name,
        over(mean, theory.sharing_us),
        over(mean, theory.fresh_first_us),
        over(|turn| us(long(&turn.work).raw.p50_ns), theory.long_us),
        over(|turn| us(long(&turn.generator).filtered.p50_ns), theory.long_us)
    );
}

/// The least of what others' p99 are over those of the first contestant.
fn least(at: &AtLoad, title: &str, edited: bool) {
    let is_edited = |name: &str| name.contains("edited") || name.contains("waking");
    let others =
        || at.series.iter().skip(at.given).filter(|series| is_edited(&series.contestant.name) == edited);
    if others().next().is_none() {
        return;
    }
    let of = |column: usize| {
        let ratios = others().filter_map(|series| Some((against_first(at, series, column)?, series)));
        ratios.min_by(|(a, _), (b, _)| a.median.total_cmp(&b.median)).map_or_else(
            || "-".to_owned(),
            |(ratio, series)| format!("{} {}", said(ratio), series.contestant.name),
        )
    };
    let [raw, filtered, generator] = COMPARED.map(of);
    println!("{title}: p99 at least × raw {raw}; × f {filtered}; × g {generator}");
}

/// A median and its range.
fn said(spread: Spread) -> String {
    format!("{} ({}–{})", number(Some(spread.median)), number(Some(spread.low)), number(Some(spread.high)))
}
