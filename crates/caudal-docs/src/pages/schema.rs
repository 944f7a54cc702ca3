//! The schema of the file, as tables of keys. The page of the file format asks it when it is made. Pure.

use serde_json::{Map, Value};

use crate::markdown::{code, table, without_code_links};

/// The schema, with what it refers to.
pub(super) struct Schema {
    root: Value,
}

/// A key of a table.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Key {
    pub(super) name: String,
    /// The values that it may hold, in words.
    pub(super) holds: String,
    /// Its default as the file would say it; empty if there is none.
    pub(super) default: String,
    /// Whether a file without it is refused.
    pub(super) needed: bool,
    pub(super) doc: String,
}

/// One of the tables that a tag such as `policy` chooses from.
#[derive(Clone, Debug)]
pub(super) struct Variant {
    pub(super) name: String,
    pub(super) doc: String,
    pub(super) keys: Vec<Key>,
}

/// The default of a key that has none and has to be there.
pub(super) const NEEDED: &str = "*needed*";

impl Schema {
    pub(super) fn new() -> Schema {
        Schema { root: caudal_config::schema() }
    }

    /// The policies of a decision point.
    pub(super) fn policies(&self, point: &str) -> Vec<Variant> {
        let (first, rest) = point.split_at(1);
        self.variants(&format!("{}{rest}Config", first.to_uppercase()), "policy")
    }

    /// The tables among which `tag` chooses in a definition; a table without the tag has an empty name.
    pub(super) fn variants(&self, definition: &str, tag: &str) -> Vec<Variant> {
        let definition = &self.root["$defs"][definition];
        let choices = ["oneOf", "anyOf"].iter().find_map(|key| definition[key].as_array());
        let variant = |choice: &Value| {
            let mut keys = Vec::new();
            self.collect(choice, &mut keys);
            keys.retain(|key| key.name != tag);
            let name = choice["properties"][tag]["const"].as_str().unwrap_or_default().to_owned();
            Variant { name, doc: doc(choice), keys }
        };
        choices.into_iter().flatten().map(variant).collect()
    }

    /// The keys of a definition.
    pub(super) fn definition(&self, name: &str) -> Vec<Key> {
        let mut keys = Vec::new();
        self.collect(&self.root["$defs"][name], &mut keys);
        keys
    }

    /// All definitions that are tables, with their keys; a table for each variant.
    #[cfg(test)]
    pub(super) fn tables(&self) -> Vec<(String, Vec<Key>)> {
        let mut tables = Vec::new();
        for (name, definition) in self.root["$defs"].as_object().unwrap_or(&Map::new()) {
            // Choices that refer to other definitions are those definitions' tables.
            let choices = ["oneOf", "anyOf"].iter().find_map(|key| definition[key].as_array());
            let own = |choice: &&Value| choice["$ref"].is_null();
            match choices {
                Some(choices) => tables.extend(choices.iter().filter(own).map(|choice| {
                    let mut keys = Vec::new();
                    self.collect(choice, &mut keys);
                    // As in `collect`: a variant that is one key.
                    if let [key] = &mut keys[..]
                        && key.doc.is_empty()
                    {
                        (key.doc, key.needed) = (doc(choice), false);
                    }
                    (name.clone(), keys)
                })),
                None => tables.push((name.clone(), self.definition(name))),
            }
        }
        tables.retain(|(_, keys)| !keys.is_empty());
        tables
    }

    /// The names of the keys of `[workload]` or `[system]`.
    #[cfg(test)]
    pub(super) fn names(&self, of: &str) -> Vec<String> {
        let of = &self.root["properties"][of];
        let table = if of["anyOf"].is_array() { &of["anyOf"][0] } else { of };
        table["properties"].as_object().map(|keys| keys.keys().cloned().collect()).unwrap_or_default()
    }

    fn resolved<'a>(&'a self, schema: &'a Value) -> &'a Value {
        match schema["$ref"].as_str().and_then(|path| path.strip_prefix("#/$defs/")) {
            Some(name) => &self.root["$defs"][name],
            None => schema,
        }
    }

    /// All keys that a table of `schema` may have.
    fn collect(&self, schema: &Value, keys: &mut Vec<Key>) {
        if schema["$ref"].is_string() {
            self.collect(self.resolved(schema), keys);
        }
        let empty = Map::new();
        let required = schema["required"].as_array().map(Vec::as_slice).unwrap_or_default();
        for (name, property) in schema["properties"].as_object().unwrap_or(&empty) {
            if !keys.iter().any(|key| key.name == *name) {
                let needed = required.iter().any(|key| key == name);
                keys.push(Key { needed, ..self.key(name, property) });
            }
        }
        for combined in ["allOf", "anyOf", "oneOf"] {
            for part in schema[combined].as_array().into_iter().flatten() {
                let known = keys.len();
                self.collect(part, keys);
                if combined != "allOf" {
                    // Only one of several variants is needed, so no key of any of them is.
                    keys[known..].iter_mut().for_each(|key| key.needed = false);
                }
                // A variant that is one key is documented as a variant.
                if let [key] = &mut keys[known..]
                    && key.doc.is_empty()
                {
                    key.doc = doc(part);
                }
            }
        }
    }

    fn key(&self, name: &str, property: &Value) -> Key {
        let item = unswept(property);
        let text =
            |key: &str| [property, item, self.resolved(item)].iter().find_map(|from| from.get(key)).cloned();
        let default = text("default").filter(|default| !default.is_null());
        Key {
            name: name.to_owned(),
            holds: self.holds(item),
            default: default.as_ref().map_or(String::new(), toml),
            needed: false,
            doc: text("description").and_then(|doc| doc.as_str().map(one_line)).unwrap_or_default(),
        }
    }

    /// The values that a schema allows, in words.
    fn holds(&self, schema: &Value) -> String {
        if schema["$ref"].as_str() == Some("#/$defs/Time") {
            return "time".to_owned();
        }
        let schema = self.resolved(schema);
        if let Some(value) = schema.get("const") {
            return code(&toml(value));
        }
        if let Some(values) = schema["enum"].as_array() {
            return values
                .iter()
                .filter(|value| !value.is_null())
                .map(|value| code(&toml(value)))
                .collect::<Vec<_>>()
                .join(", ");
        }
        if let Some(choices) = ["oneOf", "anyOf"].iter().find_map(|key| schema[key].as_array()) {
            let mut words: Vec<String> = Vec::new();
            for choice in choices.iter().filter(|choice| choice["type"] != "null") {
                let word = self.holds(choice);
                if !words.contains(&word) {
                    words.push(word);
                }
            }
            return words.join(" or ");
        }
        let kind = match &schema["type"] {
            Value::Array(kinds) => kinds.iter().find_map(|kind| kind.as_str().filter(|&kind| kind != "null")),
            kind => kind.as_str(),
        };
        match kind {
            Some("array") if schema["prefixItems"].is_array() => {
                let parts: Vec<String> = schema["prefixItems"]
                    .as_array()
                    .into_iter()
                    .flatten()
                    .map(|part| self.holds(part))
                    .collect();
                format!("pair `[{}]`", parts.join(", "))
            }
            Some("array") => format!("list of {}", plural(&self.holds(&schema["items"]))),
            Some("object") => "table".to_owned(),
            Some("boolean") => "true or false".to_owned(),
            Some("integer") => "whole number".to_owned(),
            Some("string") if schema["pattern"].as_str().is_some_and(|pattern| pattern.contains("us")) => {
                "time".to_owned()
            }
            Some(kind) => kind.to_owned(),
            None => "table".to_owned(),
        }
    }
}

/// A table of keys; empty if there are none.
pub(super) fn keys_table(keys: &[Key]) -> String {
    if keys.is_empty() {
        return String::new();
    }
    let default = |key: &Key| if key.needed { NEEDED.to_owned() } else { code(&key.default) };
    let row = |key: &Key| vec![code(&key.name), key.holds.clone(), default(key), key.doc.clone()];
    table(&["key", "holds", "default", "meaning"], &keys.iter().map(row).collect::<Vec<_>>())
}

/// The schema of a single value, if `property` allows one or a list of such.
fn unswept(property: &Value) -> &Value {
    match property["anyOf"].as_array().map(Vec::as_slice) {
        Some([item, list]) if list["type"] == "array" && list["items"] == *item => item,
        _ => property,
    }
}

fn doc(schema: &Value) -> String {
    schema["description"].as_str().map(one_line).unwrap_or_default()
}

fn one_line(text: &str) -> String {
    without_code_links(&text.split_whitespace().collect::<Vec<_>>().join(" "))
}

fn plural(word: &str) -> String {
    if let Some((kind, of)) = word.split_once(' ').filter(|(kind, _)| matches!(*kind, "list" | "pair")) {
        return format!("{kind}s {of}");
    }
    if word.ends_with(|last: char| last.is_ascii_alphabetic()) { format!("{word}s") } else { word.to_owned() }
}

/// A value as the file would say it.
fn toml(value: &Value) -> String {
    match value {
        Value::Object(table) => {
            let keys: Vec<String> =
                table.iter().map(|(key, value)| format!("{key} = {}", toml(value))).collect();
            format!("{{ {} }}", keys.join(", "))
        }
        Value::Array(items) => format!("[{}]", items.iter().map(toml).collect::<Vec<_>>().join(", ")),
        other => other.to_string(),
    }
}
