//! A window of a run as a Perfetto trace: a track a core, a slice a task, arrows for steals and preemptions.
//!
//! The file opens in <https://ui.perfetto.dev> and in `trace_processor`. Packets go to the writer as they
//! come, so memory does not grow with the length of the window. Times are cut from picoseconds to
//! nanoseconds, which keeps their order and so the nesting of slices.

pub mod proto;

use std::io::Write;

use indexmap::IndexMap;
use prost::Message;

use crate::error::TimelineError;
use proto::{CounterDescriptor, Data, EventType, ProcessDescriptor, TrackDescriptor, TrackEvent};

/// The track that holds all others.
const MACHINE: u64 = 1;
const FIRST_CORE: u64 = 0x1_0000;
const FIRST_COUNTER: u64 = 0x2_0000_0000_0000;
/// Arrows drawn by [`Timeline::flow`] have this bit, so that they never meet an id of the caller's.
const OWN_FLOW: u64 = 1 << 63;
const BY_RANK: i32 = 3;
const COUNT: i32 = 2;

#[derive(Default)]
struct Track {
    last_ps: u64,
    open: u32,
}

/// Writes a timeline; [`Timeline::finish`] closes what is open.
pub struct Timeline<W: Write> {
    out: W,
    cores: IndexMap<u32, Track>,
    counters: IndexMap<String, Track>,
    flows: u64,
    buffer: Vec<u8>,
    /// The name of a core's track, before its number.
    core_name: &'static str,
}

impl<W: Write> Timeline<W> {
    /// Begins a timeline on a writer, which should be buffered.
    ///
    /// # Errors
    /// [`TimelineError::Io`] when the writer fails, as for all methods.
    pub fn new(out: W) -> Result<Self, TimelineError> {
        Self::with_names(out, "machine", "core")
    }

    /// As [`Self::new`], with other words for the machine and a core.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn with_names(out: W, machine: &str, core: &'static str) -> Result<Self, TimelineError> {
        let mut timeline = Self {
            out,
            cores: IndexMap::new(),
            counters: IndexMap::new(),
            flows: 0,
            buffer: Vec::new(),
            core_name: core,
        };
        timeline.describe(TrackDescriptor {
            uuid: Some(MACHINE),
            process: Some(ProcessDescriptor { pid: Some(1), process_name: Some(machine.to_owned()) }),
            child_ordering: Some(BY_RANK),
            ..TrackDescriptor::default()
        })?;
        Ok(timeline)
    }

    /// A task begins to run on a core. Slices with an equal id in `flow_ids`, on whatever cores, are joined by
    /// arrows in the order of time; ids must be below 2⁶³.
    ///
    /// # Errors
    /// [`TimelineError::OutOfOrder`] when an event of the core is later than this one.
    pub fn slice_begin(
        &mut self,
        core: u32,
        at_ps: u64,
        name: &str,
        flow_ids: &[u64],
    ) -> Result<(), TimelineError> {
        let track = self.core(core, at_ps)?;
        self.cores[&core].open += 1;
        self.event(
            at_ps,
            TrackEvent {
                name: Some(name.to_owned()),
                flow_ids: flow_ids.iter().map(|id| id & !OWN_FLOW).collect(),
                ..event(EventType::SliceBegin, track)
            },
        )
    }

    /// The task that began last on a core stops running there.
    ///
    /// # Errors
    /// [`TimelineError::NothingOpen`] when none runs there; [`TimelineError::OutOfOrder`] as above.
    pub fn slice_end(&mut self, core: u32, at_ps: u64) -> Result<(), TimelineError> {
        let track = self.core(core, at_ps)?;
        let open = &mut self.cores[&core].open;
        *open = open.checked_sub(1).ok_or(TimelineError::NothingOpen { core, at_ps })?;
        self.event(at_ps, event(EventType::SliceEnd, track))
    }

    /// Something without duration on a core, such as an arrival.
    ///
    /// # Errors
    /// [`TimelineError::OutOfOrder`] when an event of the core is later than this one.
    pub fn instant(&mut self, core: u32, at_ps: u64, name: &str) -> Result<(), TimelineError> {
        let track = self.core(core, at_ps)?;
        self.event(at_ps, TrackEvent { name: Some(name.to_owned()), ..event(EventType::Instant, track) })
    }

    /// An arrow with a name, such as `steal`, from one core and time to another.
    ///
    /// # Errors
    /// [`TimelineError::OutOfOrder`] when an event of one of the cores is later than its end of the arrow.
    pub fn flow(&mut self, name: &str, from: (u32, u64), to: (u32, u64)) -> Result<(), TimelineError> {
        let id = OWN_FLOW | self.flows;
        self.flows += 1;
        let ends = [(from, vec![id], vec![]), (to, vec![], vec![id])];
        for ((core, at_ps), flow_ids, terminating_flow_ids) in ends {
            let track = self.core(core, at_ps)?;
            let name = Some(name.to_owned());
            let end = event(EventType::Instant, track);
            self.event(at_ps, TrackEvent { name, flow_ids, terminating_flow_ids, ..end })?;
        }
        Ok(())
    }

    /// A new value of a named number, such as the length of a queue.
    ///
    /// # Errors
    /// [`TimelineError::OutOfOrder`] when the number has a later value already.
    pub fn counter(&mut self, name: &str, at_ps: u64, value: f64) -> Result<(), TimelineError> {
        if !self.counters.contains_key(name) {
            self.describe(TrackDescriptor {
                uuid: Some(FIRST_COUNTER + self.counters.len() as u64),
                name: Some(name.to_owned()),
                parent_uuid: Some(MACHINE),
                counter: Some(CounterDescriptor { unit: Some(COUNT) }),
                sibling_order_rank: Some(-1),
                ..TrackDescriptor::default()
            })?;
        }
        let number = self.counters.entry(name.to_owned());
        let uuid = FIRST_COUNTER + number.index() as u64;
        forward(number.or_default(), at_ps, || format!("counter {name}"))?;
        self.event(at_ps, TrackEvent { double_counter_value: Some(value), ..event(EventType::Counter, uuid) })
    }

    /// Ends all open slices at the end of the window (or at their core's last event, if that is later) and
    /// hands the writer back, flushed.
    ///
    /// # Errors
    /// [`TimelineError::Io`] when the writer fails.
    pub fn finish(mut self, at_ps: u64) -> Result<W, TimelineError> {
        let open: Vec<_> =
            self.cores.iter().map(|(core, track)| (*core, track.open, track.last_ps)).collect();
        for (core, slices, last_ps) in open {
            for _ in 0..slices {
                self.slice_end(core, at_ps.max(last_ps))?;
            }
        }
        self.out.flush()?;
        Ok(self.out)
    }

    /// The track of a core, described at its first event; its time moves to `at_ps`.
    fn core(&mut self, core: u32, at_ps: u64) -> Result<u64, TimelineError> {
        let uuid = FIRST_CORE + u64::from(core);
        if !self.cores.contains_key(&core) {
            self.describe(TrackDescriptor {
                uuid: Some(uuid),
                name: Some(format!("{} {core}", self.core_name)),
                parent_uuid: Some(MACHINE),
                sibling_order_rank: i32::try_from(core).ok(),
                ..TrackDescriptor::default()
            })?;
        }
        forward(self.cores.entry(core).or_default(), at_ps, || format!("core {core}"))?;
        Ok(uuid)
    }

    fn describe(&mut self, track: TrackDescriptor) -> Result<(), TimelineError> {
        self.packet(None, Data::TrackDescriptor(track))
    }

    fn event(&mut self, at_ps: u64, event: TrackEvent) -> Result<(), TimelineError> {
        self.packet(Some(at_ps / 1000), Data::TrackEvent(event))
    }

    fn packet(&mut self, timestamp: Option<u64>, data: Data) -> Result<(), TimelineError> {
        let data = Some(data);
        let packet = proto::TracePacket { timestamp, trusted_packet_sequence_id: Some(1), data };
        // A file is one `Trace` message; a repeated field may be written element by element.
        self.buffer.clear();
        prost::encoding::message::encode(1, &packet, &mut self.buffer);
        Ok(self.out.write_all(&self.buffer)?)
    }
}

fn event(kind: EventType, track: u64) -> TrackEvent {
    TrackEvent { r#type: Some(kind as i32), track_uuid: Some(track), ..TrackEvent::default() }
}

fn forward(track: &mut Track, at_ps: u64, name: impl Fn() -> String) -> Result<(), TimelineError> {
    if at_ps < track.last_ps {
        return Err(TimelineError::OutOfOrder { track: name(), at_ps, last_ps: track.last_ps });
    }
    track.last_ps = at_ps;
    Ok(())
}

/// Reads a trace back, for tests and tools.
///
/// # Errors
/// The decoder's, when the bytes are no trace.
pub fn decode(bytes: &[u8]) -> Result<proto::Trace, prost::DecodeError> {
    proto::Trace::decode(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn events(trace: &proto::Trace) -> Vec<(u64, &TrackEvent)> {
        let of = |packet: &'_ proto::TracePacket| packet.timestamp;
        trace
            .packet
            .iter()
            .filter_map(|packet| match &packet.data {
                Some(Data::TrackEvent(event)) => Some((of(packet)?, event)),
                _ => None,
            })
            .collect()
    }

    #[test]
    fn what_is_written_comes_back() {
        let mut timeline = Timeline::new(Vec::new()).unwrap();
        timeline.slice_begin(0, 1_000_000, "scan 7", &[7]).unwrap();
        timeline.counter("queued", 1_200_000, 3.0).unwrap();
        timeline.slice_end(0, 3_000_999).unwrap();
        timeline.flow("steal", (0, 3_100_000), (2, 3_200_000)).unwrap();
        timeline.slice_begin(2, 3_200_000, "scan 7", &[7]).unwrap();
        let trace = decode(&timeline.finish(9_000_000).unwrap()).unwrap();
        let events = events(&trace);
        let kinds: Vec<_> = events.iter().map(|(at, event)| (*at, event.r#type())).collect();
        assert_eq!(
            kinds,
            [
                (1000, EventType::SliceBegin),
                (1200, EventType::Counter),
                (3000, EventType::SliceEnd),
                (3100, EventType::Instant),
                (3200, EventType::Instant),
                (3200, EventType::SliceBegin),
                (9000, EventType::SliceEnd),
            ]
        );
        assert_eq!(events[0].1.flow_ids, events[5].1.flow_ids);
        assert_eq!(events[3].1.flow_ids, events[4].1.terminating_flow_ids);
        let tracks = trace.packet.iter().filter(|p| matches!(p.data, Some(Data::TrackDescriptor(_)))).count();
        assert_eq!(tracks, 4, "the machine, two cores, a counter");
    }

    #[test]
    fn nonsense_is_refused_with_the_core() {
        let mut timeline = Timeline::new(Vec::new()).unwrap();
        timeline.instant(3, 500, "arrival").unwrap();
        let back = timeline.instant(3, 400, "arrival").unwrap_err();
        assert!(
            back.to_string().starts_with("core 3: an event at 400 ps comes after one at 500 ps"),
            "{back}"
        );
        assert!(matches!(
            timeline.slice_end(3, 600),
            Err(TimelineError::NothingOpen { core: 3, at_ps: 600 })
        ));
    }

    proptest! {
        #[test]
        fn slices_nest_on_every_core(steps in prop::collection::vec((0..4u32, 0..5_000u64, any::<bool>()), 0..200)) {
            let mut timeline = Timeline::new(Vec::new()).unwrap();
            let (mut now_ps, mut open) = (0, [0u32; 4]);
            for (core, after_ps, begins) in steps {
                now_ps += after_ps;
                let depth = &mut open[core as usize];
                if begins {
                    timeline.slice_begin(core, now_ps, "task", &[]).unwrap();
                    *depth += 1;
                } else if timeline.slice_end(core, now_ps).is_ok() {
                    *depth -= 1;
                } else {
                    prop_assert_eq!(*depth, 0);
                }
            }
            let trace = decode(&timeline.finish(now_ps).unwrap()).unwrap();
            let mut depths: IndexMap<u64, (i64, u64)> = IndexMap::new();
            for (at, event) in events(&trace) {
                let (depth, last) = depths.entry(event.track_uuid()).or_default();
                *depth += if event.r#type() == EventType::SliceBegin { 1 } else { -1 };
                prop_assert!(*depth >= 0 && at >= *last);
                *last = at;
            }
            prop_assert!(depths.values().all(|(depth, _)| *depth == 0));
        }
    }
}
