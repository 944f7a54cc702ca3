//! The time between a beginning and an end that a file has side by side (`start_ms,end_ms`, `start_timestamp` and `timestamp`). Readers
//! of tables and of JSON ask where nothing says how long a request took. Pure.

use super::dates::date_ps;
use super::number::{Number, Style};
use super::text;
use super::unit::words;
use crate::error::RowProblem;

const STARTS: [&str; 4] = ["start", "started", "begin", "began"];
const ENDS: [&str; 9] =
    ["end", "ended", "finish", "finished", "stop", "stopped", "completed", "complete", "done"];

/// Where the names of a beginning and of its end are, if there is one such pair only.
pub(super) fn pair(names: &[&str]) -> Option<(usize, usize)> {
    let all: Vec<Vec<String>> = names.iter().map(|name| words(name)).collect();
    let has = |words: &[String], known: &[&str]| words.iter().any(|word| known.contains(&word.as_str()));
    let without = |words: &[String], known: &[&str]| -> Vec<String> {
        words.iter().filter(|word| !known.contains(&word.as_str())).cloned().collect()
    };
    let mut pairs = Vec::new();
    for (start, of_start) in all.iter().enumerate().filter(|(_, words)| has(words, &STARTS)) {
        let rest = without(of_start, &STARTS);
        let is_end = |words: &Vec<String>| {
            (has(words, &ENDS) || *words == ["timestamp"]) && without(words, &ENDS) == rest
        };
        pairs.extend(all.iter().position(is_end).map(|end| (start, end)));
    }
    match pairs[..] {
        [only] => Some(only),
        _ => None,
    }
}

/// The time between two fields, numbers or dates with a time of day; of numbers without a unit, it has none either.
pub(super) fn between(start: &[u8], end: &[u8], style: Style) -> Result<Number, RowProblem> {
    let shown = || super::shorten(&format!("{} … {}", text(start), text(end)));
    let early = || RowProblem::Format(format!("`{}` ends before it begins", shown()));
    if let (Some(from), Some(to)) = (date_ps(&text(start)), date_ps(&text(end))) {
        let ps = u64::try_from(to - from).map_err(|_| early())?;
        return Ok(Number::of_ps(ps));
    }
    let (from, to) = (Number::parse(start, style)?, Number::parse(end, style)?);
    to.minus(from).ok_or_else(early)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::unit::Unit;

    #[test]
    fn beginnings_have_their_ends() {
        assert_eq!(pair(&["id", "start_ms", "end_ms"]), Some((1, 2)));
        assert_eq!(pair(&["finishedAt", "startedAt"]), Some((1, 0)));
        assert_eq!(pair(&["start_timestamp", "timestamp"]), Some((0, 1)));
        for none in
            [&["start", "end_ms"][..], &["start_a", "end_a", "start_b", "end_b"], &["timestamp", "ms"]]
        {
            assert_eq!(pair(none), None, "{none:?}");
        }
    }

    #[test]
    fn what_lies_between_keeps_its_digits() {
        let ps = |start: &str, end: &str, unit| {
            between(start.as_bytes(), end.as_bytes(), Style::POINT).ok()?.ps(unit)
        };
        assert_eq!(ps("1764410400022", "1764410400038", Unit::Ms), Some(16_000_000_000));
        assert_eq!(ps("1764410400.1", "1764410400.25", Unit::S), Some(150_000_000_000));
        assert_eq!(
            ps("2026-11-29T10:00:00.000Z", "2026-11-29T10:00:00.061Z", Unit::Ns),
            Some(61_000_000_000)
        );
        assert_eq!(ps("5", "4", Unit::Ms), None);
    }
}
