//! The entry of one system in the run of a plan, and its exchange with the journal. Each step of a plan first asks whether its part is in
//! the journal ([`Entry::recall`]), and otherwise works and keeps the result ([`Entry::keep`]).

use super::Entry;
use super::known::Known;
use crate::Phase;
use crate::journal::Journal;

impl Entry {
    /// Is this part of the plan in the journal? Then the entry is as it was after it.
    pub(super) fn recall(&mut self, journal: &dyn Journal, step: usize) -> bool {
        let Some(found) = journal.recall(step, self.index) else { return false };
        let known = serde_json::from_value::<Known>(found).ok();
        let Some((search, tuning)) = known.and_then(|known| known.restore(&self.base, &self.search)) else {
            return false;
        };
        (self.search, self.tuning) = (search, tuning);
        true
    }

    pub(super) fn keep(&self, journal: &dyn Journal, (step, phase): (usize, Phase), charged_before: u64) {
        let requests = self.search.charged.saturating_sub(charged_before);
        let known = Known::of((step, self.index, phase), &self.search, self.tuning.as_ref(), requests);
        // Numbers, names and lists of them; what could not be written would be computed again.
        if let Ok(known) = serde_json::to_value(known) {
            journal.keep(known);
        }
    }
}
