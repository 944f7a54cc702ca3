//! What tools write as JSON: arrays of times, objects with a time each, percentiles, histograms.
//!
//! Known writers come first: hyperfine, pyperf, pytest-benchmark, fio, criterion, k6, vegeta, ghz, Prometheus. In anything
//! else, every array of numbers, every array of objects with a time, and every object of percentiles may be what is meant: if
//! there is one, it is taken, otherwise the user is asked.

use std::io::BufRead;
use std::path::Path;

use serde_json::{Map, Value};

use super::buckets::{self, Bins, Edges};
use super::number::{Number, Style};
use super::percentiles::{Moments, Percentiles, Statistic, unit_of_name};
use super::source::{self, Source};
use super::unit::{Plausible, Said, Unit, words};
use super::{Columns, Data, Place, Read, Taken, Trace, spans, time_ps};
use crate::error::{Answer, Ask, AskKey, RowProblem, WorkloadError};

/// Does the input begin as JSON does?
pub(super) fn holds_json(head: &[u8]) -> bool {
    let head = head.trim_ascii_start();
    matches!(head, [b'{', ..]) && head[1..].trim_ascii_start().starts_with(b"\"")
        || matches!(head, [b'[', rest @ ..] if matches!(rest.trim_ascii_start(), [b'{' | b'[' | b'-' | b'0'..=b'9', ..]))
}

/// Reads JSON, or lines of it.
pub(super) fn read_json(source: Source, path: &Path, wanted: &Columns) -> Result<Read, WorkloadError> {
    let place = Place(path);
    if spans::holds_otlp(source.head()) {
        return spans::read_otlp(&source.whole(&place)?, &place, wanted);
    }
    let first = source.head_lines().find(|line| !line.trim_ascii().is_empty()).unwrap_or_default();
    let is_line = serde_json::from_slice::<Map<String, Value>>(first).is_ok();
    let lines = source.head_lines().filter(|line| line.trim_ascii_start().starts_with(b"{")).take(2).count();
    if is_line && lines == 2 {
        return read_lines(source, &place, wanted);
    }
    let bytes = source.whole(&place)?;
    let json: Value = serde_json::from_slice(&bytes).map_err(|error| {
        place.row(
            error.line() as u64,
            error.column().max(1),
            RowProblem::Format(format!("this is no JSON: {error}")),
        )
    })?;
    let json = rows_of_split(json);
    known(&json, path, wanted)?.map_or_else(|| anything(&json, &place, wanted), Ok)
}

/// What pandas writes by `to_json(orient="split")`, `{"columns": […], "index": […], "data": [[…], …]}`, as a list of objects, a row each.
fn rows_of_split(json: Value) -> Value {
    let is_split = json["columns"].as_array().is_some_and(|columns| columns.iter().all(Value::is_string))
        && json["data"].as_array().is_some_and(|rows| rows.iter().all(Value::is_array));
    if !is_split {
        return json;
    }
    let columns: Vec<&str> =
        json["columns"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let row = |row: &Value| {
        let cells = row.as_array().into_iter().flatten().cloned();
        Value::Object(columns.iter().map(|column| (*column).to_owned()).zip(cells).collect())
    };
    Value::Array(json["data"].as_array().into_iter().flatten().map(row).collect())
}

/// Classes, and the times of each.
type Classes = Vec<(String, Vec<f64>)>;

/// What a known writer wrote.
fn known(json: &Value, path: &Path, wanted: &Columns) -> Result<Option<Read>, WorkloadError> {
    let place = Place(path);
    if json["data"]["resultType"].is_string() {
        return buckets::from_query(json, path, wanted).map(Some);
    }
    if json["context"].is_object() && json["benchmarks"][0]["time_unit"].is_string() {
        return Err(place.whole(
            "is output of Google Benchmark, whose times are means of many iterations and say nothing of a tail; write what each \
             iteration takes, a time a line",
        ));
    }
    if json[0]["jmhVersion"].is_string() || json[0]["primaryMetric"]["scoreUnit"].is_string() {
        return jmh(json, &place).map(Some);
    }
    if let Some(read) = spans::read_zipkin(json, &place, wanted) {
        return read.map(Some);
    }
    if json["fio version"].is_string() {
        return fio(json, &place).map(Some);
    }
    if let (Some(iters), Some(times)) = (numbers(&json["iters"]), numbers(&json["times"])) {
        let each: Vec<f64> = times.iter().zip(&iters).map(|(time, iters)| time / iters.max(1.0)).collect();
        let mut read = values("criterion", Unit::Ns, vec![("all".to_owned(), each)], &place)?;
        if let Some(most) = iters.iter().copied().reduce(f64::max).filter(|most| *most > 1.0) {
            read.notes.push(format!(
                "each value is the mean of up to {most:.0} runs: what single runs take beyond it is not in the file, so its \
                 tail is too short"
            ));
        }
        return Ok(Some(read));
    }
    if wanted.column.is_none()
        && let Some(Summary { writer, path, stated, unit }) = summary(json)
        && let Some(map) = json.pointer(&pointer(path)).and_then(Value::as_object)
    {
        let unit = wanted.unit.map_or((unit, "as the writer has it"), |unit| (unit, "as you said"));
        let mut known = statistics_of(map, "percentiles");
        known.extend(
            json.pointer(&pointer(stated))
                .and_then(Value::as_object)
                .into_iter()
                .flat_map(|map| statistics_of(map, "")),
        );
        let mut read = percentiles(path, &known, Some(unit), &place)?;
        read.taken.format = format!("percentiles in JSON of {writer}");
        return Ok(Some(read));
    }
    if wanted.column.is_none() && wanted.unit.is_none() && json["data"][0]["spans"].is_array() {
        return jaeger(json, &place).map(Some);
    }
    let list = |key: &str| json[key].as_array().map_or(&[][..], Vec::as_slice);
    let each =
        |key: &str, name: &dyn Fn(&Value) -> Option<String>, times: &dyn Fn(&Value) -> Option<Vec<f64>>| {
            let class = |one: &Value| Some((name(one).unwrap_or_else(|| "all".to_owned()), times(one)?));
            list(key).iter().filter_map(class).collect::<Vec<_>>()
        };
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let writers: [(&str, Classes); 3] = [
        ("hyperfine", each("results", &|one| text(&one["command"]), &|one| numbers(&one["times"]))),
        (
            "pytest-benchmark",
            each("benchmarks", &|one| text(&one["name"]), &|one| numbers(&one["stats"]["data"])),
        ),
        ("pyperf", each("benchmarks", &|one| text(&one["metadata"]["name"]), &pyperf)),
    ];
    for (writer, classes) in writers {
        if !classes.is_empty() {
            return values(writer, Unit::S, classes, &place).map(Some);
        }
    }
    Ok(None)
}

/// What a load generator sums up.
struct Summary {
    writer: &'static str,
    /// Where the percentiles of latencies are.
    path: &'static str,
    /// Where mean, deviation and ends are, if they are elsewhere.
    stated: &'static str,
    unit: Unit,
}

/// The summary in this, if it is of a known writer.
fn summary(json: &Value) -> Option<Summary> {
    let of = |writer, path, stated, unit| Some(Summary { writer, path, stated, unit });
    let k6 = &json["metrics"]["http_req_duration"];
    if json["latency"]["p97_5"].is_number() && json["connections"].is_number() {
        of("autocannon", "latency", "nothing", Unit::Ms)
    } else if json["spec"]["numberOfConnections"].is_number() {
        of("bombardier", "result.latency.percentiles", "result.latency", Unit::Us)
    } else if json["latencies"]["99th"].is_number() && json["bytes_in"].is_object() {
        of("vegeta", "latencies", "nothing", Unit::Ns)
    } else if json["latencyPercentiles"]["p50"].is_number() && json["summary"]["successRate"].is_number() {
        of("oha", "latencyPercentiles", "summary", Unit::S)
    } else if k6["p(95)"].is_number() {
        of("k6", "metrics.http_req_duration", "nothing", Unit::Ms)
    } else if k6["values"]["p(95)"].is_number() {
        of("k6", "metrics.http_req_duration.values", "nothing", Unit::Ms)
    } else {
        None
    }
}

/// Where a path such as `result.latency` leads, as JSON's pointers have it.
fn pointer(path: &str) -> String {
    format!("/{}", path.replace('.', "/"))
}

/// Traces of Jaeger: spans, whose durations are in microseconds, by the names of their operations.
fn jaeger(json: &Value, place: &Place<'_>) -> Result<Read, WorkloadError> {
    let traces = json["data"].as_array().map_or(&[][..], Vec::as_slice);
    let span = |span: &Value| {
        Some((span["operationName"].as_str().unwrap_or("all").to_owned(), vec![span["duration"].as_f64()?]))
    };
    let spans = traces.iter().filter_map(|trace| trace["spans"].as_array()).flatten();
    let spans: Classes = spans.filter_map(span).collect();
    if spans.is_empty() {
        return Err(place.whole("holds no spans of Jaeger with a duration"));
    }
    let mut read = values("Jaeger", Unit::Us, spans, place)?;
    read.taken.class_column = Some("operationName".to_owned());
    Ok(read)
}

fn pyperf(benchmark: &Value) -> Option<Vec<f64>> {
    let runs = benchmark["runs"].as_array()?;
    let values: Vec<f64> = runs.iter().filter_map(|run| numbers(&run["values"])).flatten().collect();
    (!values.is_empty()).then_some(values)
}

/// An array of numbers, at least one.
fn numbers(value: &Value) -> Option<Vec<f64>> {
    let array = value.as_array().filter(|array| !array.is_empty())?;
    array.iter().map(Value::as_f64).collect()
}

/// Values of a known writer, in its unit.
fn values(writer: &str, unit: Unit, classes: Classes, place: &Place<'_>) -> Result<Read, WorkloadError> {
    let mut trace = Trace::default();
    for (class, times) in &classes {
        let class: String = class.chars().filter(|letter| !letter.is_control()).take(64).collect();
        for &time in times {
            push(&mut trace, &class, time, unit).map_err(|problem| place.whole(problem))?;
        }
    }
    let taken = Taken {
        format: format!("JSON of {writer}"),
        class_column: (classes.len() > 1).then(|| "command".to_owned()),
        unit: Some(unit),
        unit_by: "as the writer has it",
        values: trace.ps.len() as u64,
        ..Taken::default()
    };
    Ok(Read { taken, data: Data::Trace(trace), notes: Vec::new() })
}

fn push(trace: &mut Trace, class: &str, time: f64, unit: Unit) -> Result<(), String> {
    let index = trace.ps.len();
    let text = time.to_string();
    let ps = Number::parse(text.as_bytes(), Style::POINT)
        .and_then(|number| time_ps(&number, text.as_bytes(), unit));
    let ps = ps.map_err(|problem| format!("value {}: {problem}", index + 1))?.max(1);
    trace.push(class.as_bytes(), index as u64 + 1, ps).map_err(|problem| problem.to_string())
}

/// JMH's results: of the mode `sample` the histogram of single calls, of `ss` every one. Those of other modes are means.
fn jmh(json: &Value, place: &Place<'_>) -> Result<Read, WorkloadError> {
    let (mut trace, mut weights) = (Trace::default(), Vec::new());
    for benchmark in json.as_array().map_or(&[][..], Vec::as_slice) {
        let name = benchmark["benchmark"].as_str().unwrap_or("all");
        // `org.example.Store.get`: the end of it is what differs.
        let class: String = name.chars().rev().take(64).collect::<Vec<_>>().into_iter().rev().collect();
        let metric = &benchmark["primaryMetric"];
        let unit = metric["scoreUnit"].as_str().and_then(|unit| Unit::of_word(unit.strip_suffix("/op")?));
        let Some(unit) = unit else { continue };
        let mut add = |value: f64, count: f64| -> Result<(), WorkloadError> {
            push(&mut trace, &class, value, unit)
                .map_err(|problem| place.whole(format!("{name}: {problem}")))?;
            weights.push(count);
            Ok(())
        };
        let flat = |value: &Value| value.as_array().into_iter().flatten().cloned().collect::<Vec<Value>>();
        let iterations = |key: &str| flat(&metric[key]).iter().flat_map(flat).collect::<Vec<Value>>();
        match benchmark["mode"].as_str() {
            Some("sample") => {
                for pair in iterations("rawDataHistogram").iter().flat_map(flat) {
                    let count = pair[1].as_u64().filter(|count| (1..=1 << 50).contains(count));
                    if let (Some(value), Some(count)) = (pair[0].as_f64(), count) {
                        add(value, count as f64)?;
                    }
                }
            }
            Some("ss") => {
                iterations("rawData")
                    .iter()
                    .filter_map(Value::as_f64)
                    .try_for_each(|value| add(value, 1.0))?;
            }
            _ => {}
        }
    }
    if trace.ps.is_empty() {
        return Err(place.whole(
            "is output of JMH, whose scores are means of many calls and say nothing of a tail; run it with `-bm sample -rf json -rff \
             FILE`, which keeps a histogram of single calls",
        ));
    }
    let taken = Taken {
        format: "JSON of JMH".to_owned(),
        class_column: (trace.classes.len() > 1).then(|| "benchmark".to_owned()),
        unit_by: "as the writer has it",
        values: weights.iter().sum::<f64>() as u64,
        ..Taken::default()
    };
    Ok(Read { taken, data: Data::Weighted(trace, weights), notes: Vec::new() })
}

/// fio's report: with `--output-format=json+` the counts of every bucket, otherwise percentiles.
fn fio(json: &Value, place: &Place<'_>) -> Result<Read, WorkloadError> {
    let mut bins = Bins::default();
    let mut percentiles: Vec<Percentiles> = Vec::new();
    for job in json["jobs"].as_array().map_or(&[][..], Vec::as_slice) {
        for kind in ["read", "write", "trim", "sync"] {
            let latency =
                [&job[kind]["clat_ns"], &job[kind]["lat_ns"]].into_iter().find(|one| one.is_object());
            let Some(latency) = latency else { continue };
            let count = latency["N"].as_f64().or_else(|| job[kind]["total_ios"].as_f64()).unwrap_or(0.0);
            if let Some(buckets) = latency["bins"].as_object() {
                let mut counts: Vec<(u64, u64)> = buckets
                    .iter()
                    .filter_map(|(ns, count)| Some((ns.parse().ok()?, count.as_u64()?)))
                    .collect();
                counts.sort_unstable();
                for (ns, count) in counts {
                    // fio has 64 buckets for each power of two, and names them by their middle.
                    let half = match ns {
                        0..128 => 500,
                        _ => (1_u64 << ns.ilog2() >> 7) * 1000,
                    };
                    let ps = ns * 1000;
                    let edges = Edges { low_ps: ps.saturating_sub(half), high_ps: Some(ps + half) };
                    bins.add(kind, edges, count).map_err(|problem| place.whole(problem.to_string()))?;
                }
            } else if let Some(known) = latency["percentile"].as_object() {
                let point = |(percentile, ns): (&String, &Value)| {
                    Some((percentile.parse().ok()?, ns.as_u64()? * 1000))
                };
                let points: Vec<(f64, u64)> =
                    known.iter().filter_map(point).filter(|(_, ps)| *ps > 0).collect();
                if points.len() > 1 {
                    let stated =
                        |key: &str| latency[key].as_f64().filter(|ns| *ns > 0.0).map(|ns| ns * 1000.0);
                    let ends = [(0.0, stated("min")), (100.0, stated("max"))];
                    let ends = ends.iter().filter_map(|(percentile, ps)| Some((*percentile, (*ps)? as u64)));
                    percentiles.push(Percentiles {
                        class: kind.to_owned(),
                        points: points.into_iter().chain(ends).collect(),
                        weight: count.max(1.0),
                        stated: Moments { mean_ps: stated("mean"), sd_ps: stated("stddev") },
                    });
                }
            }
        }
    }
    let mut notes = Vec::new();
    let mut taken = Taken {
        format: "JSON of fio".to_owned(),
        unit: Some(Unit::Ns),
        unit_by: "as the writer has it",
        ..Taken::default()
    };
    if !bins.is_empty() {
        taken.values = bins.count();
        return Ok(Read { taken, data: Data::Histograms(bins.finish(place, &mut notes)?), notes });
    }
    if percentiles.is_empty() {
        return Err(place.whole("has no completion latencies; run fio with `--output-format=json+`"));
    }
    notes.push("with `--output-format=json+` fio writes every bucket, not only percentiles".to_owned());
    Ok(Read { taken, data: Data::Percentiles(percentiles), notes })
}

/// Something in a JSON value that may be what is meant.
enum Candidate<'a> {
    Numbers(&'a [Value]),
    Objects(&'a [Value], String),
    Percentiles(Vec<Known<'a>>),
}

/// A statistic, its value, and the key of it.
type Known<'a> = (Statistic, &'a Value, String);

/// Is there more than one percentile that is neither the shortest nor the longest time?
fn are_percentiles(known: &[Known<'_>]) -> bool {
    let is_inner =
        |statistic: &Statistic| matches!(statistic, Statistic::Percentile(p) if (0.1..100.0).contains(p));
    known.iter().filter(|(statistic, ..)| is_inner(statistic)).count() > 1
}

/// What may be meant, with where it is: `result.latency.percentiles`.
fn candidates<'a>(json: &'a Value, path: &str, found: &mut Vec<(String, Candidate<'a>)>) {
    let inner = |key: &str| if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
    match json {
        Value::Array(items)
            if items.len() > 1 && items.iter().all(|item| item.is_number() || as_time(item).is_some()) =>
        {
            found.push((path.to_owned(), Candidate::Numbers(items)));
        }
        Value::Array(items) => {
            if let Some(points) = listed_percentiles(items) {
                found.push((path.to_owned(), Candidate::Percentiles(points)));
                return;
            }
            for key in time_keys(items) {
                found.push((inner(&key), Candidate::Objects(items, key)));
            }
            items.iter().take(64).for_each(|item| candidates(item, path, found));
        }
        Value::Object(map) => {
            let points = statistics_of(map, path);
            if are_percentiles(&points) {
                found.push((path.to_owned(), Candidate::Percentiles(points)));
            }
            let before = found.len();
            map.iter().for_each(|(key, value)| candidates(value, &inner(key), found));
            // What stands beside `percentiles: { … }` is said of the same times.
            let stated = statistics_of(map, "");
            for (path, candidate) in &mut found[before..] {
                let key = path.rsplit('.').next().unwrap_or(path).to_lowercase();
                let is_own = *path == inner(path.rsplit('.').next().unwrap_or(path));
                if let Candidate::Percentiles(points) = candidate
                    && is_own
                    && ["percentile", "distribution", "quantile"].iter().any(|word| key.contains(word))
                {
                    let more = stated
                        .iter()
                        .filter(|(statistic, ..)| points.iter().all(|(known, ..)| known != statistic));
                    points.extend(more.cloned().collect::<Vec<_>>());
                }
            }
        }
        _ => {}
    }
}

/// `{"p50": 1.2, "p99": 9, "mean": 2.1}`, `{"percentiles": {"50": 12, "99": 90}}`
fn statistics_of<'a>(map: &'a Map<String, Value>, path: &str) -> Vec<Known<'a>> {
    let lower = path.to_lowercase();
    let bare = ["percentile", "quantile"].iter().any(|word| lower.contains(word));
    let statistic = |key: &String| {
        let number = || key.parse().ok().filter(|p: &f64| bare && (0.0..=100.0).contains(p));
        Statistic::of(key).or_else(|| number().map(Statistic::Percentile))
    };
    let is_time = |value: &Value| value.is_number() || as_time(value).is_some();
    let mut known: Vec<Known<'a>> = Vec::new();
    for (key, value) in map.iter().filter(|(_, value)| is_time(value)) {
        // `average` and `mean`, `50th` and `median` say the same: the first one does.
        if let Some(statistic) = statistic(key).filter(|one| known.iter().all(|(known, ..)| known != one)) {
            known.push((statistic, value, key.clone()));
        }
    }
    known
}

/// `[{"percentage": 50, "latency": 1200}, …]`
fn listed_percentiles(items: &[Value]) -> Option<Vec<Known<'_>>> {
    let point = |item: &'_ Value| -> Option<(f64, String)> {
        let map = item.as_object()?;
        let percentile = ["percentage", "percentile", "percent", "quantile"]
            .iter()
            .find_map(|key| map.get(*key)?.as_f64())?;
        let key = map.keys().find(|key| rank(key) > 0 || *key == "value")?;
        Some((percentile, key.clone()))
    };
    if items.len() < 2 {
        return None;
    }
    let named: Vec<(f64, String)> = items.iter().map(point).collect::<Option<_>>()?;
    let known = named.into_iter().zip(items);
    Some(
        known
            .map(|((percentile, key), item)| (Statistic::Percentile(percentile), &item[&key], key))
            .collect(),
    )
}

/// A text that is a time with a unit: `"1.2ms"`.
fn as_time(value: &Value) -> Option<Number> {
    Number::parse(value.as_str()?.as_bytes(), Style::POINT).ok().filter(|number| number.unit.is_some())
}

/// Keys of times that all objects of an array have.
fn time_keys(items: &[Value]) -> Vec<String> {
    let Some(first) = items.first().and_then(Value::as_object).filter(|_| items.len() > 1) else {
        return Vec::new();
    };
    let all_have = |key: &&String| {
        items.iter().all(|item| {
            item.get(key.as_str()).is_some_and(|value| value.is_number() || as_time(value).is_some())
        })
    };
    let ranked = first.keys().filter(all_have).map(|key| (rank(key), key));
    let best = ranked.clone().map(|(rank, _)| rank).max().unwrap_or(0);
    ranked.filter(|(rank, _)| *rank == best && *rank > 0).map(|(_, key)| key.clone()).collect()
}

/// How clearly a key says that it holds what something takes.
fn rank(key: &str) -> usize {
    const DURATIONS: [&str; 9] =
        ["latency", "duration", "elapsed", "took", "rtt", "service", "runtime", "lat", "dur"];
    let words = words(key);
    if words.iter().any(|word| DURATIONS.contains(&word.as_str())) {
        2
    } else {
        usize::from(
            matches!(Unit::of_name(key), Said::Unit(_)) || words.last().is_some_and(|word| word == "time"),
        )
    }
}

/// The one thing in a JSON value that may be meant, or the question which.
fn anything(json: &Value, place: &Place<'_>, wanted: &Columns) -> Result<Read, WorkloadError> {
    let mut found = Vec::new();
    candidates(json, "", &mut found);
    if let Some(column) = &wanted.column {
        found.retain(|(path, _)| path == column || path.ends_with(&format!(".{column}")));
        if found.is_empty() {
            return Err(place.whole(format!("nothing in it is called `{column}` and holds times")));
        }
    }
    // Values say more than percentiles of them.
    if found.iter().any(|(_, one)| matches!(one, Candidate::Objects(..))) && wanted.column.is_none() {
        found.retain(|(_, one)| matches!(one, Candidate::Objects(..)));
    }
    let mut paths: Vec<String> = found.iter().map(|(path, _)| path.clone()).collect();
    paths.dedup();
    match &paths[..] {
        [] => Err(place.whole(
            "is JSON in which no array of times, no objects with a latency or a duration, and no percentiles were found",
        )),
        [path] => take(path, found.iter().map(|(_, one)| one), place, wanted),
        _ => Err(WorkloadError::Ask(Box::new(Ask {
            path: place.0.to_owned(),
            problem: format!("{} things in it may be the times", paths.len()),
            key: AskKey::Column,
            answers: found.iter().take(12).map(|(path, one)| answer(path, one)).collect(),
        }))),
    }
}

fn answer(path: &str, candidate: &Candidate<'_>) -> Answer {
    let means = match candidate {
        Candidate::Numbers(items) => format!("{} numbers: {}, …", items.len(), items[0]),
        Candidate::Objects(items, key) => format!("{} objects: {}, …", items.len(), items[0][key]),
        Candidate::Percentiles(points) => format!("{} percentiles", points.len()),
    };
    Answer { key: AskKey::Column, value: path.to_owned(), means }
}

/// Reads candidates of one path: together they are one array.
fn take<'a>(
    path: &str,
    candidates: impl Iterator<Item = &'a Candidate<'a>>,
    place: &Place<'_>,
    wanted: &Columns,
) -> Result<Read, WorkloadError> {
    let said = wanted.unit.map(|unit| (unit, "as you said"));
    let said = said.or_else(|| {
        unit_of_name(path.rsplit('.').next().unwrap_or(path)).map(|unit| (unit, "says its name"))
    });
    let plausible = Plausible::called(path.rsplit('.').next().unwrap_or(path));
    let mut collect = Collect { unit: said, plausible, ..Collect::default() };
    for candidate in candidates {
        match candidate {
            Candidate::Numbers(items) => items.iter().try_for_each(|item| collect.add("all", item, place))?,
            Candidate::Objects(items, key) => {
                let class = class_key(items);
                for item in *items {
                    let name = class.as_ref().and_then(|class| item[class].as_str()).unwrap_or("all");
                    collect.add(name, &item[key], place)?;
                }
            }
            Candidate::Percentiles(points) => return percentiles(path, points, said, place),
        }
    }
    collect.finish("JSON", Some(path.to_owned()), place)
}

/// The key that all objects have as a class.
fn class_key(items: &[Value]) -> Option<String> {
    let known = ["class", "type", "op", "operation", "kind", "label"];
    let first = items.first()?.as_object()?;
    let key = known.iter().find(|key| first.contains_key(**key))?;
    let mut names: Vec<&str> = items.iter().map(|item| item[*key].as_str()).collect::<Option<_>>()?;
    names.sort_unstable();
    names.dedup();
    (names.len() <= 16).then(|| (*key).to_owned())
}

fn percentiles(
    path: &str,
    known: &[Known<'_>],
    said: Option<(Unit, &'static str)>,
    place: &Place<'_>,
) -> Result<Read, WorkloadError> {
    let is_share =
        |statistic: &Statistic| !matches!(statistic, Statistic::Percentile(p) if *p > 1.0 && *p < 100.0);
    let scale = if known.iter().all(|(statistic, ..)| is_share(statistic)) { 100.0 } else { 1.0 };
    let mut numbers = Vec::new();
    for (statistic, value, key) in known {
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let parsed = Number::parse(text.as_bytes(), Style::POINT);
        numbers.push((
            *statistic,
            parsed.map_err(|problem| place.whole(format!("`{key}`: {problem}")))?,
            key,
        ));
    }
    let said = said.or_else(|| unit_of_name(numbers[0].2).map(|unit| (unit, "says its name")));
    let bare = numbers.iter().any(|(_, number, _)| number.unit.is_none());
    let (unit, unit_by) = match said {
        Some((unit, by)) => (Some(unit), by),
        None if bare => {
            let middle = numbers[numbers.len() / 2].1.value();
            let (unit, by) = buckets::unit_of(path, None, middle, place)?;
            (Some(unit), by)
        }
        None => (None, ""),
    };
    let (mut points, mut stated) = (Vec::new(), Moments::default());
    for (statistic, number, key) in numbers {
        let ps = number.ps(unit.unwrap_or_default()).filter(|&ps| ps <= u128::from(crate::LONGEST_PS));
        let ps = ps.ok_or_else(|| place.whole(format!("`{key}` is longer than an hour")))? as u64;
        match statistic {
            // Shares, 0 to 1, but not the names of the ends.
            Statistic::Percentile(percentile) if percentile <= 1.0 => points.push((percentile * scale, ps)),
            Statistic::Percentile(percentile) => points.push((percentile, ps)),
            moment => stated.set(moment, ps),
        }
    }
    let taken = Taken {
        format: "percentiles in JSON".to_owned(),
        column: Some(path.to_owned()).filter(|path| !path.is_empty()),
        unit,
        unit_by,
        ..Taken::default()
    };
    let classes = vec![Percentiles { class: "all".to_owned(), points, weight: 1.0, stated }];
    Ok(Read { taken, data: Data::Percentiles(classes), notes: Vec::new() })
}

/// Values that are being collected, and what they show of their unit.
#[derive(Default)]
struct Collect {
    trace: Trace,
    unit: Option<(Unit, &'static str)>,
    plausible: Plausible,
    line: Option<u64>,
    /// One of the last digit of the finest time.
    step_ps: Option<u64>,
}

impl Collect {
    fn add(&mut self, class: &str, value: &Value, place: &Place<'_>) -> Result<(), WorkloadError> {
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let line = self.line.unwrap_or(self.trace.ps.len() as u64 + 1);
        let add = || -> Result<(), RowProblem> {
            let number = Number::parse(text.as_bytes(), Style::POINT)?;
            if number.unit.is_some() {
                self.plausible.see_unit();
            } else if self.unit.is_none() {
                self.plausible.see(&number, text.as_bytes());
            }
            let ps = match time_ps(&number, text.as_bytes(), self.unit.map_or(Unit::Ns, |(unit, _)| unit)) {
                // Its unit will be asked for: it has fractions.
                Err(RowProblem::TooShort(_)) if self.unit.is_none() && number.unit.is_none() => 1,
                ps => ps?,
            };
            let step_ps = number.step_ps(self.unit.map_or(Unit::Ns, |(unit, _)| unit));
            self.step_ps = Some(self.step_ps.map_or(step_ps, |step| step.min(step_ps)));
            self.trace.push(class.as_bytes(), line, ps)
        };
        let mut add = add;
        add().map_err(|problem| match self.line {
            Some(line) => place.row(line, 1, problem),
            None => place.whole(format!("value {line}: {problem}")),
        })
    }

    fn finish(
        mut self,
        format: &str,
        column: Option<String>,
        place: &Place<'_>,
    ) -> Result<Read, WorkloadError> {
        if self.trace.ps.is_empty() {
            return Err(place.whole("holds no times"));
        }
        let zeros = self.trace.replace_zeros(self.step_ps.unwrap_or(1), place)?;
        let unsaid = self.plausible.check(place)?;
        let (unit, unit_by) = match self.unit {
            Some((unit, by)) => (Some(unit), by),
            None if self.plausible.is_untouched() => (None, ""),
            None => (Some(Unit::Ns), "nothing says another one"),
        };
        let taken = Taken {
            format: format.to_owned(),
            column: column.filter(|column| !column.is_empty()),
            class_column: (self.trace.classes.len() > 1).then(|| "class".to_owned()),
            unit,
            unit_by,
            values: self.trace.ps.len() as u64,
            ..Taken::default()
        };
        Ok(Read { taken, data: Data::Trace(self.trace), notes: unsaid.into_iter().chain(zeros).collect() })
    }
}

/// A writer of lines of JSON.
struct LineWriter {
    writer: &'static str,
    /// Where the time is in a line.
    pointer: &'static str,
    unit: Unit,
    /// What must hold of a line: what is there, and its value.
    condition: Option<(&'static str, &'static str)>,
}

/// The writers.
const LINES: [LineWriter; 2] = [
    LineWriter {
        writer: "k6",
        pointer: "/data/value",
        unit: Unit::Ms,
        condition: Some(("/metric", "http_req_duration")),
    },
    LineWriter { writer: "vegeta", pointer: "/latency", unit: Unit::Ns, condition: None },
];

/// Reads an object a line, as they come.
fn read_lines(source: Source, place: &Place<'_>, wanted: &Columns) -> Result<Read, WorkloadError> {
    let sample: Vec<Value> =
        source.head_lines().take(200).filter_map(|line| serde_json::from_slice(line).ok()).collect();
    let filters = filters(wanted, place)?;
    let writer = LINES.iter().find(|known| match known.writer {
        "k6" => sample.iter().any(|line| line["type"] == "Point" && line.pointer(known.pointer).is_some()),
        _ => sample.iter().all(|line| {
            let named = line["timestamp"].is_string() && line["attack"].is_string();
            named && line.pointer(known.pointer).is_some()
        }),
    });
    let (pointer, unit, condition, format) = match (writer, &wanted.column) {
        (Some(known), None) => {
            let unit = wanted.unit.map_or((known.unit, "as the writer has it"), |unit| (unit, "as you said"));
            let format = format!("lines of JSON of {}", known.writer);
            (known.pointer.to_owned(), Some(unit), known.condition, format)
        }
        (_, column) => {
            let key = match column {
                Some(column) => column.clone(),
                None => only_key(&sample, place)?,
            };
            let said = wanted.unit.map(|unit| (unit, "as you said"));
            let said = said.or_else(|| unit_of_name(&key).map(|unit| (unit, "says its name")));
            (format!("/{}", key.replace('.', "/")), said, None, "lines of JSON".to_owned())
        }
    };
    let condition = condition.filter(|_| filters.is_empty());
    let class = wanted.class_column.clone().or_else(|| class_key(&sample));
    let plausible = Plausible::called(pointer.rsplit('/').next().unwrap_or(&pointer));
    let mut collect = Collect { unit, plausible, ..Collect::default() };
    let mut left_out = 0;
    let mut notes = Vec::new();
    let mut reader = std::io::BufReader::with_capacity(256 << 10, source.stream());
    let (mut text, mut number) = (Vec::new(), 0u64);
    loop {
        text.clear();
        if reader.read_until(b'\n', &mut text).map_err(|error| source::failed(place.0, error))? == 0 {
            break;
        }
        number += 1;
        source::check_stop()?;
        if text.trim_ascii().is_empty() {
            continue;
        }
        let line: Value = match serde_json::from_slice(&text) {
            Ok(line) => line,
            Err(_) if !text.ends_with(b"\n") && !collect.trace.ps.is_empty() => {
                notes.push(format!(
                    "line {number}, the last one, is cut off, and was left out; was the writer still at work?"
                ));
                break;
            }
            Err(error) => {
                let problem = RowProblem::Format(format!("this is no JSON: {error}"));
                return Err(place.row(number, error.column().max(1), problem));
            }
        };
        let holds =
            |pointer: &str, value: &str| line.pointer(pointer).is_some_and(|found| plain(found) == value);
        let meant = condition.is_none_or(|(pointer, value)| holds(pointer, value))
            && filters.iter().all(|(pointer, equal, value)| holds(pointer, value) == *equal);
        let Some(value) = line.pointer(&pointer).filter(|_| meant) else {
            left_out += 1;
            continue;
        };
        collect.line = Some(number);
        let name = class.as_ref().and_then(|class| line.pointer(&format!("/{}", class.replace('.', "/"))));
        collect.add(&name.map_or_else(|| "all".to_owned(), plain), value, place)?;
    }
    let column = pointer.trim_start_matches('/').replace('/', ".");
    let mut read = collect.finish(&format, Some(column), place)?;
    read.taken.left_out = left_out;
    read.taken.class_column = class;
    read.taken.filter = wanted.filter.clone();
    if let Some((pointer, value)) = condition {
        read.taken.filter = vec![format!("{}={value}", pointer.trim_start_matches('/').replace('/', "."))];
    }
    read.notes.extend(notes);
    Ok(read)
}

/// Conditions: a pointer, whether it is to be equal, and to what.
fn filters(wanted: &Columns, place: &Place<'_>) -> Result<Vec<(String, bool, String)>, WorkloadError> {
    let filter = |text: &String| {
        let (name, value) = text.split_once('=').ok_or_else(|| {
            place.whole(format!(
                "`{text}` is no condition; write a key, `=` or `!=`, and a value, as in status=200"
            ))
        })?;
        let (name, equal) = name.strip_suffix('!').map_or((name, true), |name| (name, false));
        Ok((format!("/{}", name.trim().replace('.', "/")), equal, value.trim().to_owned()))
    };
    wanted.filter.iter().map(filter).collect()
}

/// A value as a user writes it.
fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// The only key of the lines that may hold the times, also within objects.
fn only_key(sample: &[Value], place: &Place<'_>) -> Result<String, WorkloadError> {
    let mut keys = time_keys(sample);
    if keys.is_empty() {
        let nested = |(key, value): (&String, &Value)| {
            let inner: Vec<Value> = sample.iter().map(|line| line[key].clone()).collect();
            value
                .is_object()
                .then(|| time_keys(&inner).into_iter().map(|k| format!("{key}.{k}")).collect::<Vec<_>>())
        };
        keys = sample
            .first()
            .and_then(Value::as_object)
            .map_or_else(Vec::new, |first| first.iter().filter_map(nested).flatten().collect());
    }
    match &keys[..] {
        [only] => Ok(only.clone()),
        _ => {
            let first = sample.first().and_then(Value::as_object);
            let all = || {
                first.into_iter().flatten().filter(|(_, value)| value.is_number()).map(|(key, _)| key.clone())
            };
            let keys: Vec<String> = if keys.is_empty() { all().collect() } else { keys };
            Err(WorkloadError::Ask(Box::new(Ask {
                path: place.0.to_owned(),
                problem: "its lines have no key, or several, that may hold the times".to_owned(),
                key: AskKey::Column,
                answers: keys
                    .iter()
                    .take(12)
                    .map(|key| {
                        let pointer = format!("/{}", key.replace('.', "/"));
                        let value = sample[0].pointer(&pointer).map_or_else(String::new, plain);
                        Answer { key: AskKey::Column, value: key.clone(), means: format!("{value}, …") }
                    })
                    .collect(),
            })))
        }
    }
}
