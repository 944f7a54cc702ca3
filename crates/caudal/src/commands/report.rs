//! `caudal report DIR`: the HTML report of a results directory. It reads the files of the directory, which `caudal sim`, `plan` or
//! `lanes` left, and writes `report.html` there.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use caudal_report::Report;
use caudal_results::files::{whole_lines, write_whole};
use caudal_results::{ResultsError, answers, sweep_report};
use caudal_row::Row;
use clap::Args;
use miette::{IntoDiagnostic, WrapErr, miette};
use serde_json::{Value, json};

use crate::global::Global;

#[derive(Args, Debug)]
pub(crate) struct ReportArgs {
    /// The results directory
    dir: PathBuf,
}

pub(crate) fn run(args: &ReportArgs, global: &Global) -> miette::Result<ExitCode> {
    let rows: Vec<Row> = whole_lines(&args.dir.join("rows.jsonl"))?;
    if rows.is_empty() {
        return Err(miette!(
            help = "`caudal sim FILE --out DIR` and `caudal plan ... --out DIR` write one",
            "`{}` holds no results",
            args.dir.display()
        ));
    }
    let path = args.dir.join("report.html");
    let of_plan = args.dir.join(answers::plan::REPORT);
    if args.dir.join(answers::lanes::ANSWER).exists() {
        answers::lanes::write_report(&args.dir)?;
    } else if of_plan.exists() || args.dir.join(answers::plan::ANSWER).exists() {
        answers::plan::write_report(&args.dir, read(&of_plan)?, rows)?;
    } else {
        let config = std::fs::read_to_string(args.dir.join("config.toml")).unwrap_or_default();
        write_whole(&path, &sweep_report(rows, config).to_html())?;
    }
    if global.json {
        outln!("{}", json!({ "report": path }));
    } else {
        outln!("{}", path.display());
    }
    Ok(ExitCode::SUCCESS)
}

/// The report of a plan but for its rows. An older version kept less of it: of how far systems get, rows alone
/// would say more than the plan had confirmed.
fn read(path: &Path) -> miette::Result<Report> {
    let text = match std::fs::read_to_string(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Err(older(path, None)),
        read => read.map_err(|error| ResultsError::read(path, &error))?,
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
