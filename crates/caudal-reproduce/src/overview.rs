//! The page `docs/reproduction.md`: two screens on what the papers say and what came out, a row for each figure. `reproduction` makes it
//! from the records of all figures. It returns text.

use super::claims::{Claimed, claims};
use super::notes;
use super::page::MADE_BY;
use super::record::{Line, RecordedFigure, Sign};
use super::size::{self, Size};
use caudal_results::table::digits;

/// A row: a figure, with all of its parts.
struct OverviewRow {
    /// The title of the row, and the names of its parts: `a`, or nothing where it has none.
    title: &'static str,
    parts: &'static [(&'static str, &'static str)],
    /// The paper's claim, in a few words.
    claim: &'static str,
    /// Of which figure and statement the sizes are shown; the statement by how it begins, and empty if there is none.
    shown: (&'static str, &'static str),
    /// Why it did not come out, where something did not.
    why: &'static str,
}

const fn row(
    title: &'static str,
    parts: &'static [(&'static str, &'static str)],
    claim: &'static str,
    shown: (&'static str, &'static str),
    why: &'static str,
) -> OverviewRow {
    OverviewRow { title, parts, claim, shown, why }
}

include!("overview_rows.rs");

/// The whole page.
pub(crate) fn page(all: &[RecordedFigure]) -> String {
    let claims = claims(all);
    let mut text = format!("{MADE_BY}{HEAD}{}\n", summary(all, &claims));
    text += "| figure | what the paper claims | its size | ours | size | signs | why not |\n";
    text += "| --- | --- | ---: | ---: | --- | --- | --- |\n";
    for row in ROWS {
        text += &line(row, all);
    }
    text + &own(all) + notes::UNJUDGED
}

const HEAD: &str = "\
# What the papers say, and what came out

This page is for people who want to know whether Caudal's simulations agree with the papers that its policies are from. The figures of four papers
were simulated anew. Each statement that a paper makes about a figure is judged by **sign** (is the system ahead that the paper names?) and, where the
paper gives a number, by **size** (is the effect within a quarter of the paper's effect?). The number behind a size is our effect over the paper's.
Figures marked *simulated* were measured on real machines in the paper. [How figures are judged](reproduction/method.md) has the rules. The name of a
figure leads to its page, which has every statement, its numbers, and the figure drawn.

";

/// Claims that are counted together.
struct Group {
    name: &'static str,
    has: fn(&Claimed) -> bool,
}

const GROUPS: &[Group] = &[
    Group { name: "Policies paper (NSDI 2022)", has: |claimed| claimed.paper == "policies" && !claimed.own },
    Group {
        name: "Tiny Quanta (ASPLOS 2024)",
        has: |claimed| claimed.paper == "tiny-quanta" && !claimed.own,
    },
    Group { name: "Q-Zilla (HPCA 2020)", has: |claimed| claimed.paper == "q-zilla" && !claimed.own },
    Group {
        name: "Tail-control (PPoPP 2016)",
        has: |claimed| claimed.paper == "tail-control" && !claimed.own,
    },
    Group { name: "**All papers**", has: |claimed| !claimed.own },
    Group { name: "of these, *measured* there and simulated here", has: |claimed| claimed.simulated },
    Group { name: "The project's own statements", has: |claimed| claimed.own },
];

fn summary(all: &[RecordedFigure], claims: &[Claimed]) -> String {
    let statements = |own: bool| {
        let figures = all.iter().filter(|recorded| recorded.figure.is_own() == own);
        figures.map(|recorded| recorded.figure.statements.len()).sum::<usize>()
    };
    let papers = claims.iter().filter(|claimed| !claimed.own).count();
    let mut text = format!(
        "{} statements are {papers} claims of the papers, each counted once; {} are the project's own. Claims by sign, and those with \
         a number by size:\n\n",
        statements(false),
        statements(true)
    );
    text += "| claims | sign agrees | disagrees | undecided | not comparable | size agrees | larger | smaller | undecided |\n";
    text += "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n";
    for group in GROUPS {
        let here: Vec<&Claimed> = claims.iter().filter(|claimed| (group.has)(claimed)).collect();
        let signs = Sign::ALL.map(|sign| here.iter().filter(|claimed| claimed.sign == sign).count());
        let sizes = [Size::Agrees, Size::Larger, Size::Smaller, Size::Open]
            .map(|size| here.iter().filter(|claimed| claimed.size == Some(size)).count());
        let counts: Vec<String> = signs.iter().chain(&sizes).map(usize::to_string).collect();
        text += &format!("| {} | {} |\n", group.name, counts.join(" | "));
    }
    text
}

fn find<'a>(all: &'a [RecordedFigure], figure: &str) -> Option<&'a RecordedFigure> {
    all.iter().find(|recorded| recorded.figure.name == figure)
}

fn line(row: &OverviewRow, all: &[RecordedFigure]) -> String {
    let parts: Vec<&RecordedFigure> = row.parts.iter().filter_map(|(_, figure)| find(all, figure)).collect();
    let lines: Vec<Line<'_>> = parts.iter().flat_map(|recorded| recorded.statements()).collect();
    let simulated = parts.first().is_some_and(|recorded| recorded.figure.is_of_real_systems());
    let shown = shown(row, &lines);
    let size = shown.and_then(|line| line.size());
    let (paper, ours) = match shown.and_then(|line| Some((line, line.paper()?))) {
        Some((line, paper)) => (paper.shown(), size::ours(&line.found.estimates())),
        None => ("–".to_owned(), shown.map_or("–".to_owned(), |line| size::ours(&line.found.estimates()))),
    };
    let size = size.map_or("–".to_owned(), |compared| match compared.share {
        Some(share) => format!("{}, {}", compared.size.word(), digits(share)),
        None => compared.size.word().to_owned(),
    });
    let title = format!("{}{}", linked(row), if simulated { " *simulated*" } else { "" });
    let cells = [title, row.claim.to_owned(), paper, ours, size, signs(&lines), row.why.to_owned()];
    format!("| {} |\n", cells.join(" | "))
}

/// Its name, and a link for each part.
fn linked(row: &OverviewRow) -> String {
    let page = |figure: &str| format!("reproduction/{figure}.md");
    match row.parts {
        [(_, figure)] => format!("[{}]({})", row.title, page(figure)),
        parts => {
            let links: Vec<String> =
                parts.iter().map(|(name, figure)| format!("[{name}]({})", page(figure))).collect();
            format!("{} {}", row.title, links.join(" "))
        }
    }
}

/// The statement whose numbers are shown.
fn shown<'a>(row: &OverviewRow, lines: &[Line<'a>]) -> Option<Line<'a>> {
    let (figure, begins) = row.shown;
    let is = |line: &&Line<'_>| line.figure.name == figure && line.statement.text.starts_with(begins);
    lines.iter().find(is).filter(|_| !begins.is_empty()).copied()
}

/// `16 agree, 2 disagree`.
fn signs(lines: &[Line<'_>]) -> String {
    let words = ["agree", "disagree", "undecided", "not comparable"];
    let count = |sign: Sign| lines.iter().filter(|line| line.sign() == sign).count();
    let counts = Sign::ALL.map(count).into_iter().zip(words);
    let some: Vec<String> =
        counts.filter(|(count, _)| *count > 0).map(|(count, word)| format!("{count} {word}")).collect();
    some.join(", ")
}

/// The project's own statements.
fn own(all: &[RecordedFigure]) -> String {
    let own = all.iter().filter(|recorded| recorded.figure.is_own());
    let figures = own.map(|recorded| {
        let lines: Vec<Line<'_>> = recorded.statements().collect();
        let title = recorded.figure.title.trim_start_matches("Tail-control, beyond the paper: ");
        format!("[{title}](reproduction/{}.md) ({})", recorded.figure.name, signs(&lines))
    });
    format!("\nThe project's own, beyond the papers: {}.\n\n", figures.collect::<Vec<_>>().join("; "))
}

#[cfg(test)]
mod tests {
    use super::super::figures::FIGURES;
    use super::*;

    #[test]
    fn every_figure_of_a_paper_has_one_row_and_every_row_a_statement() {
        let parts: Vec<&str> =
            ROWS.iter().flat_map(|row| row.parts.iter().map(|(_, figure)| *figure)).collect();
        for figure in &FIGURES {
            let times = parts.iter().filter(|part| **part == figure.name).count();
            assert_eq!(times, usize::from(!figure.is_own()), "{}", figure.name);
        }
        for row in ROWS {
            let (name, begins) = row.shown;
            let figure =
                FIGURES.iter().find(|figure| figure.name == name).unwrap_or_else(|| panic!("{}", row.title));
            assert!(row.parts.iter().any(|(_, part)| *part == name), "{}: {name}", row.title);
            assert!(
                figure.statements.iter().any(|statement| statement.text.starts_with(begins)),
                "{name}: {begins}"
            );
        }
    }
}
