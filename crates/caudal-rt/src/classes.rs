//! Classes of requests: a name each, and what is measured of each on every worker.

use std::collections::BTreeSet;
use std::sync::{Mutex, OnceLock, PoisonError};

use crate::histogram::LiveHistogram;

/// Most classes of a runtime.
pub const CLASSES_MAX: usize = 64;

/// A class of requests, by its number in the order of registration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ClassId(pub(crate) u16);

/// There are [`CLASSES_MAX`] classes already.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a runtime has {CLASSES_MAX} classes at most; let several kinds of requests share one")]
pub struct TooManyClasses;

/// What one worker has measured of one class. Only that worker writes; times in cycles.
#[derive(Debug, Default)]
pub(crate) struct Measured {
    /// Arrival to start.
    pub(crate) queueing: LiveHistogram,
    /// Time on the worker.
    pub(crate) service: LiveHistogram,
    /// Arrival to completion.
    pub(crate) sojourn: LiveHistogram,
    /// Quanta that were used up, a request each.
    pub(crate) quanta: LiveHistogram,
    /// Switches away before the end, a request each.
    pub(crate) preemptions: LiveHistogram,
    /// From the end of a quantum to the yield.
    pub(crate) lateness: LiveHistogram,
}

/// The names of a runtime's classes, in the order of their numbers. Reading one takes no lock: handlers of signals do.
#[derive(Debug)]
pub(crate) struct ClassNames {
    names: [OnceLock<&'static str>; CLASSES_MAX],
}

impl Default for ClassNames {
    fn default() -> ClassNames {
        ClassNames { names: [const { OnceLock::new() }; CLASSES_MAX] }
    }
}

/// The same text, for ever: each is kept once in a process.
fn interned(name: &str) -> &'static str {
    static NAMES: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
    let mut names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = names.get(name) {
        return known;
    }
    let name = &*Box::leak(name.to_owned().into_boxed_str());
    names.insert(name);
    name
}

/// What is measured of all classes.
#[derive(Debug)]
pub(crate) struct Classes {
    /// By worker and class.
    measured: Box<[Box<[OnceLock<Box<Measured>>]>]>,
}

impl Classes {
    pub(crate) fn new(workers: usize) -> Classes {
        let of_worker = |_| (0..CLASSES_MAX).map(|_| OnceLock::new()).collect();
        Classes { measured: (0..workers).map(of_worker).collect() }
    }

    /// Where `worker` notes what it measures of `class`; made when it is needed first.
    #[inline]
    pub(crate) fn measured(&self, worker: usize, class: u16) -> &Measured {
        self.measured[worker][usize::from(class) % CLASSES_MAX].get_or_init(Box::default)
    }

    /// The same for a reader, who makes nothing.
    pub(crate) fn measured_so_far(&self, worker: usize, class: u16) -> Option<&Measured> {
        self.measured[worker].get(usize::from(class))?.get().map(|measured| &**measured)
    }
}

impl ClassNames {
    /// The class with this name, which is new if there is none.
    pub(crate) fn class(&self, name: &str) -> Result<ClassId, TooManyClasses> {
        let name = interned(name);
        let number = self.names.iter().position(|known| *known.get_or_init(|| name) == name);
        number.map(|number| ClassId(number as u16)).ok_or(TooManyClasses)
    }

    /// The name of a class.
    pub(crate) fn name(&self, class: u16) -> &'static str {
        self.names.get(usize::from(class)).and_then(OnceLock::get).copied().unwrap_or("?")
    }

    /// The names, in the order of their numbers.
    pub(crate) fn all(&self) -> Vec<&'static str> {
        self.names.iter().map_while(OnceLock::get).copied().collect()
    }
}
