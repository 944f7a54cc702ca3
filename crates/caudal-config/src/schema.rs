//! The file as a JSON Schema, for editors and other programs. `caudal check --schema` prints it, and the docs keep a copy that a test
//! compares. Pure.

use caudal_policy::allocation::AllocationConfig;
use caudal_policy::discipline::DisciplineConfig;
use caudal_policy::dispatch::DispatchConfig;
use caudal_policy::parallelism::ParallelismConfig;
use caudal_policy::rebalance::RebalanceConfig;
use caudal_workload::{ArrivalSpec, DagSpec, ServiceSpec};
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, SchemaGenerator};
use serde_json::{Map, Value, json};

use crate::{ContextsConfig, Costs, Measure, Pools, Variant};

/// The schema of the file (JSON Schema 2020-12). It knows keys, types and choices. Only [`crate::File`] knows which combinations are
/// refused.
pub fn schema() -> Value {
    let mut generator = SchemaSettings::draft2020_12().into_generator();
    let generator = &mut generator;
    let time_or_number = |description: &str, item: Value| swept(json!({ "description": description }), item);
    let workload = table(
        "What arrives",
        json!({
            "service": part::<ServiceSpec>(generator),
            "dag": part::<DagSpec>(generator),
            "arrivals": { "anyOf": [part::<ArrivalSpec>(generator), { "enum": ["poisson", "constant"] }] },
            "load": time_or_number(
                "Offered work over the capacity of the machine's cores",
                json!({ "type": "number", "exclusiveMinimum": 0, "maximum": crate::LOAD_MAX }),
            ),
            "rate": time_or_number(
                "Requests per second, as in \"4.5M/s\"",
                json!({ "type": "string", "pattern": r"^[0-9._]+ ?[kMG]?/s$" }),
            ),
            "overload": { "description": "Is a load of 1 and more meant?", "type": "boolean" },
        }),
    );
    let system = system_table(generator);
    let costs = part::<Costs>(generator);
    let measure = part::<Measure>(generator);
    let mut definitions = Value::Object(generator.take_definitions(true));
    let policies =
        ["DispatchConfig", "RebalanceConfig", "DisciplineConfig", "AllocationConfig", "Costs", "Stalls"];
    for name in policies {
        if let Some(definition) = definitions.get_mut(name) {
            sweep_properties(definition);
        }
    }
    // Parameters of policies that are structs of their own.
    for (name, definition) in definitions.as_object_mut().into_iter().flatten() {
        if name.ends_with("Config") && !policies.contains(&name.as_str()) {
            sweep_properties(definition);
        }
    }
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Caudal system",
        "description": "One file describes a system: what arrives, which policies meet it, what they cost, what is measured",
        "type": "object",
        "additionalProperties": false,
        "required": ["system"],
        "properties": {
            "workload": workload,
            "system": { "anyOf": [system, { "type": "array", "minItems": 1, "items": system }] },
            "costs": costs,
            "measure": measure,
        },
        "$defs": definitions,
    })
}

fn system_table(generator: &mut SchemaGenerator) -> Value {
    let presets: Vec<&str> = crate::presets()
        .flat_map(|preset| std::iter::once(preset.name).chain(preset.aliases.iter().copied()))
        .collect();
    let mut system = table(
        "Pools of workers and a policy at each decision point",
        json!({
            "name": { "description": "What results call it", "type": "string", "minLength": 1, "maxLength": 64 },
            "preset": swept(json!({ "description": "What the other keys start from" }), json!({ "enum": presets })),
            "cores": swept(
                json!({ "description": "Cores of the machine" }),
                json!({ "type": "integer", "minimum": 1, "maximum": crate::CORES_MAX }),
            ),
            "contexts": part::<ContextsConfig>(generator),
            "pools": part::<Pools>(generator),
            "dispatch": policy::<DispatchConfig>(generator),
            "rebalance": policy::<RebalanceConfig>(generator),
            "discipline": policy::<DisciplineConfig>(generator),
            "allocation": policy::<AllocationConfig>(generator),
            "parallelism": policy::<ParallelismConfig>(generator),
            "variant": swept(json!({}), part::<Variant>(generator)),
            "costs": part::<Costs>(generator),
        }),
    );
    system["required"] = json!(["cores"]);
    system
}

fn part<T: JsonSchema>(generator: &mut SchemaGenerator) -> Value {
    generator.subschema_for::<T>().to_value()
}

/// The schema of a policy: a table, its name alone, a table of parameters for the preset's policy, or a list of these.
fn policy<T: JsonSchema>(generator: &mut SchemaGenerator) -> Value {
    let parameters = json!({ "type": "object", "not": { "required": ["policy"] } });
    let held = json!({
        "type": "object",
        "required": ["policy"],
        "anyOf": [{ "required": ["cores"] }, { "required": ["start"] }],
    });
    let one = json!({ "anyOf": [part::<T>(generator), { "type": "string" }, parameters, held] });
    swept(json!({}), one)
}

fn table(description: &str, properties: Value) -> Value {
    json!({ "description": description, "type": "object", "additionalProperties": false, "properties": properties })
}

/// The schema of one value or a list of values.
fn swept(mut around: Value, item: Value) -> Value {
    around["anyOf"] = json!([item, { "type": "array", "minItems": 1, "items": item }]);
    around
}

/// Lets every parameter be a list, wherever a schema lists properties.
fn sweep_properties(schema: &mut Value) {
    match schema {
        Value::Object(map) => {
            if let Some(Value::Object(properties)) = map.get_mut("properties") {
                sweep_each(properties);
            }
            map.iter_mut()
                .filter(|(key, _)| *key != "properties")
                .for_each(|(_, value)| sweep_properties(value));
        }
        Value::Array(items) => items.iter_mut().for_each(sweep_properties),
        _ => {}
    }
}

fn sweep_each(properties: &mut Map<String, Value>) {
    for (_, property) in properties.iter_mut().filter(|(_, property)| property.get("const").is_none()) {
        let item = property.take();
        *property = swept(json!({}), item);
    }
}
