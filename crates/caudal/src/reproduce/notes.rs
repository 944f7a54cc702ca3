//! What was looked into where a statement did not come out, and what is not judged.

/// Figure, the statement's text, and what was found when it was looked into.
const NOTES: &[(&str, &str, &str)] = &[];

/// What was found out about a statement that did not hold.
pub(crate) fn note(figure: &str, statement: &str) -> Option<&'static str> {
    NOTES.iter().find(|(name, text, _)| *name == figure && *text == statement).map(|(_, _, note)| *note)
}

/// The end of the page.
pub(crate) const UNJUDGED: &str = "\
## What is not judged

- *Shed tasks spent 3.1-4.5 us queued on other cores, stolen ones 0.3-1.4 us* (policies paper, section 4.2.1): results
  do not tell the time in one queue from that in another.
- *Placement by the sum of the service times in the queue improves enqueue choice* (section 4.2.1): there is a
  clairvoyant dispatch over all queues, `least-work`, not one over two of them.
- *Lowering the shedding threshold only yields marginal improvements* (section 4.2.1): no numbers are given.
- Figures 1 and 8 of the policies paper, and Tiny Quanta's from 5 on, are measurements of real systems.
";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reproduce::FIGURES;

    #[test]
    fn every_note_belongs_to_a_statement() {
        for (name, text, _) in NOTES {
            let figure = FIGURES.iter().find(|figure| figure.name == *name).expect(name);
            assert!(figure.statements.iter().any(|statement| statement.text == *text), "{name}: {text}");
        }
    }
}
