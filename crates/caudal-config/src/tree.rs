//! A TOML document as a tree in which every key and value knows where it stands. `file` and `costs_file` parse into it; `sweep`, `plan`
//! and `de` take their values out of it. Pure: text in, tree out.
//!
//! Sweeps, presets and overrides work on this tree; only then do serde's types come in, so that an error
//! of theirs can be pointed at a line of the file or at an override.

use serde::Serialize;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::finding::{Finding, Place, SourceText};

/// A value and where it stands.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Node {
    pub(crate) place: Place,
    pub(crate) value: Value,
}

/// A value of TOML; dates have no meaning here.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    Bool(bool),
    Integer(i64),
    Float(f64),
    Text(String),
    List(Vec<Node>),
    Table(Vec<Entry>),
}

/// A key of a table with its value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Entry {
    pub(crate) key: String,
    pub(crate) key_place: Place,
    pub(crate) node: Node,
}

impl Node {
    pub(crate) fn table(place: Place) -> Node {
        Node { place, value: Value::Table(Vec::new()) }
    }

    pub(crate) fn text(place: Place, text: &str) -> Node {
        Node { place, value: Value::Text(text.to_owned()) }
    }

    /// The entries of a table; none of anything else.
    pub(crate) fn entries(&self) -> &[Entry] {
        match &self.value {
            Value::Table(entries) => entries,
            _ => &[],
        }
    }

    pub(crate) fn is_table(&self) -> bool {
        matches!(self.value, Value::Table(_))
    }

    pub(crate) fn as_text(&self) -> Option<&str> {
        match &self.value {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    pub(crate) fn entry(&self, key: &str) -> Option<&Entry> {
        self.entries().iter().find(|entry| entry.key == key)
    }

    pub(crate) fn get(&self, key: &str) -> Option<&Node> {
        self.entry(key).map(|entry| &entry.node)
    }

    /// The node at a path of keys; numbers index lists.
    pub(crate) fn at(&self, path: &[String]) -> Option<&Node> {
        path.iter().try_fold(self, |node, step| match &node.value {
            Value::List(items) => items.get(step.parse::<usize>().ok()?),
            _ => node.get(step),
        })
    }

    pub(crate) fn at_mut(&mut self, path: &[String]) -> Option<&mut Node> {
        path.iter().try_fold(self, |node, step| match &mut node.value {
            Value::List(items) => items.get_mut(step.parse::<usize>().ok()?),
            Value::Table(entries) => {
                entries.iter_mut().find(|entry| entry.key == *step).map(|entry| &mut entry.node)
            }
            _ => None,
        })
    }

    /// Sets `key` of a table and replaces the value that it had. A node that is no table becomes one.
    pub(crate) fn set(&mut self, key: &str, key_place: Place, node: Node) {
        if !self.is_table() {
            self.value = Value::Table(Vec::new());
        }
        if let Value::Table(entries) = &mut self.value {
            match entries.iter_mut().find(|entry| entry.key == key) {
                Some(entry) => (entry.key_place, entry.node) = (key_place, node),
                None => entries.push(Entry { key: key.to_owned(), key_place, node }),
            }
        }
    }

    pub(crate) fn remove(&mut self, key: &str) -> Option<Node> {
        let Value::Table(entries) = &mut self.value else { return None };
        let at = entries.iter().position(|entry| entry.key == key)?;
        Some(entries.remove(at).node)
    }

    /// The kind of the value, in words.
    pub(crate) fn kind(&self) -> &'static str {
        match self.value {
            Value::Bool(_) => "true or false",
            Value::Integer(_) | Value::Float(_) => "a number",
            Value::Text(_) => "text",
            Value::List(_) => "a list",
            Value::Table(_) => "a table",
        }
    }

    /// The value as a file would have it, on one line.
    pub(crate) fn inline(&self) -> String {
        match &self.value {
            Value::Bool(value) => value.to_string(),
            Value::Integer(value) => value.to_string(),
            Value::Float(value) => toml::Value::Float(*value).to_string(),
            Value::Text(text) => toml::Value::String(text.clone()).to_string(),
            Value::List(items) => {
                format!("[{}]", items.iter().map(Node::inline).collect::<Vec<_>>().join(", "))
            }
            Value::Table(entries) => {
                let pair = |entry: &Entry| format!("{} = {}", key(&entry.key), entry.node.inline());
                format!("{{ {} }}", entries.iter().map(pair).collect::<Vec<_>>().join(", "))
            }
        }
    }

    /// As JSON, for result rows.
    pub(crate) fn json(&self) -> serde_json::Value {
        match &self.value {
            Value::Bool(value) => (*value).into(),
            Value::Integer(value) => (*value).into(),
            Value::Float(value) => (*value).into(),
            Value::Text(text) => text.as_str().into(),
            Value::List(items) => items.iter().map(Node::json).collect(),
            Value::Table(entries) => {
                entries.iter().map(|entry| (entry.key.clone(), entry.node.json())).collect()
            }
        }
    }
}

/// A key as a file has it: quoted where it must be.
pub(crate) fn key(key: &str) -> String {
    let bare = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    if !key.is_empty() && key.bytes().all(bare) {
        key.to_owned()
    } else {
        toml::Value::String(key.to_owned()).to_string()
    }
}

/// The tree of `value` as a file would hold it, at no place.
pub(crate) fn built_in(value: &impl Serialize) -> Node {
    // `value` has a type of this crate or of caudal-policy: structs and enums of numbers and names, all of which TOML can express.
    // There are no counts above i64: they have been read from TOML or are constants.
    let value = toml::Value::try_from(value).expect("a configuration is expressible in TOML");
    from_toml(&value)
}

fn from_toml(value: &toml::Value) -> Node {
    let value = match value {
        toml::Value::String(text) => Value::Text(text.clone()),
        toml::Value::Integer(value) => Value::Integer(*value),
        toml::Value::Float(value) => Value::Float(*value),
        toml::Value::Boolean(value) => Value::Bool(*value),
        toml::Value::Datetime(date) => Value::Text(date.to_string()),
        toml::Value::Array(items) => Value::List(items.iter().map(from_toml).collect()),
        toml::Value::Table(table) => {
            let entry = |(key, value): (&String, &toml::Value)| Entry {
                key: key.clone(),
                key_place: Place::BUILT_IN,
                node: from_toml(value),
            };
            let mut entries: Vec<Entry> = table.iter().map(entry).collect();
            // The name of a policy comes before its parameters.
            entries.sort_by_key(|entry| !matches!(entry.key.as_str(), "policy" | "when"));
            Value::Table(entries)
        }
    };
    Node { place: Place::BUILT_IN, value }
}

/// Reads a document.
pub(crate) fn parse(text: &str, source: usize) -> Result<Node, Vec<Finding>> {
    let table = DeTable::parse(text).map_err(|error| {
        let span = error.span().unwrap_or(0..0);
        let place = Place { source, start: span.start, end: span.end };
        vec![Finding::new(place, "", format!("this is not TOML: {}", error.message().replace('\n', "; ")))]
    })?;
    let mut reader = Reader { source, findings: Vec::new() };
    let span = table.span();
    let node = reader.table(Place { source, start: span.start, end: span.end }, table.get_ref(), "");
    if reader.findings.is_empty() { Ok(node) } else { Err(reader.findings) }
}

struct Reader {
    source: usize,
    findings: Vec<Finding>,
}

impl Reader {
    fn place<T>(&self, spanned: &Spanned<T>) -> Place {
        let span = spanned.span();
        Place { source: self.source, start: span.start, end: span.end }
    }

    /// Reads a table, with its entries in the order of the text, because the first key that is swept varies slowest.
    fn table(&mut self, place: Place, table: &DeTable<'_>, path: &str) -> Node {
        let mut entries = Vec::new();
        for (key, value) in table.iter() {
            let name = key.get_ref().to_string();
            let path = join(path, &name);
            let node = self.value(value, &path);
            entries.push(Entry { key_place: self.place(key), key: name, node });
        }
        entries.sort_by_key(|entry| entry.key_place);
        Node { place, value: Value::Table(entries) }
    }

    fn value(&mut self, spanned: &Spanned<DeValue<'_>>, path: &str) -> Node {
        let place = self.place(spanned);
        let value = match spanned.get_ref() {
            DeValue::String(text) => Value::Text(text.to_string()),
            DeValue::Boolean(value) => Value::Bool(*value),
            DeValue::Integer(digits) => match i64::from_str_radix(digits.as_str(), digits.radix()) {
                Ok(value) => Value::Integer(value),
                Err(_) => {
                    let finding =
                        Finding::new(place, path, format!("`{digits}` is beyond the whole numbers of TOML"));
                    self.findings.push(finding.help("write a whole number such as 16"));
                    Value::Integer(0)
                }
            },
            DeValue::Float(digits) => match digits.as_str().parse::<f64>() {
                Ok(value) if value.is_finite() => Value::Float(value),
                _ => {
                    let finding = Finding::new(place, path, format!("`{digits}` is no finite number"));
                    self.findings.push(finding.help("write digits, as in 1.5 or 1e-3"));
                    Value::Float(0.0)
                }
            },
            DeValue::Datetime(date) => {
                let finding =
                    Finding::new(place, path, format!("`{date}` is a date, which nothing here wants"));
                self.findings.push(finding.help("write a number, or text in quotes"));
                Value::Text(String::new())
            }
            DeValue::Array(items) => {
                let item =
                    |(i, item): (usize, &Spanned<DeValue<'_>>)| self.value(item, &format!("{path}[{i}]"));
                Value::List(items.iter().enumerate().map(item).collect())
            }
            DeValue::Table(table) => return self.table(place, table, path),
        };
        Node { place, value }
    }
}

/// Deepest nesting of tables that an override may name; no key is deeper than four.
const DEPTH_MAX: usize = 8;

/// `path.key`.
pub(crate) fn join(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}

/// Puts `key.of.tables=value` into `root`. A value that is no TOML is taken as text, so that `1us` needs
/// no quotes. With several `[[system]]`, `system.key` sets the key of each.
pub(crate) fn set_override(root: &mut Node, text: &str, source: usize) -> Result<(), Finding> {
    let whole = Place { source, start: 0, end: text.len() };
    let Some((path, value)) = text.split_once('=') else {
        let message = format!("`{text}` sets nothing");
        return Err(Finding::new(whole, "", message).help("write key.of.tables=value, as in system.cores=16"));
    };
    let steps: Vec<String> = path.split('.').map(|step| step.trim().to_owned()).collect();
    let key_place = Place { source, start: 0, end: path.len() };
    let is_key = |step: &String| key(step) == *step;
    if steps.len() > DEPTH_MAX || !steps.iter().all(is_key) {
        let message = format!("`{path}` is no path of keys");
        return Err(
            Finding::new(key_place, "", message).help("write names with dots between, as in costs.steal")
        );
    }
    let value = override_value(value, path.len() + 1, source).map_err(|mut findings| findings.remove(0))?;
    put(root, &steps, key_place, &value);
    Ok(())
}

fn put(node: &mut Node, steps: &[String], key_place: Place, value: &Node) {
    if let Value::List(items) = &mut node.value
        && items.iter().all(Node::is_table)
    {
        return items.iter_mut().for_each(|item| put(item, steps, key_place, value));
    }
    match steps {
        [] => {}
        [key] => node.set(key, key_place, value.clone()),
        [key, rest @ ..] => {
            // A policy that was given by its name alone becomes a table, to take the key.
            if let Some(name) = node.get(key).and_then(Node::as_text).map(str::to_owned)
                && key != "preset"
            {
                let place = node.get(key).map_or(key_place, |named| named.place);
                let mut table = Node::table(place);
                table.set("policy", place, Node::text(place, &name));
                node.set(key, place, table);
            }
            if node.get(key).is_none_or(|inner| !matches!(inner.value, Value::Table(_) | Value::List(_))) {
                node.set(key, key_place, Node::table(key_place));
            }
            if let Some(inner) = node.at_mut(std::slice::from_ref(key)) {
                put(inner, rest, key_place, value);
            }
        }
    }
}

/// The value of an override that starts at byte `offset` of its text.
fn override_value(value: &str, offset: usize, source: usize) -> Result<Node, Vec<Finding>> {
    let shown = value.trim();
    let start = offset + (value.len() - value.trim_start().len());
    let place = Place { source, start, end: start + shown.len() };
    let Ok(parsed) = DeValue::parse(shown) else { return Ok(Node::text(place, shown)) };
    let mut reader = Reader { source, findings: Vec::new() };
    let mut node = reader.value(&parsed, "");
    if matches!(parsed.get_ref(), DeValue::Datetime(_)) {
        return Ok(Node::text(place, shown));
    }
    shift(&mut node, start);
    if reader.findings.is_empty() {
        return Ok(node);
    }
    reader.findings.iter_mut().for_each(|finding| finding.place = place);
    Err(reader.findings)
}

fn shift(node: &mut Node, by: usize) {
    node.place.start += by;
    node.place.end += by;
    match &mut node.value {
        Value::List(items) => items.iter_mut().for_each(|item| shift(item, by)),
        Value::Table(entries) => {
            for entry in entries {
                entry.key_place.start += by;
                entry.key_place.end += by;
                shift(&mut entry.node, by);
            }
        }
        _ => {}
    }
}

/// All texts that a configuration came from.
pub(crate) fn sources(name: &str, text: &str, overrides: &[String]) -> Vec<SourceText> {
    let mut sources = vec![SourceText::new(name, text)];
    sources.extend(overrides.iter().map(|text| SourceText::new("--set", text)));
    sources
}
