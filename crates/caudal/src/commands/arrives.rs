//! The arguments that say what arrives: `--workload`, and how its file is to be read. `plan`, `compare`, `lanes` and `threshold` take
//! them into their own arguments, and call [`Arrives::read`] before they simulate. Reading opens the file, or standard input, and may ask
//! the user.

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::sync::Arc;

use caudal_config::{File, Measure, Options, Workload};
use caudal_workload::{
    ArrivalSpec, FileSpec, PercentileSpec, Replay, Service, ServiceSpec, TimestampColumns, TimestampFile,
};
use clap::Args;
use miette::miette;

use super::forks::Forks;
use super::input::{self, Input};

/// The requests that arrive, as the command line says them.
#[derive(Args, Clone, Debug)]
pub(crate) struct Arrives {
    /// A workload's name, a file with service times (what load generators, HdrHistogram, bpftrace, Prometheus and others
    /// write, CSV; - for standard input), percentiles ('p50 = 1.2 ms, p99 = 9 ms'), or a TOML file with a workload table
    #[arg(long, short, value_name = "NAME|FILE")]
    pub(crate) workload: OsString,
    #[command(flatten)]
    pub(crate) input: Input,
}

/// The kinds of things that `--workload` may name.
enum WorkloadKind {
    Named,
    Toml,
    /// A file of service times.
    Times,
    Percentiles,
    Neither,
}

impl Arrives {
    /// The workload as messages call it.
    pub(crate) fn name(&self) -> String {
        self.workload.to_string_lossy().into_owned()
    }

    /// The same, with what has to be known of it wherever it is named.
    pub(crate) fn title(&self, service: &Service) -> String {
        let name = self.name();
        if service.is_fitted() { format!("{name} (fitted to percentiles)") } else { name }
    }

    /// A name is one; so is what has the ending of a file, or is one.
    fn kind(&self) -> WorkloadKind {
        let path = Path::new(&self.workload);
        let is_toml = path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("toml"));
        let is_there = path.exists() && !path.is_dir();
        let name = self.name();
        if caudal_workload::find_named(&name).is_ok() {
            WorkloadKind::Named
        } else if is_toml {
            WorkloadKind::Toml
        } else if is_there || self.workload == OsStr::new("-") {
            WorkloadKind::Times
        } else if PercentileSpec::parse(&name).is_some() {
            WorkloadKind::Percentiles
        } else if path.extension().is_some() {
            WorkloadKind::Times
        } else {
            WorkloadKind::Neither
        }
    }

    fn neither(&self) -> miette::Report {
        let names: Vec<&str> = caudal_workload::named().iter().map(|named| named.name).collect();
        let help = format!(
            "a name is one of {}; a file holds service times, as CSV (a value a line, or class,service_ns) or as tools write \
             them (`docs/guides/measure-your-service.md`), or is a .toml file with the table [workload]",
            names.join(", ")
        );
        miette!(help = help, "`{}` is neither the name of a workload nor a file", self.name())
    }

    /// The workload, and what its file says of how to measure.
    pub(crate) fn read(&self) -> miette::Result<(Arc<Workload>, Measure)> {
        self.read_forking(Forks::default())
    }

    /// The same of requests that can run in parallel like this.
    pub(crate) fn read_forking(&self, forks: Forks) -> miette::Result<(Arc<Workload>, Measure)> {
        self.read_with(forks, None)
    }

    /// The same with other arrivals, as the value of `arrivals` in a file says them.
    pub(crate) fn read_with(
        &self,
        forks: Forks,
        arrivals: Option<&str>,
    ) -> miette::Result<(Arc<Workload>, Measure)> {
        let kind = self.kind();
        if let (WorkloadKind::Named | WorkloadKind::Toml | WorkloadKind::Percentiles, Some(option)) =
            (&kind, self.input.given())
        {
            return Err(match kind {
                WorkloadKind::Toml => miette!(
                    help = "write it into the file's `service`",
                    "{option} goes with a file of service times"
                ),
                _ => miette!(
                    help = "give the file, as in --workload service.csv --weights get=0.995,scan=0.005",
                    "{option} goes with a file of service times, which `{}` is not",
                    self.name()
                ),
            });
        }
        let file = match kind {
            WorkloadKind::Toml => self.read_toml(forks, arrivals)?,
            WorkloadKind::Times => self.read_times(forks, arrivals)?,
            WorkloadKind::Percentiles => {
                let spec = PercentileSpec::parse(&self.name()).expect("that is what it is");
                let spec = ServiceSpec::Percentiles(spec.map_err(|error| miette!("{error}"))?);
                let service = spec.compile(Path::new("")).map_err(|error| miette!("{error}"))?;
                compiled((spec, service), None, forks, arrivals)?
            }
            WorkloadKind::Named => {
                let spec = ServiceSpec::named(self.name());
                let service = spec.compile(Path::new("")).map_err(|error| miette!("{error}"))?;
                compiled((spec, service), None, forks, arrivals)?
            }
            WorkloadKind::Neither => return Err(self.neither()),
        };
        let workload = file.workload.clone().ok_or_else(|| {
            miette!(help = "add it, as in service = \"exp-1us\"", "`{}` has no table [workload]", self.name())
        })?;
        Ok((workload, Measure::clone(&file.measure)))
    }

    /// A file of service times, and of arrivals if it is to be played as it was recorded.
    fn read_times(&self, forks: Forks, said: Option<&str>) -> miette::Result<File> {
        let Input { recorded, replay, .. } = self.input;
        let mut spec = FileSpec {
            columns: self.input.columns(),
            weights: self.input.shares()?,
            replay: if replay || recorded { Replay::FromStart } else { Replay::Off },
            ..FileSpec::new(&self.workload)
        };
        let service = input::compile_asking(&mut spec)?;
        if let Some(taken) = service.taken() {
            errln!("read {} as {taken}", self.name());
        }
        let arrivals = if recorded { Some(self.arrivals(&spec, &service)?) } else { None };
        compiled((ServiceSpec::File(spec), service), arrivals, forks, said)
    }

    /// When the requests of the file arrived.
    fn arrivals(
        &self,
        service: &FileSpec,
        compiled: &Service,
    ) -> miette::Result<(ArrivalSpec, caudal_workload::Arrivals)> {
        if self.workload == OsStr::new("-") {
            return Err(miette!(
                help = "write it to a file first",
                "--recorded reads the file twice, which standard input can not be"
            ));
        }
        let mut columns = TimestampColumns {
            column: self.input.arrival_column.clone(),
            decimal: service.columns.decimal,
            ..Default::default()
        };
        // The same rows.
        columns.filter = compiled.taken().map(|taken| taken.filter.clone()).unwrap_or_default();
        let file = TimestampFile { file: service.file.clone(), columns, scale: true };
        let spec = ArrivalSpec::File(file);
        let arrivals = spec.compile(Path::new("")).map_err(|error| {
            miette!(
                help =
                    "--arrival-column names the column; without --recorded, arrivals are a Poisson process",
                "when requests arrived: {error}"
            )
        })?;
        if let Some(taken) = arrivals.taken() {
            errln!("read {} as {taken}", self.name());
        }
        for note in arrivals.notes() {
            errln!("note: {note}");
        }
        Ok((spec, arrivals))
    }

    /// A file may describe a workload alone; its systems do not matter here.
    fn read_toml(&self, forks: Forks, arrivals: Option<&str>) -> miette::Result<File> {
        let mut overrides = forks.overrides();
        overrides.extend(arrivals.map(|said| format!("workload.arrivals={said}")));
        let options = Options { overrides, ..Options::default() };
        match File::read_with(&self.workload, &options) {
            Err(error) if error.problems().iter().any(|problem| problem.key == "system") => {
                // As many as there can be: recorded arrivals overload none of them.
                let cores = format!("system.cores={}", caudal_config::CORES_MAX);
                let overrides = options.overrides.into_iter().chain([cores]).collect();
                let alone = File::read_with(&self.workload, &Options { overrides, ..Options::default() });
                // The first error is about what the user wrote.
                alone.map_err(|_| error.into())
            }
            read => Ok(read?),
        }
    }
}

/// A file around a service that was compiled already: it is ours, so that an error shows none of it.
fn compiled(
    service: (ServiceSpec, Service),
    arrivals: Option<(ArrivalSpec, caudal_workload::Arrivals)>,
    forks: Forks,
    said: Option<&str>,
) -> miette::Result<File> {
    let text = format!("[workload]\nservice = \"exp-1us\"\n{}[system]\ncores = 1\n", forks.key());
    let overrides = said.map(|said| format!("workload.arrivals={said}")).into_iter().collect();
    let options = Options { service: Some(service), arrivals, overrides, ..Options::default() };
    File::parse_with(&text, "--workload", &options).map_err(|error| match error.problems() {
        [] => error.into(),
        [problem, ..] => match &problem.help {
            Some(help) => miette!(help = help.clone(), "{}", problem.message),
            None => miette!("{}", problem.message),
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arrives(workload: &str, weights: &[&str]) -> Arrives {
        let weights = weights.iter().map(|&text| text.to_owned()).collect();
        Arrives { workload: workload.into(), input: Input { weights, ..Input::default() } }
    }

    #[test]
    fn workloads_come_by_name_and_by_file() {
        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| dir.path().join(name).display().to_string();
        std::fs::write(path("a.csv"), "class,service_ns\nget,1000\nget,1200\nscan,90000\n").unwrap();
        std::fs::write(path("a.toml"), "[workload]\nservice = \"exp-1us\"\n[measure]\nseed = 7\n").unwrap();
        assert_eq!(arrives("exp-1us", &[]).read().unwrap().0.service.classes(), ["all"]);
        let (workload, _) = arrives(&path("a.csv"), &["get=0.9", "scan=0.1"]).read().unwrap();
        assert!((workload.service.class_weight(1) - 0.1).abs() < 1e-9);
        assert_eq!(arrives(&path("a.toml"), &[]).read().unwrap().1.seed, 7);
        let times: String = (0..200).map(|n| format!("{}\n", 50 * n)).collect();
        std::fs::write(path("times.csv"), times).unwrap();
        std::fs::write(
            path("recorded.toml"),
            "[workload]\nservice = \"exp-1us\"\narrivals = { file = \"times.csv\" }\n",
        )
        .unwrap();
        let (recorded, _) = arrives(&path("recorded.toml"), &[]).read().unwrap();
        assert_eq!(recorded.arrivals.natural_rate(), Some(2e7), "more than one core carries");
        for other in ["A.CSV", "mine.dat", "mine", "B.TOML"] {
            let from = if other == "B.TOML" { "a.toml" } else { "a.csv" };
            std::fs::copy(path(from), path(other)).unwrap();
            let classes = arrives(&path(other), &[]).read().unwrap().0.service.classes().len();
            assert_eq!(classes, if other == "B.TOML" { 1 } else { 2 }, "{other}");
        }
        for (wrong, says) in [
            (arrives("exp-2us", &[]), "exp-1us"),
            (arrives("mine.dat", &[]), "cannot read mine.dat"),
            (arrives(".", &[]), "neither the name of a workload nor a file"),
            (arrives("exp-1us", &["get=1"]), "goes with a file"),
            (arrives(&path("a.csv"), &["get"]), "no list of classes with their shares"),
            (arrives(&path("a.csv"), &["get=nan", "scan=0.5"]), "no list of classes with their shares"),
            (arrives(&path("b.csv"), &[]), "b.csv"),
        ] {
            let error = format!("{:?}", wrong.read().unwrap_err());
            assert!(error.contains(says), "{says}: {error}");
        }
    }
}
