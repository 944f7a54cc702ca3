//! Three models with ports, as in nexosim's examples: a source sends requests to a station, which sends them on
//! to a sink when they are served. Two events and two messages a request.

use nexosim::Message;
use nexosim::model::{BuildContext, Context, Model, ProtoModel, schedulable};
use nexosim::ports::Output;
use nexosim::simulation::{Mailbox, SimInit, SimulationError};
use nexosim::time::MonotonicTime;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use std::sync::mpsc::{Sender, channel};
use std::time::Duration;

use crate::{Exponential, MEAN_GAP_PS, MEAN_SERVICE_PS, Recorder, SERVERS};

pub(crate) fn run(requests: u64, seed: u64) -> Result<Recorder, SimulationError> {
    let (results, outcome) = channel();
    let mut source = ProtoSource { requests, seed, output: Output::default() };
    let mut station = Station { output: Output::default(), idle: SERVERS, waiting: VecDeque::new() };
    let sink = ProtoSink { requests, results };
    let source_box = Mailbox::new();
    let station_box = Mailbox::new();
    let sink_box = Mailbox::new();
    source.output.connect(Station::enter, &station_box);
    station.output.connect(Sink::leave, &sink_box);
    let mut simulation = SimInit::with_num_threads(1)
        .add_model(source, source_box, "source")
        .add_model(station, station_box, "station")
        .add_model(sink, sink_box, "sink")
        .init(MonotonicTime::EPOCH)?;
    simulation.run()?;
    Ok(outcome.recv().expect("the sink sends its recorder with the last request"))
}

#[derive(Clone, Message, Serialize, Deserialize)]
struct Request {
    arrived: MonotonicTime,
    service: Duration,
}

#[derive(Serialize, Deserialize)]
struct Source {
    output: Output<Request>,
    to_send: u64,
}

#[Model(type Env = Exponential)]
impl Source {
    #[nexosim(init)]
    async fn init(&mut self, cx: &Context<Self>, random: &mut Exponential) {
        let gap = random.draw(MEAN_GAP_PS);
        cx.schedule_event(gap, schedulable!(Self::send), ()).expect("a gap is positive");
    }

    #[nexosim(schedulable)]
    async fn send(&mut self, _: (), cx: &Context<Self>, random: &mut Exponential) {
        let request = Request { arrived: cx.time(), service: random.draw(MEAN_SERVICE_PS) };
        self.output.send(request).await;
        self.to_send -= 1;
        if self.to_send > 0 {
            let gap = random.draw(MEAN_GAP_PS);
            cx.schedule_event(gap, schedulable!(Self::send), ()).expect("a gap is positive");
        }
    }
}

#[derive(Serialize, Deserialize)]
struct Station {
    output: Output<Request>,
    idle: u32,
    waiting: VecDeque<Request>,
}

#[Model]
impl Station {
    fn enter(&mut self, request: Request, cx: &Context<Self>) {
        if self.idle > 0 {
            self.idle -= 1;
            Self::serve(request, cx);
        } else {
            self.waiting.push_back(request);
        }
    }

    fn serve(request: Request, cx: &Context<Self>) {
        cx.schedule_event(request.service, schedulable!(Self::finish), request)
            .expect("a service time is positive");
    }

    #[nexosim(schedulable)]
    async fn finish(&mut self, request: Request, cx: &Context<Self>) {
        match self.waiting.pop_front() {
            Some(next) => Self::serve(next, cx),
            None => self.idle += 1,
        }
        self.output.send(request).await;
    }
}

#[derive(Serialize, Deserialize)]
struct Sink {
    missing: u64,
}

struct SinkEnv {
    recorder: Option<Recorder>,
    results: Sender<Recorder>,
}

#[Model(type Env = SinkEnv)]
impl Sink {
    fn leave(&mut self, request: Request, cx: &Context<Self>, env: &mut SinkEnv) {
        let recorder = env.recorder.as_mut().expect("nothing leaves after the last request");
        recorder.finish(cx.time().duration_since(request.arrived), request.service);
        self.missing -= 1;
        if self.missing == 0 {
            env.results.send(env.recorder.take().expect("sent once")).expect("run() waits for it");
        }
    }
}

struct ProtoSource {
    requests: u64,
    seed: u64,
    output: Output<Request>,
}

impl ProtoModel for ProtoSource {
    type Model = Source;

    fn build(self, _: &mut BuildContext<Self>) -> (Source, Exponential) {
        (Source { output: self.output, to_send: self.requests }, Exponential::new(self.seed))
    }
}

struct ProtoSink {
    requests: u64,
    results: Sender<Recorder>,
}

impl ProtoModel for ProtoSink {
    type Model = Sink;

    fn build(self, _: &mut BuildContext<Self>) -> (Sink, SinkEnv) {
        let env = SinkEnv { recorder: Some(Recorder::new(self.requests)), results: self.results };
        (Sink { missing: self.requests }, env)
    }
}
