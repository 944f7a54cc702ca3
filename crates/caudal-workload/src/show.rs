//! A workload as text and as JSON: what `caudal workload show NAME|FILE` prints, and what `caudal record` and tests show of a file. It
//! opens the named workload or file, compiles it, and returns text.

use std::ffi::OsStr;
use std::fmt::Write as _;
use std::path::Path;

use serde_json::{Map, Value, json};

use crate::dag::Dag;
use crate::error::WorkloadError;
use crate::format::{percent, significant, time};
use crate::input::{Columns, Taken, is_there};
use crate::service::{Finding, Service};
use crate::spec::{FileSpec, PercentileSpec, ServiceSpec};
use crate::summary::{PERCENTILES, Part};
use crate::{find_named, plot};

/// At most so many findings are spelled out as text; JSON has all of them.
const FINDINGS_SHOWN: usize = 12;
/// A percentile that is known no better than by this part of it is shown as an interval.
const WIDE: f64 = 0.05;

/// A workload that a user asked to see.
#[derive(Clone, Debug)]
pub struct Shown {
    /// Its name, or the file's path.
    pub title: String,
    /// A description of the workload and the origin of its numbers, a sentence a line; empty for a user's own file.
    pub about: Vec<String>,
    /// The description that a file could have in its place; empty for a user's own file.
    pub definition: String,
    /// The workload.
    pub service: Service,
}

impl Shown {
    /// The workload that a user means by `text`: the name of a workload, percentiles such as `p50 = 1.2 ms, p99 = 9 ms`, or the path of a
    /// file, `-` for standard input.
    ///
    /// # Errors
    /// [`WorkloadError`]: neither a name nor a file, or the file is wrong, or leaves a question.
    pub fn open(text: impl AsRef<OsStr>) -> Result<Shown, WorkloadError> {
        Shown::open_with(text, &Columns::default())
    }

    /// As [`Shown::open`], of these columns of a file.
    ///
    /// # Errors
    /// As [`Shown::open`]; and if these columns are not there.
    pub fn open_with(text: impl AsRef<OsStr>, columns: &Columns) -> Result<Shown, WorkloadError> {
        let text = text.as_ref();
        let name = text.to_string_lossy();
        let unknown = match find_named(&name) {
            Ok(named) => {
                return Ok(Shown {
                    title: named.name.to_owned(),
                    about: vec![named.summary.to_owned(), format!("Source: {}", named.source)],
                    definition: format!("service = {}\n", named.definition),
                    service: named.compile()?,
                });
            }
            Err(unknown) => unknown,
        };
        let path = Path::new(text);
        let shown = |service: Service| Shown {
            title: name.clone().into_owned(),
            about: Vec::new(),
            definition: String::new(),
            service,
        };
        if is_there(path) || path == Path::new("-") {
            return shown_file(path, columns).map(shown);
        }
        if let Some(percentiles) = PercentileSpec::parse(&name) {
            return ServiceSpec::Percentiles(percentiles?).compile(Path::new("")).map(shown);
        }
        if name.contains(['/', '\\']) || path.extension().is_some() {
            return shown_file(path, columns).map(shown);
        }
        Err(unknown)
    }

    /// Moments, percentiles, findings and a plot, in lines of at most `width` columns where possible (text and the
    /// table of numbers do not shrink below 60; a description and findings are lines of their own).
    pub fn text(&self, width: usize) -> String {
        let mut out = format!("{}\n", self.title);
        self.about.iter().for_each(|line| wrap(&mut out, line, width));
        if let Some(taken) = self.service.taken().filter(|_| self.about.is_empty()) {
            wrap(&mut out, &format!("Read as {taken}."), width);
        }
        out.push_str(&self.definition);
        out.push('\n');
        table(&mut out, &self.service);
        graphs(&mut out, &self.service, width);
        out.push('\n');
        out.push_str(&plot::histogram(&self.service, width));
        findings(&mut out, self.service.findings());
        out
    }

    /// The same as one JSON object; times in nanoseconds, `null` where there is no such number.
    pub fn json(&self) -> Value {
        let summary = self.service.summary();
        let classes: Map<String, Value> =
            summary.classes.iter().map(|part| (part.name.clone(), part_json(part))).collect();
        let mut json = json!({
            "workload": self.title,
            "all": part_json(&summary.all),
            "classes": classes,
            "read_as": self.service.taken().map(taken_json),
            "fitted": self.service.is_fitted(),
            "findings": self.service.findings().iter().map(finding_json).collect::<Vec<_>>(),
        });
        if let (Some(recorded), Some(object)) = (Recorded::of(&self.service), json.as_object_mut()) {
            let Recorded { requests, tasks, span } = recorded;
            object.insert("graphs".to_owned(), json!({ "requests": requests, "tasks": tasks, "span": span }));
        }
        json
    }
}

fn shown_file(path: &Path, columns: &Columns) -> Result<Service, WorkloadError> {
    if path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("toml")) {
        let problem = "is no file of service times; `caudal check` reads TOML files";
        return Err(WorkloadError::File { path: path.into(), problem: problem.to_owned() });
    }
    ServiceSpec::File(FileSpec { columns: columns.clone(), ..FileSpec::new(path) }).compile(Path::new(""))
}

/// Recorded graphs, summed up.
struct Recorded {
    requests: usize,
    /// The fewest and the most of a request.
    tasks: (usize, usize),
    /// Share of all work that is in the longest chains.
    span: f64,
}

impl Recorded {
    fn of(service: &Service) -> Option<Recorded> {
        service.dag().recorded()?;
        let graphs = service.dag().all();
        let tasks = || graphs.iter().map(Dag::len);
        let tasks = (tasks().min().unwrap_or(0), tasks().max().unwrap_or(0));
        Some(Recorded { requests: graphs.len(), tasks, span: service.dag().span() })
    }
}

/// A paragraph on how much of the requests can be done in parallel, if it was recorded.
fn graphs(out: &mut String, service: &Service, width: usize) {
    let Some(Recorded { requests, tasks: (fewest, most), span }) = Recorded::of(service) else { return };
    let text = format!(
        "Recorded graphs of {requests} requests with {fewest} to {most} tasks: {} of the work has to be done one after the \
         other, so {} cores are kept busy on average, at most.",
        percent(span),
        significant(1.0 / span)
    );
    out.push('\n');
    wrap(out, &text, width);
}

/// A paragraph in lines of at most `width` columns, but at least 60.
fn wrap(out: &mut String, text: &str, width: usize) {
    let mut column = 0;
    for word in text.split_whitespace() {
        let length = word.chars().count();
        if column > 0 {
            let fits = column + 1 + length <= width.max(60);
            out.push(if fits { ' ' } else { '\n' });
            column = if fits { column + 1 } else { 0 };
        }
        out.push_str(word);
        column += length;
    }
    out.push('\n');
}

/// With more classes than this, a line each is easier to read than a column each.
const COLUMNS_MAX: usize = 10;

/// Numbers in columns: one for all requests, and one a class; or a line each, if there are many.
fn table(out: &mut String, service: &Service) {
    let summary = service.summary();
    let mut parts = vec![&summary.all];
    if summary.classes.len() > 1 {
        parts.extend(&summary.classes);
    }
    if summary.classes.len() > COLUMNS_MAX {
        parts[1..].sort_by(|a, b| b.work.total_cmp(&a.work));
        return lines(out, &parts);
    }
    let mut row = |label: &str, value: &dyn Fn(&Part) -> String| {
        let _ = write!(out, "{label:<13}");
        parts.iter().for_each(|part| {
            let width =
                part.name.chars().count().max(if parts.iter().any(|part| is_coarse(part)) { 18 } else { 11 });
            let _ = write!(out, " {:>width$}", value(part));
        });
        out.push('\n');
    };
    row("", &|part| part.name.clone());
    row("requests", &|part| percent(part.weight));
    row("work", &|part| percent(part.work));
    if parts.iter().any(|part| part.samples.is_some()) {
        row("measured", &|part| part.samples.map_or_else(|| "-".to_owned(), |samples| samples.to_string()));
    }
    row("mean", &|part| time(part.mean_ps));
    row("std dev", &|part| time(part.sd_ps));
    row("SCV", &|part| if part.scv.is_nan() { "-".to_owned() } else { significant(part.scv) });
    for (index, p) in PERCENTILES.iter().enumerate() {
        let label = if *p == 100.0 { "max".to_owned() } else { format!("p{p}") };
        let unbounded = |part: &Part| if part.weight > 0.0 { "no end".to_owned() } else { "-".to_owned() };
        row(&label, &|part| {
            part.percentiles_ps[index].map_or_else(|| unbounded(part), |ps| within(ps, part.bounds_ps[index]))
        });
    }
}

/// A line a part.
fn lines(out: &mut String, parts: &[&Part]) {
    /// The percentiles for which there is room.
    const SHOWN: [f64; 5] = [50.0, 90.0, 99.0, 99.9, 100.0];
    let shown: Vec<usize> =
        SHOWN.iter().filter_map(|p| PERCENTILES.iter().position(|known| known == p)).collect();
    let names = parts.iter().map(|part| part.name.chars().count()).max().unwrap_or(0);
    let width = if parts.iter().any(|part| is_coarse(part)) { 18 } else { 9 };
    let _ = write!(out, "{:<names$} {:>9} {:>9} {:>9} {:>9}", "", "requests", "work", "measured", "mean");
    for &index in &shown {
        let p = PERCENTILES[index];
        let label = if p == 100.0 { "max".to_owned() } else { format!("p{p}") };
        let _ = write!(out, " {label:>width$}");
    }
    out.push('\n');
    for part in parts {
        let measured = part.samples.map_or_else(|| "-".to_owned(), |samples| samples.to_string());
        let (requests, work, mean) = (percent(part.weight), percent(part.work), time(part.mean_ps));
        let _ = write!(out, "{:<names$} {requests:>9} {work:>9} {measured:>9} {mean:>9}", part.name);
        for &index in &shown {
            let ps = part.percentiles_ps[index]
                .map_or_else(|| "-".to_owned(), |ps| within(ps, part.bounds_ps[index]));
            let _ = write!(out, " {ps:>width$}");
        }
        out.push('\n');
    }
}

fn is_coarse(part: &Part) -> bool {
    let wide = |(ps, (low_ps, high_ps)): (&Option<u64>, &(u64, u64))| {
        ps.is_some_and(|ps| (high_ps - low_ps) as f64 > WIDE * ps as f64)
    };
    part.percentiles_ps.iter().zip(&part.bounds_ps).any(wide)
}

/// A percentile: a time, or between which times it lies where they are far from each other.
fn within(ps: u64, (low_ps, high_ps): (u64, u64)) -> String {
    if (high_ps - low_ps) as f64 <= WIDE * ps as f64 {
        return time(ps as f64);
    }
    // No time is 0, but a bucket may begin there.
    let low = if low_ps <= 1 { "0".to_owned() } else { time(low_ps as f64) };
    format!("{low} to {}", time(high_ps as f64))
}

fn findings(out: &mut String, findings: &[Finding]) {
    if findings.is_empty() {
        return;
    }
    out.push_str("\nWorth a look:\n");
    for finding in findings.iter().take(FINDINGS_SHOWN) {
        let _ = writeln!(out, "- {finding}");
    }
    if findings.len() > FINDINGS_SHOWN {
        let _ = writeln!(out, "- and {} more", findings.len() - FINDINGS_SHOWN);
    }
}

fn part_json(part: &Part) -> Value {
    let percentiles: Map<String, Value> = PERCENTILES
        .iter()
        .zip(part.percentiles_ps)
        .map(|(p, ps)| {
            let key = if *p == 100.0 { "max".to_owned() } else { format!("p{p}") };
            (key, ps.map_or(Value::Null, |ps| json!(ps as f64 / 1e3)))
        })
        .collect();
    let bounds: Map<String, Value> = PERCENTILES
        .iter()
        .zip(part.bounds_ps)
        .filter(|_| is_coarse(part))
        .map(|(p, (low, high))| {
            let key = if *p == 100.0 { "max".to_owned() } else { format!("p{p}") };
            (key, json!([low as f64 / 1e3, high as f64 / 1e3]))
        })
        .collect();
    json!({
        "weight": part.weight,
        "work": part.work,
        "samples": part.samples,
        "mean_ns": part.mean_ps / 1e3,
        "sd_ns": part.sd_ps / 1e3,
        "scv": part.scv,
        "percentiles_ns": percentiles,
        "percentile_bounds_ns": bounds,
    })
}

fn taken_json(taken: &Taken) -> Value {
    json!({
        "format": taken.format,
        "column": taken.column,
        "class_column": taken.class_column,
        "unit": taken.unit.map(crate::Unit::name),
        "values": taken.values,
        "counted": taken.counted.name(),
        "left_out": taken.left_out,
        "where": taken.filter,
        "text": taken.to_string(),
    })
}

fn finding_json(finding: &Finding) -> Value {
    let text = finding.to_string();
    match finding {
        Finding::Outlier { class, line, service_ps, .. } => {
            json!({ "kind": "outlier", "class": class, "line": line, "service_ns": *service_ps as f64 / 1e3, "text": text })
        }
        Finding::ColdStart { class, line, service_ps, .. } => {
            json!({ "kind": "cold-start", "class": class, "line": line, "service_ns": *service_ps as f64 / 1e3, "text": text })
        }
        Finding::FewValues { class, values } => {
            json!({ "kind": "few-values", "class": class, "values": values, "text": text })
        }
        Finding::Coarse { class, low_ps, high_ps, mean_ps } => json!({
            "kind": "coarse-buckets", "class": class, "mean_low_ns": low_ps / 1e3, "mean_high_ns": high_ps / 1e3,
            "mean_by_sum_ns": mean_ps.map(|ps| ps / 1e3), "text": text,
        }),
        Finding::Fitted { class, percentiles, stated } => {
            json!({ "kind": "fitted", "class": class, "percentiles": percentiles, "stated": stated, "text": text })
        }
        Finding::Correlated { lag_1 } => json!({ "kind": "correlated", "lag_1": lag_1, "text": text }),
        Finding::Sorted => json!({ "kind": "sorted", "text": text }),
        Finding::Note(_) => json!({ "kind": "note", "text": text }),
    }
}
