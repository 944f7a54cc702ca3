//! The format of a file, recognised by its content, and the call of the reader for it.
//! The entry of all reading: specs and conversions call it.

use std::path::Path;

use super::number::{Number, Style};
use super::source::Source;
use super::{
    Columns, Counted, Data, Place, Read, Taken, buckets, graphs, hdr, json, lines, logs, pandas, percentiles,
    printed, reports, shorten, table, text, texts, tools,
};
use crate::error::WorkloadError;

/// A format that is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    HistogramLog,
    Listing,
    Exposition,
    Measurements,
    Replies,
    LatencyStats,
    Ranges,
    /// A text of a tool with a format of its own.
    Tool(tools::Tool),
    Rtla,
    Json,
    /// Lines of JSON that carry lines of a program under this key.
    Messages(&'static str),
    /// Lines of a log with an object of JSON in each.
    Objects,
    Percentiles,
    Graphs,
    Log,
    Packets,
    Samples,
    Series,
    /// The output of a shell's `time`.
    ShellTime,
    /// Tables and the like, printed for people.
    Printed(printed::Printed),
    Times,
    Table,
    /// One that sums up, and is known to.
    Summary,
    Unknown,
}

/// Formats that are known by their first bytes and are not read: what they are, and what to do.
const REFUSED: [(&[u8], &str, &str); 22] = [
    (
        b"PAR1",
        "a Parquet file",
        "write the column as CSV, as in `duckdb -csv -c \"select service_us from 'FILE'\"`",
    ),
    (b"ARROW1", "an Arrow file", "write the column as CSV"),
    (
        b"SQLite format 3",
        "an SQLite database",
        "write the column as CSV, as in `sqlite3 -csv FILE 'select …'`",
    ),
    (b"PK\x03\x04", "a ZIP archive or a spreadsheet", "unpack it, or save the sheet as CSV"),
    (b"\xd0\xcf\x11\xe0", "an old spreadsheet", "save the sheet as CSV"),
    (b"\x7fELF", "a program", "`caudal record` measures what its functions take"),
    (b"PERFILE2", "a recording of perf", "turn it into text by `perf script`, and give a column of times"),
    (
        b"\xd4\xc3\xb2\xa1",
        "a capture of packets",
        "write the times of responses as CSV, as in `tshark -T fields`",
    ),
    (
        b"\xa1\xb2\xc3\xd4",
        "a capture of packets",
        "write the times of responses as CSV, as in `tshark -T fields`",
    ),
    (
        b"\x0a\x0d\x0d\x0a",
        "a capture of packets",
        "write the times of responses as CSV, as in `tshark -T fields`",
    ),
    (b"\x89HDF", "an HDF5 file", "write the column as CSV"),
    (b"\x93NUMPY", "an array of NumPy", "write it by `numpy.savetxt(\"times.csv\", array)`"),
    (b"\x80\x04\x95", "a pickle of Python", "write the times as CSV"),
    (b"BZh", "packed by bzip2", "unpack it, as in `bzcat FILE | caudal …` with `-` as the file"),
    (b"\xfd7zXZ", "packed by xz", "unpack it, as in `xzcat FILE | caudal …` with `-` as the file"),
    (b"\x04\x22\x4d\x18", "packed by lz4", "unpack it, as in `lz4cat FILE | caudal …` with `-` as the file"),
    (b"%PDF", "a PDF", "give what it was made from"),
    (b"\x89PNG", "a picture", "give what it was made from"),
    (b"<!DOCTYPE html", "a page of HTML", "give what it was made from"),
    (b"<html", "a page of HTML", "give what it was made from"),
    (
        b"goos: ",
        "output of Go's benchmarks, the mean of many runs in a line,",
        "write what each run takes, a time a line",
    ),
    (b"# vegeta", "a report of vegeta", "give the results: `vegeta encode --to csv results.bin`"),
];

/// Words in the name of a column that is no time of a single request.
const SUMS: [&str; 9] = ["mean", "avg", "average", "median", "min", "max", "count", "sum", "ops"];

/// Reads a file of service times.
///
/// # Errors
/// [`WorkloadError`]: it cannot be read, is of no format that is read, is wrong at a place, or leaves a question.
pub(crate) fn read_service(source: Source, path: &Path, wanted: &Columns) -> Result<Read, WorkloadError> {
    let source = without_colours(source, path)?;
    let format = format(&source, path, wanted);
    let mut read = read_as(format, source, path, wanted)?;
    let is_empty = match &read.data {
        Data::Trace(trace) | Data::Weighted(trace, _) => trace.ps.is_empty(),
        Data::Histograms(histograms) => histograms.is_empty(),
        Data::Percentiles(classes) => classes.is_empty(),
        Data::Graphs(_) => false,
    };
    if is_empty {
        return Err(Place(path).whole(format!("is {}, and holds no times", read.taken.format)));
    }
    if let Some(text) = wanted.filter.iter().find(|text| !read.taken.filter.contains(text)) {
        return Err(Place(path).whole(format!(
            "is {}, where `--where {text}` cannot be looked at; leave it away, or give a file with only what is meant",
            read.taken.format
        )));
    }
    if let Some(unused) = unused(&read.taken, wanted, format) {
        return Err(Place(path)
            .whole(format!("is {}, where `{unused}` means nothing; leave it away", read.taken.format)));
    }
    if let (Some(found), Some(wanted)) = (&read.taken.class_column, &wanted.class_column)
        && !chooses_columns(format)
        && found != wanted
        && !wanted.is_empty()
    {
        return Err(Place(path).whole(format!(
            "is {}, whose classes are by `{found}`, so that `class_column = \"{wanted}\"` means nothing; leave it away",
            read.taken.format
        )));
    }
    if let (Some(column), Data::Trace(_) | Data::Weighted(..)) = (&read.taken.column, &read.data)
        && (super::unit::words(column).iter().any(|word| SUMS.contains(&word.as_str()))
            || percentiles::percentile_of(column.rsplit('.').next().unwrap_or(column)).is_some())
    {
        read.notes.push(format!(
            "`{column}` seems to sum up or to count, by its name: only what each request takes, or percentiles, tell a tail"
        ));
    }
    if let Data::Percentiles(classes) = &read.data {
        read.taken.counted = Counted::Percentiles;
        read.taken.values = classes.iter().map(|class| class.points.len() as u64).sum();
    }
    Ok(read)
}

/// The input without the escape sequences by which a terminal shows colours.
fn without_colours(source: Source, path: &Path) -> Result<Source, WorkloadError> {
    const ESCAPE: &[u8] = b"\x1b[";
    if !source.head().windows(ESCAPE.len()).any(|two| two == ESCAPE) {
        return Ok(source);
    }
    let bytes = source.whole(&Place(path))?;
    let mut plain = Vec::with_capacity(bytes.len());
    let mut rest = &bytes[..];
    while let Some(at) = rest.windows(ESCAPE.len()).position(|two| two == ESCAPE) {
        plain.extend_from_slice(&rest[..at]);
        // Parameters, and a letter that ends them.
        let behind = &rest[at + ESCAPE.len()..];
        let end =
            behind.iter().position(|byte| (0x40..=0x7e).contains(byte)).map_or(behind.len(), |end| end + 1);
        rest = &behind[end..];
    }
    plain.extend_from_slice(rest);
    Ok(Source::of_bytes(&plain))
}

/// Does the user choose among columns here? Where not, what has the classes is the format's affair.
fn chooses_columns(format: Format) -> bool {
    matches!(
        format,
        Format::Table
            | Format::Log
            | Format::Series
            | Format::Printed(_)
            | Format::Tool(_)
            | Format::Messages(_)
            | Format::Objects
    )
}

fn read_as(format: Format, source: Source, path: &Path, wanted: &Columns) -> Result<Read, WorkloadError> {
    let place = Place(path);
    refuse(source.head(), &place)?;
    if !wanted.filter.is_empty() && !has_conditions(format) {
        return Err(place.whole(format!(
            "is of a kind whose lines have no columns or keys, so `--where {}` cannot be looked at; take the lines out that are \
             meant, as in `grep PATTERN FILE | caudal … -`",
            wanted.filter.join("` and `")
        )));
    }
    let of_text = |read: fn(&[u8], &Path, &Columns) -> Result<Read, WorkloadError>, source: Source| {
        read(&source.whole(&place)?, path, wanted)
    };
    match format {
        Format::HistogramLog => of_text(hdr::read_log, source),
        Format::Listing => of_text(hdr::read_listing, source),
        Format::Tool(tool) => tool.read(&source.whole(&place)?, path, wanted),
        Format::Exposition => of_text(buckets::read_exposition, source),
        Format::Measurements => of_text(buckets::read_measurements, source),
        Format::Replies => of_text(buckets::read_replies, source),
        Format::LatencyStats => of_text(buckets::read_latency_stats, source),
        Format::Ranges => of_text(buckets::read_ranges, source),
        Format::Rtla => of_text(tools::read_rtla, source),
        Format::Percentiles => of_text(reports::read_percentiles, source),
        Format::Packets => of_text(texts::read_packets, source),
        Format::Samples => of_text(texts::read_samples, source),
        Format::Log => of_text(logs::read_log, source),
        Format::Series => {
            let table = pandas::as_table(&source.whole(&place)?, &place)?;
            let mut read = table::read_service_table(Source::of_bytes(&table), path, wanted)?;
            read.taken.format = "a series that pandas printed".to_owned();
            Ok(read)
        }
        Format::ShellTime => {
            let table = texts::elapsed(&source.whole(&place)?);
            let mut read = table::read_service_table(Source::of_bytes(table.as_bytes()), path, wanted)?;
            read.taken.format = "what a shell's `time` printed".to_owned();
            read.notes.push("of `real`, `user` and `sys` the elapsed time is taken, `real`".to_owned());
            Ok(read)
        }
        Format::Printed(printed) => {
            let table = printed.as_table(&source.whole(&place)?, &place)?;
            let mut read = table::read_service_table(Source::of_bytes(&table), path, wanted)?;
            read.taken.format = printed.name().to_owned();
            Ok(read)
        }
        Format::Times => {
            let read = of_text(lines::read_times, source)?;
            match &read.data {
                Data::Trace(trace) if read.taken.column.is_none() && rise_steadily(&trace.ps) => Err(place.whole(
                    "has times that rise from line to line: they say when a line was written, and not what something takes; give a \
                     column of what each request takes",
                )),
                _ => Ok(read),
            }
        }
        Format::Json => json::read_json(source, path, wanted),
        Format::Objects => json::read_objects(&source.whole(&place)?, &place, wanted),
        Format::Messages(key) => {
            let text = json::messages(&source.whole(&place)?, key)?;
            let mut read = read_service(Source::of_bytes(&text), path, wanted)?;
            read.taken.format = format!("lines of JSON, of which `{key}` holds {}", read.taken.format);
            Ok(read)
        }
        Format::Table => table::read_service_table(source, path, wanted),
        Format::Summary => {
            let advice = texts::summary(source.head_lines()).unwrap_or_default();
            Err(place.whole(advice))
        }
        Format::Unknown => Err(unknown(&source, &place)),
        Format::Graphs => {
            let bytes = source.whole(&place)?;
            let (taken, file) = graphs::read_graphs(&bytes, path, wanted)?;
            Ok(Read { taken, data: Data::Graphs(file), notes: Vec::new() })
        }
    }
}

/// The setting that the user gave and that the reader of this format has not used, as a key and its value: an answer that passed it over would be to
/// another question.
fn unused(taken: &Taken, wanted: &Columns, format: Format) -> Option<String> {
    let said = |key: &str, wanted: Option<&String>, taken: Option<&String>| {
        // An empty one says that there is none.
        wanted.filter(|name| !name.is_empty() && taken.is_none()).map(|name| format!("{key} = \"{name}\""))
    };
    said("column", wanted.column.as_ref(), taken.column.as_ref())
        .or_else(|| said("count_column", wanted.count_column.as_ref().filter(|_| !is_tabular(format)), None))
        .or_else(|| said("class_column", wanted.class_column.as_ref(), taken.class_column.as_ref()))
}

/// Is this a table, of whose columns one may count?
fn is_tabular(format: Format) -> bool {
    matches!(
        format,
        Format::Table | Format::Series | Format::Printed(_) | Format::Tool(_) | Format::Messages(_)
    )
}

/// Do times rise from each to the next, by about the same, as a clock's do?
fn rise_steadily(ps: &[u64]) -> bool {
    let steps: Vec<u64> = ps.windows(2).map(|two| two[1].saturating_sub(two[0])).collect();
    let (least, most) = (steps.iter().min().copied().unwrap_or(0), steps.iter().max().copied().unwrap_or(0));
    steps.len() >= 10 && least > 0 && most <= 2 * least
}

/// Are there columns or keys of which `--where` can say something? Where nothing is read, the answer says why.
fn has_conditions(format: Format) -> bool {
    match format {
        Format::Json
        | Format::Messages(_)
        | Format::Objects
        | Format::Tool(_)
        | Format::Table
        | Format::Log
        | Format::Series
        | Format::Printed(_)
        | Format::Summary
        | Format::Unknown
        | Format::Graphs => true,
        Format::HistogramLog
        | Format::Listing
        | Format::Exposition
        | Format::Measurements
        | Format::Replies
        | Format::LatencyStats
        | Format::Ranges
        | Format::Rtla
        | Format::Percentiles
        | Format::Packets
        | Format::Samples
        | Format::ShellTime
        | Format::Times => false,
    }
}

/// # Errors
/// If these are the first bytes of a format that is not read.
fn refuse(head: &[u8], place: &Place<'_>) -> Result<(), WorkloadError> {
    if let Some((_, what, instead)) = REFUSED.iter().find(|(magic, ..)| head.starts_with(magic)) {
        return Err(place.whole(format!("is {what}, which is not read here; {instead}")));
    }
    // A single one may stand in the text of a log.
    if head.iter().filter(|&&byte| byte == 0).count() > head.len() / 500 {
        return Err(place
            .whole("is binary data of a kind that is not known here; give the times as text, such as CSV"));
    }
    Ok(())
}

fn format(source: &Source, path: &Path, wanted: &Columns) -> Format {
    let lines = || source.head_lines();
    let ending = path.extension().map(std::ffi::OsStr::to_ascii_lowercase);
    let is_called = |name: &str| ending.as_deref() == Some(std::ffi::OsStr::new(name));
    if hdr::holds_intervals(lines()) || is_called("hlog") {
        Format::HistogramLog
    } else if hdr::holds_listing(lines()) || is_called("hgrm") {
        Format::Listing
    } else if buckets::holds_exposition(lines()) {
        Format::Exposition
    } else if buckets::holds_measurements(lines()) {
        Format::Measurements
    } else if buckets::holds_replies(lines()) {
        Format::Replies
    } else if buckets::holds_latency_stats(lines()) {
        Format::LatencyStats
    } else if tools::holds_rtla(lines()) {
        Format::Rtla
    } else if buckets::holds_ranges(lines()) {
        Format::Ranges
    } else if let Some(tool) = tools::Tool::of(source, wanted) {
        Format::Tool(tool)
    } else if json::holds_json(source.head()) {
        messages(source, path, wanted).map_or(Format::Json, Format::Messages)
    } else if wanted.column.is_none() && graphs::holds_graphs(source.head()) {
        Format::Graphs
    } else if texts::holds_packets(lines()) {
        Format::Packets
    } else if texts::holds_shell_times(lines()) {
        Format::ShellTime
    } else if source.is_short() && pandas::holds_series(lines()) {
        Format::Series
    } else if reports::holds_percentiles(lines()) {
        Format::Percentiles
    } else if texts::holds_samples(lines()) {
        Format::Samples
    } else if json::holds_objects(lines(), wanted) {
        Format::Objects
    } else if lines::holds_calls(lines()) {
        Format::Times
    } else if texts::summary(lines()).is_some() && !lines::holds_echoes(lines()) {
        Format::Summary
    } else if let Some(printed) = printed::Printed::of(lines(), wanted.column.is_some()) {
        Format::Printed(printed)
    } else if logs::holds_log(lines(), wanted) {
        Format::Log
    } else if wanted.column.is_none() && lines::holds_named_times(lines()) {
        Format::Times
    } else if is_table(source, wanted) {
        Format::Table
    } else if lines::holds_times(lines()) {
        Format::Times
    } else if is_prose(source, wanted) {
        Format::Unknown
    } else {
        Format::Table
    }
}

/// The key under which lines of JSON carry those of a program, if times can be found in these.
fn messages(source: &Source, path: &Path, wanted: &Columns) -> Option<&'static str> {
    let key = json::message_key(source, wanted)?;
    let mut head: Vec<u8> = Vec::new();
    for line in source.head_lines() {
        head.extend_from_slice(line);
        head.push(b'\n');
    }
    let text = Source::of_bytes(&json::messages(&head, key).ok()?);
    let may_be = |format| !matches!(format, Format::Unknown | Format::Table | Format::Summary);
    may_be(format(&text, path, wanted)).then_some(key)
}

/// Are most lines no rows at all, neither numbers nor fields of which some are? Then none of them is a row with a mistake.
fn is_prose(source: &Source, wanted: &Columns) -> bool {
    let Some(sample) = table::Sample::of(source, wanted.decimal) else { return false };
    let width = table::Sample::common_width(&sample.rows);
    let is_row = |row: &csv::ByteRecord| {
        row.len() == width && row.iter().any(|field| Number::parse(field, Style::POINT_GROUPED).is_ok())
    };
    let rows = sample.rows.iter().filter(|row| is_row(row)).count();
    let has_sentences = || sample.rows.iter().any(|row| row[0].trim_ascii().contains(&b' '));
    2 * rows < sample.rows.len() && (sample.rows.len() > 2 || rows == 0 && has_sentences())
}

fn unknown(source: &Source, place: &Place<'_>) -> WorkloadError {
    let first = source.head_lines().map(<[u8]>::trim_ascii).find(|line| !line.is_empty()).unwrap_or_default();
    place.whole(format!(
        "is a text of a kind that is not known here, which begins with `{}`; give a time a line, columns below a line of names \
         such as `class,service_us`, or percentiles as in `p50 = 1.2 ms, p99 = 9 ms`, or see \
         docs/guides/measure-your-service.md for what is read of which tool",
        shorten(&text(first))
    ))
}

/// Is this plainly a table: has it several columns that most rows fill, or one column of numbers?
fn is_table(source: &Source, wanted: &Columns) -> bool {
    let Some(sample) = table::Sample::of(source, wanted.decimal) else { return true };
    let width = sample.width();
    let alike = sample.rows.iter().filter(|row| row.len() == width).count();
    let whole = 10 * alike >= 9 * sample.rows.len();
    match sample.separator {
        _ if width == 1 => {
            sample.header.is_none() && sample.is_numeric(0) || sample.header.is_some() && one_word(&sample)
        }
        table::Separator::Blanks => {
            whole
                && (0..width).any(|column| sample.is_numeric(column))
                && !parts_durations(&sample)
                && !(sample.header.is_none()
                    && holds_sentences(&sample)
                    && lines::holds_times(source.head_lines()))
        }
        table::Separator::Byte(_) => {
            whole && sample.header.is_some()
                || 2 * alike >= sample.rows.len() && (0..width).any(|column| sample.is_numeric(column))
        }
    }
}

/// Are most fields of most rows words, so that a row is a sentence?
fn holds_sentences(sample: &table::Sample) -> bool {
    /// A sentence has so many words.
    const WORDS: usize = 4;
    let is_word = |field: &&[u8]| field.first().is_some_and(u8::is_ascii_alphabetic);
    let words = |row: &csv::ByteRecord| row.iter().filter(is_word).count();
    2 * sample.rows.iter().filter(|row| words(row) >= WORDS).count() > sample.rows.len()
}

/// Do blanks stand within durations, as in `1min 15s`, so that they separate no columns?
fn parts_durations(sample: &table::Sample) -> bool {
    sample.rows.iter().any(|row| {
        let fields: Vec<&[u8]> = row.iter().collect();
        fields.windows(2).any(|pair| {
            let both = format!("{} {}", text(pair[0]), text(pair[1]));
            super::number::parts(&both).is_some_and(|parts| parts.units > 1 && parts.bytes == both.len())
        })
    })
}

/// Is the header of a single column a name rather than a sentence?
fn one_word(sample: &table::Sample) -> bool {
    let words = |name: &String| name.split_whitespace().count();
    sample.header.as_ref().and_then(|header| header.first()).is_some_and(|name| words(name) <= 4)
        && (sample.rows.is_empty()
            || 2 * sample.rows.iter().filter(|row| super::number::looks_like_one(&row[0])).count()
                >= sample.rows.len())
}
