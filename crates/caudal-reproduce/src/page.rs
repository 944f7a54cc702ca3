//! The pages of `docs/reproduction/`: one for each figure, with all of its numbers, and one on how they are judged. `reproduction` makes
//! them from records, after a run or for `--docs`. It returns text.

use super::figure::{Figure, FigureKind, Source};
use super::notes;
use super::readings::not_comparable;
use super::record::{Line, RecordedFigure};
use super::size;
use super::words;
use caudal_results::table::digits;

/// The first line of every page.
pub(crate) const MADE_BY: &str =
    "<!-- Made by `caudal reproduce --docs` from reproduction/results; do not edit. -->\n";

/// The page of a figure. `all` has the records of all figures, because the notes may have numbers of other figures.
pub(crate) fn of_figure(recorded: &RecordedFigure, all: &[RecordedFigure]) -> String {
    let RecordedFigure { figure, record } = recorded;
    let mut text = format!("{MADE_BY}# {}\n\n[Overview](../reproduction.md) · ", figure.title);
    text += &format!("[how statements are judged](method.md)\n\n{}\n\n", figure.shows);
    if figure.is_of_real_systems() {
        text += SIMULATED;
    }
    if figure.is_of_real_systems() && matches!(figure.kind, FigureKind::HighestLoad(_)) {
        text += SHORT_RUNS;
    }
    if figure.is_own() {
        text += OWN;
    }
    text += &made_from(figure);
    for chart in &record.charts {
        text += &format!("![{}](../figures/{chart})\n\n", figure.title);
    }
    text += STATEMENTS_HEAD;
    for line in recorded.statements() {
        text += &row(&line);
    }
    text += &looked_into(recorded, all);
    text + &format!("\n## Tables\n\n{}", record.tables.trim_end()) + "\n"
}

const SIMULATED: &str = "**Simulated.** The paper measured real systems here. What follows is a simulation of them, with the costs \
                         that the paper gives: it may tell whether these explain what was measured, and not what else was there.\n\n";
const SHORT_RUNS: &str = "Runs are of milliseconds where the paper's are of 10 s. Near saturation such runs are too optimistic: with \
                          replications of 50,000 requests, the highest rates of gets and short requests come out up to a tenth too high.\n\n";
const OWN: &str = "The statements are the project's own, and no paper's.\n\n";

const STATEMENTS_HEAD: &str = "\
## Statements

| statement | where | sign | the paper's size | ours | size | reading | numbers |
| --- | --- | --- | ---: | ---: | --- | --- | --- |
";

fn row(line: &Line<'_>) -> String {
    let values = line.found.estimates();
    let (paper, ours) = match line.paper() {
        Some(paper) => (paper.shown(), size::ours(&values)),
        None => ("–".to_owned(), "–".to_owned()),
    };
    let size = line.size().map_or("–".to_owned(), shown);
    let statement = line.statement;
    let cells = [
        statement.text,
        statement.source,
        line.sign().word(),
        &paper,
        &ours,
        &size,
        statement.reading,
        &line.found.numbers,
    ];
    format!("| {} |\n", cells.map(|cell| cell.replace('|', "\\|")).join(" | "))
}

/// `agrees (0.92 of the effect)`.
fn shown(compared: size::Compared) -> String {
    match compared.share {
        Some(share) => format!("{} ({} of the effect)", compared.size.word(), digits(share)),
        None => compared.size.word().to_owned(),
    }
}

/// The section with the reasons that were found for statements that did not come out.
fn looked_into(recorded: &RecordedFigure, all: &[RecordedFigure]) -> String {
    let mut text = String::new();
    for line in recorded.statements() {
        let statement = line.statement.text;
        let incomparable = not_comparable(line.figure.name, statement).map(str::to_owned);
        let note = notes::note(recorded, all, statement);
        for found in incomparable.into_iter().chain(note) {
            text += &format!("- **{statement}**: {}.\n", found.trim_end_matches('.'));
        }
    }
    if text.is_empty() { text } else { format!("\n## Looked into\n\n{text}") }
}

/// The section that says where the figure's files are.
fn made_from(figure: &Figure) -> String {
    let link = |source: &Source| {
        let path = source.path(figure.name);
        let shown = if source.workload.is_empty() { path.as_str() } else { source.workload };
        format!("[`{shown}`](../../{path})")
    };
    let links: Vec<String> = figure.files.iter().map(link).collect();
    format!("Made from {}.\n\n", links.join(", "))
}

/// The page that says how statements are judged.
pub(crate) fn method() -> String {
    format!("{MADE_BY}{METHOD}\n{}\n{TIES}", words::EXPLAINED)
}

const METHOD: &str = "\
# How statements are judged

[Overview](../reproduction.md)

This page is for people who read [the papers' figures](../reproduction.md) and want to know what *agrees*, *larger* or *undecided* means there.

Every figure was simulated anew from its file in `experiments/`, and what its paper says about it was judged statement by
statement: **by sign** and, where the paper gives a number, **by size**.

The sign of a statement **agrees** or **disagrees** when the numbers say so with confidence; else it is **undecided**. It is **not
comparable** if the simulated system or workload is another one than the paper's. Systems that are compared saw the same requests (common
random numbers). A statement that was undecided got more replications if they could decide it, and was analysed again, up to four
times in all, within a limit on the simulated requests of each paper. The confidence of 95 % holds for a whole statement, with all of its questions
and analyses (Bonferroni). Where too few values lie beyond a percentile for an interval of it, the median over the replications of
the ratio is judged (sign test). If a statement can be read in several ways, *Reading* says how we read it. No
parameter was chosen so that a statement agrees. One was changed after the results had been seen; it is named below (*Loops*).

A size is judged by the *effect*: how far a number lies from *no difference*, on a logarithmic scale for ratios, so that half counts as
much as twice. Our size **agrees** if its whole interval is within a quarter of the paper's effect (from three quarters of it to four
thirds), or if its interval contains the paper's number and does not reach beyond that range on both sides. It is **larger** or
**smaller** if the whole interval lies above or below that range, and else undecided. An effect in the other direction counts as smaller. If the paper gives a range over
several settings, the middle of ours has to lie in it. A sign may agree although the size does not, for instance if the effect is half
as large.

A sentence of a paper is **one claim**, in however many figures and readings it was judged. The claim agrees if in each figure at
least one of its readings agrees.

Figures that a paper **measured** and that are **simulated** here are marked so, and counted by themselves, too.

*Policies paper* is McClure et al., \"Efficient Scheduling Policies for Microsecond-Scale Tasks\", NSDI 2022; *Tiny
Quanta* is Luo et al., \"Efficient Microsecond-scale Blind Scheduling with Tiny Quanta\", ASPLOS 2024; *Q-Zilla* is
Mirhosseini et al., \"Q-Zilla: A Scheduling Framework and Core Microarchitecture for Tail-tolerant Microservices\", HPCA
2020. Q-Zilla publishes neither its service times nor its cutoffs nor its loads. Services are our own (`data/README.md`),
cutoffs are those that `caudal lanes` finds for them, and each figure states its loads. So the sizes of the paper's effects are only shown beside ours;
signs and orders are judged. *Tail-control* is Li et al., \"Work Stealing for Interactive Services to Meet Target
Latency\", PPoPP 2016. The work of its two services is published only as pictures, and its text does not state its light and medium loads
or its targets. Our work is like the pictures, the loads are ours, and the targets are the percentiles of steal-first that the paper
names. Again signs and orders are judged. They are about ratios of miss ratios. If the 95 % interval of such a ratio is wider than ± 10 %,
the comparison is undecided unless the interval reaches less than half of the way to the limit.

**Loops.** Tail-control's requests have \"parallel-for loops\"; the paper does not say how many. Here they are four, one
after another, each split into four leaves a core. At first we had one loop, and a third of the paper's statements about
tail-control did not agree. Then we changed to several loops, as the plural says, when their results were known already. If the only
loop has been split, every core has its part of a large request, and giving the request up changes little. With several loops, the next
loop is on one core at first. How much the number matters is a [figure of its own](tail-control-loops.md), whose
statements were written after that, too.
";

/// The reason that most open comparisons have in common.
const TIES: &str = "\
Most of the undecided statements are ties: the ratio's interval contains 1, or a limit of the 2 % within which two systems count as equal, and
lies within a few per cent of it. Undecided ratios of 0.95 and below are from points close to overload, where p99.9 has
no upper bound in runs of this length (`?`, `unknown`). The figure's page says what longer runs showed (*Looked into*).
";
