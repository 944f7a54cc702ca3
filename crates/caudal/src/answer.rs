//! The screen on which a command prints its answer to a person, in the order in which a reader wants it: what to do, what that brings and
//! costs, a few lines to compare, what their words mean, why, and where the rest is. `show` of each command that has an answer fills a
//! [`Screen`] when the result is there, and `exit` fills one when the answer is no. It prints to stdout and touches nothing else.
//!
//! It is as wide as the terminal, but no wider than [`WIDEST`]; where nobody looks (a pipe, a file) it is that wide, too, and
//! has no colours, so that what is kept reads as it did.

use std::io::IsTerminal;

use caudal_results::columns::Columns;

/// Columns of a screen that fits anywhere.
const WIDEST: usize = 100;
/// Below this, words would have to be cut in two.
const NARROWEST: usize = 40;
/// Beside the text of a fact there is only room for its label where the text keeps this.
const FACT_LEAST: usize = 48;
/// Stands for a space at which no line may end: a number stays with its unit.
const NO_BREAK: char = '\u{a0}';

/// The text of an answer as it grows.
#[derive(Clone, Debug)]
pub(crate) struct Screen {
    width: usize,
    colours: bool,
    text: String,
}

impl Screen {
    /// For whoever reads stdout.
    pub(crate) fn new() -> Screen {
        let terminal = std::io::stdout().is_terminal();
        let size = terminal_size::terminal_size_of(std::io::stdout());
        let width = size.map_or(WIDEST, |(width, _)| usize::from(width.0).clamp(NARROWEST, WIDEST));
        let wanted = |name: &str| std::env::var_os(name).is_none_or(|value| value.is_empty());
        let colours =
            terminal && wanted("NO_COLOR") && std::env::var_os("TERM").is_none_or(|term| term != "dumb");
        Screen { width: if terminal { width } else { WIDEST }, colours, text: String::new() }
    }

    /// Without colours, so wide.
    #[cfg(test)]
    pub(crate) fn plain(width: usize) -> Screen {
        Screen { width, colours: false, text: String::new() }
    }

    /// Adds the headline, which says what to do in a sentence; set off where there are colours.
    pub(crate) fn headline(&mut self, text: &str) {
        for line in wrapped(text, self.width, "", "") {
            self.bold_line(&line);
        }
    }

    /// Facts with their labels beside them, or above them on a narrow screen.
    pub(crate) fn facts<'a>(&mut self, facts: impl IntoIterator<Item = (&'a str, &'a str)>) {
        let facts: Vec<(&str, &str)> = facts.into_iter().collect();
        let label = facts.iter().map(|(about, _)| about.chars().count()).max().unwrap_or(0) + 2;
        let indent = " ".repeat(if self.width < label + 2 + FACT_LEAST { 4 } else { label + 2 });
        for (about, text) in facts {
            let first = if indent.len() == 4 { format!("  {about}: ") } else { format!("  {about:<label$}") };
            self.lines(&wrapped(text, self.width, &first, &indent));
        }
    }

    /// A few lines to compare, of which the first is the answer: it is set off where there are colours.
    pub(crate) fn answers(&mut self, columns: Columns) -> String {
        self.rows(columns, Some(1))
    }

    /// A few lines to compare. Where the screen is too narrow, the columns that matter least are left out, and that is said.
    /// What is there now is returned: whose words and marks are to be explained.
    pub(crate) fn table(&mut self, columns: Columns) -> String {
        self.rows(columns, None)
    }

    fn rows(&mut self, mut columns: Columns, bold: Option<usize>) -> String {
        let left_out = columns.fit(self.width);
        let lines = columns.lines();
        for (at, line) in lines.iter().enumerate() {
            if bold == Some(at) { self.bold_line(line) } else { self.lines(std::slice::from_ref(line)) }
        }
        if !left_out.is_empty() {
            self.paragraph(&format!("No room here for: {}.", left_out.join(", ")));
        }
        lines.join("\n")
    }

    /// A sentence or several.
    pub(crate) fn paragraph(&mut self, text: &str) {
        self.lines(&wrapped(text, self.width, "", ""));
    }

    /// One of several reasons.
    pub(crate) fn point(&mut self, text: &str) {
        self.lines(&wrapped(text, self.width, "- ", "  "));
    }

    /// An empty line, but never two.
    pub(crate) fn gap(&mut self) {
        if !self.text.is_empty() && !self.text.ends_with("\n\n") {
            self.text.push('\n');
        }
    }

    /// Text that has its own lines, however wide: what was asked for in full.
    pub(crate) fn as_it_is(&mut self, text: &str) {
        self.text.push_str(text);
    }

    fn lines(&mut self, lines: &[String]) {
        for line in lines {
            self.text.push_str(line);
            self.text.push('\n');
        }
    }

    fn bold_line(&mut self, line: &str) {
        let line = if self.colours { format!("\u{1b}[1m{line}\u{1b}[0m") } else { line.to_owned() };
        self.lines(&[line]);
    }
}

impl std::fmt::Display for Screen {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.text)
    }
}

/// `text` in lines of at most `width`, where no word is longer.
fn wrapped(text: &str, width: usize, first: &str, others: &str) -> Vec<String> {
    let options = textwrap::Options::new(width)
        .initial_indent(first)
        .subsequent_indent(others)
        .word_separator(textwrap::WordSeparator::AsciiSpace)
        .word_splitter(textwrap::WordSplitter::NoHyphenation)
        .wrap_algorithm(textwrap::WrapAlgorithm::FirstFit);
    let text = units_stay(text);
    let lines = textwrap::wrap(&text, options);
    lines.into_iter().map(|line| line.replace(NO_BREAK, " ").trim_end().to_owned()).collect()
}

/// No line ends between a number and its unit.
fn units_stay(text: &str) -> String {
    let mut glued = String::with_capacity(text.len());
    for word in text.split(' ') {
        let unit = word.trim_end_matches([',', ';', '.', ':', ')']);
        let is_unit = matches!(unit, "ps" | "ns" | "µs" | "ms" | "s" | "%" | "M" | "k");
        let before = glued.chars().next_back();
        let joins = is_unit && before.is_some_and(|letter| letter.is_ascii_digit());
        if before.is_some() {
            glued.push(if joins { NO_BREAK } else { ' ' });
        }
        glued.push_str(word);
    }
    glued
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_fit_and_numbers_keep_their_units() {
        let mut screen = Screen::plain(40);
        screen.paragraph("A get waits 136 µs on average for its 2.16 µs.");
        assert_eq!(screen.to_string(), "A get waits 136 µs on average for its\n2.16 µs.\n");
        let mut screen = Screen::plain(44);
        screen.paragraph("A get waits a while for its first slice: 12.3 µs, 84 % of it.");
        let text = screen.to_string();
        assert!(text.lines().all(|line| line.chars().count() <= 44), "{text}");
        assert!(text.contains("12.3 µs,") && !text.contains("12.3\n"), "{text}");
    }

    #[test]
    fn facts_stand_beside_their_labels_where_there_is_room() {
        let facts = [("It carries", "2.71 M requests/s"), ("It costs", "what it does")];
        let mut wide = Screen::plain(100);
        wide.facts(facts);
        assert_eq!(wide.to_string(), "  It carries  2.71 M requests/s\n  It costs    what it does\n");
        let mut narrow = Screen::plain(50);
        narrow.facts(facts);
        assert_eq!(narrow.to_string(), "  It carries: 2.71 M requests/s\n  It costs: what it does\n");
    }

    #[test]
    fn there_are_no_two_empty_lines() {
        let mut screen = Screen::plain(80);
        screen.gap();
        screen.paragraph("a");
        screen.gap();
        screen.gap();
        screen.paragraph("b");
        assert_eq!(screen.to_string(), "a\n\nb\n");
    }
}
