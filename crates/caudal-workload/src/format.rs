//! Times and shares as people read them: three significant digits and the unit that suits. Texts of this crate that name a time are made
//! by it: what is shown, what is drawn, findings and errors. Pure.

/// A time with three significant digits and the unit that suits it.
pub(crate) fn time(ps: f64) -> String {
    if ps.is_nan() {
        return "-".to_owned();
    }
    // Nothing is shorter than a picosecond: less of it is what rounding left of a standard deviation of 0.
    if ps < 1e-3 {
        return "0 ps".to_owned();
    }
    let units = [(1e12, "s"), (1e9, "ms"), (1e6, "µs"), (1e3, "ns")];
    // 999.6 ns is written 1 µs: the unit follows from the rounded value.
    let (unit, name) = units.into_iter().find(|(unit, _)| ps >= 0.9995 * unit).unwrap_or((1.0, "ps"));
    format!("{} {name}", significant(ps / unit))
}

/// Three significant digits, without zeros that say nothing: `1.59`, `824`, `0.5`, `1`.
pub(crate) fn significant(value: f64) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    let power = value.abs().log10().floor() as i32;
    if power >= 3 {
        return format!("{value:.0}");
    }
    let text = format!("{value:.*}", (2 - power).clamp(0, 12) as usize);
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

/// A share as a percentage.
pub(crate) fn percent(share: f64) -> String {
    format!("{} %", significant(share * 100.0))
}
