//! A window of a run as a timeline for Perfetto.

use std::fs::File;
use std::io::BufWriter;
use std::path::Path;

use caudal_config::Point;
use caudal_policy::Picos;
use caudal_report::TimelineError;
use caudal_report::timeline::Timeline;
use caudal_sim::engine::{Event, Length, Observer, Run, simulate};
use miette::{IntoDiagnostic, WrapErr, miette};

/// Most core-microseconds that a timeline shows: a file of some 100 MB.
const WINDOW_MAX_PS: u64 = 100_000_000_000;

/// Writes what the cores do in `window` (`"1ms..1.2ms"`) of a run of `point` to `path`.
pub(crate) fn write(path: &Path, window: &str, point: &Point) -> miette::Result<()> {
    let (from_ps, to_ps) = parse(window)?;
    let file = File::create(path)
        .into_diagnostic()
        .wrap_err_with(|| format!("can not write `{}`", path.display()))?;
    let timeline = Timeline::new(BufWriter::new(file)).into_diagnostic()?;
    let classes = point.workload.service.classes();
    let mut drawer = Drawer { classes, from_ps, to_ps, running: Vec::new(), items: Vec::new() };
    let mean_gap_ps = point.workload.service.mean_ps() / (point.load * f64::from(point.system.cores));
    let requests = (to_ps as f64 / mean_gap_ps).ceil() as u64 + 1;
    let run = Run {
        system: &point.system,
        costs: &point.costs,
        service: &point.workload.service,
        arrivals: &point.workload.arrivals,
        mean_gap_ps,
        seed: point.measure.seed,
        length: Length { warm_up: 0, measured: requests },
        pilot: false,
        // Leaps hide the slices that a timeline is to show.
        stepwise: true,
    };
    simulate(&run, &mut drawer);
    drawer.finish(timeline).into_diagnostic().wrap_err_with(|| format!("can not write `{}`", path.display()))
}

fn parse(window: &str) -> miette::Result<(u64, u64)> {
    let help = "write two times, as in --window 1ms..1.2ms";
    let (from, to) =
        window.split_once("..").ok_or_else(|| miette!(help = help, "`{window}` is not a window"))?;
    let time =
        |text: &str| Picos::parse(text).map(|time| time.0).map_err(|error| miette!(help = help, "{error}"));
    let (from_ps, to_ps) = (time(from)?, time(to)?);
    if from_ps >= to_ps || to_ps - from_ps > WINDOW_MAX_PS {
        return Err(miette!(
            help = "at most 100ms, the first time before the second",
            "`{window}` is not a window"
        ));
    }
    Ok((from_ps, to_ps))
}

/// Something to draw.
enum Item {
    Begin(u32, String),
    End(u32),
    Instant(u32, &'static str),
    Arrow(u32, u32, u32),
}

/// Collects what happens inside the window; a timeline wants it in order of time, core by core.
struct Drawer<'a> {
    classes: &'a [String],
    from_ps: u64,
    to_ps: u64,
    /// By core: since when what has been running.
    running: Vec<Option<(u64, String)>>,
    items: Vec<(u64, Item)>,
}

impl Drawer<'_> {
    fn end_slice(&mut self, worker: u32, now_ps: u64) {
        let slice = self.running.get_mut(worker as usize).and_then(Option::take);
        let Some((began_ps, name)) = slice else { return };
        let (began_ps, ended_ps) = (began_ps.max(self.from_ps), now_ps.min(self.to_ps));
        if began_ps < ended_ps {
            self.items.push((began_ps, Item::Begin(worker, name)));
            self.items.push((ended_ps, Item::End(worker)));
        }
    }

    fn finish(mut self, mut timeline: Timeline<BufWriter<File>>) -> Result<(), TimelineError> {
        for worker in 0..self.running.len() as u32 {
            self.end_slice(worker, self.to_ps);
        }
        // At one time a slice ends before the next begins.
        self.items.sort_by_key(|(at_ps, item)| (*at_ps, !matches!(item, Item::End(_))));
        for (at_ps, item) in self.items {
            match item {
                Item::Begin(core, name) => timeline.slice_begin(core, at_ps, &name, &[])?,
                Item::End(core) => timeline.slice_end(core, at_ps)?,
                Item::Instant(core, name) => timeline.instant(core, at_ps, name)?,
                Item::Arrow(from, to, tasks) => {
                    timeline.flow(&format!("{tasks} moved"), (from, at_ps), (to, at_ps))?;
                }
            }
        }
        timeline.finish(self.to_ps).map(drop)
    }
}

impl Observer for &mut Drawer<'_> {
    fn observe(&mut self, now_ps: u64, event: Event) {
        let inside = (self.from_ps..self.to_ps).contains(&now_ps);
        match event {
            Event::Started { worker, number, class } => {
                let core = worker as usize;
                if self.running.len() <= core {
                    self.running.resize(core + 1, None);
                }
                self.running[core] = Some((now_ps, format!("{} {number}", self.classes[class as usize])));
            }
            Event::Completed { worker, .. } => self.end_slice(worker, now_ps),
            Event::Stopped { worker, .. } => {
                self.end_slice(worker, now_ps);
                if inside {
                    self.items.push((now_ps, Item::Instant(worker, "preempted")));
                }
            }
            Event::Moved { worker, from, tasks } if inside && tasks > 0 => {
                self.items.push((now_ps, Item::Arrow(from, worker, tasks)));
            }
            Event::Flagged { worker, .. } if inside => {
                self.items.push((now_ps, Item::Instant(worker, "flagged")));
            }
            Event::Granted { worker } if inside => {
                self.items.push((now_ps, Item::Instant(worker, "core granted")));
            }
            Event::Parked { worker } if inside => {
                self.items.push((now_ps, Item::Instant(worker, "core parked")));
            }
            _ => {}
        }
    }
}
