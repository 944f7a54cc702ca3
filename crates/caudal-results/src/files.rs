//! Files of results: written whole or line by line, so that a reader never sees half of one. Results directories and the command call it.

use std::fs::{self, File, OpenOptions};
use std::io::{BufRead, BufReader, ErrorKind, Write};
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::ResultsError;

/// A file of JSON lines that grows.
#[derive(Debug)]
pub struct Lines {
    path: PathBuf,
    file: File,
}

impl Lines {
    /// Opens the file, or makes it, and gives what it has; half a line at its end is forgotten.
    ///
    /// # Errors
    /// If it can not be read or written.
    pub fn open<T: Serialize + DeserializeOwned>(path: &Path) -> Result<(Lines, Vec<T>), ResultsError> {
        let found: Vec<T> = whole_lines(path)?;
        // Written anew without what was cut off.
        write_whole(path, &json_lines(&found)?)?;
        let opened = OpenOptions::new().append(true).open(path);
        let file = opened.map_err(|error| ResultsError::write(path, &error))?;
        Ok((Lines { path: path.to_owned(), file }, found))
    }

    /// Adds a line.
    ///
    /// # Errors
    /// If it can not be written.
    pub fn add(&mut self, line: &impl Serialize) -> Result<(), ResultsError> {
        let text = serde_json::to_string(line)? + "\n";
        self.file.write_all(text.as_bytes()).map_err(|error| ResultsError::write(&self.path, &error))
    }
}

/// `all` as text, a line of JSON each.
///
/// # Errors
/// If one of them can not be written as JSON.
pub fn json_lines(all: &[impl Serialize]) -> Result<String, ResultsError> {
    let mut text = String::new();
    for one in all {
        text += &serde_json::to_string(one)?;
        text.push('\n');
    }
    Ok(text)
}

/// Makes a directory that can be written into.
///
/// # Errors
/// If it can not.
pub fn make_dir(dir: &Path) -> Result<(), ResultsError> {
    fs::create_dir_all(dir).map_err(|error| ResultsError::write(dir, &error))?;
    writable(&dir.join(".caudal.part"))
}

/// Finds out before the work that a file can be written after it. What it holds stays.
///
/// # Errors
/// If it can not.
pub fn writable(path: &Path) -> Result<(), ResultsError> {
    let was_there = path.exists();
    let opened = OpenOptions::new().append(true).create(true).open(path);
    opened.map_err(|error| ResultsError::write(path, &error))?;
    if !was_there {
        fs::remove_file(path).map_err(|error| ResultsError::write(path, &error))?;
    }
    Ok(())
}

/// Writes a file so that a reader sees the old one or the new one, never half of it.
///
/// # Errors
/// If it can not be written.
pub fn write_whole(path: &Path, text: &str) -> Result<(), ResultsError> {
    write_beside(path, |mut file| file.write_all(text.as_bytes()))
}

/// The same, of what `write` writes.
///
/// # Errors
/// If it can not be written.
pub fn write_beside<E: std::fmt::Display>(
    path: &Path,
    write: impl FnOnce(File) -> Result<(), E>,
) -> Result<(), ResultsError> {
    let mut beside = path.as_os_str().to_owned();
    beside.push(".part");
    let file = File::create(&beside).map_err(|error| ResultsError::write(path, &error))?;
    write(file).map_err(|error| ResultsError::write(path, &error))?;
    fs::rename(&beside, path).map_err(|error| ResultsError::write(path, &error))
}

/// The complete lines of a file as values; none if there is no file.
///
/// # Errors
/// If the file can not be read, or a line is JSON but no such value.
pub fn whole_lines<T: DeserializeOwned>(path: &Path) -> Result<Vec<T>, ResultsError> {
    let file = match File::open(path) {
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return Ok(Vec::new());
        }
        opened => opened.map_err(|error| ResultsError::read(path, &error))?,
    };
    let mut values = Vec::new();
    for line in BufReader::new(file).lines() {
        let line = line.map_err(|error| ResultsError::read(path, &error))?;
        match serde_json::from_str(&line) {
            Ok(value) => values.push(value),
            Err(error) if error.is_data() => return Err(ResultsError::Row { problem: error.to_string() }),
            // It was cut off in the middle.
            Err(_) => {}
        }
    }
    Ok(values)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_checked_for_writing_stays_as_it_is() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a");
        writable(&path).unwrap();
        assert!(!path.exists());
        fs::write(&path, "kept").unwrap();
        writable(&path).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "kept");
        let error = writable(&path.join("b")).unwrap_err();
        assert!(error.is_failure());
    }
}
