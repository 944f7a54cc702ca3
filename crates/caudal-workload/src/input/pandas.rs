//! Series as pandas prints them: an index, blanks and a value a line, and below them a name and a type.
//! The recogniser of formats asks whether a text has this form, and calls the reader once if it has. Pure.
//!
//! ```text
//! count    4000.000000
//! 50%        19.858500
//! Name: latency_us, dtype: float64
//! ```
//!
//! A printed frame has no such last line; it is read as columns between blanks.

use super::Place;
use super::text;
use crate::error::WorkloadError;

/// Is this a printed series?
pub(super) fn holds_series<'a>(lines: impl Iterator<Item = &'a [u8]>) -> bool {
    let last = lines.filter(|line| !line.trim_ascii().is_empty()).last();
    last.is_some_and(|line| footer(&text(line)).is_some())
}

/// The name and the length that the last line says.
fn footer(line: &str) -> Option<(Option<&str>, Option<usize>)> {
    let (mut name, mut length, mut has_type) = (None, None, false);
    for part in line.trim().split(", ") {
        match part.split_once(": ")? {
            ("Name", of) => name = Some(of),
            ("Length", of) => length = of.parse().ok(),
            ("Freq", _) => {}
            ("dtype", _) => has_type = true,
            _ => return None,
        }
    }
    has_type.then_some((name, length))
}

/// The same as CSV.
///
/// # Errors
/// If rows were left out where it was printed.
pub(super) fn as_table(bytes: &[u8], place: &Place<'_>) -> Result<Vec<u8>, WorkloadError> {
    let text = text(bytes);
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    let (last, rows) = lines.split_last().map_or(("", &[][..]), |(last, rows)| (*last, rows));
    let (name, length) = footer(last).unwrap_or_default();
    // The index lies at the left edge, and at least two blanks stand before the values.
    let parts = |line: &&str| {
        let line = line.trim_end();
        let (index, value) = line.split_once("  ").or_else(|| line.rsplit_once(' '))?;
        Some((index.trim().to_owned(), value.trim().to_owned()))
    };
    if rows.iter().any(|row| row.trim().chars().all(|letter| letter == '.' || letter == ' ')) {
        let of = length.map_or_else(String::new, |length| format!(" of its {length}"));
        return Err(place.whole(format!(
            "is a series that pandas printed, with rows left out in the middle{of}; write all of it by `series.to_csv(\"times.csv\")`"
        )));
    }
    // What the index is called stands alone above it.
    let (index_name, rows) = match rows {
        [first, rest @ ..] if parts(first).is_none() => (first.trim(), rest),
        rows => ("", rows),
    };
    // Counts by intervals are called `count`, and their index what was counted.
    let mut out = csv::Writer::from_writer(Vec::new());
    let mut write = |index: &str, value: &str| out.write_record([index, value]);
    let mut written = write(index_name, name.unwrap_or("value"));
    for row in rows {
        let (index, value) = parts(row).unwrap_or_default();
        written = written.and_then(|()| write(&index, &value));
    }
    written.map_err(|error| place.whole(error.to_string()))?;
    out.into_inner().map_err(|error| place.whole(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_printed_series_is_a_table() {
        let place = Place(std::path::Path::new("x"));
        let table =
            |text: &str| as_table(text.as_bytes(), &place).map(|bytes| String::from_utf8(bytes).unwrap());
        assert_eq!(
            table("latency_us\n(20, 50]       1490\n(5, 10]         596\nName: count, dtype: int64\n")
                .unwrap(),
            "latency_us,count\n\"(20, 50]\",1490\n\"(5, 10]\",596\n"
        );
        assert_eq!(
            table("0.50     19.8\n0.999    256.9\nName: a b, dtype: float64").unwrap(),
            ",a b\n0.50,19.8\n0.999,256.9\n"
        );
        let durations = "count                         4000\nmean     0 days 00:00:00.000027608\nName: latency, dtype: object\n";
        assert_eq!(table(durations).unwrap(), ",latency\ncount,4000\nmean,0 days 00:00:00.000027608\n");
        let cut = "0   1.5\n1   2.5\n    ... \n8   3.5\n9   4.5\nName: a, Length: 10, dtype: float64\n";
        assert!(table(cut).unwrap_err().to_string().contains("left out in the middle of its 10"));
        assert!(
            !holds_series(["a: b".as_bytes()].into_iter())
                && holds_series(["dtype: int64".as_bytes()].into_iter())
        );
    }
}
