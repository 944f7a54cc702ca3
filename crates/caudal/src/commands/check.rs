//! `caudal check FILE`: is the file right, and what would it simulate?

use std::path::PathBuf;
use std::process::ExitCode;

use caudal_config::{File, Host, Options};
use clap::Args;

use crate::global::Global;

#[derive(Args, Debug)]
pub(crate) struct CheckArgs {
    /// The file
    file: PathBuf,
    /// Change a key of the file, as in --set system.discipline.quantum=1us
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Check it for the runtime, which can not do all that the simulator can
    #[arg(long)]
    runtime: bool,
    /// Print the JSON Schema of the file format instead
    #[arg(long)]
    schema: bool,
}

pub(crate) fn run(args: &CheckArgs, global: &Global) -> miette::Result<ExitCode> {
    if args.schema {
        outln!("{:#}", caudal_config::schema());
        return Ok(ExitCode::SUCCESS);
    }
    let host = if args.runtime { Host::Runtime } else { Host::Simulator };
    let file = File::read_with(&args.file, &Options { overrides: args.set.clone(), host })?;
    let points = match &file.workload {
        Some(_) => file.points()?,
        None => Vec::new(),
    };
    for plan in &file.systems {
        let system = &plan.system;
        if global.json {
            outln!("{}", serde_json::json!({ "system": system.name, "cores": system.cores }));
        } else {
            outln!("{}: {} cores, {}", system.name, system.cores, crate::describe::system(system));
        }
    }
    if !global.json {
        outln!("{} is right; it asks for {} simulated points", args.file.display(), points.len());
    }
    if let Some(workload) = &file.workload {
        for finding in workload.service.findings() {
            eprintln!("note: {finding}");
        }
    }
    Ok(ExitCode::SUCCESS)
}
