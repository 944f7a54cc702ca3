//! The part of Perfetto's trace format that timelines need, encoded by this crate. `timeline` writes each packet by it. It writes to the
//! caller's writer and touches nothing else.
//!
//! Names and field numbers are those of Perfetto's public protocol (`perfetto/trace/trace.proto`,
//! `trace_packet.proto`, `track_event/track_descriptor.proto`, `track_event/track_event.proto`,
//! `track_event/counter_descriptor.proto`, `track_event/process_descriptor.proto`). Left out: interned
//! strings (the names of slices hold a request's number, so hardly one comes twice), clock snapshots
//! (timestamps are in the default clock, which is all there is) and debug annotations.

use prost::{Message, Oneof};

/// A whole file: packets, in any order of time.
#[derive(Clone, PartialEq, Message)]
pub struct Trace {
    /// The packets.
    #[prost(message, repeated, tag = "1")]
    pub packet: Vec<TracePacket>,
}

/// One event, or the description of a track.
#[derive(Clone, PartialEq, Message)]
pub struct TracePacket {
    /// When, in nanoseconds.
    #[prost(uint64, optional, tag = "8")]
    pub timestamp: Option<u64>,
    /// The writer of the packet; ours is always 1.
    #[prost(uint32, optional, tag = "10")]
    pub trusted_packet_sequence_id: Option<u32>,
    /// The packet's contents.
    #[prost(oneof = "Data", tags = "11, 60")]
    pub data: Option<Data>,
}

/// The contents of a packet.
#[derive(Clone, PartialEq, Oneof)]
pub enum Data {
    /// Something that happened on a track.
    #[prost(message, tag = "11")]
    TrackEvent(TrackEvent),
    /// A track, before its first event.
    #[prost(message, tag = "60")]
    TrackDescriptor(TrackDescriptor),
}

/// A row of the timeline.
#[derive(Clone, PartialEq, Message)]
pub struct TrackDescriptor {
    /// How events name it.
    #[prost(uint64, optional, tag = "1")]
    pub uuid: Option<u64>,
    /// The name that is shown.
    #[prost(string, optional, tag = "2")]
    pub name: Option<String>,
    /// Set on the track that holds the others.
    #[prost(message, optional, tag = "3")]
    pub process: Option<ProcessDescriptor>,
    /// The track that it stands under.
    #[prost(uint64, optional, tag = "5")]
    pub parent_uuid: Option<u64>,
    /// Set on tracks of a number.
    #[prost(message, optional, tag = "8")]
    pub counter: Option<CounterDescriptor>,
    /// How the tracks under it are ordered; 3 is by `sibling_order_rank`.
    #[prost(int32, optional, tag = "11")]
    pub child_ordering: Option<i32>,
    /// Its place among its siblings.
    #[prost(int32, optional, tag = "12")]
    pub sibling_order_rank: Option<i32>,
}

/// The machine, which Perfetto calls a process.
#[derive(Clone, PartialEq, Message)]
pub struct ProcessDescriptor {
    /// Any number.
    #[prost(int32, optional, tag = "1")]
    pub pid: Option<i32>,
    /// The name that is shown.
    #[prost(string, optional, tag = "6")]
    pub process_name: Option<String>,
}

/// Marks a track as one of numbers.
#[derive(Clone, PartialEq, Message)]
pub struct CounterDescriptor {
    /// The unit; 2 is a count.
    #[prost(int32, optional, tag = "3")]
    pub unit: Option<i32>,
}

/// Kinds of [`TrackEvent`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, prost::Enumeration)]
#[repr(i32)]
pub enum EventType {
    /// Not set.
    Unspecified = 0,
    /// A slice begins.
    SliceBegin = 1,
    /// The innermost open slice of the track ends.
    SliceEnd = 2,
    /// Something without duration.
    Instant = 3,
    /// A new value of a counter.
    Counter = 4,
}

/// Something that happened on a track.
#[derive(Clone, PartialEq, Message)]
pub struct TrackEvent {
    /// Its kind.
    #[prost(enumeration = "EventType", optional, tag = "9")]
    pub r#type: Option<i32>,
    /// The track.
    #[prost(uint64, optional, tag = "11")]
    pub track_uuid: Option<u64>,
    /// Its name.
    #[prost(string, optional, tag = "23")]
    pub name: Option<String>,
    /// The value, for counters.
    #[prost(double, optional, tag = "44")]
    pub double_counter_value: Option<f64>,
    /// Arrows that go through the event.
    #[prost(fixed64, repeated, packed = "false", tag = "47")]
    pub flow_ids: Vec<u64>,
    /// Arrows that end at the event.
    #[prost(fixed64, repeated, packed = "false", tag = "48")]
    pub terminating_flow_ids: Vec<u64>,
}
