//! Histograms of rtla (`rtla timerlat hist`, `rtla osnoise hist`): a latency a row, and a column of counts for each CPU and context.
//! The recogniser of formats asks whether a text has this form, and calls the reader once if it has. Pure.

use std::path::Path;

use crate::error::WorkloadError;
use crate::input::buckets::which_one;
use crate::input::source::Source;
use crate::input::unit::Unit;
use crate::input::{Columns, Place, Read, table};

/// Is this a histogram of rtla?
pub(in crate::input) fn holds_rtla<'a>(mut lines: impl Iterator<Item = &'a [u8]>) -> bool {
    lines.next().is_some_and(|line| {
        let line = crate::input::text(line);
        line.starts_with("# RTLA ") && line.contains("histogram")
    })
}

/// Reads a text for which [`holds_rtla`].
pub(in crate::input) fn read_rtla(
    bytes: &[u8],
    path: &Path,
    wanted: &Columns,
) -> Result<Read, WorkloadError> {
    let place = Place(path);
    let text = crate::input::text(bytes);
    let unit = text.lines().find_map(|line| {
        let (_, unit) = line.strip_prefix("# Time unit is ")?.split_once('(')?;
        Unit::of_word(unit.trim_end_matches(')'))
    });
    let unit = unit.ok_or_else(|| place.whole("is a histogram of rtla that does not say its unit"))?;
    let mut rows = text.lines().filter(|line| !line.starts_with('#')).map(|line| line.split_whitespace());
    let header: Vec<&str> =
        rows.by_ref().find(|row| row.clone().next() == Some("Index")).into_iter().flatten().collect();
    let rows: Vec<Vec<&str>> = rows.map(Iterator::collect).collect();
    let is_bucket =
        |row: &&Vec<&str>| row.len() == header.len() && row[0].bytes().all(|byte| byte.is_ascii_digit());
    let count =
        |row: &[&str], at: usize| row.get(at).and_then(|count| count.parse::<u64>().ok()).unwrap_or(0);
    let names: Vec<(String, u64)> = (1..header.len())
        .map(|at| (header[at].to_owned(), rows.iter().filter(is_bucket).map(|row| count(row, at)).sum()))
        .collect();
    let column = match (&wanted.column, &names[..]) {
        (Some(column), _) => names.iter().position(|(name, _)| name.eq_ignore_ascii_case(column)),
        (None, [_]) => Some(0),
        (None, _) => None,
    };
    let column = 1 + column.ok_or_else(|| which_one(&place, &names))?;
    let mut csv = format!("latency_{},count\n", unit.name());
    for row in rows.iter().filter(is_bucket) {
        csv.push_str(&format!("{},{}\n", row[0], count(row, column)));
    }
    let within = Columns { column: None, unit: None, ..wanted.clone() };
    let mut read = table::read_service_table(Source::of_bytes(csv.as_bytes()), path, &within)?;
    read.taken.format = "a histogram of rtla".to_owned();
    read.taken.unit_by = "says its heading";
    read.taken.column = Some(header[column].to_owned());
    let over = rows.iter().find(|row| row.first() == Some(&"over:")).map_or(0, |row| count(row, column));
    if over > 0 {
        read.notes.push(format!(
            "{over} values lie beyond the last bucket and are missing here, the longest of all: measure with more buckets"
        ));
    }
    Ok(read)
}
