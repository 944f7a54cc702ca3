//! `workloads.md`: the workloads that have a name, with the percentiles of their service times. Made from the list of `caudal-workload`,
//! which it compiles. Reads no files.

use caudal_workload::{PERCENTILES, Part, named};

use crate::DocsError;
use crate::markdown::table;

const INTRO: &str = "\
# Workloads by name

This page is for people who have no service times of their own yet, or who want to simulate what a paper simulated. To measure
your own service, read [measure your service](../guides/measure-your-service.md).

Write `service = \"NAME\"` in `[workload]` of [a file](file-format.md), or `--workload NAME` on the command line. `caudal workload
show NAME` draws one. Times are service times: what a request takes alone, on a core without instrumentation. All numbers
below are exact moments and percentiles of the distribution, none is sampled. SCV is the squared coefficient
of variation; *work* is the share of the core time that a class takes.
";

pub(super) fn body() -> Result<String, DocsError> {
    let mut text = INTRO.to_owned();
    for workload in named() {
        let service = workload.compile();
        let service =
            service.map_err(|source| DocsError::Workload { name: workload.name.to_owned(), source })?;
        let summary = service.summary();
        text += &format!("\n## {}\n\n{}\n\nSource: {}\n", workload.name, workload.summary, workload.source);
        text += &format!("\n```toml\nservice = {}\n```\n\n", workload.definition);
        let classes = if summary.classes.len() > 1 { &summary.classes[..] } else { &[] };
        let rows: Vec<Vec<String>> = std::iter::once(&summary.all).chain(classes).map(row).collect();
        let percentiles: Vec<String> = PERCENTILES.iter().map(|&p| label(p)).collect();
        let mut head = vec!["class", "share", "work", "mean", "SCV"];
        head.extend(percentiles.iter().map(String::as_str));
        text += &table(&head, &rows);
    }
    Ok(text)
}

fn row(part: &Part) -> Vec<String> {
    let mut cells = vec![
        part.name.clone(),
        percent(part.weight),
        percent(part.work),
        micros(part.mean_ps),
        format!("{:.3}", part.scv),
    ];
    cells.extend(part.percentiles_ps.iter().map(|ps| ps.map_or("–".to_owned(), |ps| micros(ps as f64))));
    cells
}

fn label(percentile: f64) -> String {
    if percentile >= 100.0 { "longest".to_owned() } else { format!("p{percentile}") }
}

fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}

fn micros(ps: f64) -> String {
    format!("{:.3} µs", ps / 1e6)
}
