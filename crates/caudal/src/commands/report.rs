//! `caudal report DIR`: the HTML report of a results directory.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use caudal_report::{Report, Row};
use clap::Args;
use miette::{IntoDiagnostic, WrapErr, miette};
use serde_json::Value;

use super::plan;
use crate::exit::Failure;
use crate::global::Global;
use crate::results::{whole_rows, write_whole};

#[derive(Args, Debug)]
pub(crate) struct ReportArgs {
    /// The results directory
    dir: PathBuf,
}

pub(crate) fn run(args: &ReportArgs, _global: &Global) -> miette::Result<ExitCode> {
    let rows = whole_rows(&args.dir.join("rows.jsonl"))?;
    if rows.is_empty() {
        return Err(miette!(
            help = "`caudal sim FILE --out DIR` and `caudal plan ... --out DIR` write one",
            "`{}` holds no results",
            args.dir.display()
        ));
    }
    let path = args.dir.join("report.html");
    let of_plan = args.dir.join(plan::REPORT);
    if of_plan.exists() {
        let lines: String = rows.iter().map(|row| format!("{row}\n")).collect();
        plan::write_report(&args.dir, read(&of_plan)?, &lines)?;
    } else {
        write(&path, &rows, &args.dir.join("config.toml"))?;
    }
    outln!("{}", path.display());
    Ok(ExitCode::SUCCESS)
}

/// What the report of a plan says besides its rows.
fn read(path: &Path) -> miette::Result<Report> {
    let text = std::fs::read_to_string(path)
        .map_err(|error| Failure(format!("can not read `{}`: {error}", path.display())))?;
    serde_json::from_str(&text).map_err(|error| {
        miette!(
            help = "the `caudal plan` that made the directory writes it anew",
            "`{}` is no report of a plan: {error}",
            path.display()
        )
    })
}

/// Writes the report of a sweep.
pub(crate) fn write(path: &Path, rows: &[Value], config: &Path) -> miette::Result<()> {
    let read: Result<Vec<Row>, _> = rows.iter().map(|row| serde_json::from_value(row.clone())).collect();
    let rows = read.into_diagnostic().wrap_err("a row can not be read")?;
    let seed = rows.first().and_then(|row| row.extra.get("seed")).map_or(String::new(), Value::to_string);
    let report = Report {
        title: "Caudal: simulated systems".to_owned(),
        question: "How do these systems compare on this workload?".to_owned(),
        rows,
        config_toml: std::fs::read_to_string(config).unwrap_or_default(),
        provenance: vec![
            ("version".to_owned(), env!("CARGO_PKG_VERSION").to_owned()),
            ("seed".to_owned(), seed),
        ],
        ..Report::default()
    };
    write_whole(path, &report.to_html())
}
