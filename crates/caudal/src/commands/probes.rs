//! `caudal probes FILE`: where a compiler put probes, and what it left alone. It reads one file, the report that the compiler's pass
//! wrote, and prints it as a table or as JSON.

use std::path::PathBuf;
use std::process::ExitCode;

use caudal_driver::report::{LeftAlone, Probed, Summary};
use clap::Args;
use miette::miette;
use serde_json::json;

use crate::global::Global;
use caudal_results::table::Table;

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

/// The name of a module without its directories, of which rustc has many.
fn file_name(module: &str) -> &str {
    module.rsplit('/').next().unwrap_or(module)
}

/// `name` with its middle left out, where it would make a column of a table wider than a line. `--json` has all of it.
fn shortened(name: &str) -> String {
    const WIDEST: usize = 64;
    let length = name.chars().count();
    if length <= WIDEST {
        return name.to_owned();
    }
    let ends = (WIDEST - 1) / 2;
    let begin: String = name.chars().take(ends).collect();
    let end: String = name.chars().skip(length - ends).collect();
    format!("{begin}…{end}")
}

fn print_table(summary: &Summary) {
    let mut table = Table::new(&["function", "probes", "longest path", "module"]);
    for Probed { name, module, probes, longest_cycles } in &summary.probed {
        let longest =
            if *longest_cycles == 0 { "–".to_owned() } else { format!("{longest_cycles} cycles") };
        table.row(vec![shortened(name), probes.to_string(), longest, shortened(file_name(module))]);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_names_keep_their_ends() {
        assert_eq!(shortened("service::get"), "service::get");
        let long = format!("begin{}end", "é".repeat(300));
        let short = shortened(&long);
        assert!(short.starts_with("begin") && short.ends_with("end") && short.contains('…'), "{short}");
        assert_eq!(short.chars().count(), 63);
        assert_eq!(file_name("/a/b/app.1.rcgu.o"), "app.1.rcgu.o");
    }
}
