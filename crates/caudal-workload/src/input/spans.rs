//! Spans of traces: of OpenTelemetry (OTLP as JSON, one object or a line each, as the collector's file exporter writes it, and what
//! its libraries print to a console), of Jaeger, of Zipkin, of Datadog.
//! The reader of JSON calls it once for a document of one of these forms. Pure.
//!
//! A span says what a part of a request took, and parts lie within each other. Where some are of a server, those are taken: they are
//! whole requests; where none says what it is, those without a parent. A condition such as `--where name=query` or `--where kind=client` takes others.

use serde_json::Value;

use super::dates::date_ps;
use super::unit::Unit;
use super::{Columns, Counted, Data, Place, Read, Taken, Trace, shorten, source};
use crate::LONGEST_PS;
use crate::error::{RowProblem, WorkloadError};

/// One span.
struct Span {
    name: String,
    /// The role of the span: `server`, `client`, `internal`.
    kind: String,
    service: String,
    parent: bool,
    /// Between its beginning and its end; nothing if it has none.
    ps: Option<u64>,
}

/// Does this begin as spans of OpenTelemetry do?
pub(super) fn holds_otlp(head: &[u8]) -> bool {
    let head = &head[..head.len().min(4096)];
    let has = |word: &[u8]| head.windows(word.len()).any(|window| window == word);
    has(b"\"resourceSpans\"")
}

/// Reads objects of OTLP.
pub(super) fn read_otlp(bytes: &[u8], place: &Place<'_>, wanted: &Columns) -> Result<Read, WorkloadError> {
    let mut spans = Vec::new();
    let mut notes = Vec::new();
    for object in serde_json::Deserializer::from_slice(bytes).into_iter::<Value>() {
        source::check_stop()?;
        match object {
            Ok(object) => otlp(&object, &mut spans),
            Err(error) if error.is_eof() && !spans.is_empty() => {
                notes.push(
                    "the last object is cut off, and was left out; was the writer still at work?".to_owned(),
                );
                break;
            }
            Err(error) => {
                let problem = RowProblem::Format(format!("this is no JSON: {error}"));
                return Err(place.row(error.line() as u64, error.column().max(1), problem));
            }
        }
    }
    read("spans of OpenTelemetry", &spans, notes, place, wanted)
}

fn otlp(object: &Value, spans: &mut Vec<Span>) {
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    for resource in list(&object["resourceSpans"]) {
        let attributes = list(&resource["resource"]["attributes"]);
        let service = attributes.iter().find(|attribute| attribute["key"] == "service.name");
        let service =
            service.and_then(|service| service["value"]["stringValue"].as_str()).unwrap_or_default();
        for scope in
            list(&resource["scopeSpans"]).iter().chain(&list(&resource["instrumentationLibrarySpans"]))
        {
            spans.extend(list(&scope["spans"]).iter().map(|span| {
                let at = |key: &str| match &span[key] {
                    Value::String(text) => text.parse::<u64>().ok(),
                    number => number.as_u64(),
                };
                let ns = at("startTimeUnixNano")
                    .zip(at("endTimeUnixNano"))
                    .and_then(|(from, to)| to.checked_sub(from));
                Span {
                    name: span["name"].as_str().unwrap_or("all").to_owned(),
                    kind: kind(&span["kind"]),
                    service: service.to_owned(),
                    parent: span["parentSpanId"]
                        .as_str()
                        .is_some_and(|parent| parent.bytes().any(|byte| byte != b'0')),
                    ps: ns.and_then(|ns| ns.checked_mul(Unit::Ns.ps())),
                }
            }));
        }
    }
}

/// `2`, `"SPAN_KIND_SERVER"` and `"SERVER"` are `server`.
fn kind(value: &Value) -> String {
    const KINDS: [&str; 6] = ["unspecified", "internal", "server", "client", "producer", "consumer"];
    match value {
        Value::String(text) => {
            text.trim_start_matches("SPAN_KIND_").trim_start_matches("SpanKind.").to_lowercase()
        }
        number => {
            number.as_u64().and_then(|number| KINDS.get(number as usize)).map_or("", |kind| *kind).to_owned()
        }
    }
}

/// Reads spans of Zipkin, an array of objects in microseconds; `None` if this is another array.
pub(super) fn read_zipkin(
    json: &Value,
    place: &Place<'_>,
    wanted: &Columns,
) -> Option<Result<Read, WorkloadError>> {
    let items = json.as_array()?;
    let first = items.first()?;
    if !(first["traceId"].is_string()
        && first["id"].is_string()
        && items.iter().any(|item| item["duration"].is_u64()))
    {
        return None;
    }
    let span = |item: &Value| Span {
        name: item["name"].as_str().unwrap_or("all").to_owned(),
        kind: kind(&item["kind"]),
        service: item["localEndpoint"]["serviceName"].as_str().unwrap_or_default().to_owned(),
        parent: item["parentId"].is_string(),
        ps: item["duration"].as_u64().and_then(|us| us.checked_mul(Unit::Us.ps())),
    };
    let spans: Vec<Span> = items.iter().map(span).collect();
    Some(read("spans of Zipkin", &spans, Vec::new(), place, wanted))
}

/// Reads traces of Jaeger, whose durations are in microseconds; `None` if this is something else.
pub(super) fn read_jaeger(
    json: &Value,
    place: &Place<'_>,
    wanted: &Columns,
) -> Option<Result<Read, WorkloadError>> {
    let traces = json["data"].as_array()?;
    traces.first()?["spans"].as_array()?;
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let mut spans = Vec::new();
    for trace in traces {
        for span in list(&trace["spans"]) {
            let tag = list(&span["tags"]).into_iter().find(|tag| tag["key"] == "span.kind");
            let process = span["processID"].as_str().unwrap_or_default();
            spans.push(Span {
                name: span["operationName"].as_str().unwrap_or("all").to_owned(),
                kind: tag.map(|tag| kind(&tag["value"])).unwrap_or_default(),
                service: trace["processes"][process]["serviceName"].as_str().unwrap_or_default().to_owned(),
                parent: list(&span["references"]).iter().any(|of| of["refType"] == "CHILD_OF"),
                ps: span["duration"].as_u64().and_then(|us| us.checked_mul(Unit::Us.ps())),
            });
        }
    }
    Some(read("spans of Jaeger", &spans, Vec::new(), place, wanted))
}

/// Reads spans of Datadog, in ns, in lists of traces or one behind the other; `None` if this is something else.
pub(super) fn read_datadog(
    json: &Value,
    place: &Place<'_>,
    wanted: &Columns,
) -> Option<Result<Read, WorkloadError>> {
    let mut items = Vec::new();
    spans_of_datadog(json, &mut items);
    let span = |item: &&Value| Span {
        name: item["name"].as_str().unwrap_or("all").to_owned(),
        kind: item["meta"]["span.kind"].as_str().unwrap_or_default().to_owned(),
        service: item["service"].as_str().unwrap_or_default().to_owned(),
        parent: item["parent_id"].as_u64().map_or_else(
            || item["parent_id"].as_str().is_some_and(|parent| parent.bytes().any(|byte| byte != b'0')),
            |parent| parent != 0,
        ),
        ps: item["duration"].as_u64().and_then(|ns| ns.checked_mul(Unit::Ns.ps())),
    };
    let spans: Vec<Span> = items.iter().map(span).collect();
    (!spans.is_empty()).then(|| read("spans of Datadog", &spans, Vec::new(), place, wanted))
}

fn spans_of_datadog<'a>(json: &'a Value, spans: &mut Vec<&'a Value>) {
    match json {
        Value::Array(items) => items.iter().for_each(|item| spans_of_datadog(item, spans)),
        Value::Object(map) => {
            let is_span = ["trace_id", "span_id", "parent_id", "start", "duration", "resource"]
                .iter()
                .all(|key| map.contains_key(*key));
            match is_span {
                true => spans.push(json),
                false => ["data", "traces", "spans"]
                    .iter()
                    .filter_map(|key| map.get(*key))
                    .for_each(|inner| spans_of_datadog(inner, spans)),
            }
        }
        _ => {}
    }
}

/// Does this begin as a span that a library of OpenTelemetry prints?
pub(super) fn holds_sdk(head: &[u8]) -> bool {
    let has = |word: &[u8]| head.windows(word.len()).any(|window| window == word);
    has(b"\"trace_id\"") && has(b"\"start_time\"") && has(b"\"end_time\"")
}

/// Reads spans that a library of OpenTelemetry printed, one or an array; `None` if this is something else.
pub(super) fn read_sdk(
    json: &Value,
    place: &Place<'_>,
    wanted: &Columns,
) -> Option<Result<Read, WorkloadError>> {
    let items = json.as_array().map_or(std::slice::from_ref(json), Vec::as_slice);
    let first = items.first()?;
    if !(first["context"]["trace_id"].is_string() && first["start_time"].is_string()) {
        return None;
    }
    let span = |item: &Value| {
        let at = |key: &str| date_ps(item[key].as_str()?);
        let ps = at("start_time").zip(at("end_time")).and_then(|(from, to)| u64::try_from(to - from).ok());
        Span {
            name: item["name"].as_str().unwrap_or("all").to_owned(),
            kind: kind(&item["kind"]),
            service: item["resource"]["attributes"]["service.name"].as_str().unwrap_or_default().to_owned(),
            parent: item["parent_id"].is_string(),
            ps,
        }
    };
    let spans: Vec<Span> = items.iter().map(span).collect();
    Some(read("spans of OpenTelemetry", &spans, Vec::new(), place, wanted))
}

fn read(
    format: &str,
    spans: &[Span],
    mut notes: Vec<String>,
    place: &Place<'_>,
    wanted: &Columns,
) -> Result<Read, WorkloadError> {
    if wanted.column.is_some() || wanted.unit.is_some() {
        return Err(place.whole(format!(
            "holds {format}, which say what they take and in which unit; drop `column` and `unit`, and pick some by \
             `--where name=…`, `--where kind=server` or `--where service=…`"
        )));
    }
    let mut filter = wanted.filter.clone();
    if filter.is_empty()
        && spans.iter().any(|span| span.kind == "server")
        && spans.iter().any(|span| span.kind != "server")
    {
        filter.push("kind=server".to_owned());
    } else if filter.is_empty()
        && spans.iter().all(|span| span.kind.is_empty())
        && spans.iter().any(|span| span.parent)
        && spans.iter().any(|span| !span.parent)
    {
        filter.push("root=true".to_owned());
    }
    let mut conditions = Vec::new();
    for text in &filter {
        let (key, value) = text.split_once('=').ok_or_else(|| no_condition(text, place))?;
        let (key, equal) = key.strip_suffix('!').map_or((key, true), |key| (key, false));
        let of: fn(&Span) -> &str = match key.trim() {
            "name" => |span| &span.name,
            "kind" => |span| &span.kind,
            "service" => |span| &span.service,
            "root" => |span| if span.parent { "false" } else { "true" },
            _ => return Err(no_condition(text, place)),
        };
        conditions.push((of, equal, value.trim()));
    }
    let by_service = wanted.class_column.as_deref() == Some("service");
    let by_name = !by_service && wanted.class_column.as_deref() != Some("");
    let mut trace = Trace::default();
    let (mut left_out, mut without, mut inner) = (0, 0, 0);
    for (index, span) in spans.iter().enumerate() {
        if conditions.iter().any(|(of, equal, value)| (of(span) == *value) != *equal) {
            left_out += 1;
            continue;
        }
        let Some(ps) = span.ps.filter(|&ps| ps <= LONGEST_PS) else {
            without += 1;
            continue;
        };
        inner += u64::from(span.parent);
        let class = if by_service {
            &span.service
        } else if by_name {
            &span.name
        } else {
            "all"
        };
        let class: String = class.chars().filter(|letter| !letter.is_control()).take(64).collect();
        let problem = |problem: RowProblem| place.whole(format!("span {}: {problem}", index + 1));
        trace.push(class.as_bytes(), index as u64 + 1, ps).map_err(problem)?;
    }
    if trace.ps.is_empty() {
        return Err(place.whole(match left_out {
            0 => format!("holds no {format} with a beginning and an end"),
            _ => format!("no span is left: `{}` holds for none of {left_out}", filter.join("` and `")),
        }));
    }
    if without > 0 {
        notes.push(format!(
            "{without} spans have no end, or one before their beginning, and were passed over"
        ));
    }
    if inner > 0 && inner < trace.ps.len() as u64 {
        notes.push(format!(
            "{inner} of {} spans are parts of others, whose times are counted twice then; `--where name=…` or `--where kind=…` picks \
             those that are requests",
            trace.ps.len()
        ));
    }
    notes.push("a span also has the time in which the request waited for others or for a core; measure alone to know what it takes".to_owned());
    notes.extend(trace.replace_zeros(Unit::Ns.ps(), place)?);
    let taken = Taken {
        format: format.to_owned(),
        class_column: (trace.classes.len() > 1 || wanted.class_column.is_some())
            .then(|| if by_service { "service" } else { "name" }.to_owned()),
        values: trace.ps.len() as u64,
        counted: Counted::Values,
        left_out,
        filter,
        ..Taken::default()
    };
    Ok(Read { taken, data: Data::Trace(trace), notes })
}

fn no_condition(text: &str, place: &Place<'_>) -> WorkloadError {
    place.whole(format!(
        "`{}` is no condition on spans; write name, kind, service or root, `=` or `!=`, and a value, as in kind=server",
        shorten(text)
    ))
}
