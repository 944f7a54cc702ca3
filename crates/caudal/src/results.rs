//! A results directory: what was asked, and every row as soon as it is there.
//!
//! ```text
//!   config.toml     the file that made them, as it was
//!   meta.json       version, seed, number of points, a fingerprint of what was asked
//!   rows.jsonl      a row a line, in the order in which they were done; each names its point
//!   rows.csv        the same as a table, in the order of the points, when all are there
//!   report.html
//! ```
//!
//! A sweep that finds a directory with the same fingerprint goes on where it stopped. A line that was cut
//! off in the middle (a killed process, a full disk) does not count.

use std::collections::HashSet;
use std::fs::{self, File, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};

use miette::{IntoDiagnostic, WrapErr, miette};
use serde_json::{Value, json};

use crate::exit::Failure;

/// An open results directory.
pub(crate) struct Results {
    dir: PathBuf,
    rows: File,
    /// Rows that were there already, with their points' names.
    pub(crate) found: Vec<Value>,
}

impl Results {
    /// Opens `dir`, or makes it. `asked` is everything that the rows depend on.
    ///
    /// # Errors
    /// If the directory holds results of something else, or can not be written.
    pub(crate) fn open(dir: &Path, config: &str, asked: &Value) -> miette::Result<Results> {
        fs::create_dir_all(dir).into_diagnostic().wrap_err_with(|| cannot_write(dir))?;
        let fingerprint = json!({ "caudal": env!("CARGO_PKG_VERSION"), "asked": asked });
        let meta = dir.join("meta.json");
        if let Ok(text) = fs::read_to_string(&meta)
            && serde_json::from_str::<Value>(&text).ok().as_ref() != Some(&fingerprint)
        {
            return Err(miette!(
                help = "name another directory with --out, or remove this one",
                "`{}` holds results of something else",
                dir.display()
            ));
        }
        write_whole(&dir.join("config.toml"), config)?;
        write_whole(&meta, &format!("{fingerprint:#}\n"))?;
        let path = dir.join("rows.jsonl");
        let found = whole_rows(&path)?;
        // Written anew without what was cut off.
        write_whole(&path, &found.iter().map(|row| format!("{row}\n")).collect::<String>())?;
        let rows = OpenOptions::new().append(true).open(&path);
        let rows = rows.into_diagnostic().wrap_err_with(|| cannot_write(&path))?;
        Ok(Results { dir: dir.to_owned(), rows, found })
    }

    /// Names of the points that have a row already.
    pub(crate) fn points_done(&self) -> HashSet<String> {
        self.found.iter().filter_map(|row| Some(row.get("point")?.as_str()?.to_owned())).collect()
    }

    /// Adds a row.
    ///
    /// # Errors
    /// If it can not be written.
    pub(crate) fn add(&mut self, row: &Value) -> miette::Result<()> {
        let written = self.rows.write_all(format!("{row}\n").as_bytes());
        written.map_err(|error| Failure(format!("{}: {error}", cannot_write(&self.dir))).into())
    }

    /// Writes all rows as a table, in this order.
    ///
    /// # Errors
    /// If it can not be written.
    pub(crate) fn finish(&self, rows: &[Value]) -> miette::Result<()> {
        write_whole(&self.dir.join("rows.csv"), &csv(rows))
    }

    /// The path of a file in the directory.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.join(name)
    }
}

fn cannot_write(path: &Path) -> String {
    format!("can not write `{}`", path.display())
}

/// Writes a file so that a reader sees the old one or the new one, never half of it.
pub(crate) fn write_whole(path: &Path, text: &str) -> miette::Result<()> {
    let mut beside = path.as_os_str().to_owned();
    beside.push(".part");
    let written = fs::write(&beside, text).and_then(|()| fs::rename(&beside, path));
    written.map_err(|error| Failure(format!("{}: {error}", cannot_write(path))).into())
}

/// The complete rows of a file; none if there is no file.
pub(crate) fn whole_rows(path: &Path) -> miette::Result<Vec<Value>> {
    let Ok(file) = File::open(path) else { return Ok(Vec::new()) };
    let mut rows = Vec::new();
    for line in BufReader::new(file).lines() {
        let line = line.into_diagnostic().wrap_err_with(|| format!("can not read `{}`", path.display()))?;
        rows.extend(serde_json::from_str::<Value>(&line).ok());
    }
    Ok(rows)
}

/// Rows as CSV: nested keys joined by dots, a column for every key of any row.
fn csv(rows: &[Value]) -> String {
    let flat: Vec<Vec<(String, String)>> = rows
        .iter()
        .map(|row| {
            let mut cells = Vec::new();
            flatten(String::new(), row, &mut cells);
            cells
        })
        .collect();
    let mut columns: Vec<&str> = Vec::new();
    for (name, _) in flat.iter().flatten() {
        if !columns.contains(&name.as_str()) {
            columns.push(name);
        }
    }
    let mut text = columns.iter().map(|name| quoted(name)).collect::<Vec<_>>().join(",") + "\n";
    for cells in &flat {
        let cell = |column: &&str| {
            cells.iter().find(|(name, _)| name == column).map_or(String::new(), |(_, value)| quoted(value))
        };
        text += &(columns.iter().map(cell).collect::<Vec<_>>().join(",") + "\n");
    }
    text
}

fn flatten(name: String, value: &Value, cells: &mut Vec<(String, String)>) {
    match value {
        Value::Object(map) => {
            for (key, value) in map {
                let name = if name.is_empty() { key.clone() } else { format!("{name}.{key}") };
                flatten(name, value, cells);
            }
        }
        Value::Null => cells.push((name, String::new())),
        Value::String(text) => cells.push((name, text.clone())),
        other => cells.push((name, other.to_string())),
    }
}

fn quoted(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn goes_on_where_it_stopped_and_forgets_half_a_line() {
        let dir = tempfile::tempdir().unwrap();
        let asked = json!({ "seed": 1 });
        let mut results = Results::open(dir.path(), "x", &asked).unwrap();
        results.add(&json!({ "point": "a", "p": { "q": 1.5 } })).unwrap();
        let path = dir.path().join("rows.jsonl");
        let half = fs::read_to_string(&path).unwrap() + "{\"point\": \"b\", ";
        fs::write(&path, half).unwrap();
        let mut results = Results::open(dir.path(), "x", &asked).unwrap();
        assert_eq!(results.points_done(), HashSet::from(["a".to_owned()]));
        results.add(&json!({ "point": "b", "note": "a,b" })).unwrap();
        let rows = whole_rows(&path).unwrap();
        assert_eq!(rows.len(), 2);
        results.finish(&rows).unwrap();
        let csv = fs::read_to_string(dir.path().join("rows.csv")).unwrap();
        assert_eq!(csv, "point,p.q,note\na,1.5,\nb,,\"a,b\"\n");
        assert!(Results::open(dir.path(), "x", &json!({ "seed": 2 })).is_err());
    }
}
