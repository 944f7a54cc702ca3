//! The list of what stands today and is not yet mended, or is right as it is.
//! The check of all crates reads it first, and refuses entries that nothing needs any more.
//!
//! ```text
//! # a comment
//! circle caudal-config: crate::de crate::error
//! docs caudal-config: 12
//! floors caudal-rt: base queue request
//! ```
//!
//! Floors are modules of a crate's root, the lowest first: none uses one above it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::circles::{Circle, upward_uses};
use crate::error::LintError;
use crate::modules::Crate;

/// The list, as far as it has not been met.
#[derive(Debug)]
pub(crate) struct Known {
    path: PathBuf,
    /// Crate and modules of each circle, and whether it was met.
    circles: Vec<(String, Vec<String>, bool)>,
    /// How many doc comments of a crate may open without a noun.
    docs: BTreeMap<String, usize>,
    /// By crate: modules of its root, the lowest first.
    floors: BTreeMap<String, Vec<String>>,
}

impl Known {
    pub(crate) fn read(path: &Path) -> Result<Known, LintError> {
        let text = crate::read(path)?;
        let mut known = Known {
            path: path.to_path_buf(),
            circles: Vec::new(),
            docs: BTreeMap::new(),
            floors: BTreeMap::new(),
        };
        for (at, line) in text.lines().enumerate() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let wrong = || LintError::Known { path: path.to_path_buf(), line: at + 1 };
            let (kind, rest) = line.split_once(' ').ok_or_else(wrong)?;
            let (name, rest) = rest.split_once(':').ok_or_else(wrong)?;
            match kind {
                "circle" => {
                    let modules = rest.split_whitespace().map(str::to_owned).collect();
                    known.circles.push((name.to_owned(), modules, false));
                }
                "floors" => {
                    let floors = rest.split_whitespace().map(str::to_owned).collect();
                    known.floors.insert(name.to_owned(), floors);
                }
                "docs" => {
                    let count = rest.trim().parse().map_err(|_| wrong())?;
                    known.docs.insert(name.to_owned(), count);
                }
                _ => return Err(wrong()),
            }
        }
        Ok(known)
    }

    /// Uses of a crate that lead upwards, if it has floors.
    pub(crate) fn faults_of_floors(&self, name: &str, all: &Crate) -> Vec<String> {
        let Some(floors) = self.floors.get(name) else { return Vec::new() };
        let upwards = upward_uses(all, floors);
        upwards.into_iter().map(|fault| format!("{name}: {fault}")).collect()
    }

    /// A circle that is not listed.
    pub(crate) fn fault_of(&mut self, name: &str, circle: &Circle) -> Option<String> {
        let listed =
            self.circles.iter_mut().find(|(of, modules, _)| of == name && *modules == circle.modules);
        if let Some((_, _, met)) = listed {
            *met = true;
            return None;
        }
        let mut text = format!(
            "{name}: these modules use each other in a circle: {}\n  Cut one of these arrows, which are the shortest way around, so that each module is above or below another:",
            circle.modules.join(" ")
        );
        for arrow in &circle.arrows {
            text += &format!(
                "\n  {} uses {} of {}",
                arrow.from.display(),
                arrow.names.join(", "),
                arrow.to.display()
            );
        }
        Some(text)
    }

    /// Doc comments without a noun, if there are others than so many as listed.
    pub(crate) fn fault_of_docs(&mut self, name: &str, places: &[String]) -> Option<String> {
        let listed = self.docs.remove(name).unwrap_or(0);
        match places.len() {
            found if found == listed => None,
            found if found < listed => Some(format!(
                "{}: `docs {name}: {listed}` may be `docs {name}: {found}` now",
                self.path.display()
            )),
            found => Some(format!(
                "{name}: {found} doc comments open with What, That, Those, Who, Whose or Which, {listed} are listed; name the thing in the first \
                 line:\n  {}",
                places.join("\n  ")
            )),
        }
    }

    /// Circles that are listed and have gone.
    pub(crate) fn gone(&self) -> Vec<String> {
        let gone = self.circles.iter().filter(|(_, _, met)| !met);
        gone.map(|(name, modules, _)| {
            format!(
                "{}: the circle `{name}: {}` has gone or has changed; take the line out",
                self.path.display(),
                modules.join(" ")
            )
        })
        .collect()
    }
}
