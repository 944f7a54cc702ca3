//! Problems that are found while a file is read: what is wrong at which bytes of which text, before lines and columns are known. The
//! readers of tables in `workload`, `plan`, `measure` and `sweep` return them; `error` turns them into lines and columns at the end. Data
//! only.
//!
//! Every reader of a table collects [`Finding`]s; [`crate::ConfigError`] is made of them once the whole file has been looked at.

use std::sync::Arc;

use miette::NamedSource;

/// A piece of text that settings come from: the file, or one override of the command line.
#[derive(Debug)]
pub(crate) struct SourceText {
    /// Its name in messages: the path, or `--set`.
    pub(crate) name: String,
    pub(crate) text: Arc<NamedSource<String>>,
}

impl SourceText {
    pub(crate) fn new(name: &str, text: &str) -> SourceText {
        SourceText { name: name.to_owned(), text: Arc::new(NamedSource::new(name, text.to_owned())) }
    }
}

/// A stretch of one source, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place {
    /// Index into the sources; [`Place::BUILT_IN`] has no text.
    pub(crate) source: usize,
    pub(crate) start: usize,
    pub(crate) end: usize,
}

impl Place {
    /// The place of values from presets and defaults, which stand in no text.
    pub(crate) const BUILT_IN: Place = Place { source: usize::MAX, start: 0, end: 0 };

    pub(crate) fn is_written(self) -> bool {
        self.source != usize::MAX
    }
}

/// A problem before its place has been looked up in a text.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Finding {
    pub(crate) place: Place,
    pub(crate) key: String,
    pub(crate) message: String,
    pub(crate) help: Option<String>,
}

impl Finding {
    pub(crate) fn new(place: Place, key: impl Into<String>, message: impl Into<String>) -> Finding {
        Finding { place, key: key.into(), message: message.into(), help: None }
    }

    pub(crate) fn help(mut self, help: impl Into<String>) -> Finding {
        self.help = Some(help.into());
        self
    }
}

/// The value, or `None` with its findings noted.
pub(crate) fn note<T>(findings: &mut Vec<Finding>, result: Result<T, Vec<Finding>>) -> Option<T> {
    result.map_err(|more| findings.extend(more)).ok()
}
