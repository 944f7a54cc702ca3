//! The beginning of a table: the separator of its fields, its header, and the way in which it writes numbers. The recogniser of formats takes
//! one sample of an input that may be a table; the finder of columns and of distributions decides by it. Pure.

use csv::ByteRecord;

use super::records::{Record, Records};
use super::separator::Separator;
use crate::input::number::{self, Number, Style};
use crate::input::percentiles::percentile_of;
use crate::input::source::Source;
use crate::input::unit::Unit;

/// The number of rows that the sample reads.
pub(crate) const ROWS: usize = 500;

/// The beginning of a table.
pub(crate) struct Sample {
    pub(crate) separator: Separator,
    /// The names in its first row, if that is a header.
    pub(crate) header: Option<Vec<String>>,
    /// Does a row with the types of the columns follow, as ClickHouse writes it (`CSVWithNamesAndTypes`)?
    pub(crate) has_types: bool,
    /// Rows of values.
    pub(crate) rows: Vec<ByteRecord>,
    /// The line of the first row, header or not, from 1.
    pub(crate) first_line: u64,
    /// Do the names stand in a comment, as in `#Fields: date time time-taken` of W3C's logs?
    pub(crate) names_are_above: bool,
}

impl Sample {
    /// The sample of `source`; `None` if its beginning has no row. `decimal` is the decimal separator, if the user
    /// names one.
    pub(crate) fn of(source: &Source, decimal: Option<char>) -> Option<Sample> {
        let mut head: Vec<u8> = Vec::new();
        for line in source.head_lines() {
            head.extend_from_slice(line);
            head.push(b'\n');
        }
        let above = fields_above(&head);
        let fits = |separator: &Separator| {
            above.as_ref().is_some_and(|names| names.len() == common_width(&rows(&head, *separator).0))
        };
        // If the names stand above, the separator is the one that gives as many columns as there are names. Fields may contain others: user agents
        // have semicolons.
        let separator = [Separator::Byte(b'\t'), Separator::Blanks]
            .into_iter()
            .find(fits)
            .unwrap_or_else(|| separator(&head, decimal));
        let (mut rows, first_line) = rows(&head, separator);
        if rows.is_empty() {
            return None;
        }
        let above = above.filter(|names| names.len() == common_width(&rows));
        let names_are_above = above.is_some();
        let header = above.or_else(|| {
            let is_names =
                is_header(&rows[0]) && !rows[1..].iter().take(3).any(|row| is_alike(&rows[0], row));
            is_names.then(|| {
                let names: Vec<String> = rows[0].iter().map(crate::input::text).collect();
                rows.remove(0);
                names
            })
        });
        let has_types = header.is_some() && rows.first().is_some_and(are_types);
        if has_types {
            rows.remove(0);
        }
        let width = rows.iter().map(width).max().unwrap_or(0);
        let unnamed_index = header.as_ref().is_some_and(|names| {
            width == names.len() + 1 && rows.iter().all(|row| width_of_index(row, width))
        });
        let header = header.map(|names| match unnamed_index {
            true => std::iter::once(String::new()).chain(names).collect(),
            false => names,
        });
        Some(Sample { separator, header, has_types, rows, first_line, names_are_above })
    }

    /// The width that most of these rows have.
    pub(crate) fn common_width(rows: &[ByteRecord]) -> usize {
        common_width(rows)
    }

    /// Columns: of the header, or of the widest of the first rows.
    pub(crate) fn width(&self) -> usize {
        let rows = self.rows.iter().map(width).max().unwrap_or(0);
        self.header.as_ref().map_or(rows, Vec::len)
    }

    /// Fields of a column in the first rows, without those that are empty.
    pub(crate) fn column(&self, index: usize) -> impl Iterator<Item = &[u8]> {
        self.rows.iter().filter_map(move |row| row.get(index)).filter(|field| !field.is_empty())
    }

    /// Is every field of this column a number, with a unit or without?
    pub(crate) fn is_numeric(&self, index: usize) -> bool {
        let mut fields = self.column(index).peekable();
        let styles = [Style::POINT, Style::POINT_GROUPED, Style::COMMA];
        fields.peek().is_some()
            && fields.all(|field| styles.iter().any(|style| Number::parse(field, *style).is_ok()))
    }

    /// The style in which the numbers of a column are written; `Err` with a field that can be read in two ways.
    pub(crate) fn style(&self, index: usize) -> Result<Style, String> {
        let with_commas: Vec<&[u8]> = self.column(index).filter(|field| field.contains(&b',')).collect();
        let Some(first) = with_commas.first() else { return Ok(Style::POINT) };
        let mut proof = with_commas.iter().filter_map(|field| proven(field));
        match proof.next() {
            Some(style) => Ok(style),
            // Where semicolons separate columns, commas are decimal separators.
            None if self.separator == Separator::Byte(b';') => Ok(Style::COMMA),
            None => Err(crate::input::text(first)),
        }
    }
}

/// The style of a number with commas, if there is only one in which it can be read.
fn proven(field: &[u8]) -> Option<Style> {
    let readable = |style| Number::parse(field, style).is_ok();
    let commas = field.iter().filter(|&&byte| byte == b',').count();
    // `0,123` has no thousands.
    let begins_with_zero = field.starts_with(b"0,") && commas == 1;
    match (readable(Style::POINT_GROUPED) && !begins_with_zero, readable(Style::COMMA)) {
        (true, false) => Some(Style::POINT_GROUPED),
        (false, true) => Some(Style::COMMA),
        _ => None,
    }
}

/// Fields up to the last one that is not empty.
fn width(row: &ByteRecord) -> usize {
    row.iter().rposition(|field| !field.is_empty()).map_or(0, |last| last + 1)
}

/// Whether this row has at least `width` fields and begins with its number, for which a header such as R's has no name.
fn width_of_index(row: &ByteRecord, width: usize) -> bool {
    let first = row.get(0).unwrap_or_default();
    row.len() >= width && !first.is_empty() && first.iter().all(u8::is_ascii_digit)
}

/// Whether this row is a header: at least one field is a name, and none is a number. Percentiles (`50%`, `99.9%`) are names.
fn is_header(row: &ByteRecord) -> bool {
    let is_share = |field: &[u8]| {
        field.ends_with(b"%")
            || field.ends_with(b"th")
            || Number::parse(field, Style::POINT_GROUPED).is_err()
                && number::parts(&crate::input::text(field)).is_none()
                && percentile_of(&crate::input::text(field)).is_some()
    };
    let is_number = |field: &[u8]| number::looks_like_one(field) && !is_share(field);
    let is_name = |field: &[u8]| !field.is_empty() && (!number::looks_like_one(field) || is_share(field));
    row.iter().any(is_name) && !row.iter().any(is_number)
}

/// Is this a row of ClickHouse's types: `UInt64`, `LowCardinality(String)`?
fn are_types(row: &ByteRecord) -> bool {
    const TYPES: [&str; 33] = [
        "UInt8",
        "UInt16",
        "UInt32",
        "UInt64",
        "UInt128",
        "UInt256",
        "Int8",
        "Int16",
        "Int32",
        "Int64",
        "Int128",
        "Int256",
        "Float32",
        "Float64",
        "BFloat16",
        "Decimal",
        "Bool",
        "String",
        "FixedString",
        "UUID",
        "Date",
        "Date32",
        "Time",
        "Time64",
        "DateTime",
        "DateTime64",
        "Enum8",
        "Enum16",
        "LowCardinality",
        "Nullable",
        "Array",
        "IPv4",
        "IPv6",
    ];
    let is_type = |field: &[u8]| {
        let field = crate::input::text(field);
        TYPES.contains(&field.split('(').next().unwrap_or_default())
    };
    !row.is_empty() && row.iter().all(is_type)
}

/// The names that W3C's logs have in a comment above their rows.
fn fields_above(head: &[u8]) -> Option<Vec<String>> {
    let line = head.split(|&byte| byte == b'\n').find_map(|line| line.strip_prefix(b"#Fields:"))?;
    Some(crate::input::text(line).split_whitespace().map(str::to_owned).collect())
}

/// Whether the first row equals the second one except for digits. Then it is no header: `Total: 13026398 ns`, `{ fd = 3`.
fn is_alike(first: &ByteRecord, second: &ByteRecord) -> bool {
    let without_digits = |field: &[u8]| -> Vec<u8> {
        let mut shape: Vec<u8> =
            field.iter().map(|byte| if byte.is_ascii_digit() { b'0' } else { *byte }).collect();
        shape.dedup_by(|a, b| *a == b'0' && *b == b'0');
        shape
    };
    let has_digits = |field: &[u8]| field.iter().any(u8::is_ascii_digit);
    let numbered = first.iter().filter(|field| has_digits(field)).count();
    let alike = first
        .iter()
        .zip(second)
        .filter(|(first, second)| has_digits(first) && without_digits(first) == without_digits(second))
        .count();
    numbered > 0 && 2 * alike >= numbered && first.len() == second.len()
}

fn rows(head: &[u8], separator: Separator) -> (Vec<ByteRecord>, u64) {
    let mut records = Records::new(head, separator);
    let (mut rows, mut first_line) = (Vec::new(), 1);
    let mut record = Record::default();
    while rows.len() < ROWS && records.next(&mut record).unwrap_or(false) {
        if record.width() == 0 {
            continue;
        }
        if rows.is_empty() {
            first_line = record.line;
        }
        rows.push(record.fields.clone());
    }
    (rows, first_line)
}

/// The separator of fields: of the separators by which all rows have as many fields as the first one, the one that gives the most fields.
fn separator(head: &[u8], decimal: Option<char>) -> Separator {
    // A comma that is the decimal separator does not separate fields.
    let bytes = [b';', b'\t', b',', b'|'].into_iter().filter(|&byte| Some(char::from(byte)) != decimal);
    let mut best: Option<(usize, u8)> = None;
    let mut fallback = None;
    for byte in bytes {
        let (rows, _) = rows(head, Separator::Byte(byte));
        let Some(first) = rows.first() else { continue };
        let most = common_width(&rows);
        if most < 2 {
            continue;
        }
        // A header may be one name shorter, or rows end in separators.
        let fits = first.len() >= 2;
        if fits && best.is_none_or(|(widest, _)| most > widest) {
            best = Some((most, byte));
        }
        fallback = fallback.or(Some(byte));
    }
    match best.map(|(_, byte)| byte).or(fallback) {
        Some(byte) => Separator::Byte(byte),
        None if are_blanks(head) => Separator::Blanks,
        None if decimal == Some(',') => Separator::Byte(b';'),
        None => Separator::Byte(b','),
    }
}

/// The width that most rows have.
fn common_width(rows: &[ByteRecord]) -> usize {
    let mut widths: Vec<usize> = rows.iter().map(ByteRecord::len).collect();
    widths.sort_unstable();
    let runs = widths.chunk_by(|a, b| a == b);
    runs.max_by_key(|run| run.len()).map_or(0, |run| run[0])
}

/// Whether blanks separate several fields in these rows, and at least one column is numeric. A number and its unit are one
/// field.
fn are_blanks(head: &[u8]) -> bool {
    let (rows, _) = rows(head, Separator::Blanks);
    let most = common_width(&rows);
    let alike = rows.iter().filter(|row| row.len() == most).count();
    let is_number =
        |row: &ByteRecord, at| row.get(at).is_some_and(|f| Number::parse(f, Style::POINT).is_ok());
    let is_unit = |row: &ByteRecord| {
        row.len() == 2 && is_number(row, 0) && Unit::of_word(&crate::input::text(&row[1])).is_some()
    };
    let body = rows.get(1..).unwrap_or_default();
    let numeric = |at: usize| body.iter().filter(|row| row.len() == most).all(|row| is_number(row, at));
    // A header may be one name shorter, as R's is.
    let is_short = rows.first().is_some_and(|first| first.len() >= 2 && first.len() + 1 == most);
    let expected = rows.len() - usize::from(is_short);
    most >= 2 && 10 * alike >= 9 * expected && !rows.iter().all(is_unit) && (0..most).any(numeric)
}
