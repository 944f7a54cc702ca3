//! Classes of requests: a number and a name each, which measurements and logs are kept by. A runtime makes them at its start; submissions
//! name one for each request. Measurements of classes are in [`crate::api::stats`].

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU16, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

/// Most classes of a runtime.
pub const CLASSES_MAX: usize = 64;

/// A class of requests of one runtime, by its number in the order of registration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ClassId {
    pub(crate) number: u16,
    /// Mark of the register that it is from: [`ClassNames::of`].
    pub(crate) of: u16,
}

impl ClassId {
    /// # Panics
    /// If it is not a class of the runtime whose classes are `of` that.
    #[inline(always)]
    pub(crate) fn must_be(self, of: u16) {
        if self.of != of {
            foreign();
        }
    }

    /// The first class of a runtime, which may not be registered.
    #[cfg(test)]
    pub(crate) fn first(names: &ClassNames) -> ClassId {
        ClassId { number: 0, of: names.of }
    }
}

#[cold]
fn foreign() -> ! {
    panic!(
        "a class of another runtime: make one of the same name here, with Runtime::class or Builder::class"
    )
}

crate::base::text::debug_is_text!(TooManyClasses);

/// There are [`CLASSES_MAX`] classes already.
#[derive(Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a runtime has {CLASSES_MAX} classes at most; let several kinds of requests share one")]
pub struct TooManyClasses;

/// The names of a runtime's classes, in the order of their numbers. Reading one takes no lock: handlers of signals do.
#[derive(Debug)]
pub(crate) struct ClassNames {
    names: [OnceLock<&'static str>; CLASSES_MAX],
    /// Tells these from the ones of other runtimes; the same again after 65,536 of those.
    pub(crate) of: u16,
}

impl Default for ClassNames {
    fn default() -> ClassNames {
        static REGISTERS: AtomicU16 = AtomicU16::new(0);
        let of = REGISTERS.fetch_add(1, Ordering::Relaxed);
        ClassNames { names: [const { OnceLock::new() }; CLASSES_MAX], of }
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

impl ClassNames {
    /// The class with this name, which is new if there is none.
    pub(crate) fn class(&self, name: &str) -> Result<ClassId, TooManyClasses> {
        let name = interned(name);
        let number = self.names.iter().position(|known| *known.get_or_init(|| name) == name);
        number.map(|number| ClassId { number: number as u16, of: self.of }).ok_or(TooManyClasses)
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
