//! Deserialisation of [`ServiceSpec`] and its parts, with errors that say what was given and what is allowed.
//! serde calls it, for policy files and for workloads in them.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

use caudal_policy::time::Picos;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, Deserializer, Error, MapAccess, Visitor};
use serde::{Serialize, Serializer};

use super::keys::need;
use super::{
    ClassSpec, DistributionSpec, FileSpec, HyperPhases, LogSpread, PercentileSpec, Phase, Replay,
    ServiceSpec, Spread, keys,
};
use crate::input::{Columns, Unit};
use crate::nearest::unknown;

const DISTRIBUTIONS: [&str; 8] = [
    "constant",
    "exponential",
    "bimodal",
    "mixture",
    "log-normal",
    "bounded-pareto",
    "hyper-exponential",
    "gamma",
];

/// Keys of [`Columns`].
pub(crate) const COLUMNS: [&str; 6] = ["column", "class_column", "count_column", "unit", "where", "decimal"];

keys! {
    /// Every key that a table of service times can have.
    struct Keys {
        distribution: String, file: PathBuf,
        value: Picos, mean: Picos, scv: f64, sd: Picos, sigma: f64,
        short: Picos, long: Picos, p_long: f64,
        alpha: f64, min: Picos, max: Picos,
        phases: Vec<Phase>, classes: Vec<ClassSpec>,
        column: String, class_column: String, count_column: String, unit: Unit, r#where: Vec<String>, decimal: char,
        replay: Replay, weights: BTreeMap<String, f64>, scale: BTreeMap<String, f64>,
        percentiles: BTreeMap<String, Picos>,
    }
}

impl Keys {
    fn into_spec(self) -> Result<ServiceSpec, String> {
        match (&self.distribution, &self.file, &self.percentiles) {
            (Some(_), Some(_), _) => Err("`distribution` and `file` exclude each other; keep one".into()),
            (None, None, None) => Err("needs `distribution` or `file`, or a name such as \"exp-1us\"".into()),
            (None, None, Some(_)) => {
                self.only("a table of percentiles", &["percentiles"])?;
                let percentiles = need("a table of percentiles", "percentiles", self.percentiles)?;
                Ok(ServiceSpec::Percentiles(PercentileSpec { percentiles }))
            }
            (None, Some(_), _) => self.into_file().map(ServiceSpec::File),
            (Some(name), None, _) => {
                let name = name.clone();
                self.into_distribution(&name).map(ServiceSpec::Distribution)
            }
        }
    }

    fn into_file(self) -> Result<FileSpec, String> {
        self.only(
            "a file of service times",
            &[&["file"], COLUMNS.as_slice(), &["replay", "weights", "scale"]].concat(),
        )?;
        let file = need("a file of service times", "file", self.file)?;
        if self.replay.is_some_and(|replay| replay != Replay::Off) && self.weights.is_some() {
            return Err("`replay` keeps the file's own shares, `weights` changes them; keep one".into());
        }
        let replay = self.replay.unwrap_or_default();
        let columns = Columns {
            column: self.column,
            class_column: self.class_column,
            count_column: self.count_column,
            unit: self.unit,
            filter: self.r#where.unwrap_or_default(),
            decimal: self.decimal,
        };
        Ok(FileSpec { file, columns, replay, weights: self.weights, scale: self.scale })
    }

    fn into_distribution(self, name: &str) -> Result<DistributionSpec, String> {
        let what = format!("\"{name}\"");
        let only = |keys: &[&str]| self.only(&what, &[&["distribution"], keys].concat());
        Ok(match name {
            "constant" => {
                only(&["value"])?;
                DistributionSpec::Constant { value: need(&what, "value", self.value)? }
            }
            "exponential" => {
                only(&["mean"])?;
                DistributionSpec::Exponential { mean: need(&what, "mean", self.mean)? }
            }
            "bimodal" => {
                only(&["short", "long", "p_long"])?;
                DistributionSpec::Bimodal {
                    short: need(&what, "short", self.short)?,
                    long: need(&what, "long", self.long)?,
                    p_long: need(&what, "p_long", self.p_long)?,
                }
            }
            "mixture" => {
                only(&["classes"])?;
                DistributionSpec::Mixture { classes: need(&what, "classes", self.classes)? }
            }
            "log-normal" => {
                only(&["mean", "scv", "sd", "sigma"])?;
                let spread = match (self.scv, self.sd, self.sigma) {
                    (Some(scv), None, None) => LogSpread::Scv(scv),
                    (None, Some(sd), None) => LogSpread::Sd(sd),
                    (None, None, Some(sigma)) => LogSpread::Sigma(sigma),
                    _ => return Err(format!("{what} needs exactly one of `scv`, `sd` or `sigma`")),
                };
                DistributionSpec::LogNormal { mean: need(&what, "mean", self.mean)?, spread }
            }
            "bounded-pareto" => {
                only(&["alpha", "min", "max"])?;
                DistributionSpec::BoundedPareto {
                    alpha: need(&what, "alpha", self.alpha)?,
                    min: need(&what, "min", self.min)?,
                    max: need(&what, "max", self.max)?,
                }
            }
            "hyper-exponential" => {
                only(&["mean", "scv", "phases"])?;
                DistributionSpec::HyperExponential { phases: self.into_phases(&what)? }
            }
            "gamma" => {
                only(&["mean", "scv", "sd"])?;
                let spread = match (self.scv, self.sd) {
                    (Some(scv), None) => Spread::Scv(scv),
                    (None, Some(sd)) => Spread::Sd(sd),
                    _ => return Err(format!("{what} needs exactly one of `scv` or `sd`")),
                };
                DistributionSpec::Gamma { mean: need(&what, "mean", self.mean)?, spread }
            }
            other => return Err(unknown("distribution", other, &DISTRIBUTIONS)),
        })
    }
}

impl Keys {
    fn into_phases(self, what: &str) -> Result<HyperPhases, String> {
        match (self.mean, self.scv, self.phases) {
            (None, None, Some(phases)) => Ok(HyperPhases::Phases { phases }),
            (Some(mean), Some(scv), None) => Ok(HyperPhases::Balanced { mean, scv }),
            _ => Err(format!("{what} needs either `mean` and `scv`, or `phases`")),
        }
    }
}

impl<'de> Deserialize<'de> for ServiceSpec {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<ServiceSpec, D::Error> {
        struct SpecVisitor;
        impl<'de> Visitor<'de> for SpecVisitor {
            type Value = ServiceSpec;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a workload's name, or a table with `distribution` or `file`")
            }
            fn visit_str<E: Error>(self, name: &str) -> Result<ServiceSpec, E> {
                Ok(ServiceSpec::named(name))
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<ServiceSpec, A::Error> {
                Keys::deserialize(MapAccessDeserializer::new(map))?.into_spec().map_err(A::Error::custom)
            }
        }
        deserializer.deserialize_any(SpecVisitor)
    }
}

impl Serialize for Replay {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Replay::Off => serializer.serialize_bool(false),
            Replay::FromStart => serializer.serialize_bool(true),
            Replay::Rotate => serializer.serialize_str("rotate"),
        }
    }
}

impl<'de> Deserialize<'de> for Replay {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Replay, D::Error> {
        struct ReplayVisitor;
        impl Visitor<'_> for ReplayVisitor {
            type Value = Replay;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("true, false or \"rotate\"")
            }
            fn visit_bool<E: Error>(self, on: bool) -> Result<Replay, E> {
                Ok(if on { Replay::FromStart } else { Replay::Off })
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<Replay, E> {
                match text {
                    "rotate" => Ok(Replay::Rotate),
                    _ => Err(E::invalid_value(serde::de::Unexpected::Str(text), &self)),
                }
            }
        }
        deserializer.deserialize_any(ReplayVisitor)
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for Replay {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Replay".into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "enum": [true, false, "rotate"], "default": false })
    }
}
