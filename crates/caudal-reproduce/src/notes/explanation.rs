//! An explanation of why a statement did not come out: words, and the places that their numbers are from. The notes of each paper consist
//! of such explanations, and the pages of the figures show them. Data, with the filling-in of numbers.

use super::kept::{Kept, Missing};
use super::marks::{Origin, Piece, pieces};

/// Numbers that were looked up, each under its name in the words.
pub(super) type Numbers = Result<Vec<(&'static str, String)>, Missing>;

/// An explanation of how a statement came out, and where its numbers are from.
#[derive(Clone, Copy)]
pub(super) struct Explanation {
    /// The words, with a mark at every number ([`super::marks`]).
    pub(super) words: &'static str,
    numbers: fn(&Kept<'_>) -> Numbers,
    /// The place of the numbers that are the paper's; empty if there are none.
    #[cfg_attr(not(test), expect(dead_code, reason = "it is for readers of the notes; a test asks for it"))]
    pub(super) paper: &'static str,
    /// The run that made those numbers whose results are not kept.
    #[cfg_attr(not(test), expect(dead_code, reason = "it is for readers of the notes; a test asks for it"))]
    pub(super) once: Option<Once>,
}

/// A run whose results are not kept.
#[derive(Clone, Copy)]
#[cfg_attr(not(test), expect(dead_code, reason = "it is for readers of the notes; a test asks for it"))]
pub(super) struct Once {
    /// The date on which its numbers were noted, `2026-11-22`.
    pub(super) date: &'static str,
    /// The files or the command of the run.
    pub(super) how: &'static str,
}

impl Explanation {
    /// These words.
    pub(super) const fn new(words: &'static str) -> Explanation {
        Explanation { words, numbers: |_| Ok(Vec::new()), paper: "", once: None }
    }

    /// The same words with numbers that are looked up.
    pub(super) const fn looked_up(self, numbers: fn(&Kept<'_>) -> Numbers) -> Explanation {
        Explanation { numbers, ..self }
    }

    /// The same words, whose numbers of the paper stand at this place of it.
    pub(super) const fn paper_says(self, place: &'static str) -> Explanation {
        Explanation { paper: place, ..self }
    }

    /// The same words, some of whose numbers were noted on this date and made in this way.
    pub(super) const fn once(self, date: &'static str, how: &'static str) -> Explanation {
        Explanation { once: Some(Once { date, how }), ..self }
    }

    /// The words with their numbers.
    ///
    /// # Errors
    /// If a number is not in what is kept.
    pub(super) fn filled(&self, kept: &Kept<'_>) -> Result<String, Missing> {
        let numbers = (self.numbers)(kept)?;
        let number = |name: &str| numbers.iter().find(|(other, _)| *other == name).map(|(_, number)| number);
        let mut text = String::new();
        for piece in pieces(self.words) {
            text += match piece {
                Piece::Number(Origin::LookedUp, name) => {
                    number(name).ok_or_else(|| kept.missing(name, "no number has this name"))?
                }
                Piece::Words(words) | Piece::Number(_, words) => words,
            };
        }
        Ok(text)
    }

    /// The words with `?` for all numbers that would be looked up.
    pub(super) fn without_numbers(&self) -> String {
        let shown = pieces(self.words).map(|piece| match piece {
            Piece::Number(Origin::LookedUp, _) => "?",
            Piece::Words(words) | Piece::Number(_, words) => words,
        });
        shown.collect()
    }

    /// Names of numbers that are looked up and stand nowhere in the words.
    #[cfg(test)]
    pub(super) fn unused(&self, kept: &Kept<'_>) -> Vec<&'static str> {
        let names = (self.numbers)(kept).unwrap_or_default().into_iter().map(|(name, _)| name);
        let stands =
            |name: &str| pieces(self.words).any(|piece| piece == Piece::Number(Origin::LookedUp, name));
        names.filter(|name| !stands(name)).collect()
    }
}
