//! `caudal report DIR`: the HTML report of a results directory.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use caudal_report::{Report, Row};
use clap::Args;
use miette::{IntoDiagnostic, WrapErr, miette};
use serde_json::{Value, json};

use super::{lanes, plan};
use crate::exit::Failure;
use crate::global::Global;
use crate::results::{whole_rows, write_whole};

#[derive(Args, Debug)]
pub(crate) struct ReportArgs {
    /// The results directory
    dir: PathBuf,
}

pub(crate) fn run(args: &ReportArgs, global: &Global) -> miette::Result<ExitCode> {
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
    if args.dir.join(lanes::ANSWER).exists() {
        lanes::write_report(&args.dir)?;
    } else if of_plan.exists() || args.dir.join(plan::ANSWER).exists() {
        let lines: String = rows.iter().map(|row| format!("{row}\n")).collect();
        plan::write_report(&args.dir, read(&of_plan)?, &lines)?;
    } else {
        write(&path, &rows, &args.dir.join("config.toml"))?;
    }
    if global.json {
        outln!("{}", json!({ "report": path }));
    } else {
        outln!("{}", path.display());
    }
    Ok(ExitCode::SUCCESS)
}

/// What the report of a plan says besides its rows. An older version kept less of it: of how far systems get, rows alone
/// would say more than the plan had confirmed.
fn read(path: &Path) -> miette::Result<Report> {
    let text = match std::fs::read_to_string(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Err(older(path, None)),
        read => read.map_err(|error| Failure(format!("can not read `{}`: {error}", path.display())))?,
    };
    let report: Value = serde_json::from_str(&text).into_diagnostic().wrap_err(path.display().to_string())?;
    let command = report["config_toml"].as_str().and_then(|text| text.strip_prefix("# ")).map(str::trim);
    if report.get("reaches").is_none() {
        return Err(older(path, command));
    }
    serde_json::from_value(report.clone()).map_err(|_| older(path, command))
}

/// The plan in the directory was made by a version that wrote something else; `command` asks the same again.
fn older(path: &Path, command: Option<&str>) -> miette::Report {
    let dir = path.parent().unwrap_or(path).display();
    let again = command.unwrap_or("caudal plan ...");
    miette!(
        help = format!("make it anew: remove the directory and run {again} --out {dir}"),
        "the plan in `{dir}` is of an older version of caudal: what it says of how far each system gets is not there, or \
         not as this version writes it"
    )
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
