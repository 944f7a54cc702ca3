//! The parts of a search that are computed, kept in its directory: a search that is asked again goes on after them. Plans, lanes and profiles
//! open one.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use caudal_tune::Journal;
use serde_json::Value;

use crate::error::ResultsError;
use crate::files::Lines;
use crate::meta::{Meta, Owner};

/// The file `progress.jsonl` of a directory: a line for each part of the search.
#[derive(Debug)]
pub struct DirectoryJournal {
    found: HashMap<(u64, u64), Value>,
    /// Requests that did not have to be simulated again.
    recalled: AtomicU64,
    lines: Mutex<(Lines, Result<(), ResultsError>)>,
}

impl DirectoryJournal {
    /// The directory that is for what `meta` asks, with what it has: `out`, or the first of `default`, `default-2`, ... that
    /// holds nothing else.
    ///
    /// # Errors
    /// If `out` is another question's, or can not be read or written.
    pub fn of(
        out: Option<&PathBuf>,
        default: &str,
        meta: &Meta,
    ) -> Result<(PathBuf, DirectoryJournal), ResultsError> {
        let dir = match out {
            Some(dir) => dir.clone(),
            None => {
                let names = (1..).map(|n| if n == 1 { default.to_owned() } else { format!("{default}-{n}") });
                let ours = |dir: &PathBuf| !matches!(meta.owner(dir), Owner::Other(_));
                names.map(PathBuf::from).find(ours).unwrap_or_else(|| default.into())
            }
        };
        meta.claim(&dir)?;
        let kept = DirectoryJournal::open(&dir.join("progress.jsonl"))?;
        Ok((dir, kept))
    }

    /// Opens the file, or makes it.
    ///
    /// # Errors
    /// If it can not be read or written.
    fn open(path: &Path) -> Result<DirectoryJournal, ResultsError> {
        let (lines, found) = Lines::open(path)?;
        let part = |line: Value| Some(((line["step"].as_u64()?, line["entry"].as_u64()?), line));
        Ok(DirectoryJournal {
            found: found.into_iter().filter_map(part).collect(),
            recalled: AtomicU64::new(0),
            lines: Mutex::new((lines, Ok(()))),
        })
    }

    /// Parts of the search that were there already.
    #[must_use]
    pub fn parts(&self) -> usize {
        self.found.len()
    }

    /// Requests of the parts that have been made use of.
    #[must_use]
    pub fn recalled(&self) -> u64 {
        self.recalled.load(Ordering::Relaxed)
    }

    /// Was everything written?
    ///
    /// # Errors
    /// The first that was not.
    pub fn written(self) -> Result<(), ResultsError> {
        self.lines.into_inner().unwrap_or_else(PoisonError::into_inner).1
    }
}

impl Journal for DirectoryJournal {
    fn recall(&self, step: usize, entry: usize) -> Option<Value> {
        let found = self.found.get(&(step as u64, entry as u64))?;
        self.recalled.fetch_add(found["requests"].as_u64().unwrap_or(0), Ordering::Relaxed);
        Some(found.clone())
    }

    /// A full disk ends the keeping, not the search: its answer can still be printed.
    fn keep(&self, entry: Value) {
        let mut lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        if lines.1.is_ok() {
            lines.1 = lines.0.add(&entry);
        }
    }
}
