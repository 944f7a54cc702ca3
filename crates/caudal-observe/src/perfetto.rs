//! A recording of a runtime as a Perfetto trace. [`Draw`](crate::Draw) calls it when a recording is done. It writes to the caller's
//! writer.

use std::collections::HashMap;
use std::io::Write;

use caudal_report::TimelineError;
use caudal_report::timeline::Timeline;
use caudal_rt::stats::{Event, Recording, Stop};

/// Something to draw on the track of a worker.
enum Item {
    /// With the request whose slices are joined by arrows.
    Begin(String, Option<u64>),
    End,
    Instant(String),
    Arrow {
        from: u32,
        requests: u32,
    },
}

/// Numbers from here on are of requests that no dispatcher has numbered: a thread's number, and its count.
const THREAD_SHIFT: u32 = 40;

/// `get 17`; `get 2/17` for the 17th request of the second thread that has submitted any.
fn name(class: &str, number: u64) -> String {
    let (thread, count) = (number >> THREAD_SHIFT, number & ((1 << THREAD_SHIFT) - 1));
    if thread == 0 { format!("{class} {count}") } else { format!("{class} {thread}/{count}") }
}

/// See [`Draw::write_perfetto`](crate::Draw::write_perfetto).
pub(crate) fn write<W: Write>(recording: &Recording, out: W) -> Result<W, TimelineError> {
    let mut timeline = Timeline::with_names(out, "caudal", "worker")?;
    let slices = slices(recording);
    let mut items: Vec<(u64, u8, u32, Item)> = Vec::new();
    for (worker, events) in recording.by_worker().iter().enumerate() {
        let worker = worker as u32;
        events.iter().for_each(|event| add(recording, worker, *event, &slices, &mut items));
        let lost = recording.lost_by_worker()[worker as usize];
        if lost > 0 {
            let until = events.last().map_or(0, |event| event.end());
            let mark = Item::Instant(format!("{lost} events lost: the ring is full"));
            items.push((recording.ps(until), 2, worker, mark));
        }
    }
    items.sort_by_key(|&(at_ps, rank, ..)| (at_ps, rank));
    for (at_ps, _, worker, item) in items {
        match item {
            Item::Begin(name, joined) => {
                timeline.slice_begin(worker, at_ps, &name, joined.as_slice())?;
            }
            Item::End => timeline.slice_end(worker, at_ps)?,
            Item::Instant(name) => timeline.instant(worker, at_ps, &name)?,
            Item::Arrow { from, requests } => {
                timeline.flow(&format!("{requests} moved"), (from, at_ps), (worker, at_ps))?;
            }
        }
    }
    timeline.finish(recording.ps(u64::MAX))
}

/// How many slices each request has.
fn slices(recording: &Recording) -> HashMap<(u16, u64), u32> {
    let mut slices = HashMap::new();
    for event in recording.by_worker().iter().flatten() {
        if let Event::Slice { class, number, .. } = event {
            *slices.entry((*class, *number)).or_default() += 1;
        }
    }
    slices
}

fn add(
    recording: &Recording,
    worker: u32,
    event: Event,
    slices: &HashMap<(u16, u64), u32>,
    items: &mut Vec<(u64, u8, u32, Item)>,
) {
    // At one time what is inside ends first, and what is outside begins first.
    let mut span = |begin, end, inside: u8, name: String, joined: Option<u64>| {
        let (begin, end) = (recording.ps(begin), recording.ps(end));
        if begin < end {
            items.push((begin, 3 + inside, worker, Item::Begin(name, joined)));
            items.push((end, 1 - inside, worker, Item::End));
        }
    };
    match event {
        Event::Slice { begin, end, class, number, stop } => {
            let of_class = recording.classes().get(usize::from(class)).copied().unwrap_or("?");
            let unknown = stop == Stop::Running;
            let name = if unknown { of_class.to_owned() } else { name(of_class, number) };
            let joined = (!unknown && slices.get(&(class, number)).is_some_and(|&slices| slices > 1))
                .then_some(number);
            span(begin, end, 0, name, joined);
            let mark = match stop {
                Stop::Parked => "parked",
                Stop::Yielded => "yielded",
                Stop::Ended | Stop::Preempted | Stop::Running => return,
            };
            items.push((recording.ps(end), 2, worker, Item::Instant(mark.to_owned())));
        }
        Event::Idle { begin, end } => span(begin, end, 0, "idle".to_owned(), None),
        Event::Asleep { begin, end } => span(begin, end, 1, "asleep".to_owned(), None),
        Event::Moved { at, from, requests } => {
            items.push((recording.ps(at), 2, worker, Item::Arrow { from: u32::from(from), requests }));
        }
    }
}
