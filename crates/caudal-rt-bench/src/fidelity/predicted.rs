//! The measured workloads, simulated with the costs of this machine and reported in the same form: what the simulator says of each request is a
//! trace like that of a run, and goes through the same filter.
//! A fidelity run calls it after each measured run.

use std::error::Error;
use std::path::Path;

use caudal_config::{File, Options};
use caudal_measure::contestant::mix;
use caudal_measure::filter::{GapsOf, Latency, Report, report};
use caudal_measure::gaps::{GAP_NS, Gap};
use caudal_measure::trace::{NEVER, Request, Trace};
use caudal_sim::engine::{Event, Length, Observer, Run, simulate};

use super::idle::note_idle_stalls;
use crate::workloads::Workload;

/// Requests of a round: several times as many as are measured.
const REQUESTS: u64 = 800_000;

/// One class over the rounds: p50 and p99 of each, in ns.
#[derive(Clone, Debug, Default)]
pub(super) struct OfClass {
    /// All requests.
    pub(super) raw: Vec<[f64; 2]>,
    /// The requests that no stall touched.
    pub(super) filtered: Vec<[f64; 2]>,
}

/// One workload at one load.
pub(super) struct Predicted {
    pub(super) classes: Vec<OfClass>,
    /// Shares of the requests whose wait at an idle worker was taken for a stall, by round.
    pub(super) idle_stalls: Vec<f64>,
}

/// The workload, the load and the costs with which a round is simulated.
pub(super) struct Given<'a> {
    pub(super) workload: &'a Workload,
    pub(super) load: f64,
    /// Measured service times, by class.
    pub(super) services: &'a Path,
    /// Overrides.
    pub(super) costs: &'a [String],
    pub(super) quantum_ns: u64,
    pub(super) seed: u64,
}

impl Predicted {
    pub(super) fn new(classes: usize) -> Predicted {
        Predicted { classes: vec![OfClass::default(); classes], idle_stalls: Vec::new() }
    }

    /// Adds the report of a round.
    pub(super) fn add(&mut self, seen: &Report, idle_stalls: f64) {
        self.idle_stalls.push(idle_stalls);
        for (class, seen) in self.classes.iter_mut().zip(&seen.classes) {
            let both = |latency: &Latency| [latency.p50_ns as f64, latency.p99_ns as f64];
            class.raw.push(both(&seen.raw));
            class.filtered.push(both(&seen.filtered));
        }
    }
}

impl Given<'_> {
    /// Simulates it; what it shows, and the share of [`note_idle_stalls`].
    pub(super) fn report(&self) -> Result<(Report, f64), Box<dyn Error>> {
        let mut trace = self.trace()?;
        let idle_stalls = note_idle_stalls(&mut trace);
        Ok((report(&trace, GapsOf::WorkAndGenerator), idle_stalls))
    }

    fn trace(&self) -> Result<Trace, Box<dyn Error>> {
        let text = format!(
            "[workload]\nservice = {}\nload = 0.5\n[system]\ncores = 1\npools = \"per-core\"\n\
             dispatch = {{ policy = \"jsq\", ties = \"msq\" }}\n\
             discipline = {{ policy = \"processor-sharing\", quantum = \"{}ns\" }}\n",
            self.workload.measured_in(self.services),
            self.quantum_ns
        );
        // A runtime with a source does not sleep; the measured times have the probes in them.
        let here = ["costs.wake_up=0ns", "costs.probe_factor=1"].map(str::to_owned);
        let overrides = self.costs.iter().cloned().chain(here).collect();
        let options = Options { overrides, ..Options::default() };
        let point = File::parse_with(&text, "fidelity.toml", &options)?.points()?.remove(0);
        let mix = mix(&self.workload.mix())?;
        let run = Run {
            // The very arrivals of the measured run, whose load is that of the nominal times.
            mean_gap_ps: mix.service().mean_ps() / self.load,
            seed: self.seed,
            ..Run::of(&point, Length { warm_up: 0, measured: REQUESTS })
        };
        simulated(&run, point.workload.service.classes(), self.workload, self.load)
    }
}

/// Simulates `run`, whose requests have these classes, and says what became of each as a trace like that of a measured run.
pub(crate) fn simulated(
    run: &Run<'_>,
    classes: &[String],
    workload: &Workload,
    load: f64,
) -> Result<Trace, Box<dyn Error>> {
    let mut seen = SeenRequests::default();
    simulate(run, &mut seen);
    // The simulator sorts classes by name.
    let number_of = |name: &String| workload.number_of(name).ok_or_else(|| format!("no class {name}"));
    let order: Vec<u32> = classes.iter().map(number_of).collect::<Result<_, _>>()?;
    seen.requests.iter_mut().for_each(|request| request.class = order[request.class as usize]);
    Ok(Trace {
        contestant: "simulated".to_owned(),
        tsc_hz: 1e9,
        seed: run.seed,
        load,
        mix: mix(&workload.mix())?,
        requests: seen.requests,
        gaps: seen.gaps,
        generator_gaps: seen.generator_gaps,
        gaps_lost: 0,
    })
}

/// Takes down when requests came, started and were complete, and when cores stood still, as far as a run shows it: nobody notices
/// the stall of a worker that has nothing to do.
#[derive(Default)]
struct SeenRequests {
    requests: Vec<Request>,
    completed: usize,
    gaps: Vec<Gap>,
    generator_gaps: Vec<Gap>,
}

impl Observer for &mut SeenRequests {
    fn observe(&mut self, now_ps: u64, event: Event) {
        let now = now_ps / 1_000;
        match event {
            Event::Arrived { class, .. } => self.requests.push(Request {
                class: u32::from(class),
                arrival_ns: now,
                start_ns: NEVER,
                completion_ns: NEVER,
            }),
            Event::Started { number, .. } => {
                if let Some(request) = self.requests.get_mut(number as usize) {
                    request.start_ns = request.start_ns.min(now);
                }
            }
            Event::Completed { number, .. } => {
                self.completed += 1;
                if let Some(request) = self.requests.get_mut(number as usize) {
                    request.completion_ns = now;
                }
            }
            Event::Stalled { worker, length_ps } if length_ps > GAP_NS * 1_000 => {
                let gap = Gap { start: now, end: now + length_ps / 1_000 };
                match worker {
                    None => self.generator_gaps.push(gap),
                    Some(_) if self.completed < self.requests.len() => self.gaps.push(gap),
                    Some(_) => {}
                }
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use caudal_measure::schedule::Schedule;

    use super::*;
    use crate::workloads::workloads;

    /// Arrival in ns, class and service time in ns of every request of a simulation.
    #[derive(Default)]
    struct Demands(Vec<(u64, u32, u64)>);

    impl Observer for &mut Demands {
        fn observe(&mut self, now_ps: u64, event: Event) {
            if let Event::Arrived { class, service_ps, .. } = event {
                self.0.push((now_ps / 1_000, u32::from(class), service_ps / 1_000));
            }
        }
    }

    /// A measured run replays what was simulated: same seed, same load, the same arrivals and classes with their service times.
    #[test]
    fn the_simulator_and_a_measured_run_meet_the_same_requests() {
        const REQUESTS: usize = 20_000;
        let mix = mix("0.7:1us,0.25:3us,0.05:80us").unwrap();
        let (load, seed) = (0.6, 5);
        let schedule = Schedule::poisson(mix.clone(), load, 1, REQUESTS, seed);
        let text = "[workload]\nservice = { distribution = \"mixture\", classes = [\n\
             { name = \"0\", weight = 0.7, service = { distribution = \"constant\", value = \"1us\" } },\n\
             { name = \"1\", weight = 0.25, service = { distribution = \"constant\", value = \"3us\" } },\n\
             { name = \"2\", weight = 0.05, service = { distribution = \"constant\", value = \"80us\" } },\n\
             ] }\nload = 0.6\n[system]\npreset = \"ix\"\ncores = 1\n";
        let point = File::parse(text, "replayed.toml").unwrap().points().unwrap().remove(0);
        let length = Length { warm_up: 0, measured: REQUESTS as u64 };
        let mean_gap_ps = point.workload.service.mean_ps() / load;
        let run = Run { mean_gap_ps, seed, ..Run::of(&point, length) };
        let mut demands = Demands::default();
        simulate(&run, &mut demands);
        assert!(demands.0.len() >= REQUESTS, "{}", demands.0.len());
        for (arrival, seen) in schedule.arrivals.iter().zip(&demands.0) {
            let service_ns = mix.classes()[arrival.class as usize].service_ns;
            assert_eq!((arrival.at_ns, arrival.class, service_ns), *seen);
        }
    }

    #[test]
    fn every_workload_can_be_simulated_and_the_filter_takes_stalls_away() {
        let trace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/rocksdb-get-scan.csv");
        let stalls = "costs.stalls={ rate = \"400/s\", lengths = [[0, \"5us\"], [1, \"60us\"]] }";
        let costs = ["costs.start=50ns", "costs.dispatcher=40ns", stalls].map(str::to_owned);
        let directory = tempfile::tempdir().unwrap();
        for workload in &workloads(&trace).unwrap() {
            let services = directory.path().join("services.csv");
            let line = |class: &crate::workloads::Class| format!("{},{}\n", class.name, class.service_ns);
            let lines: String = workload.classes.iter().map(line).collect();
            std::fs::write(&services, format!("class,service_ns\n{lines}")).unwrap();
            let mut found = Predicted::new(workload.classes.len());
            let given =
                Given { workload, load: 0.3, services: &services, costs: &costs, quantum_ns: 1_000, seed: 1 };
            // A measured run with this seed has the same arrivals.
            let schedule = Schedule::poisson(mix(&workload.mix()).unwrap(), 0.3, 1, 1_000, 1);
            let arrivals: Vec<u64> = schedule.arrivals.iter().map(|arrival| arrival.at_ns).collect();
            let simulated = given.trace().unwrap().requests;
            let simulated: Vec<u64> = simulated[..1_000].iter().map(|request| request.arrival_ns).collect();
            assert_eq!(arrivals, simulated, "{}", workload.name);
            let (report, idle_stalls) = given.report().unwrap();
            found.add(&report, idle_stalls);
            assert!(idle_stalls > 0.0 && idle_stalls < 0.05, "{idle_stalls}");
            let (short, nominal) = (&found.classes[0], workload.classes[0].service_ns as f64);
            assert!(short.filtered[0][0] >= nominal + 50.0, "{short:?}");
            assert!(short.filtered[0][1] < short.raw[0][1], "{short:?}");
            assert!(found.classes.iter().all(|class| class.filtered[0][0] > 0.0), "{:?}", found.classes);
        }
    }
}
