//! `output.md`: exit codes, results directories, and the meaning of the keys of a row. Made from comments of source files, which it reads when
//! the pages are made.

use std::path::Path;

use crate::DocsError;
use crate::markdown::{code, table};
use crate::source::SourceFile;

const INTRO: &str = "\
# What the command prints and writes

This page is for people who read what `caudal` prints, or who write programs that do. It has the answers on a screen, exit codes,
results directories, and every key of a row.

Data goes to stdout, progress and errors to stderr. `--json` prints one object a line instead of a table:
`caudal sim` a row a point, `caudal plan` one plan, `caudal compare` one comparison, `caudal load` one run, `caudal top` a sample an interval,
`caudal systems` and `caudal workload list` an entry a line.

## Answers on a screen

`caudal plan`, `lanes`, `threshold` and `compare` answer on a screen of 100 columns and 40 lines: first what to do, then what it
carries and costs and how sure that is, then a few lines to compare, what their words and marks mean, and why. `--explain` adds
everything else: all systems, what was tuned from what, all reasons; the report has it, too. A plan or a search for lanes that
is asked again with `--explain` simulates nothing anew. On a narrower terminal lines are broken earlier, and the columns that matter
least are left out; a line below the table says so. Without a terminal, or where `NO_COLOR` is set, the same text has no colours. Times that people
read are in ns, µs, ms and s; what is typed may have `us` for `µs`.

The lines that `caudal plan` compares:

| line | which system |
| --- | --- |
| answer | the one that can be built and is confirmed to get furthest; of those that the search does not tell apart, the simplest |
| runner-up | the next one that can be built |
| no preemption | the best of those that never interrupt a request |
| today | what most services run: `work-stealing`, requests that fall into the queues of the cores at random, idle cores that steal, and no preemption. \
The policies paper speaks of the \"widespread use\" of work stealing (McClure et al., NSDI 2022, section 4.1), and it is what the schedulers of Go, of Tokio and of Java's \
ForkJoinPool do with requests that are much shorter than their time slices. A service with a queue for each core and nothing else \
(`no-balancing`) gets less far, so what is gained against this line is gained against that one, too. Where `--systems` leaves it out, `go` or \
`no-balancing` stands for it; where requests fork, `default-tbb` |
| bound | the reference line that gets furthest: nobody can build it, it says how much there is to gain |
| nearest | instead of the first three, where nothing meets the targets: what comes closest |

If one system has several of these roles, it has one line, and the text below the table says so.

## Exit codes
";

const ROWS: &str = "
## Rows

A row is one simulated point: a system under one load. `caudal sim --json` prints rows, `rows.jsonl` of a
results directory holds them, and `rows.csv` has the same keys joined by dots (`latency_ns.p99.estimate`).
[row.schema.json](row.schema.json) describes them to other programs; its `version` rises when a key goes or changes its meaning.

Times are in nanoseconds, shares between 0 and 1. An *estimate* is `{\"estimate\", \"low\", \"high\"}` with the
interval of the file's `measure.stop.confidence`; `high` is `null` where the data support no upper end, and all
three are `null` where there is nothing to estimate, as the latency of an overloaded system. A *summary* has
the estimates `mean`, one for each of `measure.percentiles` (`p50`, `p99`, `p99.9`, …), and `max`, the largest
value that was seen, which has no interval.

A row is about the steady state: how long replications are follows from how long the system remembers its empty
start (its work, each of its queues, its lanes, its dispatcher), and `steady` says whether they were long enough and whether
the data agree, as no backlog grew any more. Where the rate of arrivals follows a cycle, or service times are rows in their
order (`replay`), replications measure whole cycles or passes; where `measure.stop.max_requests` holds less than one, they
begin at different places of it, and `steady` is false. Recorded arrivals have no steady state: every replication plays all
of them from an empty system on, so a row is about the file as a whole, its busy parts included, and its intervals say how
far other draws of service times move that, not how another recording would be (`recorded`). A limit of requests makes for
fewer plays; a file longer than the limit is played as far as that goes, `recorded` says how far, and nothing is planned
on it.

The row as a whole:

";

/// A struct, its source file, and its name on the page.
struct Shown(&'static str, &'static str, &'static str);

const PARTS_OF_ROWS: [Shown; 4] = [
    Shown(
        "WaitByCause",
        "crates/caudal-row/src/row.rs",
        "`wait_ns`: mean time per request that was not service, by cause",
    ),
    Shown("ClassRow", "crates/caudal-row/src/row.rs", "`classes`: by name of the class"),
    Shown("Overheads", "crates/caudal-row/src/row.rs", "`overheads`: shares of the core time held"),
    Shown("Recorded", "crates/caudal-row/src/row.rs", "`recorded`: what was played of recorded arrivals"),
];

const PLANS: &str = "
## Plans

`caudal plan --json`, and `plan.json` in its directory:

";

const PARTS_OF_PLANS: [Shown; 7] = [
    Shown("PlanSummary", "crates/caudal-tune/src/plan.rs", "`summary`"),
    Shown("Fact", "crates/caudal-tune/src/show.rs", "`summary.facts`: a list"),
    Shown("Shown", "crates/caudal-tune/src/plan.rs", "`summary.shown`: a list"),
    Shown("Winner", "crates/caudal-tune/src/plan.rs", "`winner`"),
    Shown("SystemResult", "crates/caudal-tune/src/plan.rs", "`systems`: a list"),
    Shown("Reach", "crates/caudal-tune/src/plan.rs", "`systems[].reach`"),
    Shown("TargetResult", "crates/caudal-tune/src/plan.rs", "`systems[].targets`: a list"),
];

pub(super) fn body(root: &Path) -> Result<String, DocsError> {
    let mut text = INTRO.to_owned();
    text += &format!("\n{}\n", exit_codes(&root.join("crates/caudal/src/exit_code.rs"))?);
    text += &format!(
        "\n## Results directories\n\n{}\n",
        results(&root.join("crates/caudal-results/src/directory.rs"))?
    );
    text += ROWS;
    text += &fields(root, &Shown("Row", "crates/caudal-row/src/row.rs", ""))?;
    for part in &PARTS_OF_ROWS {
        text += &format!("\n{}:\n\n{}", part.2, fields(root, part)?);
    }
    text += PLANS;
    text += &fields(root, &Shown("Plan", "crates/caudal-tune/src/plan.rs", ""))?;
    for part in &PARTS_OF_PLANS {
        text += &format!("\n{}:\n\n{}", part.2, fields(root, part)?);
    }
    Ok(text)
}

/// The table in the documentation of the module that makes the codes.
fn exit_codes(path: &Path) -> Result<String, DocsError> {
    let file = SourceFile::read(path)?;
    let docs = file.module_docs();
    let rows: Vec<&str> = docs.lines().filter(|line| line.starts_with('|')).collect();
    if rows.len() < 3 { Err(file.error("there is no table of exit codes")) } else { Ok(rows.join("\n")) }
}

/// The documentation of the module that writes directories, without its first line.
fn results(path: &Path) -> Result<String, DocsError> {
    let file = SourceFile::read(path)?;
    let docs = file.module_docs();
    let text = docs.split_once("\n\n").map(|(_, text)| text.to_owned());
    text.ok_or_else(|| file.error("the documentation of the module does not show the directory"))
}

fn fields(root: &Path, shown: &Shown) -> Result<String, DocsError> {
    let path = root.join(shown.1);
    let fields = SourceFile::read(&path)?.fields(shown.0)?;
    let rows: Vec<Vec<String>> = fields
        .into_iter()
        .map(|field| vec![code(&field.name), json_type(&field.type_name), field.doc])
        .collect();
    Ok(table(&["key", "type", "meaning"], &rows))
}

/// The type that JSON has for a Rust type.
fn json_type(rust: &str) -> String {
    if let Some(inner) = rust.strip_prefix("Option<").and_then(|rest| rest.strip_suffix('>')) {
        return format!("{} or `null`", json_type(inner));
    }
    if let Some(inner) = rust.strip_prefix("Vec<").and_then(|rest| rest.strip_suffix('>')) {
        return format!("list of {}s", json_type(inner));
    }
    match rust {
        "String" | "&'static str" | "Role" => "string",
        "f64" => "number",
        "u32" | "u64" | "usize" => "integer",
        "bool" => "boolean",
        "Estimate" => "estimate",
        "Summary" => "summary",
        _ => "object",
    }
    .to_owned()
}
