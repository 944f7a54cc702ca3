//! What a search has computed, in its directory.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use caudal_tune::Journal;
use serde_json::Value;

use crate::results::{Lines, Meta, Owner};

/// `progress.jsonl`: a line for each part of the search.
pub(crate) struct Kept {
    found: HashMap<(u64, u64), Value>,
    /// Requests that did not have to be simulated again.
    recalled: AtomicU64,
    lines: Mutex<(Lines, miette::Result<()>)>,
}

/// The directory that is for what `meta` asks, with what it has: `out`, or the first of `default`, `default-2`, ... that
/// holds nothing else.
///
/// # Errors
/// If `out` is another question's, or can not be read or written.
pub(super) fn open(out: Option<&PathBuf>, default: &str, meta: &Meta) -> miette::Result<(PathBuf, Kept)> {
    let dir = match out {
        Some(dir) => dir.clone(),
        None => {
            let names = (1..).map(|n| if n == 1 { default.to_owned() } else { format!("{default}-{n}") });
            let ours = |dir: &PathBuf| !matches!(meta.owner(dir), Owner::Other(_));
            names.map(PathBuf::from).find(ours).unwrap_or_else(|| default.into())
        }
    };
    meta.claim(&dir)?;
    let kept = Kept::open(&dir.join("progress.jsonl"))?;
    if kept.parts() > 0 {
        errln!("going on in {}: {} parts of the search are done", dir.display(), kept.parts());
    }
    Ok((dir, kept))
}

impl Kept {
    /// Opens the file, or makes it.
    ///
    /// # Errors
    /// If it can not be read or written.
    fn open(path: &Path) -> miette::Result<Kept> {
        let (lines, found) = Lines::open(path)?;
        let part = |line: Value| Some(((line["step"].as_u64()?, line["entry"].as_u64()?), line));
        Ok(Kept {
            found: found.into_iter().filter_map(part).collect(),
            recalled: AtomicU64::new(0),
            lines: Mutex::new((lines, Ok(()))),
        })
    }

    /// Parts of the search that were there already.
    fn parts(&self) -> usize {
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
