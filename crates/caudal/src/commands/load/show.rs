//! How runs of a load are printed: percentiles, those that the generator does not stand for struck out, and what speaks against a run.

use std::sync::atomic::Ordering::Relaxed;

use caudal_config::Rate;
use caudal_load::generator::Live;
use caudal_load::open::unevenness;
use caudal_load::record::{ClassRecord, Time};
use caudal_load::run::{Mode, Run};
use caudal_load::search::{Found, Target, Verdict};
use caudal_load::session::Session;
use caudal_load::trust::{PERCENTILES, Told};
use caudal_results::table::{Table, digits, time};
use miette::IntoDiagnostic;
use serde_json::{Value, json};

use crate::global::Global;

/// Workers over which a service may spread connections by a hash, to say how unevenly that is.
const WORKERS: [u32; 2] = [2, 4];

fn rate(per_s: f64) -> String {
    let rounded = if per_s >= 1_000.0 { (per_s / 10.0).round() * 10.0 } else { per_s.round() };
    Rate::per_second(rounded).map_or_else(|| "0/s".to_owned(), |rate| rate.to_string())
}

/// The lines that say what will be done.
pub(super) fn header(session: &Session, mode: Mode, seed: u64) -> String {
    let Session { network, connections, .. } = session;
    let sockets = match network {
        caudal_load::session::Network::Udp => "sockets",
        caudal_load::session::Network::Tcp => "connections",
    };
    let pace = match mode {
        Mode::Open { rate_per_s } => {
            format!("open loop, {} arrivals at {}", session.arrivals_name, rate(rate_per_s))
        }
        Mode::Closed { depth } => format!("closed loop, {depth} on their way on each connection"),
    };
    let spread: Vec<String> = WORKERS
        .iter()
        .map(|&workers| format!("{} of {workers} workers", digits(unevenness(*connections, workers))))
        .collect();
    format!(
        "{} over {}, {connections} {sockets}; {}\n{pace}; seed {seed}; {} and {} before it\n\
         if a hash spreads these over workers of the service, the busiest one has on average this many times its share: {}",
        session.address,
        network.name(),
        session.workload_in_words(),
        time(session.measured_ns as f64),
        time(session.warm_up_ns as f64),
        spread.join(", "),
    )
}

/// A run while it goes on.
pub(super) fn progress(live: &Live) -> String {
    let (now, sent) = (live.time_ns.load(Relaxed) as f64, live.sent.load(Relaxed) as f64);
    let not_done = match live.not_done.load(Relaxed) {
        0 => String::new(),
        count => format!(", {count} not done"),
    };
    format!("{:.1} s, {} sent{not_done}", now / 1e9, rate(sent / now.max(1.0) * 1e9))
}

/// A run as a table, or as JSON.
pub(super) fn print(run: &Run, global: &Global) -> miette::Result<()> {
    if global.json {
        outln!("{}", serde_json::to_string(&to_json(run)?).into_diagnostic()?);
    } else {
        out!("{}", text(run));
    }
    for warning in run.warnings() {
        errln!("warning: {warning}");
    }
    Ok(())
}

/// The classes of a run, and all together where there are several.
fn rows(run: &Run) -> Vec<ClassRecord> {
    let mut rows: Vec<ClassRecord> = run.classes.iter().filter(|class| class.due > 0).cloned().collect();
    if rows.len() > 1 {
        rows.push(run.total());
    }
    rows
}

fn shown(told: &Told) -> String {
    let Told { time: Time { ns, at_least }, is_trusted, .. } = *told;
    let text = format!("{}{}", if at_least { "≥ " } else { "" }, time(ns as f64));
    if is_trusted { text } else { format!("~~{text}~~") }
}

fn text(run: &Run) -> String {
    let names: Vec<String> = PERCENTILES.iter().map(|percentile| format!("p{percentile}")).collect();
    let mut head = vec!["class", "requests", "not done"];
    head.extend(names.iter().map(String::as_str));
    let mut table = Table::new(&head);
    let mut struck = Vec::new();
    for class in rows(run) {
        let told = run.told(&class);
        struck.extend(
            told.iter().filter(|told| !told.is_trusted).copied().map(|told| (class.class.clone(), told)),
        );
        let mut cells = vec![class.class.clone(), class.due.to_string(), class.not_done().to_string()];
        let percentile =
            |wanted: &f64| told.iter().find(|told| told.percentile == *wanted).map_or("–".to_owned(), shown);
        cells.extend(PERCENTILES.iter().map(percentile));
        table.row(cells);
    }
    let is_open = matches!(run.mode, Mode::Open { .. });
    if is_open {
        let mut cells =
            vec!["(send error)".to_owned(), run.own.send_error.count().to_string(), String::new()];
        cells.extend(PERCENTILES.iter().map(|&p| time(run.own.send_error.percentile(p) as f64)));
        table.row(cells);
    }
    let mut lines = vec![table.to_string()];
    lines.push(reasons(run, &struck));
    lines.push(not_done(&run.total(), run.timeout_ns));
    let own = &run.own;
    let kept =
        if is_open { format!("; {:.2} % of the schedule was kept", own.kept * 100.0) } else { String::new() };
    lines.push(format!(
        "{} done{kept}; the generator was idle {:.1} % of the time and stood still {:.2} %, {} at the longest\n",
        rate(run.throughput_per_s()),
        own.idle_share() * 100.0,
        own.stalled_share() * 100.0,
        time(own.stalls.percentile(100.0) as f64),
    ));
    if own.stray > 0 {
        lines.push(format!("{} answers came late or twice\n", own.stray));
    }
    lines.concat()
}

/// The reason for which percentiles are struck out.
fn reasons(run: &Run, struck: &[(String, Told)]) -> String {
    let Some((class, worst)) =
        struck.iter().max_by_key(|(_, told)| told.send_error_ns * 1_000 / told.time.ns.max(1))
    else {
        return String::new();
    };
    if run.own.kept < caudal_load::generator::STOP_BELOW {
        return "~~struck out~~: the generator did not keep its schedule, so these are its own latencies\n"
            .to_owned();
    }
    format!(
        "~~struck out~~: the generator's own send error is more than a quarter of the latency, as at p{} of {class}: {} of {}\n",
        worst.percentile,
        time(worst.send_error_ns as f64),
        time(worst.time.ns as f64)
    )
}

fn not_done(total: &ClassRecord, timeout_ns: u64) -> String {
    let parts = [
        (total.unanswered, "unanswered"),
        (total.unsent, "not sent"),
        (total.refused, "refused"),
        (total.failed, "answered with an error"),
        (total.wrong, "answered with a wrong value"),
    ];
    let parts: Vec<String> =
        parts.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}")).collect();
    if parts.is_empty() {
        return String::new();
    }
    let timeout = time(timeout_ns as f64);
    format!(
        "not done: {}; in every percentile these count as the time-out, {timeout}, at least\n",
        parts.join(", ")
    )
}

/// The run with its percentiles and warnings, which `caudal load merge` reads again without them.
fn to_json(run: &Run) -> miette::Result<Value> {
    let mut value = serde_json::to_value(run).into_diagnostic()?;
    let percentiles: Vec<Value> = rows(run)
        .iter()
        .flat_map(|class| {
            run.told(class).into_iter().map(|told| {
                json!({
                    "class": class.class,
                    "percentile": told.percentile,
                    "latency_ns": told.time.ns,
                    "at_least": told.time.at_least,
                    "send_error_ns": told.send_error_ns,
                    "trusted": told.is_trusted,
                })
            })
        })
        .collect();
    let warnings: Vec<String> = run.warnings().iter().map(ToString::to_string).collect();
    value["percentiles"] = percentiles.into();
    value["warnings"] = warnings.into();
    value["throughput_per_s"] = run.throughput_per_s().into();
    value["idle"] = run.own.idle_share().into();
    Ok(value)
}

/// A run of a search.
pub(super) fn trial(run: &Run, target: &Target, rate_per_s: f64, verdict: Verdict) -> String {
    let class = run.class(target.class.as_deref()).unwrap_or_default();
    let Time { ns, at_least } = match target.percentile {
        Some(percentile) => class.percentile(percentile, run.timeout_ns),
        None => class.mean(run.timeout_ns),
    };
    let verdict = match verdict {
        Verdict::Met => "met",
        Verdict::Missed => "missed",
        Verdict::Unclear => "unclear: the generator itself is too slow or too late",
    };
    let at_least = if at_least { "≥ " } else { "" };
    format!("{:>9}: {at_least}{}, {verdict}", rate(rate_per_s), time(ns as f64))
}

pub(super) fn found(found: &Found, target: &str) -> String {
    let ends = |is_generators: bool| match is_generators {
        true => "is not certain to be met, because the generator itself is too slow or too late there",
        false => "is missed",
    };
    match (found.met_per_s, found.not_met_per_s) {
        (Some(met), Some(not)) => {
            format!("{target}: met up to {}; at {} it {}", rate(met), rate(not), ends(found.is_generators))
        }
        (Some(met), None) => {
            format!("{target}: met up to {}, and no rate that was tried missed it", rate(met))
        }
        (None, not) => {
            format!(
                "{target}: at {}, the lowest rate that was tried, it {}",
                rate(not.unwrap_or(0.0)),
                ends(found.is_generators)
            )
        }
    }
}

pub(super) fn found_json(found: &Found, target: &str) -> Value {
    let name = |verdict: &Verdict| match verdict {
        Verdict::Met => "met",
        Verdict::Missed => "missed",
        Verdict::Unclear => "unclear",
    };
    let trials: Vec<Value> = found
        .trials
        .iter()
        .map(|trial| {
            let runs: Vec<&str> = trial.runs.iter().map(name).collect();
            json!({ "rate_per_s": trial.rate_per_s, "verdict": name(&trial.verdict), "runs": runs })
        })
        .collect();
    json!({
        "target": target,
        "met_per_s": found.met_per_s,
        "not_met_per_s": found.not_met_per_s,
        "generator_is_the_limit": found.is_generators,
        "trials": trials,
    })
}
