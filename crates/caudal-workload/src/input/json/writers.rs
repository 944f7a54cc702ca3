//! The known writers of JSON, whose documents need no question. The reader of JSON asks first whether one of them wrote the document.
//! Pure: value in, times out.

use std::path::Path;

use serde_json::{Map, Value};

use super::collect::percentiles;
use super::values::statistics_of;
use crate::error::WorkloadError;
use crate::input::buckets::{self, Bins, Edges};
use crate::input::number::{Number, Style};
use crate::input::percentiles::{Moments, Percentiles};
use crate::input::unit::Unit;
use crate::input::{Columns, Data, Place, Read, Taken, Trace, spans, time_ps};

/// The rows of a table that pandas wrote by `to_json`, as a list of objects; anything else as it is.
///
/// * `orient="split"`: `{"columns": […], "index": […], "data": [[…], …]}`.
/// * `orient="columns"`, which it does if nothing is said: `{"ms": {"0": 1.5, "1": 2.5}, …}`.
/// * `orient="index"`: `{"0": {"ms": 1.5, …}, "1": {…}}`.
pub(super) fn rows_of_frames(json: Value) -> Value {
    let Some(map) = json.as_object() else { return json };
    let rows = rows_of_split(&json).or_else(|| rows_of_compact(&json));
    let rows = rows.or_else(|| rows_of_columns(map)).or_else(|| rows_by_index(map));
    rows.map_or(json, Value::Array)
}

fn rows_of_split(json: &Value) -> Option<Vec<Value>> {
    let columns: Vec<&str> = json["columns"].as_array()?.iter().map(Value::as_str).collect::<Option<_>>()?;
    let row = |row: &Value| {
        let cells = row.as_array()?.iter().cloned();
        Some(Value::Object(columns.iter().map(|column| (*column).to_owned()).zip(cells).collect()))
    };
    json["data"].as_array()?.iter().map(row).collect()
}

/// `JSONCompact` of ClickHouse: `{"meta": [{"name": "ms", "type": "Float64"}, …], "data": [[1.5, …], …]}`.
fn rows_of_compact(json: &Value) -> Option<Vec<Value>> {
    let names: Vec<&str> =
        json["meta"].as_array()?.iter().map(|one| one["name"].as_str()).collect::<Option<_>>()?;
    let row = |row: &Value| {
        let cells = row.as_array()?.iter().cloned();
        Some(Value::Object(names.iter().map(|name| (*name).to_owned()).zip(cells).collect()))
    };
    json["data"].as_array()?.iter().map(row).collect()
}

fn rows_of_columns(map: &Map<String, Value>) -> Option<Vec<Value>> {
    let columns: Vec<(&String, &Map<String, Value>)> =
        map.iter().map(|(name, column)| Some((name, column.as_object()?))).collect::<Option<_>>()?;
    let index = numbers_of_rows(columns.first()?.1)?;
    if columns.iter().any(|(_, column)| column.len() != index.len()) {
        return None;
    }
    let row = |at: &u64| {
        let at = at.to_string();
        let cell = |(name, column): &(&String, &Map<String, Value>)| {
            Some(((*name).clone(), column.get(&at)?.clone()))
        };
        columns.iter().map(cell).collect::<Option<Map<_, _>>>().map(Value::Object)
    };
    index.iter().map(row).collect()
}

fn rows_by_index(map: &Map<String, Value>) -> Option<Vec<Value>> {
    let index = numbers_of_rows(map)?;
    let row = |at: &u64| map.get(&at.to_string()).filter(|row| row.is_object()).cloned();
    index.iter().map(row).collect()
}

/// The keys of a map, ascending, if they number rows: all of them from 0 on, or more than there are percentiles.
fn numbers_of_rows(map: &Map<String, Value>) -> Option<Vec<u64>> {
    let mut index: Vec<u64> = map.keys().map(|key| key.parse().ok()).collect::<Option<_>>()?;
    index.sort_unstable();
    let from_0 = index.len() > 1 && index.iter().zip(0..).all(|(&at, row)| at == row);
    (from_0 || index.len() > 101).then_some(index)
}

/// Classes, and the times of each.
type Classes = Vec<(String, Vec<f64>)>;

/// The content of a document of a known writer; none if the writer is unknown.
pub(super) fn known(json: &Value, path: &Path, wanted: &Columns) -> Result<Option<Read>, WorkloadError> {
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
    if is_profile(json) {
        return Err(place.whole(crate::input::texts::PROFILE));
    }
    if json["report"]["mtr"].is_object() {
        return Err(place.whole(crate::input::texts::MTR));
    }
    if json[0]["jmhVersion"].is_string() || json[0]["primaryMetric"]["scoreUnit"].is_string() {
        return jmh(json, &place).map(Some);
    }
    if let Some(read) = spans::read_zipkin(json, &place, wanted)
        .or_else(|| spans::read_sdk(json, &place, wanted))
        .or_else(|| spans::read_jaeger(json, &place, wanted))
        .or_else(|| spans::read_datadog(json, &place, wanted))
    {
        return read.map(Some);
    }
    let events = if json["traceEvents"].is_array() { &json["traceEvents"] } else { json };
    let is_event = |event: &Value| event["ph"].is_string() && event["ts"].is_number();
    if events.as_array().is_some_and(|events| events.iter().take(64).any(is_event)) {
        return trace_events(events, &place).map(Some);
    }
    if json["DurationHistogram"]["Data"].is_array() {
        return fortio(&json["DurationHistogram"], &place).map(Some);
    }
    if json[0]["response_times"].is_object() && json[0]["num_requests"].is_number() {
        return locust(json, &place).map(Some);
    }
    if json[0]["target"].is_object() && json[0]["io"]["time"].is_number() {
        return ioping(json, &place).map(Some);
    }
    if json["HostEnvironmentInfo"].is_object() && json["Benchmarks"][0]["Measurements"].is_array() {
        return benchmark_dot_net(json, &place).map(Some);
    }
    if json["fio version"].is_string() {
        return fio(json, &place).map(Some);
    }
    if let (Some(iters), Some(times)) = (numbers(&json["iters"]), numbers(&json["times"])) {
        let each: Vec<f64> = times.iter().zip(&iters).map(|(time, iters)| time / iters.max(1.0)).collect();
        let mut read = values("criterion", Unit::Ns, vec![("all".to_owned(), each)], &place)?;
        if let Some(most) = iters.iter().copied().reduce(f64::max).filter(|most| *most > 1.0) {
            read.notes.push(means_of_runs(most));
        }
        return Ok(Some(read));
    }
    if wanted.column.is_none()
        && let Some(Summary { writer, path, stated, unit }) = summary(json)
        && let Some(map) = json.pointer(path).and_then(Value::as_object)
    {
        let unit = wanted.unit.map_or((unit, "as the writer has it"), |unit| (unit, "as you said"));
        let mut known = statistics_of(map, "percentiles");
        known.extend(
            json.pointer(stated)
                .and_then(Value::as_object)
                .into_iter()
                .flat_map(|map| statistics_of(map, "")),
        );
        let path = path.trim_start_matches('/').replace('/', ".");
        let mut read = percentiles(&path, &[("all", &known)], Some(unit), &place)?;
        read.taken.format = format!("percentiles in JSON of {writer}");
        return Ok(Some(read));
    }
    if json["files"][0]["groups"][0]["benchmarks"][0]["sampleCount"].is_number() {
        return vitest(json, &place).map(Some);
    }
    let list = |key: &str| json[key].as_array().map_or(&[][..], Vec::as_slice);
    let each =
        |key: &str, name: &dyn Fn(&Value) -> Option<String>, times: &dyn Fn(&Value) -> Option<Vec<f64>>| {
            let class = |one: &Value| Some((name(one).unwrap_or_else(|| "all".to_owned()), times(one)?));
            list(key).iter().filter_map(class).collect::<Vec<_>>()
        };
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let tasks = json.as_array().map_or(&[][..], Vec::as_slice);
    let task = |one: &Value| {
        let result = &one["result"];
        let is_tinybench = result["throughput"].is_object() && result["latency"]["p995"].is_number();
        Some((text(&one["name"])?, numbers(&result["latency"]["samples"]).filter(|_| is_tinybench)?))
    };
    let writers: [(&str, Unit, Classes); 4] = [
        ("hyperfine", Unit::S, each("results", &|one| text(&one["command"]), &|one| numbers(&one["times"]))),
        (
            "pytest-benchmark",
            Unit::S,
            each("benchmarks", &|one| text(&one["name"]), &|one| numbers(&one["stats"]["data"])),
        ),
        ("pyperf", Unit::S, each("benchmarks", &|one| text(&one["metadata"]["name"]), &pyperf)),
        ("tinybench", Unit::Ms, tasks.iter().filter_map(task).collect()),
    ];
    for (writer, unit, classes) in writers {
        if !classes.is_empty() {
            return values(writer, unit, classes, &place).map(Some);
        }
    }
    Ok(None)
}

/// Is this a profile: of V8 (`.cpuprofile`), of speedscope, of Firefox, of V8's older logs?
fn is_profile(json: &Value) -> bool {
    let is_v8 = json["nodes"][0]["callFrame"].is_object() && json["timeDeltas"].is_array();
    let is_speedscope = json["$schema"].as_str().is_some_and(|schema| schema.contains("speedscope"));
    let is_firefox = json["threads"][0]["samples"].is_object() && json["meta"].is_object();
    let is_older = json["ticks"].is_array() && json["code"].is_array();
    is_v8 || is_speedscope || is_firefox || is_older
}

/// A load generator's summary.
struct Summary {
    writer: &'static str,
    /// Where the percentiles of latencies are, as a pointer of JSON.
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
        of("autocannon", "/latency", "/nothing", Unit::Ms)
    } else if json["spec"]["numberOfConnections"].is_number() {
        of("bombardier", "/result/latency/percentiles", "/result/latency", Unit::Us)
    } else if json["latencies"]["99th"].is_number() && json["bytes_in"].is_object() {
        of("vegeta", "/latencies", "/nothing", Unit::Ns)
    } else if json["latencyPercentiles"]["p50"].is_number() && json["summary"]["successRate"].is_number() {
        of("oha", "/latencyPercentiles", "/summary", Unit::S)
    } else if k6["p(95)"].is_number() {
        of("k6", "/metrics/http_req_duration", "/nothing", Unit::Ms)
    } else if k6["values"]["p(95)"].is_number() {
        of("k6", "/metrics/http_req_duration/values", "/nothing", Unit::Ms)
    } else if json["aggregate"]["summaries"]["http.response_time"]["p95"].is_number() {
        of("artillery", "/aggregate/summaries/http.response_time", "/nothing", Unit::Ms)
    } else {
        None
    }
}

/// Events of a trace in Chrome's format, as browsers, node, perfetto and viztracer write it: those that have ended, in microseconds.
fn trace_events(events: &Value, place: &Place<'_>) -> Result<Read, WorkloadError> {
    let ended = events.as_array().into_iter().flatten().filter(|event| event["ph"] == "X");
    let event = |event: &Value| {
        Some((event["name"].as_str().unwrap_or("all").to_owned(), vec![event["dur"].as_f64()?]))
    };
    let mut events: Classes = ended.filter_map(event).collect();
    if events.is_empty() {
        return Err(place.whole("holds no events of a trace with a duration (`\"ph\": \"X\"`)"));
    }
    let names: std::collections::HashSet<&String> = events.iter().map(|(name, _)| name).collect();
    let note = "events lie within each other, and those that hold others have their times: give those that are requests";
    let mut notes = vec![note.to_owned()];
    if names.len() > 256 {
        notes.push(format!("its events have {} names, too many to be classes: all are of one", names.len()));
        events.iter_mut().for_each(|(name, _)| "all".clone_into(name));
    }
    let mut read = values("a trace's events", Unit::Us, events, place)?;
    read.taken.format = "events of a trace in Chrome's format".to_owned();
    read.notes.extend(notes);
    Ok(read)
}

/// fortio's histogram, in seconds.
fn fortio(histogram: &Value, place: &Place<'_>) -> Result<Read, WorkloadError> {
    let mut bins = Bins::default();
    let ps = |value: &Value| value.as_f64().map(|seconds| (seconds * 1e12).round() as u64);
    for bucket in histogram["Data"].as_array().into_iter().flatten() {
        if let (Some(low_ps), high_ps, Some(count)) =
            (ps(&bucket["Start"]), ps(&bucket["End"]), bucket["Count"].as_u64())
        {
            let edges = Edges { low_ps, high_ps };
            bins.add("all", edges, count).map_err(|problem| place.whole(problem.to_string()))?;
        }
    }
    let mut notes = Vec::new();
    let taken = Taken {
        format: "JSON of fortio".to_owned(),
        unit: Some(Unit::S),
        unit_by: "as the writer has it",
        values: bins.count(),
        ..Taken::default()
    };
    let mut histograms = bins.finish(place, &mut notes)?;
    if let [only] = &mut histograms[..] {
        only.sum_ps = histogram["Sum"].as_f64().map(|seconds| seconds * 1e12);
    }
    Ok(Read { taken, data: Data::Histograms(histograms), notes })
}

/// Locust's `--json`: how often each time in ms occurred, rounded to two digits, an object a request's name.
fn locust(json: &Value, place: &Place<'_>) -> Result<Read, WorkloadError> {
    let (mut trace, mut weights) = (Trace::default(), Vec::new());
    for request in json.as_array().into_iter().flatten() {
        let name: String = request["name"].as_str().unwrap_or("all").chars().take(64).collect();
        for (ms, count) in request["response_times"].as_object().into_iter().flatten() {
            let (Ok(ms), Some(count)) = (ms.parse::<f64>(), count.as_f64().filter(|count| *count > 0.0))
            else {
                continue;
            };
            push(&mut trace, &name, ms, Unit::Ms).map_err(|problem| place.whole(problem))?;
            weights.push(count);
        }
    }
    let taken = Taken {
        format: "JSON of Locust".to_owned(),
        class_column: (trace.classes.len() > 1).then(|| "name".to_owned()),
        unit: Some(Unit::Ms),
        unit_by: "as the writer has it",
        values: weights.iter().sum::<f64>() as u64,
        ..Taken::default()
    };
    Ok(Read { taken, data: Data::Weighted(trace, weights), notes: Vec::new() })
}

/// ioping's requests, but for those that its own summary leaves out.
fn ioping(json: &Value, place: &Place<'_>) -> Result<Read, WorkloadError> {
    let requests = json.as_array().into_iter().flatten().map(|item| &item["io"]);
    let meant = requests.filter(|request| request["ignored"] != Value::Bool(true));
    let class = |request: &Value| {
        let operation = request["operation"].as_str().unwrap_or("all").to_owned();
        Some((operation, vec![request["time"].as_f64()?]))
    };
    let mut read = values("ioping", Unit::Ns, meant.filter_map(class).collect(), place)?;
    read.taken.class_column = None;
    Ok(read)
}

/// BenchmarkDotNet's iterations, in ns, each of so many operations; the results where it has taken its own costs off, else what was
/// measured.
fn benchmark_dot_net(json: &Value, place: &Place<'_>) -> Result<Read, WorkloadError> {
    let (mut classes, mut most) = (Classes::new(), 1.0_f64);
    for benchmark in json["Benchmarks"].as_array().into_iter().flatten() {
        let of_stage = |stage: &str| -> Vec<(f64, f64)> {
            let measured = benchmark["Measurements"].as_array().into_iter().flatten();
            let meant =
                measured.filter(|one| one["IterationMode"] == "Workload" && one["IterationStage"] == stage);
            let pair =
                |one: &Value| Some((one["Nanoseconds"].as_f64()?, one["Operations"].as_f64()?.max(1.0)));
            meant.filter_map(pair).collect()
        };
        let measured =
            Some(of_stage("Result")).filter(|all| !all.is_empty()).unwrap_or_else(|| of_stage("Actual"));
        most = measured.iter().fold(most, |most, (_, operations)| most.max(*operations));
        let text = |key: &str| benchmark[key].as_str().unwrap_or_default().to_owned();
        let name = format!("{} {}", text("Method"), text("Parameters")).trim().to_owned();
        if !measured.is_empty() {
            classes.push((name, measured.iter().map(|(ns, operations)| ns / operations).collect()));
        }
    }
    if classes.is_empty() {
        return Err(
            place.whole("is JSON of BenchmarkDotNet without measurements; export it by `JsonExporter.Full`")
        );
    }
    let mut read = values("BenchmarkDotNet", Unit::Ns, classes, place)?;
    if most > 1.0 {
        read.notes.push(means_of_runs(most));
    }
    Ok(read)
}

/// Reads the output of `vitest bench --outputJson`: percentiles in ms, a class a benchmark.
fn vitest(json: &Value, place: &Place<'_>) -> Result<Read, WorkloadError> {
    let list = |value: &Value, key: &str| value[key].as_array().cloned().unwrap_or_default();
    let groups: Vec<Value> = list(json, "files").iter().flat_map(|file| list(file, "groups")).collect();
    let benchmarks: Vec<Value> = groups.iter().flat_map(|group| list(group, "benchmarks")).collect();
    let named = benchmarks
        .iter()
        .filter_map(|one| Some((one["name"].as_str()?, statistics_of(one.as_object()?, ""))));
    let named: Vec<_> = named.collect();
    let known: Vec<_> = named.iter().map(|(name, known)| (*name, known.as_slice())).collect();
    if known.is_empty() {
        return Err(place.whole("is what vitest writes, and holds no benchmark with a name"));
    }
    let mut read = percentiles("", &known, Some((Unit::Ms, "as the writer has it")), place)?;
    "percentiles in JSON of vitest".clone_into(&mut read.taken.format);
    read.notes.push(
        "vitest writes percentiles only; tinybench, by which it measures, keeps every run with `retainSamples: true`".to_owned(),
    );
    Ok(read)
}

/// The note on values that are means of up to `most` runs.
fn means_of_runs(most: f64) -> String {
    format!(
        "each value is the mean of up to {most:.0} runs: what single runs take beyond it is not in the file, so its tail is too short"
    )
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
        class_column: (trace.classes.len() > 1)
            .then(|| if writer == "hyperfine" { "command" } else { "name" }.to_owned()),
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
