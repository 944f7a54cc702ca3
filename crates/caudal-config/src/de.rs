//! Serde's types read from a [`Node`], with errors that point at the guilty key.
//!
//! A serde enum that is tagged by a key (`policy = "…"`) reads its whole table into a buffer before it
//! looks at the parts, so an error inside has no place. [`blame`] finds it: it leaves out one key after
//! the other and sees which one makes the error go away.

use std::fmt;

use serde::de::value::{MapAccessDeserializer, StrDeserializer};
use serde::de::{DeserializeOwned, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Unexpected, Visitor};
use serde::{Serialize, forward_to_deserialize_any};

use crate::finding::{Finding, Place};
use crate::suggest::{listed, nearest, suggest};
use crate::tree::{Entry, Node, Value, built_in, join};

/// Keys that choose the variant of an enum; never left out when looking for the guilty one.
const TAGS: [&str; 4] = ["policy", "when", "distribution", "process"];

/// Reads a `T` from `node`, which stands at the key `path`.
pub(crate) fn read<T: DeserializeOwned>(node: &Node, path: &str) -> Result<T, Finding> {
    T::deserialize(node).map_err(|fault| {
        let steps = blame::<T>(node, &fault);
        fault.finding(node, &steps, path)
    })
}

/// As [`read`], for a table whose keys may all be left out: says of all of them what is wrong.
pub(crate) fn read_all<T: DeserializeOwned>(table: &Node, path: &str) -> Result<T, Vec<Finding>> {
    let (mut left, mut findings) = (table.clone(), Vec::new());
    loop {
        match read(&left, path) {
            Ok(value) if findings.is_empty() => return Ok(value),
            Ok(_) => return Err(findings),
            Err(finding) => {
                let key = finding.key.strip_prefix(path).and_then(|key| key.strip_prefix('.'));
                let guilty = key.and_then(|key| key.split(['.', '[']).next()).map(str::to_owned);
                findings.push(finding);
                if guilty.and_then(|key| left.remove(&key)).is_none() {
                    return Err(findings);
                }
            }
        }
    }
}

/// As [`read`], for enums: serde overlooks surplus keys where a variant has none at all, so what was read
/// is written again and must hold every key that was given.
pub(crate) fn read_strictly<T: DeserializeOwned + Serialize>(node: &Node, path: &str) -> Result<T, Finding> {
    let value: T = read(node, path)?;
    surplus(node, &built_in(&value), path).map_or(Ok(value), Err)
}

fn surplus(given: &Node, known: &Node, path: &str) -> Option<Finding> {
    let keys: Vec<&str> =
        known.entries().iter().map(|entry| entry.key.as_str()).filter(|key| !TAGS.contains(key)).collect();
    given.entries().iter().find_map(|entry| match known.get(&entry.key) {
        Some(inner) => surplus(&entry.node, inner, &join(path, &entry.key)),
        // Variants with parameters refuse others themselves; what is not written is one that has its default.
        None if !keys.is_empty() => None,
        None => {
            let tag =
                TAGS.iter().find_map(|tag| known.get(tag)).and_then(Node::as_text).unwrap_or("this table");
            let message = format!("`{}` is no key of \"{tag}\"", entry.key);
            let finding = Finding::new(entry.key_place, join(path, &entry.key), message);
            Some(finding.help(format!("\"{tag}\" takes no parameters; remove `{}`", entry.key)))
        }
    })
}

/// An error of serde's, with the place of the value if that is known.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Fault {
    what: What,
    /// Keys from the root to the value; empty if not known.
    steps: Vec<String>,
}

#[derive(Clone, Debug, PartialEq)]
enum What {
    UnknownKey { key: String, expected: Vec<&'static str> },
    MissingKey(&'static str),
    UnknownName { name: String, expected: Vec<&'static str> },
    Other { message: String, help: Option<String> },
}

impl Fault {
    fn new(what: What) -> Fault {
        Fault { what, steps: Vec::new() }
    }

    /// Called on the way out of nested values.
    fn under(mut self, step: &str) -> Fault {
        self.steps.insert(0, step.to_owned());
        self
    }

    fn finding(self, root: &Node, steps: &[String], path: &str) -> Finding {
        let node = root.at(steps).unwrap_or(root);
        let key = steps.iter().fold(path.to_owned(), |path, step| match step.parse::<usize>() {
            Ok(index) => format!("{path}[{index}]"),
            Err(_) => join(&path, step),
        });
        match self.what {
            What::UnknownKey { key: unknown, expected } => {
                let place = node.entry(&unknown).map_or(node.place, |entry| entry.key_place);
                let finding =
                    Finding::new(place, join(&key, &unknown), format!("`{unknown}` is no key of `{key}`"));
                let help = suggest(&unknown, &expected);
                // Which of them there are depends on what the table is.
                let tag = TAGS.into_iter().find(|tag| expected.contains(tag) && node.get(tag).is_some());
                finding.help(match tag {
                    Some(tag) => help.replacen("known:", &format!("known, depending on `{tag}`:"), 1),
                    None => help,
                })
            }
            What::MissingKey(missing) => match misspelt(node, missing) {
                Some(entry) => {
                    let message = format!("`{}` is no key of `{key}`", entry.key);
                    let finding = Finding::new(entry.key_place, join(&key, &entry.key), message);
                    finding.help(format!("did you mean `{missing}`?"))
                }
                None => Finding::new(node.place, join(&key, missing), format!("`{key}` needs `{missing}`")),
            },
            What::UnknownName { name, expected } => {
                let message = format!("`{key}` can not be \"{name}\"");
                Finding::new(node.place, key, message).help(suggest(&name, &expected))
            }
            What::Other { message, help } => Finding { place: node.place, key, message, help },
        }
    }
}

/// The key of `table` that may be a slip for the one that is missing.
fn misspelt<'a>(table: &'a Node, missing: &str) -> Option<&'a Entry> {
    let near = |entry: &&Entry| nearest(&entry.key, [missing]).is_some();
    table.entries().iter().find(near)
}

/// The steps to the value or table that a fault is about.
fn blame<T: DeserializeOwned>(root: &Node, fault: &Fault) -> Vec<String> {
    let mut steps = fault.steps.clone();
    if let What::MissingKey(key) = fault.what {
        return lacking::<T>(root, &steps, key).unwrap_or(steps);
    }
    loop {
        let Some(node) = root.at(&steps) else { return steps };
        match &fault.what {
            What::UnknownKey { key, .. } if node.get(key).is_some() => return steps,
            What::UnknownName { name, .. } => {
                let is_it = |entry: &&Entry| entry.node.as_text() == Some(name);
                if let Some(entry) = node.entries().iter().find(is_it) {
                    steps.push(entry.key.clone());
                    return steps;
                }
            }
            _ => {}
        }
        match node.entries().iter().find(|entry| is_guilty::<T>(root, &steps, entry, fault)) {
            Some(entry) => steps.push(entry.key.clone()),
            None => {
                // No parameter is to blame; if the message quotes what chose the variant, that is.
                let quoted = |entry: &&Entry| match (entry.node.as_text(), &fault.what) {
                    (Some(text), What::Other { message, .. }) => message.contains(&format!("\"{text}\"")),
                    _ => false,
                };
                let tags = node.entries().iter().filter(|entry| TAGS.contains(&entry.key.as_str()));
                steps.extend({ tags }.find(quoted).map(|entry| entry.key.clone()));
                return steps;
            }
        }
    }
}

/// The first table, from `steps` down, that could take the missing `key`.
fn lacking<T: DeserializeOwned>(root: &Node, steps: &[String], key: &'static str) -> Option<Vec<String>> {
    let table = root.at(steps)?;
    if !table.is_table() {
        return None;
    }
    let mut tried = root.clone();
    tried.at_mut(steps)?.set(key, table.place, Node::text(table.place, "1us"));
    let takes = match T::deserialize(&tried) {
        Ok(_) => true,
        Err(Fault { what: What::UnknownKey { key: unknown, .. }, .. }) => unknown != key,
        Err(Fault { what: What::MissingKey(missing), .. }) => missing != key,
        Err(_) => true,
    };
    if takes {
        return Some(steps.to_vec());
    }
    table
        .entries()
        .iter()
        .find_map(|entry| lacking::<T>(root, &[steps, std::slice::from_ref(&entry.key)].concat(), key))
}

/// Does the fault go away without `entry` of the table at `steps`?
fn is_guilty<T: DeserializeOwned>(root: &Node, steps: &[String], entry: &Entry, fault: &Fault) -> bool {
    if TAGS.contains(&entry.key.as_str()) {
        return false;
    }
    let mut without = root.clone();
    if let Some(table) = without.at_mut(steps) {
        table.remove(&entry.key);
    }
    match T::deserialize(&without) {
        Ok(_) => true,
        Err(other) => other.what != fault.what,
    }
}

impl serde::de::Error for Fault {
    fn custom<M: fmt::Display>(message: M) -> Fault {
        Fault::new(What::Other { message: message.to_string(), help: None })
    }

    fn invalid_type(found: Unexpected<'_>, expected: &dyn serde::de::Expected) -> Fault {
        let message = format!("{} is not what belongs here", described(found));
        Fault::new(What::Other { message, help: Some(format!("write {}", wanted(&expected.to_string()))) })
    }

    fn invalid_value(found: Unexpected<'_>, expected: &dyn serde::de::Expected) -> Fault {
        let message = match found {
            Unexpected::Str(_) => format!("{} is not what belongs here", described(found)),
            _ => format!("{} is out of range", described(found)),
        };
        Fault::new(What::Other { message, help: Some(format!("write {}", wanted(&expected.to_string()))) })
    }

    fn unknown_field(key: &str, expected: &'static [&'static str]) -> Fault {
        Fault::new(What::UnknownKey { key: key.to_owned(), expected: expected.to_vec() })
    }

    fn unknown_variant(name: &str, expected: &'static [&'static str]) -> Fault {
        Fault::new(What::UnknownName { name: name.to_owned(), expected: expected.to_vec() })
    }

    fn missing_field(key: &'static str) -> Fault {
        Fault::new(What::MissingKey(key))
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.what {
            What::UnknownKey { key, expected } => {
                write!(f, "unknown key `{key}`; there is {}", listed(expected))
            }
            What::MissingKey(key) => write!(f, "`{key}` is missing"),
            What::UnknownName { name, expected } => write!(f, "\"{name}\" is none of {}", listed(expected)),
            What::Other { message, .. } => f.write_str(message),
        }
    }
}

impl std::error::Error for Fault {}

fn described(found: Unexpected<'_>) -> String {
    match found {
        Unexpected::Bool(value) => format!("`{value}`"),
        Unexpected::Signed(value) => format!("`{value}`"),
        Unexpected::Unsigned(value) => format!("`{value}`"),
        Unexpected::Float(value) => format!("`{value}`"),
        Unexpected::Str(text) => format!("\"{text}\""),
        Unexpected::Seq => "a list".to_owned(),
        Unexpected::Map => "a table".to_owned(),
        other => other.to_string(),
    }
}

/// Serde's names of what it expects, in the words of a file.
fn wanted(expected: &str) -> String {
    match expected {
        "u8" | "u16" | "u32" => format!(
            "a whole number from 0 to {}",
            match expected {
                "u8" => u32::from(u8::MAX),
                "u16" => u32::from(u16::MAX),
                _ => u32::MAX,
            }
        ),
        "u64" | "usize" => "a whole number from 0 on".to_owned(),
        "f64" | "f32" => "a number, without quotes".to_owned(),
        "a string" | "a borrowed string" => "text in quotes".to_owned(),
        "a boolean" => "true or false".to_owned(),
        "a sequence" => "a list".to_owned(),
        other if other.starts_with("internally tagged enum") => {
            "the name of a policy, or a table with `policy`".to_owned()
        }
        other if other.starts_with("enum ") => "one of the names that it can be, in quotes".to_owned(),
        other if other.starts_with("struct") || other == "a map" => "a table".to_owned(),
        other => other.to_owned(),
    }
}

impl<'de> Deserializer<'de> for &'de Node {
    type Error = Fault;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        match &self.value {
            Value::Bool(value) => visitor.visit_bool(*value),
            Value::Integer(value) => visitor.visit_i64(*value),
            Value::Float(value) => visitor.visit_f64(*value),
            Value::Text(text) => visitor.visit_borrowed_str(text),
            Value::List(items) => visitor.visit_seq(Items { items, next: 0 }),
            Value::Table(entries) => visitor.visit_map(Entries { entries, next: 0 }),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Fault> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        match &self.value {
            Value::Text(text) => visitor.visit_enum(StrDeserializer::new(text)),
            Value::Table(entries) => {
                visitor.visit_enum(MapAccessDeserializer::new(Entries { entries, next: 0 }))
            }
            _ => self.deserialize_any(visitor),
        }
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct
        seq tuple tuple_struct map struct identifier ignored_any
    }
}

struct Items<'a> {
    items: &'a [Node],
    next: usize,
}

impl<'de> SeqAccess<'de> for Items<'de> {
    type Error = Fault;

    fn next_element_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, Fault> {
        let Some(item) = self.items.get(self.next) else { return Ok(None) };
        let step = self.next.to_string();
        self.next += 1;
        seed.deserialize(item).map(Some).map_err(|fault| fault.under(&step))
    }
}

struct Entries<'a> {
    entries: &'a [Entry],
    next: usize,
}

impl<'de> MapAccess<'de> for Entries<'de> {
    type Error = Fault;

    fn next_key_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, Fault> {
        let Some(entry) = self.entries.get(self.next) else { return Ok(None) };
        seed.deserialize(StrDeserializer::<Fault>::new(&entry.key)).map(Some)
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, Fault> {
        let entry = &self.entries[self.next];
        self.next += 1;
        seed.deserialize(&entry.node).map_err(|fault| fault.under(&entry.key))
    }
}

/// A key that no table of this kind has.
pub(crate) fn unknown_key(entry: &Entry, path: &str, known: &[&str]) -> Finding {
    let shown = if path.is_empty() { "this file".to_owned() } else { format!("`[{path}]`") };
    let message = format!("`{}` is no key of {shown}", entry.key);
    Finding::new(entry.key_place, join(path, &entry.key), message).help(suggest(&entry.key, known))
}

/// The place of a table's key, or of the table where it lacks the key.
pub(crate) fn key_place(table: &Node, key: &str) -> Place {
    table.entry(key).map_or(table.place, |entry| entry.key_place)
}
