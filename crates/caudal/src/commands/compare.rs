//! `caudal compare A B`: two systems on the same requests. It reads the workload, simulates both systems until their difference is clear,
//! and prints; it writes no files.

mod show;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use caudal_config::{
    File, Measure, Offered, Options, Rate, System, SystemPlan, costs_as_overrides, find_preset,
    nearest_preset,
};
use caudal_sim::experiment::Control;
use caudal_tune::TuneError;
use caudal_tune::compare::{Contest, compare};
use clap::Args;
use miette::{IntoDiagnostic, miette};

use super::arrives::Arrives;
use crate::exit::Interrupted;
use crate::global::Global;
use crate::numbers;
use crate::progress::ProgressLine;
use caudal_results::describe::counted;

#[derive(Args, Debug)]
pub(crate) struct CompareArgs {
    /// The first system: a name that `caudal systems` lists, or a TOML file with one [system]
    first: String,
    /// The second system, in the same way
    second: String,
    #[command(flatten)]
    arrives: Arrives,
    /// Offered work over the capacity of the machine; needed, or --rate
    #[arg(long, value_name = "LOAD", required_unless_present = "rate", conflicts_with = "rate", value_parser = numbers::load, allow_hyphen_values = true)]
    load: Option<f64>,
    /// Requests a second, as in 2.5M/s, instead of --load
    #[arg(long, value_name = "RATE", value_parser = Rate::parse, allow_hyphen_values = true)]
    rate: Option<Rate>,
    /// Cores of the machine; a named system's dispatcher takes one of them, a file says its own
    #[arg(long, default_value_t = 16, value_name = "N", value_parser = numbers::count, allow_hyphen_values = true)]
    cores: u32,
    /// Take the costs of this file, as `caudal calibrate` writes it, for both systems
    #[arg(long, value_name = "COSTS")]
    costs: Option<PathBuf>,
    /// Seed of all randomness [default: that of the workload's TOML file, or 1]
    #[arg(long, value_name = "N", value_parser = numbers::seed, allow_hyphen_values = true)]
    seed: Option<u64>,
    /// Print all statistics of all classes
    #[arg(long)]
    explain: bool,
}

pub(crate) fn run(args: &CompareArgs, global: &Global) -> miette::Result<ExitCode> {
    if !(1..=caudal_config::CORES_MAX).contains(&args.cores) {
        return Err(miette!(
            help = "write a number from 1 to 4096",
            "a machine of {} cores is not simulated",
            args.cores
        ));
    }
    let overrides = args.costs.as_ref().map(costs_as_overrides).transpose()?.unwrap_or_default();
    let systems =
        [system(&args.first, args.cores, &overrides)?, system(&args.second, args.cores, &overrides)?];
    if is_same(&systems[0], &systems[1]) {
        return Err(miette!(
            help = "name two systems that differ in more than their names",
            "`{}` and `{}` are the same system: every request would take as long in both",
            args.first,
            args.second
        ));
    }
    let (workload, measure) = args.arrives.read()?;
    for finding in workload.service.findings() {
        errln!("note: {finding}");
    }
    let load = match (args.load, args.rate) {
        (_, Some(rate)) => Offered::Rate(rate).load(&workload.service, args.cores),
        (load, None) => load.unwrap_or_default(),
    };
    if !(load > 0.0 && load < 1.0) {
        return Err(miette!(
            help = "ask for a load above 0 and below 1",
            "a load of {load} has no latency to compare"
        ));
    }
    if let Some(note) = caudal_results::describe::in_order(&workload) {
        errln!("note: {note}");
    }
    let measure = Measure { seed: args.seed.unwrap_or(measure.seed), ..measure };
    let contest = Contest {
        systems: [&systems[0], &systems[1]],
        workload: &workload,
        rate_per_s: load * f64::from(args.cores) / (workload.service.mean_ps() / 1e12),
        measure: &measure,
        quick: global.quick,
    };
    let bar = ProgressLine::new(global, 0, "comparing");
    let progress = |requests| bar.requests(requests);
    let control = Control { threads: global.threads, stop: &global.stop, progress: &progress };
    let compared = compare(&contest, &control);
    bar.finish();
    match compared {
        Err(TuneError::Interrupted) => Err(Interrupted(String::new()).into()),
        Err(error) => Err(miette!("{error}")),
        Ok(compared) => {
            if global.json {
                outln!("{}", serde_json::to_string(&compared).into_diagnostic()?);
            } else {
                show::print(
                    &compared,
                    &show::Asked { load, confidence: measure.stop.confidence, explain: args.explain },
                );
            }
            Ok(ExitCode::SUCCESS)
        }
    }
}

/// Do two systems differ in nothing but their names?
fn is_same(a: &SystemPlan, b: &SystemPlan) -> bool {
    let unnamed = |plan: &SystemPlan| System { name: String::new(), ..plan.system.clone() };
    unnamed(a) == unnamed(b) && a.costs == b.costs
}

/// A preset on the machine, or the one system of a file, with the costs that `overrides` say.
fn system(name: &str, cores: u32, overrides: &[String]) -> miette::Result<SystemPlan> {
    if let Some(preset) = find_preset(name) {
        let workers = cores.saturating_sub(preset.dedicated_cores);
        if workers == 0 {
            return Err(miette!(
                help = "give it more --cores",
                "`{name}` dedicates the only core to its dispatcher"
            ));
        }
        let plan = SystemPlan::of_preset(preset, workers).with_costs(overrides)?;
        let broken =
            caudal_config::coherence::check(&plan.system, &plan.costs, caudal_config::SystemHost::Simulator);
        return match broken.first() {
            Some(incoherence) => {
                Err(miette!("`{name}` on {}: {incoherence}", counted(workers as usize, "core")))
            }
            None => Ok(plan),
        };
    }
    if !Path::new(name).exists() {
        let help = match nearest_preset(name) {
            Some(near) => format!("did you mean `{near}`?"),
            None => "`caudal systems` lists the names; a file ends in .toml".to_owned(),
        };
        return Err(miette!(help = help, "there is neither a system nor a file called `{name}`"));
    }
    let options = Options { overrides: overrides.to_vec(), ..Options::default() };
    let mut systems = File::read_with(name, &options)?.systems;
    match (systems.pop(), systems.len()) {
        (Some(only), 0) => Ok(only),
        (_, more) => {
            Err(miette!(help = "leave one", "`{name}` describes {} systems, one is compared", more + 1))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_differs_only_in_its_name_is_the_same() {
        let system = |name: &str| system(name, 8, &[]).unwrap();
        assert!(is_same(&system("ideal"), &system("ideal")));
        assert!(!is_same(&system("caudal-stealing"), &system("work-stealing")), "other costs");
        assert!(!is_same(&system("caudal-stealing"), &system("caudal-stealing-ps")));
    }
}
