//! CSV files of service times and of timestamps.
//!
//! Lines that begin with `#` are comments, a byte order mark is skipped, fields may be quoted. A first
//! row without a number is a header.

use std::collections::BTreeMap;
use std::path::Path;

use csv::{ByteRecord, ReaderBuilder, Trim};

use super::{Place, Row, Trace, Unit, parse_time, shorten};
use crate::LONGEST_PS;
use crate::error::{RowProblem, WorkloadError};

/// Which columns to read, as the workload's table says.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Columns<'a> {
    pub(crate) column: Option<&'a str>,
    pub(crate) unit: Option<Unit>,
}

/// Columns that say how often a row's value occurs: of a histogram.
const WEIGHTS: [&str; 6] = ["count", "share", "weight", "frequency", "probability", "p"];

/// Where in a row the fields stand.
struct Layout {
    value: usize,
    class: Option<usize>,
    /// How often the value of a row occurs.
    weight: Option<usize>,
    unit: Unit,
    columns: usize,
    has_header: bool,
}

/// One row of fields with its position.
pub(super) struct Fields {
    pub(super) line: u64,
    pub(super) record: ByteRecord,
}

impl Fields {
    pub(super) fn get(&self, index: usize) -> String {
        String::from_utf8_lossy(self.record.get(index).unwrap_or_default()).into_owned()
    }

    /// Where field `index` starts in its line, from 1 (quotes and blanks around earlier fields are not
    /// in the record, so it is counted in the line itself).
    pub(super) fn column_of(&self, index: usize, bytes: &[u8]) -> usize {
        let line = nth_line(bytes, self.line);
        let mut quoted = false;
        let mut commas = 0;
        for (at, &byte) in line.iter().enumerate() {
            if commas == index {
                let blanks = line[at..].iter().take_while(|b| b.is_ascii_whitespace()).count();
                return at + blanks + 1;
            }
            match byte {
                b'"' => quoted = !quoted,
                b',' if !quoted => commas += 1,
                _ => {}
            }
        }
        line.len() + 1
    }
}

/// Line `line` (from 1), without its end.
pub(super) fn nth_line(bytes: &[u8], line: u64) -> &[u8] {
    let index = usize::try_from(line.saturating_sub(1)).unwrap_or(usize::MAX);
    bytes.split(|&b| b == b'\n').nth(index).unwrap_or_default()
}

/// All rows with fields, or the first blank line as an error (the csv crate would skip it).
pub(super) fn rows(bytes: &[u8], place: &Place<'_>) -> Result<Vec<Fields>, WorkloadError> {
    let end = bytes.iter().rposition(|b| !b.is_ascii_whitespace()).map_or(0, |last| last + 1);
    let blank = |line: &[u8]| line.iter().all(u8::is_ascii_whitespace);
    if let Some(at) = bytes[..end].split(|&b| b == b'\n').position(blank).filter(|_| end > 0) {
        return Err(place.row(at as u64 + 1, 1, RowProblem::Empty));
    }
    let mut reader = ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .trim(Trim::All)
        .comment(Some(b'#'))
        .from_reader(bytes);
    let mut all = Vec::new();
    for record in reader.byte_records() {
        let record = record.map_err(|error| place.whole(error.to_string()))?;
        all.push(Fields { line: line_of(&record, bytes), record });
    }
    if all.is_empty() {
        return Err(
            place.whole("holds no values; write one time a line, or columns such as `class,service_ns`")
        );
    }
    Ok(all)
}

/// Where the first row has one column because something else than a comma separates its fields: in it, and in the row
/// below if there is one.
fn other_separator(rows: &[Fields], bytes: &[u8], place: &Place<'_>) -> Option<WorkloadError> {
    let first = &rows[0];
    let (byte, name) =
        [(b';', "semicolons"), (b'\t', "tabs"), (b'|', "bars")].into_iter().find(|(byte, _)| {
            let has = |row: &Fields| row.record.iter().any(|field| field.contains(byte));
            first.record.len() == 1 && rows.iter().take(2).all(has)
        })?;
    let field = first.get(0);
    let right: Vec<&str> = field.split(char::from(byte)).map(str::trim).collect();
    let column = nth_line(bytes, first.line).iter().position(|&b| b == byte).map_or(1, |at| at + 1);
    let problem = format!(
        "columns are separated by {name} here; separate them by commas, as in `{}`",
        shorten(&right.join(","))
    );
    Some(place.row(first.line, column, RowProblem::Format(problem)))
}

/// The line of a record, from 1. Where its own position says it begins, comments may stand before it.
fn line_of(record: &ByteRecord, bytes: &[u8]) -> u64 {
    let Some(position) = record.position() else { return 0 };
    let rest = &bytes[usize::try_from(position.byte()).map_or(bytes.len(), |at| at.min(bytes.len()))..];
    let comments = rest.split(|&b| b == b'\n').take_while(|line| line.starts_with(b"#"));
    position.line() + comments.count() as u64
}

/// Is this a value, well written or not, and no column's name? `1OOO` is a value with a mistake.
fn is_number(field: &[u8]) -> bool {
    let begins_as_one = matches!(field, [b'0'..=b'9', ..] | [b'-' | b'+' | b'.', b'0'..=b'9', ..]);
    begins_as_one || std::str::from_utf8(field).is_ok_and(|text| text.parse::<f64>().is_ok())
}

/// Finds the columns; `role` is what the value column is called when nothing else tells (`service`).
fn layout(
    rows: &[Fields],
    bytes: &[u8],
    wanted: Columns<'_>,
    role: &str,
    place: &Place<'_>,
) -> Result<Layout, WorkloadError> {
    if let Some(error) = other_separator(rows, bytes, place) {
        return Err(error);
    }
    let first = &rows[0];
    let columns = first.record.len();
    let has_header = !first.record.iter().any(|field| field.is_empty() || is_number(field));
    if !has_header {
        if let Some(column) = wanted.column {
            return Err(
                place.whole(format!("has no header, so no column `{}`; add a first line", shorten(column)))
            );
        }
        if columns > 2 {
            return Err(place.whole(format!(
                "has {columns} columns and no header; add a first line such as `class,{role}_ns`"
            )));
        }
        let class = (columns == 2).then_some(0);
        let unit = wanted.unit.unwrap_or_default();
        return Ok(Layout { value: columns - 1, class, weight: None, unit, columns, has_header });
    }
    let names: Vec<String> = (0..columns).map(|index| first.get(index)).collect();
    if let Some(at) = names.iter().position(|name| role == "service" && name.starts_with("timestamp"))
        && wanted.column.is_none()
        && value_column(&names, None, role) == Some(at)
    {
        let problem = "these are times of arrivals, for `arrivals = { file = … }`; service times say how long each \
                       request takes, in a column such as `service_ns`";
        let column = first.column_of(at, bytes);
        return Err(place.row(first.line, column, RowProblem::Format(problem.to_owned())));
    }
    let value = value_column(&names, wanted.column, role).ok_or_else(|| {
        place.row(first.line, 1, RowProblem::Format(no_column(&names, wanted.column, role)))
    })?;
    let class = names.iter().position(|name| name == "class").filter(|&class| class != value);
    let is_weight = |name: &String| role == "service" && WEIGHTS.contains(&name.as_str());
    let weight = names.iter().position(is_weight).filter(|&weight| weight != value);
    let named = Unit::of_column(&names[value]);
    if let (Some(named), Some(said)) = (named, wanted.unit)
        && named != said
    {
        let (name, said, named) = (&names[value], said.name(), named.name());
        return Err(place.whole(format!("column `{name}` is in {named}, but `unit` says {said}; keep one")));
    }
    if named.is_none() && wanted.unit.is_none() && seems_to_say_a_unit(&names[value]) {
        let name = shorten(&names[value]);
        let problem = format!(
            "`{name}` ends in no unit that is known here: end it in _ps, _ns, _us, _ms or _s, or say `unit = …`"
        );
        return Err(place.row(first.line, first.column_of(value, bytes), RowProblem::Format(problem)));
    }
    let unit = named.or(wanted.unit).unwrap_or_default();
    Ok(Layout { value, class, weight, unit, columns, has_header })
}

/// Does the last word of a column's name look like a unit of time? Not to be taken for nanoseconds then.
fn seems_to_say_a_unit(name: &str) -> bool {
    const OTHERS: [&str; 19] = [
        "nanos", "micros", "millis", "picos", "min", "mins", "minute", "minutes", "h", "hour", "hours",
        "day", "days", "cycle", "cycles", "tick", "ticks", "tsc", "jiffies",
    ];
    let name = name.to_lowercase();
    let Some((_, last)) = name
        .trim_end_matches(|end: char| !end.is_alphanumeric())
        .rsplit_once(|between: char| !between.is_alphanumeric())
    else {
        return false;
    };
    let seconds = ["sec", "secs", "second", "seconds"].iter().any(|end| last.ends_with(end));
    let short = last.ends_with('s') && last.chars().count() <= 2;
    seconds || short || OTHERS.contains(&last)
}

fn value_column(names: &[String], wanted: Option<&str>, role: &str) -> Option<usize> {
    if let Some(wanted) = wanted {
        return names.iter().position(|name| name == wanted);
    }
    let is_role = |name: &String| name == role || (name.starts_with(role) && Unit::of_column(name).is_some());
    let with_unit = |name: &String| Unit::of_column(name).is_some();
    let no_time = |name: &String| name == "class" || role == "service" && WEIGHTS.contains(&name.as_str());
    let mut others = (0..names.len()).filter(|&index| !no_time(&names[index]));
    let (only, more) = (others.next(), others.next());
    names.iter().position(is_role).or(only.filter(|_| more.is_none())).or_else(|| {
        names.iter().position(with_unit).filter(|_| names.iter().filter(|n| with_unit(n)).count() == 1)
    })
}

fn no_column(names: &[String], wanted: Option<&str>, role: &str) -> String {
    let shown: Vec<String> = names.iter().take(12).map(|name| format!("`{}`", shorten(name))).collect();
    let there = shown.join(", ");
    match wanted {
        Some(wanted) => format!("there is no column `{}`; the columns are {there}", shorten(wanted)),
        None => format!(
            "which column holds the times? Say `column = …` (there are {there}) or call it `{role}_ns`"
        ),
    }
}

/// Reads service times: a value a line, or columns with classes, or of a histogram.
pub(crate) fn read_service_csv(
    bytes: &[u8],
    path: &Path,
    wanted: Columns<'_>,
) -> Result<Trace, WorkloadError> {
    let place = Place(path);
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let rows = rows(bytes, &place)?;
    let layout = layout(&rows, bytes, wanted, "service", &place)?;
    let mut trace = Trace::default();
    let mut numbers: BTreeMap<String, u8> = BTreeMap::new();
    for fields in &rows[usize::from(layout.has_header)..] {
        let at = |index, problem| place.row(fields.line, fields.column_of(index, bytes), problem);
        let ps = value(fields, &layout, LONGEST_PS, false).map_err(|(index, problem)| at(index, problem))?;
        let name = layout.class.map_or_else(|| "all".to_owned(), |class| fields.get(class));
        let class = match numbers.get(&name) {
            Some(&class) => class,
            None => {
                let class = new_class(&name, trace.classes.len())
                    .map_err(|problem| at(layout.class.unwrap_or(0), problem))?;
                trace.classes.push(name.clone());
                numbers.insert(name, class);
                class
            }
        };
        trace.rows.push((class, Row { line: fields.line, ps }));
        if let Some(weight) = layout.weight {
            trace.weights.push(share(&fields.get(weight)).map_err(|problem| at(weight, problem))?);
        }
    }
    if trace.rows.is_empty() {
        return Err(place.whole("has a header but no values; write one row a request"));
    }
    Ok(trace)
}

/// Reads timestamps, which must not decrease, in ps since the first of them.
pub(crate) fn read_timestamps(
    bytes: &[u8],
    path: &Path,
    wanted: Columns<'_>,
) -> Result<Vec<u64>, WorkloadError> {
    let place = Place(path);
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let rows = rows(bytes, &place)?;
    let layout = layout(&rows, bytes, wanted, "timestamp", &place)?;
    let mut times: Vec<u64> = Vec::with_capacity(rows.len());
    for fields in &rows[usize::from(layout.has_header)..] {
        let at = |index, problem| place.row(fields.line, fields.column_of(index, bytes), problem);
        let ps = value(fields, &layout, u64::MAX, true).map_err(|(index, problem)| at(index, problem))?;
        if times.last().is_some_and(|&last| ps < last) {
            let shown = shorten(&fields.get(layout.value));
            return Err(at(layout.value, RowProblem::BackInTime(shown)));
        }
        times.push(ps);
    }
    let first = times.first().copied().unwrap_or(0);
    times.iter_mut().for_each(|time| *time -= first);
    Ok(times)
}

/// The time in a row, or what is wrong with which of its fields.
fn value(fields: &Fields, layout: &Layout, longest: u64, zero: bool) -> Result<u64, (usize, RowProblem)> {
    let found = fields.record.len();
    if found != layout.columns {
        let problem = RowProblem::Columns { expected: layout.columns, found };
        return Err((found.min(layout.columns), problem));
    }
    let text = fields.get(layout.value);
    parse_time(&text, layout.unit, longest, zero).map_err(|problem| (layout.value, problem))
}

/// How often a value occurs, as a number from 0 on.
fn share(text: &str) -> Result<f64, RowProblem> {
    let found = text.trim().parse::<f64>().ok().filter(|share| (0.0..=1e15).contains(share));
    found.ok_or_else(|| {
        let shown = shorten(text);
        RowProblem::Format(format!(
            "`{shown}` is not how often a value occurs: write a count or a share, from 0 on"
        ))
    })
}

/// The number of a class that was not seen before.
pub(super) fn new_class(name: &str, seen: usize) -> Result<u8, RowProblem> {
    if !crate::spec::is_class_name(name) {
        return Err(RowProblem::ClassName(shorten(name)));
    }
    u8::try_from(seen).map_err(|_| RowProblem::TooManyClasses(shorten(name)))
}
