//! The arguments that say how a file of service times is to be read (column, unit, condition), and the questions that are put to the user
//! where the file does not say. `arrives` and `workload` read files with them; `lanes` and `threshold` also repeat them in the command
//! that a report names. At a terminal it asks and waits for an answer; elsewhere it returns the question as an error.

use std::collections::BTreeMap;
use std::io::{BufRead as _, IsTerminal as _};
use std::path::Path;
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::time::Duration;

use caudal_workload::{Ask, Columns, FileSpec, Service, ServiceSpec, Unit, WorkloadError};
use clap::Args;
use miette::miette;

use crate::global;

/// Questions that one file may leave.
const QUESTIONS_MAX: usize = 8;

/// How a file of service times is to be read.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "A file of service times")]
pub(crate) struct Input {
    /// The column that holds the times: its name, or its number from 1; of several histograms, the name of one
    #[arg(long, value_name = "COLUMN")]
    pub(crate) column: Option<String>,
    /// The column that holds the classes [default: class; '' for none]
    #[arg(long, value_name = "COLUMN")]
    pub(crate) class_column: Option<String>,
    /// The column that says how often each time occurs [default: count; '' for none]
    #[arg(long, value_name = "COLUMN")]
    pub(crate) count_column: Option<String>,
    /// The unit of the times: ps, ns, us, ms or s [default: what the file says]
    #[arg(long, value_name = "UNIT", value_parser = unit)]
    pub(crate) unit: Option<Unit>,
    /// Only rows of which this holds, as in metric_name=http_req_duration or status!=500; several must all hold
    #[arg(long = "where", value_name = "COLUMN=VALUE")]
    pub(crate) filter: Vec<String>,
    /// The character before decimals: . or , [default: what the file shows]
    #[arg(long, value_name = "CHARACTER", value_parser = decimal)]
    pub(crate) decimal: Option<char>,
    /// Shares of the classes, instead of the file's own
    #[arg(long, value_delimiter = ',', value_name = "CLASS=SHARE,...")]
    pub(crate) weights: Vec<String>,
    /// Keep the order of the rows, instead of drawing them independently
    #[arg(long)]
    pub(crate) replay: bool,
    /// Play the requests as they came: the rows in their order, at the times of the file, stretched to the load
    #[arg(long)]
    pub(crate) recorded: bool,
    /// The column that says when requests arrived, for --recorded
    #[arg(long, value_name = "COLUMN", requires = "recorded")]
    pub(crate) arrival_column: Option<String>,
}

fn unit(text: &str) -> Result<Unit, String> {
    Unit::of_word(text).ok_or_else(|| "write ps, ns, us, ms or s".to_owned())
}

fn decimal(text: &str) -> Result<char, String> {
    match text {
        "," | "comma" => Ok(','),
        "." | "point" => Ok('.'),
        _ => Err("write , or .".to_owned()),
    }
}

impl Input {
    /// The parts of the file to read.
    pub(crate) fn columns(&self) -> Columns {
        Columns {
            column: self.column.clone(),
            class_column: self.class_column.clone(),
            count_column: self.count_column.clone(),
            unit: self.unit,
            filter: self.filter.clone(),
            decimal: self.decimal,
        }
    }

    /// An option that was given, if any was.
    pub(crate) fn given(&self) -> Option<&'static str> {
        let all = [
            ("--column", self.column.is_some()),
            ("--class-column", self.class_column.is_some()),
            ("--count-column", self.count_column.is_some()),
            ("--unit", self.unit.is_some()),
            ("--where", !self.filter.is_empty()),
            ("--decimal", self.decimal.is_some()),
            ("--weights", !self.weights.is_empty()),
            ("--replay", self.replay),
            ("--recorded", self.recorded),
        ];
        all.into_iter().find(|(_, given)| *given).map(|(option, _)| option)
    }

    /// The options as they would be typed, each with a blank in front.
    pub(crate) fn typed(&self) -> String {
        let mut text = String::new();
        let mut add = |option: &str, value: &str| text += &format!(" {option} '{value}'");
        self.column.iter().for_each(|column| add("--column", column));
        self.class_column.iter().for_each(|column| add("--class-column", column));
        self.count_column.iter().for_each(|column| add("--count-column", column));
        self.unit.iter().for_each(|unit| add("--unit", unit.name()));
        self.filter.iter().for_each(|filter| add("--where", filter));
        self.decimal.iter().for_each(|decimal| add("--decimal", &decimal.to_string()));
        self.arrival_column.iter().for_each(|column| add("--arrival-column", column));
        if !self.weights.is_empty() {
            text += &format!(" --weights {}", self.weights.join(","));
        }
        text += if self.recorded { " --recorded" } else { "" };
        text += if self.replay { " --replay" } else { "" };
        text
    }

    /// The shares of classes.
    ///
    /// # Errors
    /// If they are none.
    pub(crate) fn shares(&self) -> miette::Result<Option<BTreeMap<String, f64>>> {
        if self.weights.is_empty() {
            return Ok(None);
        }
        let share = |text: &String| {
            let (class, share) = text.split_once('=')?;
            let share: f64 = share.trim().parse().ok().filter(|share: &f64| share.is_finite())?;
            Some((class.trim().to_owned(), share))
        };
        let shares: Option<BTreeMap<String, f64>> = self.weights.iter().map(share).collect();
        shares.map(Some).ok_or_else(|| {
            miette!(
                help = "write --weights get=0.995,scan=0.005",
                "`{}` is no list of classes with their shares",
                self.weights.join(",")
            )
        })
    }
}

/// Compiles a file; what it leaves open is asked at a terminal, and the answers are kept in `spec`.
///
/// # Errors
/// If the file is wrong, or leaves a question that nobody is there to answer.
pub(crate) fn compile_asking(spec: &mut FileSpec) -> miette::Result<Service> {
    for _ in 0..QUESTIONS_MAX {
        match ServiceSpec::File(spec.clone()).compile(Path::new("")) {
            Ok(service) => return Ok(service),
            Err(WorkloadError::Ask(ask)) if can_ask(&spec.file) && !ask.answers.is_empty() => {
                answer(&ask, &mut spec.columns)?;
            }
            Err(error) => return Err(refused(&error)),
        }
    }
    Err(miette!("`{}` leaves more questions than there are answers", spec.file.display()))
}

/// An error of an input: a question as it is, in lines of its own.
pub(crate) fn refused(error: &WorkloadError) -> miette::Report {
    miette!("{error}")
}

/// Is somebody there who can answer, and can the file be read once more?
fn can_ask(file: &Path) -> bool {
    std::io::stdin().is_terminal() && std::io::stderr().is_terminal() && file.is_file()
}

/// Asks, and keeps the answer.
fn answer(ask: &Ask, columns: &mut Columns) -> miette::Result<()> {
    errln!("{}: {}.", ask.path.display(), ask.problem);
    let width = ask.answers.iter().map(|answer| answer.value.chars().count()).max().unwrap_or(0);
    for (number, answer) in ask.answers.iter().enumerate() {
        let key = answer.key.key().replace('_', " ");
        errln!("  {}  {key} {:<width$}  {}", number + 1, answer.value, answer.means);
    }
    loop {
        err!("Which is it, 1 to {}? ", ask.answers.len());
        let Some(line) = line()? else {
            return Err(refused(&WorkloadError::Ask(Box::new(ask.clone()))));
        };
        let number = line.trim().parse::<usize>().ok().and_then(|number| number.checked_sub(1));
        let known = ask.answers.iter().find(|answer| answer.value == line.trim());
        if let Some(answer) = number.and_then(|number| ask.answers.get(number)).or(known) {
            let kept = columns.answer(answer.key, &answer.value);
            return kept.map_err(|wrong| miette!("`{wrong}` is no answer"));
        }
    }
}

/// A line of standard input; nothing at its end.
///
/// # Errors
/// If Ctrl-C came first.
fn line() -> miette::Result<Option<String>> {
    let (sender, receiver) = sync_channel(1);
    std::thread::spawn(move || {
        let mut line = String::new();
        let read = std::io::stdin().lock().read_line(&mut line);
        let _ = sender.send(read.ok().filter(|&bytes| bytes > 0).map(|_| line));
    });
    loop {
        match receiver.recv_timeout(Duration::from_millis(50)) {
            Ok(line) => return Ok(line),
            Err(RecvTimeoutError::Disconnected) => return Ok(None),
            Err(RecvTimeoutError::Timeout) if global::is_stopping() => {
                return Err(crate::exit::Interrupted(String::new()).into());
            }
            Err(RecvTimeoutError::Timeout) => {}
        }
    }
}
