//! `caudal check FILE`: is the file right, and what would it simulate? It reads the file and prints; it simulates nothing and writes
//! nothing.

use std::path::PathBuf;
use std::process::ExitCode;

use caudal_config::{File, Options, SystemHost};
use clap::Args;

use crate::global::Global;
use caudal_results::describe::counted;

#[derive(Args, Debug)]
pub(crate) struct CheckArgs {
    /// The file; not needed with --schema
    #[arg(required_unless_present = "schema")]
    file: Option<PathBuf>,
    /// Change a key of the file, as in --set system.discipline.quantum=1us
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Check it for the runtime, which can not do all that the simulator can
    #[arg(long)]
    runtime: bool,
    /// Print the JSON Schema of the file format instead
    #[arg(long, conflicts_with_all = ["file", "set", "runtime"])]
    schema: bool,
}

pub(crate) fn run(args: &CheckArgs, global: &Global) -> miette::Result<ExitCode> {
    let Some(path) = &args.file else {
        outln!("{:#}", caudal_config::schema());
        return Ok(ExitCode::SUCCESS);
    };
    let host = if args.runtime { SystemHost::Runtime } else { SystemHost::Simulator };
    let file = File::read_with(path, &Options { overrides: args.set.clone(), host, ..Options::default() })?;
    let points = file.workload.as_ref().map(|_| file.points()).transpose()?;
    for plan in &file.systems {
        let system = &plan.system;
        if global.json {
            outln!("{}", serde_json::json!({ "system": system.name, "cores": system.cores }));
        } else {
            let cores = counted(system.cores as usize, "core");
            outln!("{}: {cores}, {}", system.name, caudal_results::describe::system(system));
        }
    }
    if !global.json {
        let asks = match &points {
            Some(points) => format!("it asks for {}", counted(points.len(), "simulated point")),
            None => "without a table [workload] there is nothing in it to simulate".to_owned(),
        };
        outln!("{} is right; {asks}", path.display());
    }
    if let Some(workload) = &file.workload {
        for finding in workload.service.findings() {
            errln!("note: {finding}");
        }
    }
    let in_order = file.workload.as_deref().and_then(caudal_results::describe::in_order);
    for note in caudal_results::describe::nothing_forks(&file).into_iter().chain(in_order) {
        errln!("note: {note}");
    }
    Ok(ExitCode::SUCCESS)
}
