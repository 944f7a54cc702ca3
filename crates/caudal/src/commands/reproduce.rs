//! `caudal reproduce [NAME|all]...`: the figures of the papers, and what became of their statements. It simulates the experiments of
//! `caudal-reproduce` and prints what each statement became; rows, figures and, for `--docs`, pages go into directories.

use std::path::PathBuf;
use std::process::ExitCode;

use caudal_report::Outcome;
use caudal_reproduce::{FigureResult, ReproduceError, Reproduction, write_docs};
use caudal_results::files::make_dir;
use clap::Args;
use serde_json::json;

use crate::exit::Interrupted;
use crate::exit_code;
use crate::global::Global;
use crate::progress::ProgressLine;

#[derive(Args, Debug)]
pub(crate) struct ReproduceArgs {
    /// A figure such as policies-figure-3; policies-figure-5 stands for 5a to 5c, policies, tiny-quanta,
    /// q-zilla or tail-control for all of a paper; none simulates nothing, and makes the pages of what is kept
    #[arg(default_value = "all", value_name = "NAME|all")]
    names: Vec<String>,
    /// Keep rows, figures, verdicts and reports in this directory
    #[arg(long, value_name = "DIR", default_value = "caudal-results-reproduce")]
    out: PathBuf,
    /// Write reproduction.md, reproduction/ and figures/ into this directory; figures that are not run now are as
    /// reproduction/results has them
    #[arg(long, value_name = "DIR", num_args = 0..=1, default_missing_value = "docs", conflicts_with = "quick")]
    docs: Option<PathBuf>,
    /// Exit with 1 if a statement does not hold
    #[arg(long)]
    strict: bool,
}

pub(crate) fn run(args: &ReproduceArgs, global: &Global) -> miette::Result<ExitCode> {
    let mut reproduction = Reproduction::new(&args.names, &args.out, global.quick).map_err(told)?;
    args.docs.as_deref().map_or(Ok(()), make_dir)?;
    let line = ProgressLine::new(global, reproduction.steps() as u64, "reproducing");
    let all = reproduction.run(&global.control(&|progress| line.tell(progress)));
    line.finish();
    let all = all.map_err(told)?;
    all.iter().for_each(|result| show(result, global));
    if let Some(docs) = &args.docs {
        errln!("wrote {}", write_docs(&all, docs).map_err(told)?.display());
    }
    let failed =
        all.iter().flat_map(FigureResult::verdicts).any(|verdict| verdict.verdict == Outcome::DoesNotHold);
    Ok(if args.strict && failed { ExitCode::from(exit_code::NO) } else { ExitCode::SUCCESS })
}

/// The error as the command tells it; that of a file is one of all commands, and decides the exit code.
fn told(error: ReproduceError) -> miette::Report {
    match error {
        ReproduceError::Interrupted => Interrupted("; figures that were done are kept".to_owned()).into(),
        ReproduceError::Results(error) => error.into(),
        ReproduceError::Config(error) => error.into(),
        error => error.into(),
    }
}

fn show(result: &FigureResult, global: &Global) {
    if global.json {
        result.rows().iter().for_each(|row| outln!("{row}"));
        for verdict in result.verdicts() {
            outln!(
                "{}",
                json!({
                    "figure": result.name(), "statement": verdict.statement, "source": verdict.source,
                    "verdict": verdict.verdict.word(), "numbers": verdict.numbers,
                })
            );
        }
        return;
    }
    let mut text = format!("\n{}\n\n", result.title());
    for (title, table) in result.tables() {
        text += &format!("{title}\n{table}\n");
    }
    for verdict in result.verdicts() {
        text += &format!("{:<13} {} ({})\n", verdict.verdict.word(), verdict.statement, verdict.source);
        text += &format!("{:<13}   {}\n", "", verdict.numbers);
    }
    outln!("{text}");
}
