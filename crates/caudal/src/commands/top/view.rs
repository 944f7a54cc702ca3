//! The tables of classes, workers and counters in the live view of `caudal top`, and what the keys have changed of them. `live` calls
//! [`draw`] after each sample and each key. It draws into ratatui's frame and touches nothing else.

use std::cmp::Reverse;

use caudal_rt::stats::{ClassStats, Snapshot, WorkerStats};
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Cell, Paragraph, Row, Table};

use super::lines;

/// Columns of a worker's bar.
const BAR: usize = 30;

/// The order of classes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Sort {
    /// The order of their registration.
    #[default]
    Class,
    /// The most frequent first.
    Rate,
    /// The longest 99th percentile of the sojourn first.
    P99,
    /// By the alphabet.
    Name,
}

impl Sort {
    pub(super) fn next(self) -> Sort {
        match self {
            Sort::Class => Sort::Rate,
            Sort::Rate => Sort::P99,
            Sort::P99 => Sort::Name,
            Sort::Name => Sort::Class,
        }
    }

    fn says(self) -> &'static str {
        match self {
            Sort::Class => "as registered",
            Sort::Rate => "by rate",
            Sort::P99 => "by p99",
            Sort::Name => "by name",
        }
    }
}

/// The samples and choices that the view draws.
#[derive(Debug, Default)]
pub(super) struct State {
    last: Option<Snapshot>,
    sample: Option<Snapshot>,
    pub(super) paused: bool,
    pub(super) sort: Sort,
}

impl State {
    /// Another snapshot has come; is there anything new to draw?
    pub(super) fn take(&mut self, snapshot: Snapshot) -> bool {
        let sample = self.last.as_ref().map(|last| snapshot.since(last));
        self.last = Some(snapshot);
        if self.paused {
            return false;
        }
        self.sample = sample;
        true
    }

    pub(super) fn last(&self) -> Option<&Snapshot> {
        self.last.as_ref()
    }
}

/// Draws it.
pub(super) fn draw(frame: &mut Frame<'_>, state: &State) {
    let Some(sample) = &state.sample else {
        return frame.render_widget(Paragraph::new("looking…"), frame.area());
    };
    let classes = sample.classes.len() as u16 + 2;
    let warned = lines::warnings(sample);
    let [head, of_classes, of_workers, counters, warnings, keys] = Layout::vertical([
        Constraint::Length(2),
        Constraint::Max(classes),
        Constraint::Min(2),
        Constraint::Length(1),
        Constraint::Length(warned.len() as u16),
        Constraint::Length(1),
    ])
    .areas(frame.area());
    let bold = Style::new().add_modifier(Modifier::BOLD);
    frame.render_widget(Paragraph::new(Line::styled(lines::head(sample), bold)), head);
    frame.render_widget(of_each_class(sample, state.sort), of_classes);
    frame.render_widget(of_each_worker(sample, of_workers), of_workers);
    frame.render_widget(Paragraph::new(lines::counters(sample)), counters);
    let warned: Vec<Line<'_>> =
        warned.into_iter().map(|line| Line::styled(plain(line), bold.fg(Color::Red))).collect();
    frame.render_widget(Paragraph::new(warned), warnings);
    let paused = if state.paused { "PAUSED · " } else { "" };
    let said = format!("{paused}q quit · p pause · s sort ({})", state.sort.says());
    frame.render_widget(Paragraph::new(Line::styled(said, Style::new().add_modifier(Modifier::DIM))), keys);
}

/// The order in which classes are shown.
fn sorted(sample: &Snapshot, sort: Sort) -> Vec<&ClassStats> {
    let mut classes: Vec<&ClassStats> = sample.classes.iter().collect();
    match sort {
        Sort::Class => {}
        Sort::Rate => classes.sort_by_key(|class| Reverse(class.sojourn.count())),
        Sort::P99 => {
            classes.sort_by(|a, b| b.sojourn.percentile(99.0).total_cmp(&a.sojourn.percentile(99.0)));
        }
        Sort::Name => classes.sort_by(|a, b| a.name.cmp(&b.name)),
    }
    classes
}

/// Text may come from elsewhere: what would move the cursor is not drawn.
fn plain(text: String) -> String {
    text.replace(char::is_control, "·")
}

fn heads(heads: &[&'static str]) -> Row<'static> {
    let cells = heads.iter().enumerate().map(|(column, head)| aligned(column, (*head).to_owned()));
    Row::new(cells).style(Style::new().add_modifier(Modifier::UNDERLINED))
}

/// The first column to the left, others to the right.
fn aligned(column: usize, text: String) -> Cell<'static> {
    let line = Line::from(plain(text));
    Cell::from(if column == 0 { line.left_aligned() } else { line.right_aligned() })
}

fn of_each_class(sample: &Snapshot, sort: Sort) -> Table<'static> {
    let rows = sorted(sample, sort).into_iter().map(|class| {
        Row::new(
            lines::class(class, sample).into_iter().enumerate().map(|(column, text)| aligned(column, text)),
        )
    });
    let widths = [16, 10, 9, 9, 9, 12, 11, 11, 11].map(Constraint::Length);
    Table::new(rows, widths).header(heads(&lines::CLASS_HEADS)).column_spacing(1)
}

fn of_each_worker(sample: &Snapshot, area: Rect) -> Table<'static> {
    // A line for the heads, and one for those that have no room.
    let room = usize::from(area.height.saturating_sub(2)).max(1);
    let shown = if sample.workers.len() <= room + 1 { sample.workers.len() } else { room };
    let row = |(number, worker): (usize, &WorkerStats)| {
        let cells = lines::worker(number, worker, sample);
        let mut cells: Vec<Cell<'static>> =
            cells.into_iter().enumerate().map(|(column, text)| aligned(column, text)).collect();
        cells.insert(1, Cell::from(bar(worker)));
        Row::new(cells)
    };
    let mut rows: Vec<Row<'static>> = sample.workers.iter().enumerate().take(shown).map(row).collect();
    if shown < sample.workers.len() {
        rows.push(Row::new([format!("+ {}", sample.workers.len() - shown)]));
    }
    let mut all = lines::WORKER_HEADS.to_vec();
    all.insert(1, "█ busy  ▒ scheduling");
    let widths = [6, BAR as u16, 7, 10, 7, 10, 6, 6, 16].map(Constraint::Length);
    Table::new(rows, widths).header(heads(&all)).column_spacing(1)
}

/// Its time: on requests, on scheduling, on nothing.
fn bar(worker: &WorkerStats) -> Line<'static> {
    let [busy, scheduling, _] = worker.shares().map(|share| share * BAR as f64);
    let full = (busy.round() as usize).min(BAR);
    let half = ((busy + scheduling).round() as usize).clamp(full, BAR) - full;
    Line::from(vec![
        Span::styled("█".repeat(full), Style::new().fg(Color::Green)),
        Span::styled("▒".repeat(half), Style::new().fg(Color::Yellow)),
        Span::raw("·".repeat(BAR - full - half)),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;
    use caudal_rt::histogram::LiveHistogram;
    use caudal_rt::stats::{Counters, Identity, StackStats, Stalls};
    use ratatui::Terminal;
    use ratatui::backend::TestBackend;

    fn class(name: &str, sojourns: &[u64]) -> ClassStats {
        let live = LiveHistogram::new();
        sojourns.iter().for_each(|&ns| live.record(ns));
        ClassStats { name: name.to_owned(), sojourn: live.snapshot(), ..ClassStats::default() }
    }

    fn sample(workers: usize) -> Snapshot {
        let worker = WorkerStats {
            busy_ns: 50,
            scheduling_ns: 20,
            idle_ns: 30,
            running: Some("get\x1b[31m".to_owned()),
            ..WorkerStats::default()
        };
        Snapshot {
            runtime: Identity { name: "kv".to_owned(), pid: 7, version: "0".to_owned() },
            started_unix_ms: 0,
            uptime_ns: 9_000_000_000,
            interval_ns: 1_000_000_000,
            stalls: Stalls::Raw,
            classes: vec![class("get", &[1_000; 300]), class("scan", &[900_000]), class("a-put", &[])],
            workers: vec![worker; workers],
            counters: Counters { panicked: 3, ..Counters::default() },
            stacks: StackStats { mapped: 4, limit: 100, bytes: 65536 },
            overloaded: false,
        }
    }

    fn drawn(state: &State, width: u16, height: u16) -> String {
        let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
        terminal.draw(|frame| draw(frame, state)).unwrap();
        terminal.backend().to_string()
    }

    #[test]
    fn a_sample_has_classes_workers_and_counters() {
        let state = State { sample: Some(sample(2)), ..State::default() };
        let text = drawn(&state, 120, 20);
        for part in
            ["kv (7)", "300 /s", "1.00 µs", "900 µs", "50.0 %", "panicked 3", "4 of at most 100", "q quit"]
        {
            assert!(text.contains(part), "{part}:\n{text}");
        }
        assert!(text.contains(&format!("{}{}{}", "█".repeat(15), "▒".repeat(6), "·".repeat(9))), "{text}");
        assert!(!text.contains('\x1b'), "nothing that a terminal would obey");
    }

    #[test]
    fn what_is_wrong_is_said_with_what_to_do() {
        let mut sample = sample(2);
        assert!(
            !drawn(&State { sample: Some(sample.clone()), ..State::default() }, 120, 20).contains("starved")
        );
        (sample.workers[1].starved, sample.workers[1].waited_ns) = (true, 790_000_000);
        sample.overloaded = true;
        sample.classes[1].unprobed = true;
        let text = drawn(&State { sample: Some(sample), ..State::default() }, 120, 20);
        for part in
            ["core of worker 1 79 % of the time", "more requests come", "requests of scan; build with"]
        {
            assert!(text.contains(part), "{part}:\n{text}");
        }
    }

    #[test]
    fn every_size_can_be_drawn() {
        for workers in [0, 1, 64] {
            let state = State { sample: Some(sample(workers)), ..State::default() };
            for (width, height) in [(1, 1), (3, 2), (20, 5), (80, 24), (300, 100)] {
                drawn(&state, width, height);
            }
        }
        let state = State { sample: Some(sample(64)), ..State::default() };
        assert!(drawn(&state, 100, 24).contains("+ "), "who has no room is counted");
    }

    #[test]
    fn classes_can_be_sorted_and_a_pause_keeps_the_sample() {
        let sample = sample(1);
        let order = |sort| sorted(&sample, sort).iter().map(|class| class.name.as_str()).collect::<Vec<_>>();
        assert_eq!(order(Sort::Class), ["get", "scan", "a-put"]);
        assert_eq!(order(Sort::Rate), ["get", "scan", "a-put"]);
        assert_eq!(order(Sort::P99), ["scan", "get", "a-put"]);
        assert_eq!(order(Sort::Name), ["a-put", "get", "scan"]);
        let mut state = State::default();
        assert!(state.take(sample.clone()) && state.sample.is_none(), "the first is only a beginning");
        assert!(state.take(sample.clone()) && state.sample.is_some());
        state.paused = true;
        assert!(!state.take(sample));
    }
}
