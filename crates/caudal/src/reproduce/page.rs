//! `docs/reproduction.md`: what came out, what did not, and every figure with its verdicts.

use caudal_report::chart::Chart;
use caudal_report::{Outcome, Verdict};

use super::figure::{Figure, Measured, Source, Study};
use super::notes;
use super::tables::Sheet;
use super::words;

/// What came out for a figure.
pub(crate) struct Judged {
    pub(crate) figure: &'static Figure,
    pub(crate) verdicts: Vec<Verdict>,
    pub(crate) charts: Vec<Chart>,
    pub(crate) sheets: Vec<Sheet>,
}

impl Judged {
    /// Judges the figure called `name`, with all that has been measured so far at hand. Statements that need a
    /// figure that has not been measured are undecided.
    pub(crate) fn new(figure: &'static Figure, measured: &[(&'static str, Measured)]) -> Option<Judged> {
        let study = Study::of(measured, figure.name)?;
        let verdicts = figure.statements.iter().map(|statement| {
            let (outcome, numbers) = if study.has(statement.needs) {
                let found = (statement.judge)(&study);
                (found.outcome, found.numbers)
            } else {
                (Outcome::Undecided, format!("not judged: it takes {} too", statement.needs.join(", ")))
            };
            let (statement, source) = (statement.text.to_owned(), statement.source.to_owned());
            Verdict { statement, source, verdict: outcome, numbers }
        });
        Some(Judged {
            figure,
            verdicts: verdicts.collect(),
            charts: (figure.charts)(study.here()),
            sheets: (figure.sheets)(study.here()),
        })
    }

    /// File names of its charts.
    pub(crate) fn chart_names(&self) -> Vec<String> {
        let name = self.figure.name;
        let numbered =
            |at: usize| if at == 0 { format!("{name}.svg") } else { format!("{name}-{}.svg", at + 1) };
        (0..self.charts.len()).map(numbered).collect()
    }
}

/// `holds`, `does not hold`, `undecided`.
pub(crate) fn word(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Holds => "holds",
        Outcome::DoesNotHold => "does not hold",
        Outcome::Undecided => "undecided",
    }
}

/// The command that makes the page.
const COMMAND: &str = "caudal reproduce all --docs";

const HEAD: &str = "\
# What the papers say, and what came out

Every figure below was simulated anew from its file in `experiments/`, and what its paper says about it was judged
statement by statement. A statement **holds** or **does not hold** when the numbers say so with confidence; else it is
**undecided**. Systems that are compared saw the same requests (common random numbers). A statement that was open got
more replications where they may decide it, and was looked at again, up to four times in all, as far as what a paper's
figures may cost allowed. Judged at 95 % is all of a statement, with all of its questions and looks (Bonferroni). Where
too few values lie beyond a percentile for an interval of it, the median over the replications of the ratio is judged
(sign test). *Reading* says how a statement's words were taken where they leave it open: that is ours. One parameter
was changed after the results had been seen; it is named below (*Loops*).

*Policies paper* is McClure et al., \"Efficient Scheduling Policies for Microsecond-Scale Tasks\", NSDI 2022; *Tiny
Quanta* is Luo et al., \"Efficient Microsecond-scale Blind Scheduling with Tiny Quanta\", ASPLOS 2024; *Q-Zilla* is
Mirhosseini et al., \"Q-Zilla: A Scheduling Framework and Core Microarchitecture for Tail-tolerant Microservices\", HPCA
2020. Q-Zilla publishes neither its service times nor its cutoffs nor its loads: services are our own (`data/README.md`),
cutoffs are what `caudal lanes` finds for them, and loads are stated; so sizes of its effects are shown beside ours, and
signs and orders are judged. *Tail-control* is Li et al., \"Work Stealing for Interactive Services to Meet Target
Latency\", PPoPP 2016. The work of its two services is published as pictures, and its light and medium loads and its targets
can not be read in its text: work is like theirs, the loads are ours, targets are the percentiles of steal-first that it
names, and again signs and orders are judged. They are of ratios of miss ratios, of which a 95 % interval wider than ± 10 %
leaves the comparison open unless it reaches less than half of the way to the limit.

**Loops.** Tail-control's requests have \"parallel-for loops\", how many the paper does not say. Here they are four, one
after another, each split into four leaves a core. At first it was one, and a third of what the paper says of
tail-control did not come out; then the plural was taken at its word, after a look at what several loops give. Once one
loop has been split, every core has its part of a large request, and to give it up changes little; of several, the next
one is in one core's hands at first. How much the number matters is a [figure of its own](#tail-control-loops), whose
statements were written after that look, too.
";

/// A figure's part of the page.
pub(crate) struct Part {
    pub(crate) figure: &'static Figure,
    pub(crate) verdicts: Vec<Verdict>,
    pub(crate) section: String,
}

impl Part {
    pub(crate) fn of(judged: &Judged) -> Part {
        Part { figure: judged.figure, verdicts: judged.verdicts.clone(), section: section(judged) }
    }

    /// One that was made before, unless the figure has changed since.
    pub(crate) fn kept(figure: &'static Figure, verdicts: Vec<Verdict>, section: String) -> Option<Part> {
        section.contains(&fingerprint(figure)).then_some(Part { figure, verdicts, section })
    }
}

/// The whole page.
pub(crate) fn page(all: &[Part]) -> String {
    let mut text =
        format!("<!-- Made by `{COMMAND}`; do not edit. -->\n{HEAD}\n{}\n{}", words::EXPLAINED, summary(all));
    for part in all {
        text += &part.section;
    }
    text + notes::UNJUDGED
}

fn summary(all: &[Part]) -> String {
    let verdicts = || all.iter().flat_map(|judged| &judged.verdicts);
    let count = |outcome: Outcome| verdicts().filter(|verdict| verdict.verdict == outcome).count();
    let mut text = format!(
        "## Summary\n\nOf {} statements {} hold, {} do not hold, and {} are undecided.\n\n",
        verdicts().count(),
        count(Outcome::Holds),
        count(Outcome::DoesNotHold),
        count(Outcome::Undecided)
    );
    text += "| figure | hold | do not hold | undecided |\n| --- | ---: | ---: | ---: |\n";
    for judged in all {
        let of =
            |outcome: Outcome| judged.verdicts.iter().filter(|verdict| verdict.verdict == outcome).count();
        let (name, title) = (judged.figure.name, judged.figure.title);
        let [yes, no, open] = [Outcome::Holds, Outcome::DoesNotHold, Outcome::Undecided].map(of);
        text += &format!("| [{title}](#{name}) | {yes} | {no} | {open} |\n");
    }
    for (outcome, title) in
        [(Outcome::DoesNotHold, "What did not come out"), (Outcome::Undecided, "What is undecided")]
    {
        if count(outcome) > 0 {
            text += &format!("\n### {title}\n\n");
        }
        if outcome == Outcome::Undecided && count(outcome) > 0 {
            text += TIES;
        }
        for judged in all {
            for verdict in judged.verdicts.iter().filter(|verdict| verdict.verdict == outcome) {
                let note = notes::note(judged.figure.name, &verdict.statement);
                let note = note.map_or(String::new(), |note| format!("\n  *Looked into:* {note}"));
                let Verdict { statement, source, numbers, .. } = verdict;
                let figure = judged.figure.title.split(':').next().unwrap_or_default();
                let numbers = capitalised(numbers);
                text += &format!("- **{statement}** ({figure}; {source}). {numbers}.{note}\n");
            }
        }
    }
    text + "\n"
}

/// What most open comparisons have in common.
const TIES: &str = "\
Most of what is open is a tie: the ratio's interval reaches over 1, or over the 2 % within which two systems count as \
equal, and lies within a few per cent of it. Ratios of 0.95 and below that are open are those of points close to \
overload, where p99.9 has no upper bound in runs of this length (`?`, `unknown`). What longer \
runs showed stands beside the statement.\n\n";

fn capitalised(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or(String::new(), |first| first.to_uppercase().chain(chars).collect())
}

fn section(judged: &Judged) -> String {
    let Figure { name, title, shows, .. } = judged.figure;
    let mut text =
        format!("<!-- {} -->\n<a id=\"{name}\"></a>\n## {title}\n\n{shows}\n\n", fingerprint(judged.figure));
    text += &made_from(judged.figure);
    for chart in judged.chart_names() {
        text += &format!("![{title}](figures/{chart})\n\n");
    }
    text += "| statement | reading | where | verdict | numbers |\n| --- | --- | --- | --- | --- |\n";
    for (verdict, statement) in judged.verdicts.iter().zip(judged.figure.statements) {
        let cells =
            [&verdict.statement, statement.reading, &verdict.source, word(verdict.verdict), &verdict.numbers];
        let cells = cells.map(|cell: &str| cell.replace('|', "\\|"));
        text += &format!("| {} |\n", cells.join(" | "));
    }
    text += "\n<details><summary>Tables</summary>\n\n";
    for sheet in &judged.sheets {
        text += &(sheet.to_markdown() + "\n");
    }
    text + "</details>\n\n"
}

/// Where its files are.
fn made_from(figure: &Figure) -> String {
    let link = |source: &Source| {
        let path = source.path(figure.name);
        let shown = if source.workload.is_empty() { path.as_str() } else { source.workload };
        format!("[`{shown}`](../{path})")
    };
    let links: Vec<String> = figure.files.iter().map(link).collect();
    format!("Made from {}.\n\n", links.join(", "))
}

/// What a figure's part of the page depends on, but the simulator: its file and its statements.
fn fingerprint(figure: &Figure) -> String {
    let statements =
        figure.statements.iter().flat_map(|statement| [statement.text, statement.source, statement.reading]);
    let files = figure.files.iter().map(|source| source.text);
    let texts = [figure.title, figure.shows].into_iter().chain(files).chain(statements);
    // FNV-1a: all that is needed is that an edit changes it.
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    let hash = texts.flat_map(|text| text.bytes().chain([0])).fold(0xcbf2_9ce4_8422_2325, step);
    format!("{} {hash:016x}", figure.name)
}

#[cfg(test)]
mod tests {
    use super::super::FIGURES;
    use super::*;

    #[test]
    fn the_page_in_the_docs_has_the_figures_and_statements_of_the_program() {
        let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reproduction.md");
        let page = std::fs::read_to_string(page).unwrap_or_default();
        let lines = FIGURES.iter().map(|figure| format!("<!-- {} -->", fingerprint(figure)));
        let stale: Vec<String> = lines.filter(|line| !page.contains(line)).collect();
        assert!(stale.is_empty(), "docs/reproduction.md is stale: run `{COMMAND}`\n{}", stale.join("\n"));
        let statements = FIGURES.iter().map(|figure| figure.statements.len()).sum::<usize>();
        assert!(page.contains(&format!("Of {statements} statements")), "it is stale: run `{COMMAND}`");
    }

    #[test]
    fn a_figure_is_stale_when_its_file_changes() {
        let figure = &FIGURES[0];
        const OTHER: &[Source] = &[Source::alone("other")];
        let edited = Figure { files: OTHER, ..*figure };
        assert_ne!(fingerprint(figure), fingerprint(&edited));
    }
}
