//! Numbers that R and NumPy print one after the other: `[1] 11.9 9.3`, `[11.9 9.3 20.7]`, `array([11.9, 9.3])`.
//! The table of tools (`mod.rs`) asks whether a text has this form, and calls the reader once if it has. Pure.
//!
//! Both leave numbers out in the middle or at the end where there are many, which is refused: what is missing is most of them.

use super::{Shown, passed_over};
use crate::error::{RowProblem, WorkloadError};
use crate::input::number::{Number, Style};
use crate::input::unit::Unit;
use crate::input::{Place, text};

/// Words that R prints above durations, before their unit.
const UNIT: [&str; 2] = ["Time differences in ", "Units: "];

/// The header of what R's `summary` prints.
const SUMMARY: &str = "Min. 1st Qu. Median Mean 3rd Qu. Max.";

/// Is this what R's `summary` prints of a vector?
fn is_summary(line: &str) -> bool {
    let words: Vec<&str> = line.split_whitespace().collect();
    words.join(" ").trim_end_matches(" NA's") == SUMMARY
}

/// Is this a vector, or several, as R prints them, or the summary of one?
pub(super) fn holds_r(lines: &[&str]) -> bool {
    if lines.len() == 2 && is_summary(lines[0]) {
        return true;
    }
    let is_of = |line: &&str| {
        of_r(line).is_some()
            || is_left_out(line)
            || UNIT.iter().any(|begin| line.starts_with(begin))
            || line.starts_with("> ")
    };
    lines.iter().find_map(|line| of_r(line)).is_some_and(|(index, _)| index == 1) && lines.iter().all(is_of)
}

/// ` [13] 0.37 20.72`: the number of the first value in this line, and the values.
fn of_r(line: &str) -> Option<(usize, Vec<&str>)> {
    let (index, values) = line.trim_start().strip_prefix('[')?.split_once(']')?;
    let index = index.parse().ok()?;
    let values: Vec<&str> = values.split_whitespace().collect();
    let is_value = |value: &&str| ["NA", "NaN"].contains(value) || value.parse::<f64>().is_ok();
    (!values.is_empty() && values.iter().all(is_value)).then_some((index, values))
}

/// ` [ reached getOption("max.print") -- omitted 9000 entries ]`
fn is_left_out(line: &str) -> bool {
    let line = line.trim_start();
    line.starts_with("[ reached ") && line.contains("omitted")
}

/// The values that R printed.
pub(super) fn from_r(bytes: &[u8], place: &Place<'_>) -> Result<Shown, WorkloadError> {
    let text = text(bytes);
    if text.lines().any(is_summary) {
        let mut shown = Shown::new("a summary that R printed", &["min", "p25", "p50", "mean", "p75", "max"]);
        shown.column = None;
        let values =
            text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty() && !is_summary(line));
        for (at, line) in values {
            let values: Vec<&str> = line.split_whitespace().take(6).collect();
            shown.rows.add(at + 1, &values)?;
        }
        return Ok(shown);
    }
    let left_out = |what: &str| {
        place.whole(format!(
            "is a vector that R printed, of which {what}; write all of it by `write.csv(data, \"times.csv\")`"
        ))
    };
    let unit = text.lines().find_map(|line| UNIT.iter().find_map(|begin| line.strip_prefix(begin)));
    let unit = unit.map(|word| word.trim().trim_start_matches("difftime "));
    let name = match unit.map(|word| (word, Unit::of_word(word))) {
        None => "value".to_owned(),
        Some((_, Some(unit))) => format!("value_{}", unit.name()),
        // Its unit is none that is known, which its name then says.
        Some((word, None)) => format!("value_{word}"),
    };
    let mut shown = Shown::new("a vector that R printed", &[&name]);
    let (mut vectors, mut longest, mut next, mut without) = (0_usize, 0, 1, 0);
    for (at, line) in text.lines().enumerate() {
        if is_left_out(line) {
            return Err(left_out("values were left out"));
        }
        let Some((index, values)) = of_r(line) else { continue };
        if index == 1 {
            (vectors, next) = (vectors + 1, 1);
        }
        if index != next {
            return Err(left_out(&format!(
                "values are missing before the one with the number {index} (line {})",
                at + 1
            )));
        }
        next += values.len();
        longest = longest.max(next - 1);
        without += shown.numbers(at + 1, line, &values, place)?;
    }
    if vectors > 1 && longest > 1 {
        return Err(place.whole(format!("holds {vectors} vectors that R printed; give one of them")));
    }
    shown.notes.extend(passed_over(without, "value", "that is missing (`NA`)"));
    Ok(shown)
}

/// The text between the brackets of an array that NumPy printed, if this is one, whole or as far as the lines go.
fn inner(text: &str) -> Option<&str> {
    let text = text.trim();
    let text = text.strip_prefix("array(").unwrap_or(text);
    text.starts_with('[').then_some(text)
}

/// Is this an array as NumPy prints it?
pub(super) fn holds_numpy(lines: &[&str]) -> bool {
    let text = lines.join("\n");
    let Some(inner) = inner(&text) else { return false };
    let ends = [", dtype=", ", shape=", ")"];
    let until = ends.iter().filter_map(|end| inner.find(end)).min().unwrap_or(inner.len());
    let numbers = inner[..until].split(|letter: char| letter.is_whitespace() || "[],".contains(letter));
    let mut words = numbers.filter(|word| !word.is_empty()).peekable();
    // An array of JSON has a comma behind each number, and is one of JSON unless something else tells.
    words.peek().is_some()
        && words.all(|word| word == "..." || word.parse::<f64>().is_ok())
        && !is_json(&text)
}

/// Is it one of JSON? What stands behind the first number tells, and behind the array that it ends, if it lies within another.
fn is_json(text: &str) -> bool {
    let text = text.trim_start();
    if !text.starts_with('[') || text.contains("...") {
        return false;
    }
    let rest = text.trim_start_matches(|letter: char| letter == '[' || letter.is_whitespace());
    let mut depth = text[..text.len() - rest.len()].matches('[').count();
    for letter in
        rest.trim_start_matches(|letter: char| letter.is_alphanumeric() || ".+-".contains(letter)).chars()
    {
        match letter {
            ']' => depth = depth.saturating_sub(1),
            letter if letter.is_whitespace() && depth > 0 => {}
            letter => return letter == ',' || depth == 0,
        }
    }
    true
}

/// The values that NumPy printed.
pub(super) fn from_numpy(bytes: &[u8], place: &Place<'_>) -> Result<Shown, WorkloadError> {
    let text = text(bytes);
    if text.contains("...") {
        return Err(place.whole(
            "is an array that NumPy printed, of which all but the ends were left out (`...`); write all of it by \
             `numpy.savetxt(\"times.csv\", array)`",
        ));
    }
    // Durations say their unit: `dtype='timedelta64[us]'`.
    let unit = text.split_once("timedelta64[").and_then(|(_, rest)| Unit::of_word(rest.split(']').next()?));
    let name = unit.map_or_else(|| "value".to_owned(), |unit| format!("value_{}", unit.name()));
    let mut shown = Shown::new("an array that NumPy printed", &[&name]);
    let (mut arrays, mut depth, mut deepest, mut widest) = (0, 0_usize, 0, 0);
    for (at, line) in text.lines().enumerate() {
        let line =
            line.split(", dtype=").next().unwrap_or_default().split(", shape=").next().unwrap_or_default();
        let line = line.trim().trim_start_matches("array(").trim_end_matches(')');
        for letter in line.chars() {
            arrays += usize::from(letter == '[' && depth == 0);
            depth = if letter == '[' { depth + 1 } else { depth.saturating_sub(usize::from(letter == ']')) };
            deepest = deepest.max(depth);
        }
        let words = line.split(|letter: char| letter.is_whitespace() || "[],".contains(letter));
        let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
        widest = widest.max(words.len());
        shown.numbers(at + 1, line, &words, place)?;
    }
    // A single column has an array a row.
    if deepest > 2 || deepest == 2 && widest > 1 || arrays > 1 {
        return Err(place.whole(
            "holds an array of several columns, or several arrays, that NumPy printed; write what is meant by \
             `numpy.savetxt(\"times.csv\", array[:, 0])`",
        ));
    }
    if depth > 0 {
        return Err(place.whole("is an array that NumPy printed, whose end is missing; was it copied whole?"));
    }
    Ok(shown)
}

impl Shown {
    /// Adds numbers that stand in this line one after the other; returns how many are missing in it.
    fn numbers(
        &mut self,
        at: usize,
        line: &str,
        values: &[&str],
        place: &Place<'_>,
    ) -> Result<usize, WorkloadError> {
        let mut without = 0;
        for value in values {
            if *value == "NA" {
                without += 1;
                continue;
            }
            // Rows of a table have a line each, so that what is wrong is said here.
            if let Err(problem) = Number::parse(value.as_bytes(), Style::POINT) {
                let column = line.find(value).map_or(1, |at| at + 1);
                let problem = match problem {
                    RowProblem::NotANumber(_) => RowProblem::NotANumber(crate::input::shorten(value)),
                    problem => problem,
                };
                return Err(place.row(at as u64, column, problem));
            }
            self.rows.add(at, &[value])?;
        }
        Ok(without)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vectors_are_known_by_their_brackets() {
        assert_eq!(of_r(" [13] 0.37 NA"), Some((13, vec!["0.37", "NA"])));
        for other in ["[1,] 3", "[a] 3", "[1]", "[1] a", "[1.5s][gc] 3"] {
            assert_eq!(of_r(other), None, "{other}");
        }
        let holds = |text: &str| holds_numpy(&text.lines().collect::<Vec<_>>());
        for array in [
            "[1.5 2.5]",
            "[1.5 2.5 ... 3.5]",
            "array([1.5, 2.5], dtype=float32)",
            "[1. 2.\n 3.]",
            "array([1.5, 2.5,",
            "[[1. 2.]\n [3. 4.]]",
            "[[1.5]\n [2.5]]",
        ] {
            assert!(holds(array), "{array}");
        }
        for other in [
            "[1.5, 2.5]",
            "[[1.5, 2.5], [1.5, 2.5]]",
            "[[1.5], [2.5]]",
            "[1.5]\n[2.5]",
            "[]",
            "[a b]",
            "1.5 2.5",
            "[0.1s][info] x",
            "array([])",
            "[{\"a\": 1}]",
        ] {
            assert!(!holds(other), "{other}");
        }
    }
}
