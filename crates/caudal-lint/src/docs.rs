//! Doc comments that open without a noun: "What …", "Those …", "Whose …". The first line of a doc comment names the thing.
//! The check of all crates calls it for each file.

/// The lines, from 1 on, on which a doc comment opens with one of these words: a block of `///` or `//!`, a `/** */` or `/*! */`, or an
/// attribute `#[doc = "…"]`. Marks around the word, as in `**What**`, do not hide it.
#[must_use]
pub fn openings_without_noun(text: &str) -> Vec<usize> {
    let mut found = Vec::new();
    let mut within = None;
    // The line of a block that was opened and has no text yet.
    let mut opened = false;
    for (at, line) in text.lines().enumerate() {
        let line = line.trim_start();
        let kind = kind_of(line);
        let begins = match kind {
            Some((Kind::Line(mark), _)) => within != Some(mark),
            Some((Kind::Block | Kind::Attribute, _)) => true,
            None => opened,
        };
        let said = kind.map_or(line.trim_start_matches(['*', ' ']), |(_, said)| said);
        if begins && opens_without_noun(said) {
            found.push(at + 1);
        }
        opened = match kind {
            Some((Kind::Block, said)) => said.trim().is_empty(),
            Some(_) => false,
            None => opened && said.trim().is_empty(),
        };
        within = kind.and_then(|(kind, _)| if let Kind::Line(mark) = kind { Some(mark) } else { None });
    }
    found
}

/// The way in which a doc comment is written.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    /// `///` or `//!`: the lines after it go on with it.
    Line(&'static str),
    Block,
    Attribute,
}

/// The doc comment that a line is part of, or begins, and what it says there.
fn kind_of(line: &str) -> Option<(Kind, &str)> {
    for mark in ["///", "//!"] {
        if let Some(said) = line.strip_prefix(mark).filter(|said| !said.starts_with('/')) {
            return Some((Kind::Line(mark), said));
        }
    }
    for mark in ["/**", "/*!"] {
        if let Some(said) = line.strip_prefix(mark).filter(|said| !said.starts_with(['*', '/'])) {
            return Some((Kind::Block, said));
        }
    }
    let attribute = line.strip_prefix("#[doc").or_else(|| line.strip_prefix("#![doc"))?;
    let said = attribute.trim_start().strip_prefix('=')?.trim_start();
    Some((Kind::Attribute, said.trim_start_matches(['r', '#']).strip_prefix('"')?))
}

fn opens_without_noun(said: &str) -> bool {
    const WORDS: [&str; 6] = ["What", "That", "Those", "Who", "Whose", "Which"];
    let said = said.trim_start_matches(|letter: char| !letter.is_alphanumeric());
    let first = said.split(|letter: char| !letter.is_alphabetic()).next().unwrap_or("");
    WORDS.contains(&first)
}

#[cfg(test)]
mod tests {
    use super::openings_without_noun;

    #[test]
    fn only_the_first_line_of_a_block_opens_it() {
        let text = "/// What it is.\n/// Those.\nfn a() {}\n\n/// The thing.\n/// Who is second.\nfn b() {}\n    /// Whose it is\n";
        assert_eq!(openings_without_noun(text), [1, 8]);
        assert_eq!(openings_without_noun("//// What\n// What\n/// Whatever\n"), []);
    }

    #[test]
    fn doc_comments_are_found_in_every_form() {
        assert_eq!(openings_without_noun("//! What is here.\n//! Those.\n\n/// **Which** one.\n"), [1, 4]);
        assert_eq!(openings_without_noun("/** Who. */\n/*! That. */\n/* What */\n/**/\n"), [1, 2]);
        assert_eq!(openings_without_noun("/**\n * What it is.\n * Those.\n */\nfn a() {}\n// What\n"), [2]);
        assert_eq!(
            openings_without_noun("#[doc = \"What it is.\"]\n#![doc = r#\"Those.\"#]\n#[doc(hidden)]\n"),
            [1, 2]
        );
    }
}
