//! `caudal workload`: shows distributions of service times, and converts what other tools wrote into files of this project. It reads the
//! user's file; `convert` writes the new file beside its name first, so that a broken conversion leaves nothing behind.

use std::ffi::OsString;
use std::io::{BufWriter, Write as _};
use std::path::Path;
use std::process::ExitCode;

use caudal_workload::convert::{Converted, ConvertedFormat};
use caudal_workload::show::Shown;
use caudal_workload::{FileSpec, TimestampColumns, TimestampFile, WorkloadError};
use clap::{Args, Subcommand};
use miette::{IntoDiagnostic, miette};
use serde_json::json;

use super::input::{Input, compile_asking, refused};
use crate::exit::Failure;
use crate::global::Global;
use caudal_results::table::Table;

#[derive(Args, Debug)]
pub(crate) struct WorkloadArgs {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand, Debug)]
enum What {
    /// Moments, percentiles and a plot, by class
    // It draws no requests: see `refuse_draws`.
    #[command(
        mut_arg("weights", |arg| arg.hide(true)),
        mut_arg("replay", |arg| arg.hide(true)),
        mut_arg("recorded", |arg| arg.hide(true)),
        mut_arg("arrival_column", |arg| arg.hide(true))
    )]
    Show {
        /// The name of a workload, a file of service times (what tools write; - for standard input), or percentiles
        /// ('p50 = 1.2 ms, p99 = 9 ms')
        workload: OsString,
        #[command(flatten)]
        input: Input,
        /// Columns of the plot [default: the terminal's]
        #[arg(long, value_name = "N")]
        width: Option<usize>,
    },
    /// Write what a tool wrote as CSV or TOML of this project
    #[command(mut_arg("weights", |arg| arg.hide(true)), mut_arg("replay", |arg| arg.hide(true)))]
    Convert {
        /// A file of service times, of whatever tool; - for standard input
        from: OsString,
        /// The file to write, .csv or .toml; - for standard output
        to: OsString,
        #[command(flatten)]
        input: Input,
    },
    /// The workloads that have a name, and their sources
    List,
}

pub(crate) fn run(args: &WorkloadArgs, global: &Global) -> miette::Result<ExitCode> {
    match &args.what {
        What::List => list(global),
        What::Show { workload, input, width } => {
            refuse_draws(input, input.recorded, "workload show")?;
            let shown = show(workload, input)?;
            if global.json {
                outln!("{}", serde_json::to_string(&shown.json()).into_diagnostic()?);
            } else {
                out!("{}", shown.text(width.unwrap_or_else(terminal_width)));
            }
        }
        What::Convert { from, to, input } => {
            refuse_draws(input, false, "workload convert")?;
            convert(from, to, input)?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// How requests are drawn matters to commands that draw some: to others it would be passed over in silence.
fn refuse_draws(input: &Input, recorded: bool, command: &str) -> miette::Result<()> {
    let given =
        [("--weights", !input.weights.is_empty()), ("--replay", input.replay), ("--recorded", recorded)];
    match given.into_iter().find(|(_, given)| *given) {
        Some((option, _)) => Err(miette!(
            help = "give it to plan, lanes, threshold or compare",
            "`{option}` says how requests are drawn, and `caudal {command}` draws none"
        )),
        None => Ok(()),
    }
}

/// Reads the workload; questions at a terminal come before anything is shown.
fn show(workload: &OsString, input: &Input) -> miette::Result<Shown> {
    match Shown::open_with(workload, &input.columns()) {
        Err(WorkloadError::Ask(_)) => {
            let mut spec = FileSpec { columns: input.columns(), ..FileSpec::new(workload) };
            compile_asking(&mut spec)?;
            Shown::open_with(workload, &spec.columns).map_err(|error| refused(&error))
        }
        shown => shown.map_err(|error| refused(&error)),
    }
}

fn convert(from: &OsString, to: &OsString, input: &Input) -> miette::Result<()> {
    let mut spec = FileSpec { columns: input.columns(), ..FileSpec::new(from) };
    let arrivals = input.recorded.then(|| TimestampFile {
        file: spec.file.clone(),
        columns: TimestampColumns {
            column: input.arrival_column.clone(),
            decimal: input.decimal,
            ..TimestampColumns::default()
        },
        scale: false,
    });
    let converted = match Converted::read(&spec, arrivals.as_ref()) {
        Err(WorkloadError::Ask(_)) => {
            compile_asking(&mut spec)?;
            Converted::read(&spec, arrivals.as_ref())
        }
        read => read,
    };
    let converted = converted.map_err(|error| refused(&error))?;
    errln!("read {} as {}", from.to_string_lossy(), converted.taken);
    converted.notes.iter().for_each(|note| errln!("note: {note}"));
    let ending = match converted.format() {
        ConvertedFormat::Csv => "csv",
        ConvertedFormat::Toml => "toml",
    };
    let path = Path::new(to);
    if path != Path::new("-") && path.extension().is_none_or(|found| !found.eq_ignore_ascii_case(ending)) {
        let what = if ending == "csv" { "values and counts are rows" } else { "percentiles are no rows" };
        return Err(miette!(
            help = format!("write {}", path.with_extension(ending).display()),
            "{what}: they are written as a file that ends in .{ending}, which `{}` does not",
            path.display()
        ));
    }
    write(&converted, path)
        .map_err(|error| Failure(format!("can not write `{}`: {error}", path.display())))?;
    Ok(())
}

/// Writes the whole file or none of it.
fn write(converted: &Converted, path: &Path) -> std::io::Result<()> {
    let content = |out: &mut dyn std::io::Write| -> std::io::Result<()> {
        let mut out = BufWriter::with_capacity(1 << 18, out);
        match converted.toml() {
            Some(toml) => out.write_all(toml.as_bytes())?,
            None => converted.write_csv(&mut out)?,
        }
        out.flush()
    };
    if path == Path::new("-") {
        return match content(&mut std::io::stdout().lock()) {
            Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
            written => written,
        };
    }
    let mut part = path.as_os_str().to_owned();
    part.push(".part");
    let written = std::fs::File::create(&part).and_then(|mut file| content(&mut file));
    let moved = written.and_then(|()| std::fs::rename(&part, path));
    if moved.is_err() {
        drop(std::fs::remove_file(&part));
    }
    moved
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
