//! The reader of files of recorded fork/join graphs, which have a task in each line. The recogniser asks whether a file is one;
//! compilation of a spec then reads it. It takes the bytes of a source and returns graphs.
//!
//! ```text
//! request,task,work_ns,after
//! 1,parse,12000,
//! 1,left,400000,parse
//! 1,right,380000,parse
//! 1,reply,9000,left right
//! ```
//!
//! `after` names the tasks of the same request that must be done first, separated by blanks. Two columns may be added:
//! `class`, the same for all tasks of a request, and `leaves`, into how many equal parts a parallel loop is split. Columns of
//! other names are passed over.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use csv::ByteRecord;

use super::number::{Number, Style};
use super::table::{Record, Records, Separator, column_of};
use super::unit::Said;
use super::{Columns, Place, Row, Taken, Unit, new_class, shorten, text, time_ps};
use crate::LONGEST_PS;
use crate::dag::{Dag, LEAVES_MAX, NODES_MAX, Task, in_order};
use crate::error::{RowProblem, WorkloadError};

/// The content of a file of graphs: its requests in order of their first lines.
#[derive(Debug)]
pub(crate) struct GraphFile {
    pub(crate) classes: Vec<String>,
    /// Class, line of the first task and work in all, and the graph.
    pub(crate) requests: Vec<(u8, Row, Dag)>,
}

/// Is this a file of graphs? Its header has a request and a task.
pub(crate) fn holds_graphs(head: &[u8]) -> bool {
    let mut header = Record::default();
    let mut records = Records::new(head, Separator::Byte(b','));
    records.next(&mut header).is_ok_and(|there| there)
        && [b"request".as_slice(), b"task"]
            .iter()
            .all(|name| header.fields.iter().any(|field| field == *name))
}

/// One row of fields with its line.
struct Fields {
    line: u64,
    record: ByteRecord,
}

impl Fields {
    fn get(&self, index: usize) -> String {
        text(self.record.get(index).unwrap_or_default())
    }

    /// Where field `index` starts in its line, from 1.
    fn column_of(&self, index: usize, bytes: &[u8]) -> usize {
        column_of(nth_line(bytes, self.line), index, Some(b','))
    }
}

/// Line `line` (from 1), without its end.
fn nth_line(bytes: &[u8], line: u64) -> &[u8] {
    let index = usize::try_from(line.saturating_sub(1)).unwrap_or(usize::MAX);
    bytes.split(|&b| b == b'\n').nth(index).unwrap_or_default()
}

/// All rows that are not blank.
fn rows(bytes: &[u8], place: &Place<'_>) -> Result<Vec<Fields>, WorkloadError> {
    let mut records = Records::new(bytes, Separator::Byte(b','));
    let mut record = Record::default();
    let mut all = Vec::new();
    while records.next(&mut record).map_err(|error| place.whole(error.to_string()))? {
        if record.width() > 0 {
            all.push(Fields { line: record.line, record: record.fields.clone() });
        }
    }
    Ok(all)
}

/// Where in a line the fields stand.
struct Layout {
    request: usize,
    task: usize,
    work: usize,
    after: usize,
    class: Option<usize>,
    leaves: Option<usize>,
    unit: Unit,
    unit_by: &'static str,
    columns: usize,
}

/// The rows that are being read, with the file for errors.
struct Reader<'a> {
    bytes: &'a [u8],
    place: Place<'a>,
    rows: Vec<Fields>,
    layout: Layout,
}

/// Reads a file that [holds graphs](holds_graphs); of `wanted`, only the unit counts.
pub(crate) fn read_graphs(
    bytes: &[u8],
    path: &Path,
    wanted: &Columns,
) -> Result<(Taken, GraphFile), WorkloadError> {
    let place = Place(path);
    let rows = rows(bytes, &place)?;
    let layout = layout(&rows[0], bytes, wanted.unit, &place)?;
    let reader = Reader { bytes, place, rows, layout };
    let mut file = GraphFile { classes: Vec::new(), requests: Vec::new() };
    for request in reader.requests()? {
        let class = reader.class(&request, &mut file.classes)?;
        let (total, dag) = reader.graph(&request)?;
        file.requests.push((class, total, dag));
    }
    if file.requests.is_empty() {
        return Err(reader.place.whole("has a header but no tasks; write one line a task"));
    }
    let taken = Taken {
        format: "recorded graphs of requests".to_owned(),
        unit: Some(reader.layout.unit),
        unit_by: reader.layout.unit_by,
        values: file.requests.len() as u64,
        ..Taken::default()
    };
    Ok((taken, file))
}

fn layout(
    header: &Fields,
    bytes: &[u8],
    wanted: Option<Unit>,
    place: &Place<'_>,
) -> Result<Layout, WorkloadError> {
    let names: Vec<String> = (0..header.record.len()).map(|index| header.get(index)).collect();
    let find = |wanted: &str| names.iter().position(|name| name == wanted);
    let is_work = |name: &String| name == "work" || name.starts_with("work_") && named_unit(name).is_some();
    let missing = |name: &str| {
        let problem = format!(
            "graphs of requests have the columns `request,task,work_ns,after`; there is no `{name}` (to read each line as \
             a request of its own, say `column = …`)"
        );
        place.row(header.line, 1, RowProblem::Format(problem))
    };
    let need = |name: &str| find(name).ok_or_else(|| missing(name));
    let work = names.iter().position(is_work).ok_or_else(|| missing("work_ns"))?;
    let named = named_unit(&names[work]);
    if let (Some(named), Some(said)) = (named, wanted)
        && named != said
    {
        let problem = format!(
            "column `{}` is in {}, but `unit` says {}; keep one",
            names[work],
            named.name(),
            said.name()
        );
        return Err(place.row(header.line, header.column_of(work, bytes), RowProblem::Format(problem)));
    }
    Ok(Layout {
        request: need("request")?,
        task: need("task")?,
        work,
        after: need("after")?,
        class: find("class"),
        leaves: find("leaves"),
        unit: named.or(wanted).unwrap_or_default(),
        unit_by: match (named, wanted) {
            (Some(_), _) => "says the column's name",
            (None, Some(_)) => "as you said",
            (None, None) => "nothing says another one",
        },
        columns: names.len(),
    })
}

fn named_unit(name: &str) -> Option<Unit> {
    match Unit::of_name(name) {
        Said::Unit(unit) => Some(unit),
        Said::Unknown | Said::Nothing => None,
    }
}

impl Reader<'_> {
    fn error(&self, row: usize, index: usize, problem: RowProblem) -> WorkloadError {
        let fields = &self.rows[row];
        self.place.row(fields.line, fields.column_of(index, self.bytes), problem)
    }

    fn wrong(&self, row: usize, index: usize, problem: String) -> WorkloadError {
        self.error(row, index, RowProblem::Format(problem))
    }

    /// The rows of each request.
    fn requests(&self) -> Result<Vec<Vec<usize>>, WorkloadError> {
        let mut all: Vec<Vec<usize>> = Vec::new();
        let mut places: HashMap<&[u8], usize> = HashMap::new();
        for (row, fields) in self.rows.iter().enumerate().skip(1) {
            let (found, expected) = (fields.record.len(), self.layout.columns);
            if found != expected {
                return Err(self.error(row, found.min(expected), RowProblem::Columns { expected, found }));
            }
            let name = &fields.record[self.layout.request];
            if name.is_empty() {
                let problem = "empty; every task says which request it belongs to";
                return Err(self.wrong(row, self.layout.request, problem.to_owned()));
            }
            let place = *places.entry(name).or_insert(all.len());
            if place == all.len() {
                all.push(Vec::new());
            }
            all[place].push(row);
        }
        Ok(all)
    }

    /// The class of the request with these rows.
    fn class(&self, rows: &[usize], classes: &mut Vec<String>) -> Result<u8, WorkloadError> {
        let name = |row: usize| {
            self.layout.class.map_or_else(|| "all".to_owned(), |class| self.rows[row].get(class))
        };
        let own = name(rows[0]);
        let index = self.layout.class.unwrap_or(0);
        if let Some(&row) = rows.iter().find(|&&row| name(row) != own) {
            let problem = format!(
                "`{}` is another class than the `{}` of the request's first task; a request is of one class",
                shorten(&name(row)),
                shorten(&own)
            );
            return Err(self.wrong(row, index, problem));
        }
        if let Some(class) = classes.iter().position(|class| *class == own) {
            return Ok(class as u8);
        }
        let class = new_class(&own, classes.len()).map_err(|problem| self.error(rows[0], index, problem))?;
        classes.push(own);
        Ok(class)
    }

    /// The graph of the request with these rows, and its work in all.
    fn graph(&self, rows: &[usize]) -> Result<(Row, Dag), WorkloadError> {
        if rows.len() > NODES_MAX {
            let problem = format!("a request has at most {NODES_MAX} tasks, this one {}", rows.len());
            return Err(self.wrong(rows[NODES_MAX], self.layout.task, problem));
        }
        let tasks = self.tasks(rows)?;
        let mut total_ps = 0;
        for (&row, task) in rows.iter().zip(&tasks) {
            total_ps += task.work_ps;
            if total_ps > LONGEST_PS {
                let problem =
                    "up to here the request has more than an hour of work, the most there is".to_owned();
                return Err(self.wrong(row, self.layout.work, problem));
            }
        }
        if total_ps == 0 {
            let problem =
                format!("request `{}` has no work at all", self.shown(rows[0], self.layout.request));
            return Err(self.wrong(rows[0], self.layout.work, problem));
        }
        let tasks = in_order(&tasks).map_err(|circle| {
            let problem = self.in_circle(rows, &circle);
            self.wrong(rows[circle[0]], self.layout.after, problem)
        })?;
        let first = Row { line: self.rows[rows[0]].line, ps: total_ps };
        Ok((first, Dag::recorded(&tasks)))
    }

    /// The tasks in these rows, in the order of the file.
    fn tasks(&self, rows: &[usize]) -> Result<Vec<Task>, WorkloadError> {
        let mut names: BTreeMap<&[u8], u32> = BTreeMap::new();
        for (at, &row) in rows.iter().enumerate() {
            let name = &self.rows[row].record[self.layout.task];
            if name.is_empty() {
                return Err(self.wrong(row, self.layout.task, "empty; every task has a name".to_owned()));
            }
            if let Some(first) = names.insert(name, at as u32) {
                let problem = format!(
                    "request `{}` has a task `{}` in line {} already; a task has one line",
                    self.shown(row, self.layout.request),
                    self.shown(row, self.layout.task),
                    self.rows[rows[first as usize]].line
                );
                return Err(self.wrong(row, self.layout.task, problem));
            }
        }
        let task = |&row: &usize| {
            let work = self.rows[row].get(self.layout.work);
            let work_ps = Number::parse(work.as_bytes(), Style::POINT)
                .and_then(|number| time_ps(&number, work.as_bytes(), self.layout.unit))
                .map_err(|problem| self.error(row, self.layout.work, problem))?;
            Ok(Task { work_ps, leaves: self.leaves(row)?, before: self.before(row, &names)? })
        };
        rows.iter().map(task).collect()
    }

    fn leaves(&self, row: usize) -> Result<Option<u32>, WorkloadError> {
        let Some(index) = self.layout.leaves else { return Ok(None) };
        let text = self.rows[row].get(index);
        if text.is_empty() {
            return Ok(None);
        }
        let leaves = text.parse().ok().filter(|leaves| (1..=LEAVES_MAX).contains(leaves));
        let problem = || {
            let shown = shorten(&text);
            format!("`{shown}` is no number of leaves: write 1 to {LEAVES_MAX}, or nothing if it is no loop")
        };
        leaves.map(Some).ok_or_else(|| self.wrong(row, index, problem()))
    }

    /// The places of the tasks that the one in `row` waits for.
    fn before(&self, row: usize, names: &BTreeMap<&[u8], u32>) -> Result<Vec<u32>, WorkloadError> {
        let field = &self.rows[row].record[self.layout.after];
        let mut before = Vec::new();
        for name in field.split(u8::is_ascii_whitespace).filter(|name| !name.is_empty()) {
            let Some(&task) = names.get(name) else {
                let problem = format!(
                    "`{}` is no task of request `{}`; write names of its tasks, separated by blanks",
                    shorten(&String::from_utf8_lossy(name)),
                    self.shown(row, self.layout.request)
                );
                // Both are parts of the same bytes.
                let within = name.as_ptr() as usize - field.as_ptr() as usize;
                return Err(self.within(row, self.layout.after, within, problem));
            };
            before.push(task);
        }
        before.sort_unstable();
        before.dedup();
        Ok(before)
    }

    /// An error so many bytes within a field.
    fn within(&self, row: usize, index: usize, within: usize, problem: String) -> WorkloadError {
        let fields = &self.rows[row];
        let column = fields.column_of(index, self.bytes);
        let quote = nth_line(self.bytes, fields.line).get(column - 1) == Some(&b'"');
        self.place.row(fields.line, column + usize::from(quote) + within, RowProblem::Format(problem))
    }

    fn shown(&self, row: usize, index: usize) -> String {
        shorten(&self.rows[row].get(index))
    }

    /// Says which tasks wait for each other.
    fn in_circle(&self, rows: &[usize], circle: &[usize]) -> String {
        let name = |at: usize| format!("`{}`", self.shown(rows[at], self.layout.task));
        if let &[alone] = circle {
            return format!("{} waits for itself, so it can not begin", name(alone));
        }
        let names: Vec<String> = circle.iter().take(8).map(|&at| name(at)).collect();
        let more = if circle.len() > 8 { ", …" } else { "" };
        format!("{}{more} wait for each other in a circle, so none can begin", names.join(", "))
    }
}
