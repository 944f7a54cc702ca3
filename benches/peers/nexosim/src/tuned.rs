//! Everything in one model that schedules events on itself: two events a request, no message between models.

use nexosim::model::{BuildContext, Context, Model, ProtoModel, schedulable};
use nexosim::simulation::{Mailbox, SimInit, SimulationError};
use nexosim::time::MonotonicTime;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use std::sync::mpsc::{Sender, channel};
use std::time::Duration;

use crate::{Exponential, MEAN_GAP_PS, MEAN_SERVICE_PS, Recorder, SERVERS};

pub(crate) fn run(requests: u64, seed: u64) -> Result<Recorder, SimulationError> {
    let (results, outcome) = channel();
    let station = ProtoStation { requests, seed, results };
    let mut simulation = SimInit::with_num_threads(1)
        .add_model(station, Mailbox::new(), "station")
        .init(MonotonicTime::EPOCH)?;
    simulation.run()?;
    Ok(outcome.recv().expect("the station sends its recorder with the last request"))
}

#[derive(Serialize, Deserialize)]
struct Station {
    to_arrive: u64,
    in_system: u64,
    idle: u32,
    waiting: VecDeque<MonotonicTime>,
}

/// What nexosim need not be able to save.
struct StationEnv {
    random: Exponential,
    recorder: Option<Recorder>,
    results: Sender<Recorder>,
}

#[derive(Clone, Serialize, Deserialize)]
struct Job {
    arrived: MonotonicTime,
    service: Duration,
}

#[Model(type Env = StationEnv)]
impl Station {
    #[nexosim(init)]
    async fn init(&mut self, cx: &Context<Self>, env: &mut StationEnv) {
        let gap = env.random.draw(MEAN_GAP_PS);
        cx.schedule_event(gap, schedulable!(Self::arrive), ()).expect("a gap is positive");
    }

    #[nexosim(schedulable)]
    fn arrive(&mut self, _: (), cx: &Context<Self>, env: &mut StationEnv) {
        self.to_arrive -= 1;
        self.in_system += 1;
        let now = cx.time();
        if self.idle > 0 {
            self.idle -= 1;
            Self::serve(now, cx, env);
        } else {
            self.waiting.push_back(now);
        }
        if self.to_arrive > 0 {
            let gap = env.random.draw(MEAN_GAP_PS);
            cx.schedule_event(gap, schedulable!(Self::arrive), ()).expect("a gap is positive");
        }
    }

    fn serve(arrived: MonotonicTime, cx: &Context<Self>, env: &mut StationEnv) {
        let service = env.random.draw(MEAN_SERVICE_PS);
        cx.schedule_event(service, schedulable!(Self::finish), Job { arrived, service })
            .expect("a service time is positive");
    }

    #[nexosim(schedulable)]
    fn finish(&mut self, job: Job, cx: &Context<Self>, env: &mut StationEnv) {
        let recorder = env.recorder.as_mut().expect("nothing finishes after the last request");
        recorder.finish(cx.time().duration_since(job.arrived), job.service);
        match self.waiting.pop_front() {
            Some(arrived) => Self::serve(arrived, cx, env),
            None => self.idle += 1,
        }
        self.in_system -= 1;
        if self.in_system == 0 && self.to_arrive == 0 {
            env.results.send(env.recorder.take().expect("sent once")).expect("run() waits for it");
        }
    }
}

struct ProtoStation {
    requests: u64,
    seed: u64,
    results: Sender<Recorder>,
}

impl ProtoModel for ProtoStation {
    type Model = Station;

    fn build(self, _: &mut BuildContext<Self>) -> (Station, StationEnv) {
        let station =
            Station { to_arrive: self.requests, in_system: 0, idle: SERVERS, waiting: VecDeque::new() };
        let env = StationEnv {
            random: Exponential::new(self.seed),
            recorder: Some(Recorder::new(self.requests)),
            results: self.results,
        };
        (station, env)
    }
}
