//! The report: one HTML file that answers the question and shows why. The commands `sim`, `plan`, `lanes`, `threshold` and `break-even`
//! fill one when their results are there. It returns text; others write the file.

use indexmap::IndexMap;
use minijinja::value::Serde;
use minijinja::{AutoEscape, Environment, Value, context};
use serde::{Deserialize, Serialize};

use crate::chart::{Chart, Inks, Mark, STYLE, Size, Unit, draw, escape, is_curve_of, swatch};
use crate::counted::Counted;
use crate::table::{self, Goal, Reach, SystemLine};
use crate::target::TargetLine;
use crate::views::Subject;
use crate::waits::{self, SystemWaits};
use caudal_row::{Row, Stat};

/// Everything that a report says. Written as JSON without its rows and charts, which are kept elsewhere or follow
/// from the rows.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Report {
    /// Title of the page.
    pub title: String,
    /// The question in a sentence.
    pub question: String,
    /// The answer, if the run was to find one.
    pub answer: Option<Answer>,
    /// How far whoever asked found each system to get. What the rows say where that is missing.
    #[serde(default)]
    pub reaches: IndexMap<String, Reach>,
    /// Systems whose curves a reader sees at first, the ones that matter most; the others can be switched on. All if empty.
    #[serde(default)]
    pub shown: Vec<String>,
    /// The cores that are counted where the report says cores.
    #[serde(default)]
    pub counted: Counted,
    /// The targets that were asked for; drawn across the charts.
    pub targets: Vec<TargetLine>,
    /// The simulated points.
    #[serde(skip)]
    pub rows: Vec<Row>,
    /// The config file that made them.
    pub config_toml: String,
    /// Name and value of what else is needed to repeat the run: version, seed, machine.
    pub provenance: Vec<(String, String)>,
    /// A paper's statements, each with its verdict.
    pub verdicts: Vec<Verdict>,
    /// Other tables, after the systems.
    #[serde(default)]
    pub tables: Vec<PlainTable>,
    /// Charts to show instead of those that the rows make.
    #[serde(skip)]
    pub charts: Option<Vec<Chart>>,
}

/// The answer to the question.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Answer {
    /// The answer in a line.
    pub headline: String,
    /// Facts (the load, the costs and so on), each with its label.
    #[serde(default)]
    pub facts: Vec<(String, String)>,
    /// A few lines to compare, the answer first.
    #[serde(default)]
    pub few: Option<PlainTable>,
    /// Why, in a few sentences.
    pub sentences: Vec<String>,
    /// All that there is to say beyond that, for whoever unfolds it.
    #[serde(default)]
    pub more: Vec<String>,
    /// The policy file to run; may be empty.
    pub policy_toml: String,
    /// Name of the system that won, to be set off in charts and table.
    pub system: Option<String>,
}

/// A table as it is to be shown.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct PlainTable {
    /// The heading.
    pub title: String,
    /// A sentence on how to read it; may be empty.
    pub note: String,
    /// Heads of the columns; the first names the lines.
    pub head: Vec<String>,
    /// The lines, each as wide as the head.
    pub lines: Vec<Vec<String>>,
    /// Indices of the lines that are set off.
    pub marked: Vec<usize>,
}

/// A statement of a paper with its verdict.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Verdict {
    /// The statement, close to the paper's words.
    pub statement: String,
    /// Where it says so.
    pub source: String,
    /// Whether it holds here.
    pub verdict: Outcome,
    /// The numbers that decided.
    pub numbers: String,
}

/// Whether a statement holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Outcome {
    /// It does, with confidence.
    #[serde(rename = "holds")]
    Holds,
    /// It does not, with confidence.
    #[serde(rename = "does not hold")]
    DoesNotHold,
    /// The intervals are too wide to say.
    #[serde(rename = "undecided")]
    Undecided,
}

impl Outcome {
    /// `holds`, `does not hold` or `undecided`.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Outcome::Holds => "holds",
            Outcome::DoesNotHold => "does not hold",
            Outcome::Undecided => "undecided",
        }
    }
}

#[derive(Serialize)]
struct TableView {
    goal: &'static str,
    targets: Vec<String>,
    lines: Vec<LineView>,
}

#[derive(Serialize)]
struct LineView {
    name: String,
    deployable: bool,
    winner: bool,
    reach: Option<String>,
    between: String,
    /// Length of the bar in percent of the longest.
    share: f64,
    cores: String,
    tails: Vec<Option<(String, String)>>,
    efficiency: String,
    preemptions: String,
}

#[derive(Serialize)]
struct WaitsView {
    whose: String,
    place: String,
    causes: Vec<(String, usize)>,
    lines: Vec<WaitLineView>,
    /// Is a part of somebody's waiting unknown?
    unknown: bool,
}

#[derive(Serialize)]
struct WaitLineView {
    name: String,
    winner: bool,
    deployable: bool,
    total: Option<String>,
    /// Nanoseconds as text (a dash where they are unknown) and percent of the line's total, by cause.
    parts: Vec<(String, f64)>,
}

#[derive(Serialize)]
struct ChartView {
    title: String,
    note: String,
    variants: Vec<VariantView>,
    shown: usize,
    /// The curves that are drawn at first.
    legend: Vec<LegendView>,
    /// The curves that a reader may switch on.
    others: Vec<LegendView>,
}

#[derive(Serialize)]
struct VariantView {
    name: String,
    plots: Vec<Value>,
}

#[derive(Serialize)]
struct LegendView {
    name: String,
    number: usize,
    reference: bool,
    swatch: Value,
}

impl Report {
    /// The page: one file, no network, readable without its script.
    ///
    /// # Panics
    /// Never on any input: the template is part of the crate and the tests render it.
    #[must_use]
    pub fn to_html(&self) -> String {
        let charts = self.charts();
        let inks = Inks::showing(&charts, &self.shown);
        let views: Vec<_> =
            charts.iter().enumerate().map(|(at, chart)| chart_view(chart, at, &inks)).collect();
        let table = (!self.rows.is_empty()).then(|| self.table());
        let mut environment = Environment::new();
        environment.set_auto_escape_callback(|_| AutoEscape::Html);
        environment.add_filter("code", code);
        let page = environment.render_str(
            include_str!("../assets/report.html.j2"),
            context! {
                title => self.title.as_str(),
                question => self.question.as_str(),
                answer => Serde(&self.answer),
                targets => Serde(&self.targets),
                table => Serde(&table),
                waits => Serde(&self.waits()),
                charts => Serde(&views),
                verdicts => Serde(&self.verdicts),
                tables => Serde(&self.tables),
                config => self.config_toml.as_str(),
                provenance => Serde(&self.provenance),
                points => self.rows.len(),
                data => Value::from_safe_string(self.data()),
                chart_style => Value::from_safe_string(STYLE.to_owned()),
                page_style => Value::from_safe_string(include_str!("../assets/report.css").to_owned()),
                script => Value::from_safe_string(include_str!("../assets/report.js").to_owned()),
            },
        );
        page.expect("the template is fixed and renders any report")
    }

    /// The charts of the report: the given ones, or what the rows make.
    #[must_use]
    pub fn charts(&self) -> Vec<Chart> {
        let (winner, counted) = (self.winner(), self.counted);
        let subject = Subject { rows: &self.rows, targets: &self.targets, winner, counted };
        self.charts.clone().unwrap_or_else(|| subject.charts())
    }

    /// The lines of the table of systems.
    #[must_use]
    pub fn systems(&self) -> Vec<SystemLine> {
        table::lines(&self.rows, &self.targets, &self.reaches, self.counted)
    }

    fn table(&self) -> TableView {
        let goal = Goal::of(&self.rows, self.counted);
        let lines = self.systems();
        let reaches = lines.iter().filter_map(|line| line.reach).map(|reach| reach.value);
        let longest = reaches.fold(f64::MIN_POSITIVE, f64::max);
        TableView {
            goal: match goal {
                Goal::MostLoad if self.targets.is_empty() => "Highest load without overload",
                Goal::MostLoad => "Highest load within the target",
                Goal::FewestCores(Counted::Cores) if self.targets.is_empty() => {
                    "Fewest cores without overload"
                }
                Goal::FewestCores(Counted::Cores) => "Fewest cores within the target",
                Goal::FewestCores(Counted::Workers) if self.targets.is_empty() => {
                    "Fewest workers without overload"
                }
                Goal::FewestCores(Counted::Workers) => "Fewest workers within the target",
            },
            targets: self.targets.iter().map(|target| target.label.clone()).collect(),
            lines: lines.into_iter().map(|line| self.line_view(line, goal, longest)).collect(),
        }
    }

    fn line_view(&self, line: SystemLine, goal: Goal, longest: f64) -> LineView {
        let dash = |stat: Option<Stat>, unit: Unit| stat.map_or("–".into(), |s| unit.show(s.estimate));
        let tail = |(stat, target): (&Option<Stat>, &TargetLine)| {
            let unit = target.unit();
            stat.map(|stat| (unit.show(stat.estimate), interval(stat, unit)))
        };
        LineView {
            winner: self.wins(&line.name),
            deployable: line.deployable,
            // A question mark is a bound that nobody has confirmed, as in what the command prints.
            reach: line.reach.map(|reach| {
                let sure = self.targets.is_empty() || reach.certain == Some(reach.value);
                format!("{}{}", Unit::Plain.show(reach.value), if sure { "" } else { "?" })
            }),
            between: line.reach.map_or(String::new(), |reach| between(reach, goal, self.targets.len())),
            share: line.reach.map_or(0.0, |reach| (1000.0 * reach.value / longest).round() / 10.0),
            cores: line.cores.map_or("–".into(), |cores| Unit::Plain.show(cores)),
            tails: line.tails.iter().zip(&self.targets).map(tail).collect(),
            efficiency: dash(line.efficiency, Unit::Percent),
            preemptions: dash(line.preemptions_per_request, Unit::Plain),
            name: line.name,
        }
    }

    fn waits(&self) -> Option<WaitsView> {
        let waits = waits::waits(&self.rows, &self.targets, &self.systems(), self.winner(), self.counted)?;
        let line = |system: SystemWaits| {
            let total: f64 = system.by_cause_ns.iter().flatten().flatten().sum();
            let share = |ns: f64| if total > 0.0 { (1000.0 * ns / total).round() / 10.0 } else { 0.0 };
            let part = |ns: &Option<f64>| {
                ns.map_or(("–".to_owned(), 0.0), |ns| (Unit::Nanoseconds.show(ns), share(ns)))
            };
            WaitLineView {
                winner: self.wins(&system.name),
                deployable: system.deployable,
                total: system.by_cause_ns.as_ref().map(|_| Unit::Nanoseconds.show(total)),
                parts: system.by_cause_ns.iter().flatten().map(part).collect(),
                name: system.name,
            }
        };
        let place = Unit::Plain.show(waits.place);
        let goal = Goal::of(&self.rows, self.counted);
        let is_unknown = |system: &SystemWaits| system.by_cause_ns.iter().flatten().any(Option::is_none);
        Some(WaitsView {
            unknown: waits.systems.iter().any(is_unknown),
            whose: waits.class.map_or("a request".into(), |class| format!("a {class}")),
            place: if goal == Goal::MostLoad {
                format!("at load {place}")
            } else {
                format!("on {place} {}{}", self.counted.singular(), if place == "1" { "" } else { "s" })
            },
            causes: waits
                .causes
                .into_iter()
                .enumerate()
                .map(|(at, cause)| (cause.replace('_', " "), at % 7))
                .collect(),
            lines: waits.systems.into_iter().map(line).collect(),
        })
    }

    fn winner(&self) -> Option<&str> {
        self.answer.as_ref().and_then(|answer| answer.system.as_deref())
    }

    /// Whether a curve belongs to the winning system: its name, maybe with what was varied.
    fn wins(&self, name: &str) -> bool {
        self.winner().is_some_and(|winner| is_curve_of(name, winner))
    }

    /// The rows as JSON that cannot end the element it stands in.
    fn data(&self) -> String {
        let json = serde_json::to_string(&self.rows).unwrap_or_else(|_| "[]".into());
        json.replace('<', "\\u003c").replace('\u{2028}', "\\u2028").replace('\u{2029}', "\\u2029")
    }
}

fn interval(stat: Stat, unit: Unit) -> String {
    match stat.interval {
        None => String::new(),
        Some((low, high)) if high.is_finite() => format!("{} – {}", unit.show(low), unit.show(high)),
        Some((low, _)) if low.is_finite() => format!("{} or more", unit.show(low)),
        Some(_) => "of unknown precision".to_owned(),
    }
}

/// The bounds between which a system's true limit lies, in words.
fn between(reach: Reach, goal: Goal, targets: usize) -> String {
    let show = |value: f64| Unit::Plain.show(value);
    if targets == 0 {
        return reach.missed.map_or(String::new(), |at| format!("overloaded at {}", show(at)));
    }
    let direction = if goal == Goal::MostLoad { "up" } else { "down" };
    let mut parts = vec![match reach.certain {
        Some(certain) if certain == reach.value => "sure".to_owned(),
        Some(certain) => format!("not confirmed, sure {direction} to {}", show(certain)),
        None => "not confirmed: by the estimate only".to_owned(),
    }];
    parts.extend(reach.undecided.map(|at| format!("undecided at {}", show(at))));
    parts.push(reach.missed.map_or("none beyond missed".to_owned(), |at| format!("missed at {}", show(at))));
    parts.join(", ")
}

fn chart_view(chart: &Chart, at: usize, inks: &Inks) -> ChartView {
    let draw_all = |(which, variant): (usize, &crate::chart::Variant)| {
        let size = |plot| Size::of(plot, variant.plots.len());
        let drawn = variant.plots.iter().enumerate();
        let drawn = drawn.map(|(n, plot)| draw(plot, size(n), inks, &format!("c{at}v{which}p{n}")));
        VariantView { name: variant.name.clone(), plots: drawn.map(Value::from_safe_string).collect() }
    };
    let mut legend = legend(chart, inks);
    if !inks.all_on() {
        legend.sort_by_key(|entry| entry.number);
    }
    let (legend, others) = legend.into_iter().partition(|entry| !inks.is_off(&entry.name));
    ChartView {
        title: chart.title.clone(),
        note: chart.note.clone(),
        shown: chart.shown.min(chart.variants.len().saturating_sub(1)),
        variants: chart.variants.iter().enumerate().map(draw_all).collect(),
        legend,
        others,
    }
}

fn legend(chart: &Chart, inks: &Inks) -> Vec<LegendView> {
    let mut legend: Vec<LegendView> = Vec::new();
    let plots = chart.variants.iter().flat_map(|variant| &variant.plots);
    for series in plots.flat_map(|plot| &plot.series) {
        let (ink, number) = inks.of_series(series);
        if legend.iter().all(|entry| entry.number != number) {
            legend.push(LegendView {
                name: series.name.clone(),
                number,
                reference: series.reference && series.mark != Mark::Front,
                swatch: Value::from_safe_string(swatch(ink)),
            });
        }
    }
    legend
}
/// `text` for the page, what stands between backticks as code.
fn code(text: &str) -> Value {
    let parts: Vec<String> = text.split('`').map(escape).collect();
    // An odd number of backticks is not meant so.
    if parts.len().is_multiple_of(2) {
        return Value::from_safe_string(escape(text));
    }
    let part = |(at, part): (usize, String)| if at % 2 == 1 { format!("<code>{part}</code>") } else { part };
    Value::from_safe_string(parts.into_iter().enumerate().map(part).collect())
}
