//! Deserialisation of [`ArrivalSpec`], with errors that say what was given and what is allowed.
//! serde calls it, for policy files.

use std::fmt;
use std::path::PathBuf;

use caudal_policy::time::Picos;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, Deserializer, Error, MapAccess, Visitor};

use super::{ArrivalSpec, GapPhase, GapPhases, GapSpread, RampPoint, Step, TimestampColumns, TimestampFile};
use crate::input::Unit;
use crate::nearest::unknown;
use crate::spec::{keys, need};

const PROCESSES: [&str; 8] =
    ["poisson", "constant", "log-normal", "gamma", "hyper-exponential", "on-off", "steps", "ramps"];

keys! {
    /// Every key that a table of arrivals can have.
    struct Keys {
        process: String, file: PathBuf,
        scv: f64, sigma: f64, phases: Vec<GapPhase>,
        on: Picos, off: Picos, off_rate: f64,
        steps: Vec<Step>, points: Vec<RampPoint>,
        column: String, unit: Unit, r#where: Vec<String>, decimal: char, scale: bool,
    }
}

impl Keys {
    fn into_spec(self) -> Result<ArrivalSpec, String> {
        match (&self.process, &self.file) {
            (Some(_), Some(_)) => Err("`process` and `file` exclude each other; keep one".into()),
            (None, None) => Err("needs `process` or `file`, or is \"poisson\" or \"constant\"".into()),
            (Some(name), None) => {
                let name = name.clone();
                self.into_process(&name)
            }
            (None, Some(_)) => {
                self.only("a file of timestamps", &["file", "column", "unit", "where", "decimal", "scale"])?;
                let file = need("a file of timestamps", "file", self.file)?;
                let scale = self.scale.unwrap_or_default();
                let columns = TimestampColumns {
                    column: self.column,
                    unit: self.unit,
                    filter: self.r#where.unwrap_or_default(),
                    decimal: self.decimal,
                };
                Ok(ArrivalSpec::File(TimestampFile { file, columns, scale }))
            }
        }
    }

    fn into_process(self, name: &str) -> Result<ArrivalSpec, String> {
        let what = format!("\"{name}\"");
        let only = |keys: &[&str]| self.only(&what, &[&["process"], keys].concat());
        match name {
            "poisson" | "constant" => {
                only(&[])?;
                simple(name).ok_or_else(|| unknown("arrival process", name, &PROCESSES))
            }
            "log-normal" => {
                only(&["scv", "sigma"])?;
                let spread = match (self.scv, self.sigma) {
                    (Some(scv), None) => GapSpread::Scv(scv),
                    (None, Some(sigma)) => GapSpread::Sigma(sigma),
                    _ => return Err(format!("{what} needs exactly one of `scv` or `sigma`")),
                };
                Ok(ArrivalSpec::LogNormal { spread })
            }
            "gamma" => {
                only(&["scv"])?;
                Ok(ArrivalSpec::Gamma { scv: need(&what, "scv", self.scv)? })
            }
            "hyper-exponential" => {
                only(&["scv", "phases"])?;
                let phases = match (self.scv, self.phases) {
                    (Some(scv), None) => GapPhases::Scv(scv),
                    (None, Some(phases)) => GapPhases::Phases(phases),
                    _ => return Err(format!("{what} needs exactly one of `scv` or `phases`")),
                };
                Ok(ArrivalSpec::HyperExponential { phases })
            }
            "on-off" => {
                only(&["on", "off", "off_rate"])?;
                let (on, off) = (need(&what, "on", self.on)?, need(&what, "off", self.off)?);
                Ok(ArrivalSpec::OnOff { on, off, off_rate: self.off_rate.unwrap_or(0.0) })
            }
            "steps" => {
                only(&["steps"])?;
                Ok(ArrivalSpec::Steps { steps: need(&what, "steps", self.steps)? })
            }
            "ramps" => {
                only(&["points"])?;
                Ok(ArrivalSpec::Ramps { points: need(&what, "points", self.points)? })
            }
            other => Err(unknown("arrival process", other, &PROCESSES)),
        }
    }
}

fn simple(name: &str) -> Option<ArrivalSpec> {
    match name {
        "poisson" => Some(ArrivalSpec::Poisson),
        "constant" => Some(ArrivalSpec::Constant),
        _ => None,
    }
}

impl<'de> Deserialize<'de> for ArrivalSpec {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<ArrivalSpec, D::Error> {
        struct SpecVisitor;
        impl<'de> Visitor<'de> for SpecVisitor {
            type Value = ArrivalSpec;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("\"poisson\", \"constant\", or a table with `process` or `file`")
            }
            fn visit_str<E: Error>(self, name: &str) -> Result<ArrivalSpec, E> {
                simple(name).ok_or_else(|| {
                    let more = PROCESSES.contains(&name);
                    E::custom(if more {
                        format!("\"{name}\" needs parameters; write {{ process = \"{name}\", … }}")
                    } else {
                        unknown("arrival process", name, &PROCESSES)
                    })
                })
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<ArrivalSpec, A::Error> {
                Keys::deserialize(MapAccessDeserializer::new(map))?.into_spec().map_err(A::Error::custom)
            }
        }
        deserializer.deserialize_any(SpecVisitor)
    }
}
