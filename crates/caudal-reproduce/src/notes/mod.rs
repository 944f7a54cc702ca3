//! The notes on statements that did not come out, and on what is not judged. [`super::page`] shows them on the figures' pages, and
//! [`super::overview`] at its end. Constants, filled from the results that are kept.
//!
//! A note's numbers are looked up in the results that are kept ([`kept`]). One that is not in there has a mark ([`marks`]) that says
//! where it is from.

mod explanation;
mod kept;
mod marks;
mod policies;
mod q_zilla;
mod tail_control;
mod tiny_quanta;

use super::record::RecordedFigure;
use explanation::Explanation;
use kept::Kept;

/// A figure, a statement of it by its text, and what was found when it was looked into.
type Note = (&'static str, &'static str, Explanation);

/// The notes on each paper.
const NOTES: [&[Note]; 4] = [policies::NOTES, tiny_quanta::NOTES, q_zilla::NOTES, tail_control::NOTES];

/// The reasons that were found for a statement of `here` that did not hold, or stayed undecided. Their numbers are those of `here` and of
/// other figures in `all`; `?` stands for them if one of them is missing.
pub(crate) fn note(here: &RecordedFigure, all: &[RecordedFigure], statement: &str) -> Option<String> {
    let is = |(figure, text, _): &&Note| *figure == here.figure.name && *text == statement;
    let (_, _, explanation) = NOTES.into_iter().flatten().find(is)?;
    let filled = explanation.filled(&Kept::new(here, all));
    Some(filled.unwrap_or_else(|_| explanation.without_numbers()))
}

/// The end of the overview.
pub(crate) const UNJUDGED: &str = "\
**What is not judged:** of Tiny Quanta, that its dispatcher keeps small quanta (Figure 16: its cores pre-empt themselves, by
construction), TQ-TIMING (Figure 11: other quanta for gets than for scans), caches and compiler (Figures 13 to 15, Table 3) and
latencies that are curves alone (Figure 8); the policies paper's Figure 1 (other systems than those of Figure
8) and, of its section 4.2.1, how long tasks wait on other cores, placement by the work in two queues, and lower thresholds of
shedding; Q-Zilla's Figures 4 and 5, which are steps of an example that tests follow, and its break-even loads, which are of its own
core; tail-control's Figures 1, 3 and 5 (histograms and algorithms), and what it calls similar without a number (sections 5.2, 5.3).
";

#[cfg(test)]
mod tests {
    use super::super::figures::FIGURES;
    use super::super::reproduction::kept_in_the_docs;
    use super::marks::{Origin, Piece, pieces, unmarked};
    use super::*;

    fn all() -> impl Iterator<Item = &'static Note> {
        NOTES.into_iter().flatten()
    }

    #[test]
    fn every_note_belongs_to_a_statement() {
        for (name, text, _) in all() {
            let figure = FIGURES.iter().find(|figure| figure.name == *name).expect(name);
            assert!(figure.statements.iter().any(|statement| statement.text == *text), "{name}: {text}");
        }
    }

    #[test]
    fn every_number_that_a_note_looks_up_is_there() {
        let recorded = kept_in_the_docs();
        for (name, text, explanation) in all() {
            let here = recorded.iter().find(|recorded| recorded.figure.name == *name).expect(name);
            let kept = Kept::new(here, &recorded);
            if let Err(missing) = explanation.filled(&kept) {
                panic!("the note on `{text}` in {name} asks for what is not kept: {missing}");
            }
            assert_eq!(explanation.unused(&kept), [""; 0], "{name}: {text}: looked up, and not in the words");
        }
    }

    #[test]
    fn numbers_of_a_figure_of_which_nothing_is_kept_are_question_marks() {
        let recorded = kept_in_the_docs();
        let here =
            recorded.iter().find(|recorded| recorded.figure.name == "q-zilla-figure-9c").expect("it is kept");
        let statement = "With 8 contexts, CoreZilla's tail is lower than that of an ideal queue for 32 cores, by 12 % (second reading)";
        let shown = |all: &[RecordedFigure]| note(here, all, statement).expect("there is a note");
        assert!(!shown(&recorded).contains('?'));
        assert!(shown(&[]).contains("figures: ?, ? and ?, and ?, ? and ?, against 1.31"), "{}", shown(&[]));
    }

    #[test]
    fn every_number_that_a_note_does_not_look_up_says_where_it_is_from() {
        for (name, text, explanation) in all() {
            let place = format!("the note on `{text}` in {name}");
            let open = unmarked(explanation.words);
            assert!(open.is_empty(), "{place} has numbers without a mark: {open:?}");
            let has = |origin: Origin| {
                pieces(explanation.words)
                    .any(|piece| matches!(piece, Piece::Number(other, _) if other == origin))
            };
            assert_eq!(has(Origin::Paper), !explanation.paper.is_empty(), "{place}: a place in the paper");
            assert_eq!(has(Origin::Once), explanation.once.is_some(), "{place}: a date and a run");
            if let Some(once) = explanation.once {
                let is_date = once.date.split('-').map(str::len).eq([4, 2, 2])
                    && once.date.chars().all(|char| char == '-' || char.is_ascii_digit());
                assert!(
                    is_date && !once.how.is_empty(),
                    "{place}: {} is no date, or there is no run",
                    once.date
                );
            }
        }
    }
}
