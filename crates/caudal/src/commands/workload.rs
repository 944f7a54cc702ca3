//! `caudal workload`: look at distributions of service times.

use std::process::ExitCode;

use caudal_workload::show::Shown;
use clap::{Args, Subcommand};
use miette::{IntoDiagnostic, miette};
use serde_json::json;

use crate::global::Global;
use crate::table::Table;

#[derive(Args, Debug)]
pub(crate) struct WorkloadArgs {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand, Debug)]
enum What {
    /// Moments, percentiles and a plot, by class
    Show {
        /// The name of a workload, or a file of service times (.csv, .hlog, .hgrm)
        workload: String,
        /// Columns of the plot [default: the terminal's]
        #[arg(long, value_name = "N")]
        width: Option<usize>,
    },
    /// The workloads that have a name, and their sources
    List,
}

pub(crate) fn run(args: &WorkloadArgs, global: &Global) -> miette::Result<ExitCode> {
    match &args.what {
        What::List => list(global),
        What::Show { workload, width } => {
            let shown = Shown::open(workload).map_err(|error| miette!("{error}"))?;
            if global.json {
                outln!("{}", serde_json::to_string(&shown.json()).into_diagnostic()?);
            } else {
                out!("{}", shown.text(width.unwrap_or_else(terminal_width)));
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn list(global: &Global) {
    let mut table = Table::new(&["workload", "what it is", "source"]);
    for named in caudal_workload::named() {
        if global.json {
            outln!("{}", json!({ "workload": named.name, "summary": named.summary, "source": named.source }));
        }
        table.row(vec![named.name.into(), named.summary.into(), named.source.into()]);
    }
    if !global.json {
        out!("{}", table.left());
    }
}

/// Columns of the terminal that stdout is, or 100.
fn terminal_width() -> usize {
    let columns = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    columns.unwrap_or(100_usize).clamp(40, 200)
}
