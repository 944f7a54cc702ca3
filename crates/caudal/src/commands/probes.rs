//! `caudal probes FILE`: where a compiler put probes, and what it left alone.

use std::path::PathBuf;
use std::process::ExitCode;

use caudal_driver::report::{LeftAlone, Probed, Summary};
use clap::Args;
use miette::miette;
use serde_json::json;

use crate::global::Global;
use crate::table::Table;

#[derive(Args, Debug)]
pub(crate) struct ProbesArgs {
    /// A report: what --probe-report=FILE of `caudal cc` or `cargo caudal` wrote
    file: PathBuf,
}

pub(crate) fn run(args: &ProbesArgs, global: &Global) -> miette::Result<ExitCode> {
    let read = Summary::read(&args.file).map_err(|error| miette!("{error}"))?;
    let summary = read.ok_or_else(|| {
        let help = "compile with --probe-report=FILE; what was not compiled anew adds nothing to it";
        miette!(help = help, "there is no report {}", args.file.display())
    })?;
    if global.json {
        print_json(&summary);
    } else {
        print_table(&summary);
    }
    Ok(ExitCode::SUCCESS)
}

fn print_json(summary: &Summary) {
    for Probed { name, module, probes, longest_cycles } in &summary.probed {
        outln!(
            "{}",
            json!({ "function": name, "module": module, "probes": probes, "longest_cycles": longest_cycles })
        );
    }
    for LeftAlone { name, module, why } in &summary.left_alone {
        outln!("{}", json!({ "function": name, "module": module, "left_alone": why }));
    }
}

fn print_table(summary: &Summary) {
    let mut table = Table::new(&["function", "probes", "longest way", "module"]);
    for Probed { name, module, probes, longest_cycles } in &summary.probed {
        let longest =
            if *longest_cycles == 0 { "–".to_owned() } else { format!("{longest_cycles} cycles") };
        table.row(vec![name.clone(), probes.to_string(), longest, module.clone()]);
    }
    out!("{table}");
    for LeftAlone { name, module, why } in &summary.left_alone {
        outln!("left alone: {name} ({module}): {why}");
    }
    let assumed: Vec<&str> = summary.assumed.iter().map(|(name, _)| name.as_str()).collect();
    if !assumed.is_empty() {
        outln!("time assumed of calls to: {}", assumed.join(", "));
    }
    outln!("{} probes in {} functions", summary.probes(), summary.probed.len());
}
