//! Classes of requests: a name each, and what is measured of each on every worker.

use std::sync::{Mutex, PoisonError};

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

/// The names of a runtime's classes, in the order of their numbers.
#[derive(Debug, Default)]
pub(crate) struct ClassNames {
    names: Mutex<Vec<String>>,
}

/// What is measured of all classes.
#[derive(Debug)]
pub(crate) struct Classes {
    /// By worker and class.
    measured: Box<[Box<[std::sync::OnceLock<Box<Measured>>]>]>,
}

impl Classes {
    pub(crate) fn new(workers: usize) -> Classes {
        let of_worker = |_| (0..CLASSES_MAX).map(|_| std::sync::OnceLock::new()).collect();
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
        let mut names = self.names.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = names.iter().position(|known| known == name) {
            return Ok(ClassId(known as u16));
        }
        if names.len() == CLASSES_MAX {
            return Err(TooManyClasses);
        }
        names.push(name.to_owned());
        Ok(ClassId(names.len() as u16 - 1))
    }

    /// The names, in the order of their numbers.
    pub(crate) fn all(&self) -> Vec<String> {
        self.names.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
