//! What arrives: `--workload` and `--weights`.

use std::path::Path;
use std::sync::Arc;

use caudal_config::{File, Measure, Options, Workload};
use clap::Args;
use miette::miette;

use super::forks::Forks;

/// What arrives.
#[derive(Args, Clone, Debug)]
pub(crate) struct Arrives {
    /// A workload's name, a file with service times (.csv, .hlog, .hgrm), or a TOML file with a workload table
    #[arg(long, short, value_name = "NAME|FILE")]
    pub(crate) workload: String,
    /// Shares of the classes of a file of service times, instead of the file's own
    #[arg(long, value_delimiter = ',', value_name = "CLASS=SHARE,...")]
    pub(crate) weights: Vec<String>,
}

/// What the user means by `--workload`.
enum Kind {
    Named,
    Toml,
    /// A file of service times.
    Times,
    Neither,
}

impl Arrives {
    /// A name is one; so is what has the ending of a file, or is one.
    fn kind(&self) -> Kind {
        let path = Path::new(&self.workload);
        let ending = path.extension().map(std::ffi::OsStr::to_ascii_lowercase);
        match ending.as_deref().and_then(std::ffi::OsStr::to_str) {
            _ if caudal_workload::find_named(&self.workload).is_ok() => Kind::Named,
            Some("toml") => Kind::Toml,
            Some("csv" | "txt" | "hlog" | "hgrm") => Kind::Times,
            _ if path.is_file() => Kind::Times,
            _ => Kind::Neither,
        }
    }

    fn neither(&self) -> miette::Report {
        let names: Vec<&str> = caudal_workload::named().iter().map(|named| named.name).collect();
        let help = format!(
            "a name is one of {}; a file holds service times (CSV: a value a line, or class,service_ns; .hlog and .hgrm \
             of HdrHistogram), or is a .toml file with the table [workload]",
            names.join(", ")
        );
        miette!(help = help, "`{}` is neither the name of a workload nor a file", self.workload)
    }

    /// The workload, and what its file says of how to measure.
    pub(crate) fn read(&self) -> miette::Result<(Arc<Workload>, Measure)> {
        self.read_forking(Forks::default())
    }

    /// The same of requests that can run in parallel like this.
    pub(crate) fn read_forking(&self, forks: Forks) -> miette::Result<(Arc<Workload>, Measure)> {
        let file = match self.kind() {
            Kind::Toml => self.read_toml(forks)?,
            Kind::Times => {
                let path = serde_json::Value::from(self.workload.as_str());
                self.parse(&format!("{{ file = {path}{} }}", self.shares()?), forks)?
            }
            Kind::Named if !self.weights.is_empty() => {
                return Err(miette!(
                    help = "give the file, as in --workload service.csv --weights get=0.995,scan=0.005",
                    "--weights goes with a file of service times, `{}` is the name of a workload",
                    self.workload
                ));
            }
            Kind::Named => self.parse(&serde_json::Value::from(self.workload.as_str()).to_string(), forks)?,
            Kind::Neither => return Err(self.neither()),
        };
        let workload = file.workload.clone().ok_or_else(|| {
            miette!(
                help = "add it, as in service = \"exp-1us\"",
                "`{}` has no table [workload]",
                self.workload
            )
        })?;
        Ok((workload, Measure::clone(&file.measure)))
    }

    /// A file may describe a workload alone; its systems do not matter here.
    fn read_toml(&self, forks: Forks) -> miette::Result<File> {
        if !self.weights.is_empty() {
            return Err(miette!(
                help = "write them into the file's `service`",
                "--weights goes with a file of service times"
            ));
        }
        let options = Options { overrides: forks.overrides(), ..Options::default() };
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

    /// The file around `service` is ours: an error shows none of it.
    fn parse(&self, service: &str, forks: Forks) -> miette::Result<File> {
        let text = format!("[workload]\nservice = {service}\n{}[system]\ncores = 1\n", forks.key());
        File::parse(&text, "--workload").map_err(|error| match error.problems() {
            [] => error.into(),
            [problem, ..] => match &problem.help {
                Some(help) => miette!(help = help.clone(), "{}", problem.message),
                None => miette!("{}", problem.message),
            },
        })
    }

    /// `, weights = { get = 0.995, scan = 0.005 }`
    fn shares(&self) -> miette::Result<String> {
        if self.weights.is_empty() {
            return Ok(String::new());
        }
        let share = |text: &String| {
            let (class, share) = text.split_once('=')?;
            let share: f64 = share.trim().parse().ok().filter(|share: &f64| share.is_finite())?;
            Some(format!("{} = {share:?}", serde_json::Value::from(class.trim())))
        };
        let shares: Option<Vec<String>> = self.weights.iter().map(share).collect();
        let shares = shares.ok_or_else(|| {
            miette!(
                help = "write --weights get=0.995,scan=0.005",
                "`{}` is no list of classes with their shares",
                self.weights.join(",")
            )
        })?;
        Ok(format!(", weights = {{ {} }}", shares.join(", ")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arrives(workload: &str, weights: &[&str]) -> Arrives {
        Arrives {
            workload: workload.to_owned(),
            weights: weights.iter().map(|&text| text.to_owned()).collect(),
        }
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
            (arrives("mine.dat", &[]), ".hlog"),
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
