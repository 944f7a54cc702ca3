//! What a plan has computed, in its directory.

use std::collections::HashMap;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use caudal_tune::Journal;
use serde_json::Value;

use crate::results::Lines;

/// `progress.jsonl`: a line for each system after each step of the search.
pub(super) struct Kept {
    found: HashMap<(u64, u64), Value>,
    /// Requests that did not have to be simulated again.
    recalled: AtomicU64,
    lines: Mutex<(Lines, miette::Result<()>)>,
}

impl Kept {
    /// Opens the file, or makes it.
    ///
    /// # Errors
    /// If it can not be read or written.
    pub(super) fn open(path: &Path) -> miette::Result<Kept> {
        let (lines, found) = Lines::open(path)?;
        let part = |line: Value| Some(((line["step"].as_u64()?, line["entry"].as_u64()?), line));
        Ok(Kept {
            found: found.into_iter().filter_map(part).collect(),
            recalled: AtomicU64::new(0),
            lines: Mutex::new((lines, Ok(()))),
        })
    }

    /// Parts of the search that were there already.
    pub(super) fn parts(&self) -> usize {
        self.found.len()
    }

    /// Requests of the parts that have been made use of.
    pub(super) fn recalled(&self) -> u64 {
        self.recalled.load(Ordering::Relaxed)
    }

    /// Was everything written?
    ///
    /// # Errors
    /// The first that was not.
    pub(super) fn written(self) -> miette::Result<()> {
        self.lines.into_inner().unwrap_or_else(PoisonError::into_inner).1
    }
}

impl Journal for Kept {
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
