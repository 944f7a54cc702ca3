//! The marks in the words of a note, which say where each number is from. `explanation` takes a note apart by them when a page is made,
//! and a test refuses numbers without a mark. Pure.
//!
//! | mark | where the number is from |
//! | --- | --- |
//! | `{cores}` | looked up under that name in the results that are kept |
//! | `{given: 16}` | a parameter of the experiment, of a system or of the model, or a limit of ours |
//! | `{paper: 1.7}` | the paper, at the place that the explanation names |
//! | `{once: 1.30}` | a run whose results are not kept, at the date and in the way that the explanation names |

/// The origin of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    LookedUp,
    Given,
    Paper,
    Once,
}

/// The words of a mark for a number that is written by hand.
const BY_HAND: [(&str, Origin); 3] =
    [("given: ", Origin::Given), ("paper: ", Origin::Paper), ("once: ", Origin::Once)];

/// A part of a note's words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Piece<'a> {
    /// Words without a mark.
    Words(&'a str),
    /// A mark: the number as it is written, or the name under which it is looked up.
    Number(Origin, &'a str),
}

/// The pieces of a note, in order.
pub(super) fn pieces(text: &str) -> impl Iterator<Item = Piece<'_>> {
    text.split('{').flat_map(|part| match part.split_once('}') {
        Some((mark, after)) => vec![marked(mark), Piece::Words(after)],
        None => vec![Piece::Words(part)],
    })
}

fn marked(mark: &str) -> Piece<'_> {
    let by_hand =
        BY_HAND.iter().find_map(|(word, origin)| Some(Piece::Number(*origin, mark.strip_prefix(word)?)));
    by_hand.unwrap_or(Piece::Number(Origin::LookedUp, mark))
}

/// Words that have a digit in them, but no mark. What is in backquotes, begins with a letter (`p99`), or is the number of a figure or a
/// section is a name.
#[cfg(test)]
pub(super) fn unmarked(text: &str) -> Vec<&str> {
    let words = pieces(text).filter_map(|piece| match piece {
        Piece::Words(words) => Some(words),
        Piece::Number(..) => None,
    });
    let prose = words.flat_map(|words| words.split('`').step_by(2));
    let mut found = Vec::new();
    for words in prose {
        let mut before = "";
        for word in words.split_whitespace() {
            let begins = word.trim_start_matches(|char: char| !char.is_alphanumeric());
            let is_name = begins.starts_with(char::is_alphabetic) || NUMBERED.contains(&before);
            if begins.contains(|char: char| char.is_ascii_digit()) && !is_name {
                found.push(word);
            }
            before = word;
        }
    }
    found
}

/// Words before a number that is a name.
#[cfg(test)]
const NUMBERED: [&str; 4] = ["Figure", "Figures", "section", "sections"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_say_where_a_number_is_from() {
        let found: Vec<_> = pieces("holds {cores} of {given: 32}, {paper: 1.7}").collect();
        assert_eq!(
            found,
            [
                Piece::Words("holds "),
                Piece::Number(Origin::LookedUp, "cores"),
                Piece::Words(" of "),
                Piece::Number(Origin::Given, "32"),
                Piece::Words(", "),
                Piece::Number(Origin::Paper, "1.7"),
                Piece::Words(""),
            ]
        );
    }

    #[test]
    fn a_number_without_a_mark_is_seen_and_a_name_is_not() {
        let text =
            "as in Figure 5a and section 6: the p99.9 of `rocksdb-0.5` is (1.30 of {given: 4}, 28 % lower";
        assert_eq!(unmarked(text), ["(1.30", "28"]);
    }
}
