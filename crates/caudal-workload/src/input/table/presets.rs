//! The known writers of tables, and the meaning of their columns. `columns` asks first whether one of them wrote the table, and `units`
//! in which unit it writes. A table of constants.
//!
//! One entry a writer. A table is a writer's if its header has all names of `signature`, or, where it has no header, if its
//! first rows look as the writer's do.

use super::sample::Sample;
use crate::input::unit::Unit;

/// The columns of a known writer's tables.
#[derive(Debug)]
pub(crate) struct Preset {
    /// The name by which users know the writer.
    pub(crate) writer: &'static str,
    /// The signs by which the writer is recognised.
    pub(crate) signature: Signature,
    /// The column of the times.
    pub(crate) value: Column,
    /// The unit of the times.
    pub(crate) unit: Unit,
    /// The column of the classes.
    pub(crate) class: Option<Column>,
    /// Names of the classes, where the column holds codes.
    pub(crate) class_names: &'static [(&'static str, &'static str)],
    /// The column that says how often a time occurs, if it is a histogram.
    pub(crate) weight: Option<Column>,
    /// When requests arrived, and the unit of that.
    pub(crate) arrival: Option<(Column, Option<Unit>)>,
    /// Rows that are meant if nobody says which.
    pub(crate) filter: Option<&'static str>,
    /// Rows of requests that succeeded: a column and what it holds then.
    pub(crate) success: Option<(Column, &'static [&'static str])>,
    /// The column by which a time is to be divided: it is of so many runs together.
    pub(crate) runs: Option<Column>,
    /// Why the values are not what a service takes, and what to do; such tables are refused.
    pub(crate) refused: Option<&'static str>,
    /// The column of the ends, where that of the values has the beginnings.
    pub(crate) until: Option<Column>,
    /// A note on what the writer's times include.
    pub(crate) note: Option<&'static str>,
}

/// A column, by its name or by its number from 0.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Column {
    Named(&'static str),
    At(usize),
}

/// How to recognise a writer.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Signature {
    /// The header has these names.
    Header(&'static [&'static str]),
    /// There is no header, and the first rows are so.
    Rows(fn(&Sample) -> bool),
    /// The first field of all begins so, be it a name or not.
    Begins(&'static str),
}

use Column::{At, Named};
use Signature::{Begins, Header, Rows};

const NONE: Preset = Preset {
    writer: "",
    signature: Header(&[]),
    value: At(0),
    unit: Unit::Ns,
    class: None,
    class_names: &[],
    weight: None,
    arrival: None,
    filter: None,
    success: None,
    runs: None,
    refused: None,
    until: None,
    note: None,
};

/// The writers.
pub(crate) const PRESETS: [Preset; 26] = [
    Preset {
        writer: "k6",
        signature: Header(&["metric_name", "timestamp", "metric_value"]),
        value: Named("metric_value"),
        unit: Unit::Ms,
        arrival: Some((Named("timestamp"), Some(Unit::S))),
        filter: Some("metric_name=http_req_duration"),
        success: Some((Named("expected_response"), &["true", ""])),
        ..NONE
    },
    Preset {
        writer: "oha",
        signature: Header(&["request-start", "request-duration"]),
        value: Named("request-duration"),
        unit: Unit::S,
        arrival: Some((Named("request-start"), Some(Unit::S))),
        success: Some((Named("status"), &["200", "201", "202", "203", "204", "206", "304"])),
        ..NONE
    },
    Preset {
        writer: "hey",
        signature: Header(&["response-time", "DNS+dialup", "offset"]),
        value: Named("response-time"),
        unit: Unit::S,
        arrival: Some((Named("offset"), Some(Unit::S))),
        success: Some((Named("status-code"), &["200", "201", "202", "203", "204", "206", "304"])),
        ..NONE
    },
    Preset {
        writer: "vegeta",
        signature: Rows(is_vegeta),
        value: At(2),
        unit: Unit::Ns,
        arrival: Some((At(0), Some(Unit::Ns))),
        success: Some((At(1), &["200", "201", "202", "203", "204", "206", "304"])),
        ..NONE
    },
    Preset {
        writer: "JMeter",
        signature: Header(&["timeStamp", "elapsed", "label"]),
        value: Named("elapsed"),
        unit: Unit::Ms,
        class: Some(Named("label")),
        arrival: Some((Named("timeStamp"), Some(Unit::Ms))),
        success: Some((Named("success"), &["true"])),
        ..NONE
    },
    Preset {
        writer: "fio",
        signature: Rows(is_fio),
        value: At(1),
        unit: Unit::Ns,
        class: Some(At(2)),
        class_names: &[("0", "read"), ("1", "write"), ("2", "trim"), ("3", "sync")],
        arrival: Some((At(0), Some(Unit::Ms))),
        ..NONE
    },
    Preset {
        writer: "YCSB",
        signature: Rows(is_ycsb),
        value: At(2),
        unit: Unit::Us,
        class: Some(At(0)),
        arrival: Some((At(1), Some(Unit::Ms))),
        ..NONE
    },
    Preset {
        writer: "h2load",
        signature: Rows(is_h2load),
        value: At(2),
        unit: Unit::Us,
        arrival: Some((At(0), Some(Unit::Us))),
        success: Some((At(1), &["200", "201", "202", "203", "204", "206", "304"])),
        ..NONE
    },
    Preset {
        writer: "pgbench",
        signature: Rows(is_pgbench),
        value: At(2),
        unit: Unit::Us,
        class: Some(At(3)),
        ..NONE
    },
    Preset {
        writer: "pgbench",
        signature: Rows(is_pgbench_rate),
        value: At(2),
        unit: Unit::Us,
        class: Some(At(3)),
        note: Some(
            "with `--rate`, pgbench's times begin when a transaction was due: they have its wait for a client in them, which is \
             column 7; without `--rate` they are what it takes",
        ),
        ..NONE
    },
    Preset {
        writer: "pgbench",
        signature: Rows(is_pgbench_aggregate),
        refused: Some(
            "these are the sums of pgbench's `--aggregate-interval`, a row an interval; run it with `-l` alone, which writes every \
             transaction",
        ),
        ..NONE
    },
    Preset {
        writer: "redis-cli",
        signature: Rows(is_redis_slow_log),
        refused: Some(
            "this is redis's SLOWLOG, which keeps only the slowest commands; `redis-cli LATENCY HISTOGRAM` has all of them",
        ),
        ..NONE
    },
    Preset {
        writer: "cyclictest",
        signature: Rows(is_cyclictest),
        value: At(0),
        unit: Unit::Us,
        weight: Some(At(1)),
        ..NONE
    },
    Preset {
        writer: "criterion",
        signature: Header(&["group", "function", "sample_measured_value", "iteration_count"]),
        value: Named("sample_measured_value"),
        unit: Unit::Ns,
        class: Some(Named("function")),
        runs: Some(Named("iteration_count")),
        ..NONE
    },
    Preset {
        writer: "Apache's ab",
        signature: Header(&["starttime", "seconds", "ctime", "dtime", "ttime", "wait"]),
        value: Named("ttime"),
        unit: Unit::Ms,
        arrival: Some((Named("seconds"), Some(Unit::S))),
        ..NONE
    },
    Preset {
        writer: "Google Benchmark",
        signature: Header(&["name", "iterations", "real_time", "cpu_time", "time_unit"]),
        refused: Some(
            "this is output of Google Benchmark, whose times are means of many iterations and say nothing of a tail; write what \
             each iteration takes, a time a line",
        ),
        ..NONE
    },
    Preset {
        writer: "JMH",
        signature: Header(&["Benchmark", "Mode", "Threads", "Samples", "Score", "Unit"]),
        refused: Some(
            "this is JMH's summary, a score a benchmark; run it with `-bm sample -rf json -rff FILE`, which keeps a histogram of \
             single calls",
        ),
        ..NONE
    },
    Preset {
        writer: "hyperfine",
        signature: Header(&["command", "mean", "stddev", "median", "user", "system"]),
        refused: Some(
            "this is hyperfine's summary, a mean a command; `hyperfine --export-json FILE` keeps every run",
        ),
        ..NONE
    },
    Preset {
        writer: "BenchmarkDotNet",
        signature: Header(&["Method", "Job", "Mean", "Error", "StdDev"]),
        refused: Some(
            "this is BenchmarkDotNet's summary, a mean a benchmark; its exporter `JsonExporter.Full` keeps every iteration",
        ),
        ..NONE
    },
    Preset {
        writer: "Rally",
        signature: Header(&["Metric", "Task", "Value", "Unit"]),
        refused: Some(
            "this is the report of Elastic's Rally, whose rows are of many metrics in many units; give the percentiles of one task, as in \
             `p50 = 440 ms, p99 = 512 ms`, or the samples of `service_time` from its metrics store",
        ),
        ..NONE
    },
    Preset {
        writer: "dotnet-counters",
        signature: Header(&["Timestamp", "Provider", "Counter Name", "Counter Type"]),
        refused: Some(
            "these are counters of .NET, a value an interval; they say nothing of single requests: `dotnet-trace`, or the log of the \
             server, has what each takes",
        ),
        ..NONE
    },
    Preset {
        writer: "Windows",
        signature: Begins("(PDH-CSV "),
        refused: Some(
            "this is a log of Windows' performance counters, whose values are averages or last values of an interval; they say nothing of \
             single requests: give the log of the server, such as that of IIS with `time-taken`",
        ),
        ..NONE
    },
    Preset {
        writer: "SQL Server's extended events",
        signature: Header(&["name", "timestamp", "duration", "cpu_time", "logical_reads"]),
        value: Named("duration"),
        unit: Unit::Us,
        class: Some(Named("name")),
        arrival: Some((Named("timestamp"), None)),
        ..NONE
    },
    Preset {
        writer: "CloudFront",
        signature: Header(&["x-edge-location", "sc-status", "time-taken"]),
        value: Named("time-taken"),
        unit: Unit::S,
        ..NONE
    },
    Preset {
        writer: "IIS",
        signature: Header(&["cs-method", "sc-win32-status", "time-taken"]),
        value: Named("time-taken"),
        unit: Unit::Ms,
        ..NONE
    },
    Preset {
        writer: "ninja",
        signature: Rows(is_ninja),
        value: At(0),
        until: Some(At(1)),
        unit: Unit::Ms,
        note: Some(
            "each is what ninja took from the beginning of a command to its end, side by side with others on all cores",
        ),
        ..NONE
    },
];

impl Preset {
    /// The writer of this table.
    pub(crate) fn of(sample: &Sample) -> Option<&'static Preset> {
        PRESETS.iter().find(|preset| match preset.signature {
            Header(names) => sample
                .header
                .as_ref()
                .is_some_and(|header| names.iter().all(|name| header.iter().any(|found| found == name))),
            Rows(matches) => sample.header.is_none() && !sample.rows.is_empty() && matches(sample),
            Begins(begin) => {
                let name = sample.header.as_ref().and_then(|header| header.first().cloned());
                let field = || sample.rows.first().and_then(|row| row.get(0)).map(crate::input::text);
                name.or_else(field).is_some_and(|first| first.starts_with(begin))
            }
        })
    }
}

impl Column {
    /// Its number in this table.
    pub(crate) fn index(self, header: Option<&Vec<String>>) -> Option<usize> {
        match self {
            At(index) => Some(index),
            Named(name) => header?.iter().position(|found| found == name),
        }
    }
}

/// The index of a field, and a test of what it looks like.
type Rule = (usize, fn(&str) -> bool);

/// Do all rows have so many fields, and in each place what the condition says?
fn all(sample: &Sample, widths: std::ops::RangeInclusive<usize>, places: &[Rule]) -> bool {
    sample.rows.iter().all(|row| {
        widths.contains(&row.len())
            && places
                .iter()
                .all(|(at, holds)| row.get(*at).is_some_and(|field| holds(&crate::input::text(field))))
    })
}

fn whole(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

fn status(text: &str) -> bool {
    whole(text) && text.len() <= 3
}

/// `1700000000000000000,200,15044,0,512,,aGVsbG8=,,0,GET,http://…`
fn is_vegeta(sample: &Sample) -> bool {
    let epoch = |text: &str| whole(text) && text.len() == 19;
    all(sample, 8..=13, &[(0, epoch), (1, status), (2, whole), (3, whole), (4, whole)])
}

/// `295 <tab> 1797 <tab> 1764410400123456789 <tab> obj/f0.o <tab> 999e9c90587dabb1`: beginning and end in ms, when the output was
/// written, the output, and a hash of the command
fn is_ninja(sample: &Sample) -> bool {
    let hash =
        |text: &str| text.len() <= 16 && text.len() >= 8 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    all(sample, 5..=5, &[(0, whole), (1, whole), (2, whole), (4, hash)])
        && sample.rows.iter().any(|row| row.get(4).is_some_and(|field| !field.iter().all(u8::is_ascii_digit)))
}

/// `12, 48312, 0, 4096, 0, 0`: time in ms, latency in ns, direction, block size, offset, priority
fn is_fio(sample: &Sample) -> bool {
    let direction = |text: &str| ["0", "1", "2", "3"].contains(&text);
    let block = |text: &str| text.parse::<u64>().is_ok_and(|bytes| bytes > 0 && bytes % 512 == 0);
    all(sample, 4..=7, &[(0, whole), (1, whole), (2, direction), (3, block)])
}

/// `READ,1700000000000,532`
fn is_ycsb(sample: &Sample) -> bool {
    const OPERATIONS: [&str; 9] = [
        "READ",
        "UPDATE",
        "INSERT",
        "SCAN",
        "DELETE",
        "READ-MODIFY-WRITE",
        "CLEANUP",
        "READ latency raw data",
        "TOTAL",
    ];
    let operation = |text: &str| OPERATIONS.contains(&text);
    let epoch = |text: &str| whole(text) && text.len() == 13;
    all(sample, 3..=3, &[(0, operation), (1, epoch), (2, whole)])
}

/// `1700000000000000 <tab> 200 <tab> 532`
fn is_h2load(sample: &Sample) -> bool {
    let epoch = |text: &str| whole(text) && text.len() == 16;
    all(sample, 3..=3, &[(0, epoch), (1, status), (2, whole)])
}

/// `000012 000345`: a latency in us, and how often it was seen
fn is_cyclictest(sample: &Sample) -> bool {
    let padded = |text: &str| whole(text) && text.len() == 6;
    let counts = |row: usize| sample.rows.get(row).and_then(|row| row.get(0)).map(crate::input::text);
    all(sample, 2..=2, &[(0, padded), (1, padded)]) && counts(0).as_deref() == Some("000000")
}

/// `0 199 2241 0 1175850568 995598`: client, transaction, latency in us, script, epoch in s and its us
fn is_pgbench(sample: &Sample) -> bool {
    is_pgbench_of(sample, 6..=6)
}

/// The same, and how late the transaction began, or how often it was tried.
fn is_pgbench_rate(sample: &Sample) -> bool {
    is_pgbench_of(sample, 7..=9)
}

fn is_pgbench_of(sample: &Sample, widths: std::ops::RangeInclusive<usize>) -> bool {
    let epoch = |text: &str| whole(text) && text.len() == 10;
    let micros = |text: &str| whole(text) && text.len() <= 6;
    all(sample, widths, &[(0, whole), (1, whole), (2, whole), (3, whole), (4, epoch), (5, micros)])
}

/// `1796036076 5150 717491 453793489 41 8973 …`: epoch in s, transactions, sums of their latencies and of the squares, the least and
/// the longest
fn is_pgbench_aggregate(sample: &Sample) -> bool {
    let epoch = |text: &str| whole(text) && text.len() == 10;
    let fits = |row: &csv::ByteRecord| {
        let field = |at: usize| {
            row.get(at).and_then(|field| crate::input::text(field).parse::<f64>().ok()).unwrap_or(0.0)
        };
        let [count, sum, least, longest] = [1, 2, 4, 5].map(field);
        (count * least..=count * longest).contains(&sum)
    };
    all(sample, 6..=18, &[(0, epoch), (1, whole), (2, whole), (3, whole), (4, whole), (5, whole)])
        && sample.rows.iter().all(fits)
}

/// `1204,1796036231,113,"SET","key","value","127.0.0.1:41328","",1203,…`: all entries in one line
fn is_redis_slow_log(sample: &Sample) -> bool {
    let epoch = |text: &str| whole(text) && text.len() == 10;
    let name = |text: &str| text.starts_with(|letter: char| letter.is_ascii_alphabetic());
    sample.rows.len() == 1 && all(sample, 6..=usize::MAX, &[(0, whole), (1, epoch), (2, whole), (3, name)])
}
