//! `caudal systems`: the systems that have a name. It prints the built-in presets; it reads no file.

use std::process::ExitCode;

use caudal_config::{Preset, find_preset, nearest_preset, presets};
use clap::Args;
use miette::miette;
use serde_json::json;

use crate::global::Global;
use crate::numbers;
use caudal_results::describe::counted;
use caudal_results::table::Table;

#[derive(Args, Debug)]
pub(crate) struct SystemsArgs {
    /// Show this one: its table, and where each number comes from
    name: Option<String>,
    /// Cores of the machine that the policy file of NAME is for
    #[arg(long, default_value_t = 16, value_name = "N", value_parser = numbers::cores, allow_hyphen_values = true)]
    cores: u32,
}

pub(crate) fn run(args: &SystemsArgs, global: &Global) -> miette::Result<ExitCode> {
    let Some(name) = &args.name else {
        list(global);
        return Ok(ExitCode::SUCCESS);
    };
    let preset = find_preset(name).ok_or_else(|| {
        let near = nearest_preset(name).map_or(String::new(), |near| format!("did you mean `{near}`? "));
        miette!(help = format!("{near}`caudal systems` lists all"), "there is no system called `{name}`")
    })?;
    show(preset, args.cores, global)?;
    Ok(ExitCode::SUCCESS)
}

fn list(global: &Global) {
    let mut table = Table::new(&["system", "deployable", "what it is"]);
    for preset in presets() {
        if global.json {
            outln!("{}", as_json(preset));
        }
        let deployable = if preset.deployable() { "yes" } else { "no" };
        table.row(vec![preset.name.into(), deployable.into(), preset.summary.into()]);
    }
    if !global.json {
        out!("{}", table.left());
    }
}

fn show(preset: &Preset, cores: u32, global: &Global) -> miette::Result<()> {
    if global.json {
        outln!("{}", as_json(preset));
        return Ok(());
    }
    // As in a plan: a dispatcher's core is one of the machine's.
    let Some(workers) = cores.checked_sub(preset.dedicated_cores).filter(|&workers| workers > 0) else {
        return Err(miette!(
            help = "give it more --cores",
            "`{}` dedicates the only core to its dispatcher",
            preset.name
        ));
    };
    outln!("{}: {}", preset.name, preset.summary);
    match preset.reference_only {
        Some(why) => outln!("not deployable: {why}"),
        None => match preset.dedicated_cores {
            0 => outln!("deployable, and all its cores serve requests"),
            1 => outln!("deployable, with 1 core that serves no requests"),
            cores => outln!("deployable, with {cores} cores that serve no requests"),
        },
    }
    outln!();
    for number in preset.numbers {
        let ours = if number.ours { " (ours)" } else { "" };
        outln!("  {} = {}: {}{ours}", number.key, number.value, number.source);
    }
    let serving = match preset.dedicated_cores {
        0 => String::new(),
        _ => format!(", {workers} of which serve requests"),
    };
    outln!("\nOn {}{serving}, as a policy file:\n", counted(cores as usize, "core"));
    out!("{}", caudal_config::write_policy(&preset.system(workers), &preset.costs(), ""));
    Ok(())
}

fn as_json(preset: &Preset) -> serde_json::Value {
    let numbers: Vec<_> = preset
        .numbers
        .iter()
        .map(|n| json!({ "key": n.key, "value": n.value, "source": n.source, "ours": n.ours }))
        .collect();
    json!({
        "system": preset.name,
        "aliases": preset.aliases,
        "summary": preset.summary,
        "deployable": preset.deployable(),
        "reference_only": preset.reference_only,
        "cores_dedicated": preset.dedicated_cores,
        "numbers": numbers,
    })
}
