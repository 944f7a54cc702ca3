//! A window of a run as a timeline for Perfetto; `caudal sim --timeline` writes it to a file.

use std::collections::HashSet;
use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use caudal_config::{Point, Variant};
use caudal_policy::Picos;
use caudal_report::TimelineError;
use caudal_report::timeline::Timeline;
use caudal_sim::engine::{Event, Length, Observer, Run, ShortCuts, simulate};

use crate::error::ResultsError;
use crate::{Control, Progress};

/// The longest window, in simulated time: 100 ms.
const WINDOW_MAX_PS: u64 = 100_000_000_000;
/// Most slices, arrows and marks of a timeline: a file of some 300 MB, far beyond what the viewer likes.
const ITEMS_MAX: usize = 10_000_000;
/// Most requests that are simulated up to the end of a window: some minutes.
const REQUESTS_MAX: f64 = 1e9;
/// Arrivals between two polls of whether to stop.
const POLL_EVERY: u64 = 1 << 12;

/// The part of a run that a timeline shows, in simulated time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    from_ps: u64,
    to_ps: u64,
}

/// Everything that the cores do in a window, ready to be drawn.
pub struct Watched<'a> {
    drawer: Drawer<'a>,
}

impl Watched<'_> {
    /// Writes it as a Perfetto trace.
    ///
    /// # Errors
    /// If it can not be written.
    pub fn write(self, out: impl Write) -> Result<(), TimelineError> {
        self.drawer.draw(Timeline::new(out)?)
    }
}

impl Window {
    /// The part `text` (`"1ms..1.2ms"`) of a run.
    ///
    /// # Errors
    /// If the text is no window.
    pub fn parse(text: &str) -> Result<Window, ResultsError> {
        let (from_ps, to_ps) = parse(text)?;
        Ok(Window { from_ps, to_ps })
    }

    /// Runs `point` to the end of the window and collects what the cores do in it; a hundred steps of progress.
    ///
    /// # Errors
    /// If the run can not be watched, is interrupted, or has too much to show.
    pub fn watch<'a>(
        &'a self,
        point: &'a Point,
        control: &'a Control<'a, Progress>,
    ) -> Result<Watched<'a>, ResultsError> {
        let requests = self.check(point, point.mean_gap_ps())?;
        let enough = Arc::new(AtomicBool::new(false));
        // More than are expected: the run is told to stop at the end of the window.
        let length = Length { warm_up: 0, measured: 2 * requests + 1_000 };
        // Leaps hide the slices that a timeline is to show.
        let run = Run { short_cuts: ShortCuts::STEPWISE, stop: Some(&enough), ..Run::of(point, length) };
        let mut drawer = Drawer::new(point.workload.service.classes(), self, Arc::clone(&enough), control);
        simulate(&run, &mut drawer);
        match drawer.ended {
            None | Some(Ended::Shown) => Ok(Watched { drawer }),
            Some(Ended::Interrupted) => Err(ResultsError::Interrupted),
            Some(Ended::TooMuch) => Err(ResultsError::refused(
                format!("the window has more than {ITEMS_MAX} slices, arrows and marks"),
                "choose a shorter one; a few hundred microseconds can be read on a screen",
            )),
        }
    }

    /// How many requests arrive until the window ends, on average, if it can be shown.
    fn check(&self, point: &Point, mean_gap_ps: f64) -> Result<u64, ResultsError> {
        if point.system.variant == Variant::AuthorsSimulator {
            return Err(ResultsError::refused(
                format!(
                    "a timeline shows runs of the engine; `{}` has variant = \"authors-simulator\", which is a simulator of \
                     its own that can not be watched",
                    point.key
                ),
                "say variant = \"paper\", or leave out --timeline",
            ));
        }
        let requests = self.to_ps as f64 / mean_gap_ps;
        if requests > REQUESTS_MAX {
            let latest = Picos((REQUESTS_MAX * mean_gap_ps / 1e9) as u64 * 1_000_000_000);
            return Err(ResultsError::refused(
                format!(
                    "the window ends after {requests:.1e} requests, all of which would have to be simulated"
                ),
                format!("let it end at {latest} or before"),
            ));
        }
        Ok(requests.ceil() as u64)
    }
}

fn parse(window: &str) -> Result<(u64, u64), ResultsError> {
    let help = "write two times, as in --window 1ms..1.2ms";
    let no_window = || format!("`{window}` is not a window");
    let (from, to) = window.split_once("..").ok_or_else(|| ResultsError::refused(no_window(), help))?;
    let time = |text: &str| {
        let time = Picos::parse(text).map(|time| time.0);
        time.map_err(|error| ResultsError::refused(error.to_string(), help))
    };
    let (from_ps, to_ps) = (time(from)?, time(to)?);
    if from_ps >= to_ps || to_ps - from_ps > WINDOW_MAX_PS {
        return Err(ResultsError::refused(no_window(), "at most 100ms, the first time before the second"));
    }
    Ok((from_ps, to_ps))
}

/// Why watching a run ended.
enum Ended {
    Shown,
    Interrupted,
    TooMuch,
}

/// Something to draw.
enum Item {
    /// With the number of the request, if it was preempted in the window: all its slices are joined by arrows.
    Begin(u32, String, Option<u64>),
    End(u32),
    Instant(u32, &'static str),
    Arrow(u32, u32, u32),
}

/// The request that a core runs.
#[derive(Clone)]
struct Slice {
    since_ps: u64,
    number: u64,
    name: String,
}

/// Collects what happens inside the window; a timeline wants it in order of time, core by core.
struct Drawer<'a> {
    classes: &'a [String],
    window: &'a Window,
    /// Tells the run to stop.
    enough: Arc<AtomicBool>,
    /// The reason why the run was told to stop; what the run still shows until it does is left out.
    ended: Option<Ended>,
    control: &'a Control<'a, Progress>,
    arrived: u64,
    running: Vec<Option<Slice>>,
    /// Requests that were preempted and have not completed.
    preempted: HashSet<u64>,
    items: Vec<(u64, Item)>,
}

impl<'a> Drawer<'a> {
    fn new(
        classes: &'a [String],
        window: &'a Window,
        enough: Arc<AtomicBool>,
        control: &'a Control<'a, Progress>,
    ) -> Drawer<'a> {
        Drawer {
            classes,
            window,
            enough,
            ended: None,
            control,
            arrived: 0,
            running: Vec::new(),
            preempted: HashSet::new(),
            items: Vec::new(),
        }
    }

    fn end_slice(&mut self, worker: u32, now_ps: u64) {
        let slice = self.running.get_mut(worker as usize).and_then(Option::take);
        let Some(Slice { since_ps, number, name }) = slice else { return };
        let (began_ps, ended_ps) = (since_ps.max(self.window.from_ps), now_ps.min(self.window.to_ps));
        if began_ps < ended_ps {
            let joined = self.preempted.contains(&number).then_some(number);
            self.items.push((began_ps, Item::Begin(worker, name, joined)));
            self.items.push((ended_ps, Item::End(worker)));
        }
    }

    /// Polls, every [`POLL_EVERY`] arrivals, whether to stop.
    fn poll(&mut self, now_ps: u64) {
        if now_ps >= self.window.to_ps {
            return self.end(Ended::Shown);
        }
        if self.arrived.is_multiple_of(POLL_EVERY) {
            if self.control.stop.load(Ordering::Relaxed) {
                return self.end(Ended::Interrupted);
            }
            self.control.tell(Progress::Done((100.0 * now_ps as f64 / self.window.to_ps as f64) as u64));
            self.control.tell(Progress::Requests(POLL_EVERY));
        }
        if self.items.len() > ITEMS_MAX {
            self.end(Ended::TooMuch);
        }
    }

    /// The run is to stop.
    fn end(&mut self, why: Ended) {
        self.ended = Some(why);
        self.enough.store(true, Ordering::Relaxed);
    }

    fn draw<W: Write>(mut self, mut timeline: Timeline<W>) -> Result<(), TimelineError> {
        for worker in 0..self.running.len() as u32 {
            self.end_slice(worker, self.window.to_ps);
        }
        // At one time a slice ends before the next begins.
        self.items.sort_by_key(|(at_ps, item)| (*at_ps, !matches!(item, Item::End(_))));
        for (at_ps, item) in self.items {
            match item {
                Item::Begin(core, name, joined) => {
                    timeline.slice_begin(core, at_ps, &name, joined.as_slice())?;
                }
                Item::End(core) => timeline.slice_end(core, at_ps)?,
                Item::Instant(core, name) => timeline.instant(core, at_ps, name)?,
                Item::Arrow(from, to, tasks) => {
                    timeline.flow(&format!("{tasks} moved"), (from, at_ps), (to, at_ps))?;
                }
            }
        }
        timeline.finish(self.window.to_ps).map(drop)
    }
}

impl Observer for &mut Drawer<'_> {
    fn observe(&mut self, now_ps: u64, event: Event) {
        if self.ended.is_some() {
            return;
        }
        let inside = (self.window.from_ps..self.window.to_ps).contains(&now_ps);
        match event {
            Event::Arrived { .. } => {
                self.arrived += 1;
                self.poll(now_ps);
            }
            Event::Started { worker, number, class } => {
                let core = worker as usize;
                if self.running.len() <= core {
                    self.running.resize(core + 1, None);
                }
                let name = format!("{} {number}", self.classes[class as usize]);
                self.running[core] = Some(Slice { since_ps: now_ps, number, name });
            }
            Event::Completed { worker, number } => {
                self.end_slice(worker, now_ps);
                self.preempted.remove(&number);
            }
            Event::Stopped { worker, number } => {
                self.preempted.insert(number);
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
            Event::Stalled { worker: Some(worker), .. } if inside => {
                self.items.push((now_ps, Item::Instant(worker, "stalled")));
            }
            Event::Parked { worker } if inside => {
                self.items.push((now_ps, Item::Instant(worker, "core parked")));
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use caudal_report::timeline::proto;

    fn point(system: &str) -> Point {
        let text = format!(
            "[workload]\nservice = {{ distribution = \"bimodal\", short = \"1us\", long = \"10us\", p_long = 0.2 }}\n\
             load = 0.8\n[system]\ncores = 2\n{system}\n"
        );
        caudal_config::File::parse(&text, "in.toml").unwrap().points().unwrap().remove(0)
    }

    fn watch(window: &str, system: &str, stop: bool) -> Result<Vec<u8>, ResultsError> {
        let stop = std::sync::atomic::AtomicBool::new(stop);
        let control = Control { threads: 1, stop: &stop, progress: &|_| {} };
        let (window, point) = (Window::parse(window)?, point(system));
        let mut trace = Vec::new();
        window.watch(&point, &control)?.write(&mut trace).expect("memory can be written");
        Ok(trace)
    }

    /// Ids of flows at the beginnings of slices.
    fn joined(system: &str) -> Vec<u64> {
        let trace = watch("100us..200us", system, false).unwrap();
        let trace = caudal_report::timeline::decode(&trace).unwrap();
        let events = trace.packet.iter().filter_map(|packet| match &packet.data {
            Some(proto::Data::TrackEvent(event)) => Some(event),
            _ => None,
        });
        events
            .filter(|event| event.r#type() == proto::EventType::SliceBegin)
            .flat_map(|event| event.flow_ids.clone())
            .collect()
    }

    #[test]
    fn the_slices_of_a_preempted_request_are_joined() {
        let mut flows = joined("discipline = { policy = \"processor-sharing\", quantum = \"2us\" }");
        assert!(flows.len() > 10, "{flows:?}");
        flows.sort_unstable();
        let twice = flows.windows(2).filter(|pair| pair[0] == pair[1]).count();
        assert!(twice > 5, "an arrow has two ends: {flows:?}");
        assert!(joined("").is_empty(), "nothing is preempted under first come, first served");
    }

    #[test]
    fn what_can_not_be_shown_is_refused() {
        let refused = |window: &str, system: &str| {
            let error = watch(window, system, false).unwrap_err();
            let help = miette::Diagnostic::help(&error).map_or(String::new(), |help| help.to_string());
            format!("{error} ({help})")
        };
        let far = refused("1000000s..1000000.01s", "");
        assert!(far.contains("let it end at 1750s or before"), "{far}");
        let authors = refused("1ms..2ms", "variant = \"authors-simulator\"");
        assert!(authors.contains("can not be watched"), "{authors}");
        let stopped = watch("1000s..1000.01s", "", true).unwrap_err();
        assert!(matches!(stopped, ResultsError::Interrupted), "{stopped}");
        assert!(Window::parse("2ms..1ms").is_err());
    }
}
