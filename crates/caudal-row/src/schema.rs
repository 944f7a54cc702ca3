//! The row as a JSON Schema, for programs in other languages; `docs/reference/row.schema.json` holds it.

use schemars::generate::SchemaSettings;
use schemars::{Schema, SchemaGenerator, json_schema};
use serde_json::Value;

use crate::row::{ClassRow, Row, VERSION};

/// The schema of a row (JSON Schema 2020-12), with the [version](VERSION) of its keys.
#[must_use]
pub fn schema() -> Value {
    let mut schema = SchemaSettings::draft2020_12().into_generator().into_root_schema_for::<Row>().to_value();
    if let Some(keys) = schema.as_object_mut() {
        keys.insert("title".to_owned(), "Row of results".into());
        keys.insert("version".to_owned(), VERSION.into());
    }
    schema
}

/// An estimate with its interval, or `null`.
pub(crate) fn estimate(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": ["object", "null"],
        "properties": {
            "estimate": { "type": "number" },
            "low": { "type": ["number", "null"] },
            "high": { "type": ["number", "null"] },
        },
        "required": ["estimate", "low", "high"],
    })
}

/// The estimates of a distribution: `mean`, percentiles such as `p99.9`, and the largest value.
pub(crate) fn summary(generator: &mut SchemaGenerator) -> Schema {
    let estimate = estimate(generator);
    json_schema!({
        "type": "object",
        "properties": { "mean": estimate, "max": { "type": ["number", "null"] } },
        "patternProperties": { r"^p[0-9.]+$": estimate },
    })
}

/// Statistics by the name of the class.
pub(crate) fn classes(generator: &mut SchemaGenerator) -> Schema {
    let class = generator.subschema_for::<ClassRow>();
    json_schema!({ "type": "object", "additionalProperties": class })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A key that goes or is called otherwise breaks those who read rows; it raises the version, and this list then changes with it.
    #[test]
    fn keys_of_this_version_are_kept() {
        let schema = schema();
        assert_eq!(schema["version"], 1);
        let keys: Vec<&String> = schema["properties"].as_object().expect("an object").keys().collect();
        let known = [
            "system",
            "point",
            "load",
            "rate_per_s",
            "cores",
            "cores_allocated",
            "cores_dedicated",
            "varied",
            "deployable",
            "requests",
            "unfinished",
            "warm_up",
            "replications",
            "overloaded",
            "lanes",
            "precise",
            "at_gap",
            "misses",
            "steady",
            "recorded",
            "latency_ns",
            "slowdown",
            "waiting_ns",
            "wait_ns",
            "classes",
            "efficiency",
            "cores_mean",
            "overheads",
            "preemptions_per_request",
            "steals_per_request",
            "grants_refused_share",
            "given_up",
            "seed",
            "wall_s",
        ];
        assert!(known.iter().all(|key| keys.iter().any(|other| other == key)), "{keys:?}");
    }
}
