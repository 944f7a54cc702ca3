//! The cases that are simulated: the systems of the table, at any size and load.
//! The rows about speed, memory and counts make their cases here before they run. A case runs on the calling thread.

use caudal_config::{Costs, Pools, System};
use caudal_policy::Picos;
use caudal_policy::discipline::{DisciplineConfig, ProcessorSharingConfig, SitaConfig};
use caudal_policy::dispatch::{DispatchConfig, JsqConfig, Ties};
use caudal_policy::parallelism::{ParallelismConfig, TailControlConfig};
use caudal_policy::rebalance::RebalanceConfig;
use caudal_sim::engine::{Length, Outcome, Run, ShortCuts, Unwatched, simulate};
use caudal_workload::{
    Arrivals, DagSpec, DistributionSpec, Grain, LogSpread, Service, ServiceSpec, find_named,
};

/// A system under a load.
pub(crate) struct Case {
    /// The name on the command line: `stealing-32-0.5`.
    pub(crate) key: String,
    system: System,
    costs: Costs,
    pub(crate) service: Service,
    load: f64,
    /// Time slice of processor sharing, in ps.
    quantum_ps: Option<u64>,
    /// Leaves of every request, if requests fork.
    leaves: Option<u32>,
}

/// Loads at which stealing is measured.
pub(crate) const LOADS: [f64; 8] = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8];

/// Policies of requests that fork that are measured.
pub(crate) fn fork_policies() -> [(&'static str, ParallelismConfig); 3] {
    let config = TailControlConfig { target: Picos::from_micros(25_000), ..TailControlConfig::default() };
    [
        ("steal-first", ParallelismConfig::StealFirst),
        ("tail-control", ParallelismConfig::TailControl(config)),
        ("admit-first", ParallelismConfig::AdmitFirst),
    ]
}

fn service(name: &str) -> Service {
    find_named(name)
        .and_then(caudal_workload::NamedWorkload::compile)
        .expect("a workload of the table has a name")
}

/// The requests that lanes are measured on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Work {
    ExtremeBimodal,
    /// Of mean 1 us and a squared coefficient of variation of 10.
    LogNormal,
    /// Measured service times of RocksDB, 0.5 % of them scans.
    RocksDb,
}

impl Work {
    pub(crate) const ALL: [Work; 3] = [Work::ExtremeBimodal, Work::LogNormal, Work::RocksDb];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Work::ExtremeBimodal => "extreme-bimodal",
            Work::LogNormal => "log-normal",
            Work::RocksDb => "rocksdb-0.5",
        }
    }

    fn service(self) -> Service {
        let log_normal = || {
            let spread = LogSpread::Scv(10.0);
            let mean = Picos::from_nanos(1_000);
            ServiceSpec::Distribution(DistributionSpec::LogNormal { mean, spread }).compile(".".as_ref())
        };
        match self {
            Work::LogNormal => log_normal().expect("sound parameters"),
            Work::ExtremeBimodal | Work::RocksDb => service(self.name()),
        }
    }
}

impl Case {
    /// M/M/`cores`, one FCFS queue, exponential 1 us.
    pub(crate) fn single_queue(cores: u32, load: f64) -> Case {
        Case {
            key: format!("single-queue-{cores}-{load}"),
            system: System::single_queue(cores),
            costs: Costs::default(),
            service: service("exp-1us"),
            load,
            quantum_ps: None,
            leaves: None,
        }
    }

    /// Requests of 10 ms on average, each a parallel loop of 64 leaves, on 16 cores at load 0.75.
    pub(crate) fn forks(name: &str, parallelism: ParallelismConfig) -> Case {
        let (cores, grain) = (16, Grain { least: Picos(1), per_core: 4 });
        let loops = DagSpec { grain, ..DagSpec::default() }.compile().expect("a sound graph");
        Case {
            key: format!("forks-{name}"),
            system: System { parallelism, ..System::single_queue(cores) },
            service: service("log-normal-10ms").with_dag(loops),
            leaves: Some(4 * cores),
            ..Case::single_queue(cores, 0.75)
        }
    }

    /// A queue a core, work stealing, a check every 100 ns, exponential 1 us.
    pub(crate) fn stealing(cores: u32, load: f64) -> Case {
        let system = System {
            pools: Pools::PerCore,
            rebalance: RebalanceConfig::WorkStealing(Default::default()),
            ..System::single_queue(cores)
        };
        Case { key: format!("stealing-{cores}-{load}"), system, ..Case::single_queue(cores, load) }
    }

    /// A queue a core, JSQ-MSQ, processor sharing, extreme bimodal, load 0.7. Preemptions cost nothing: at a
    /// quantum of 0.1 us their 40 ns would take most of the machine.
    pub(crate) fn sharing(cores: u32, quantum: Picos) -> Case {
        let system = System {
            pools: Pools::PerCore,
            dispatch: DispatchConfig::Jsq(JsqConfig { ties: Ties::Msq }),
            discipline: DisciplineConfig::ProcessorSharing(ProcessorSharingConfig {
                quantum,
                ..Default::default()
            }),
            ..System::single_queue(cores)
        };
        Case {
            key: format!("sharing-{cores}-{quantum}"),
            system,
            costs: Costs { preemption: Picos::ZERO, ..Costs::default() },
            service: service("extreme-bimodal"),
            load: 0.7,
            quantum_ps: Some(quantum.0),
            leaves: None,
        }
    }

    /// One pool, ISQD-SITA with half, a quarter and a quarter of the servers reserved, and cutoffs at 0.6 and 100 us.
    /// Preemptions cost nothing: at load 0.95 there would be no room for what they cost.
    pub(crate) fn lanes(servers: u32, work: Work, load: f64) -> Case {
        let cutoffs = [Picos::from_nanos(600), Picos::from_micros(100)];
        let reservations = [servers / 2, servers / 4, servers / 4];
        let lanes = SitaConfig::new(&cutoffs, &reservations).expect("sound lanes");
        let discipline = DisciplineConfig::IsqdSita(lanes);
        Case {
            key: format!("lanes-{servers}-{}-{load}", work.name()),
            system: System { discipline, ..System::single_queue(servers) },
            costs: Costs { preemption: Picos::ZERO, ..Costs::default() },
            service: work.service(),
            load,
            quantum_ps: None,
            leaves: None,
        }
    }

    /// All cases of the table.
    pub(crate) fn all() -> Vec<Case> {
        let mut cases = vec![Case::single_queue(16, 0.8)];
        cases.extend(LOADS.iter().map(|&load| Case::stealing(32, load)));
        cases.extend(LOADS.iter().map(|&load| Case::stealing(1024, load)));
        for cores in [16, 1024] {
            cases.extend([2_000, 100].map(|ns| Case::sharing(cores, Picos::from_nanos(ns))));
        }
        for (servers, load) in [(8, 0.7), (1024, 0.7), (8, 0.95), (1024, 0.95)] {
            cases.extend(Work::ALL.map(|work| Case::lanes(servers, work, load)));
        }
        for (name, parallelism) in fork_policies() {
            cases.push(Case::forks(name, parallelism));
        }
        cases
    }

    /// Cores of the machine.
    pub(crate) fn cores(&self) -> u32 {
        self.system.cores
    }

    fn mean_gap_ps(&self) -> f64 {
        self.service.mean_ps() / (self.load * f64::from(self.system.cores))
    }

    /// Simulates `requests`, of which the first tenth is left out of the statistics.
    pub(crate) fn simulate(&self, requests: u64, seed: u64) -> Outcome {
        let warm_up = requests / 10;
        let run = Run {
            system: &self.system,
            costs: &self.costs,
            service: &self.service,
            arrivals: &Arrivals::poisson(),
            mean_gap_ps: self.mean_gap_ps(),
            seed,
            length: Length { warm_up, measured: requests - warm_up },
            pilot: false,
            waits: false,
            short_cuts: ShortCuts::ALL,
            stop: None,
        };
        simulate(&run, Unwatched)
    }

    /// How many requests arrive within `end_ps` under `seed`. A run goes on after its last measured request
    /// until that has completed; on 1024 cores these are many.
    pub(crate) fn arrivals_until(&self, end_ps: u64, seed: u64) -> u64 {
        let mut sampler = Arrivals::poisson().sampler(seed, self.mean_gap_ps());
        let mut batch = [0; 1024];
        let mut arrived = 0;
        loop {
            sampler.fill(&mut batch);
            let within = batch.partition_point(|&arrival_ps| arrival_ps <= end_ps);
            arrived += within as u64;
            if within < batch.len() {
                return arrived;
            }
        }
    }

    /// Quanta that a request of this outcome takes on average: its service time in quanta, rounded up, or its leaves. `None`
    /// where nothing is cut.
    pub(crate) fn quanta_per_request(&self, outcome: &Outcome) -> Option<f64> {
        if let Some(leaves) = self.leaves {
            return Some(f64::from(leaves));
        }
        let quantum_ps = self.quantum_ps?;
        let (mut quanta, mut requests) = (0, 0);
        for (class, stats) in outcome.classes.iter().enumerate() {
            // Both classes of the extreme bimodal are constants.
            let service_ps = self.service.class_mean_ps(class) as u64;
            quanta += stats.latency_ps.count() * service_ps.div_ceil(quantum_ps);
            requests += stats.latency_ps.count();
        }
        Some(quanta as f64 / requests as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_name_one_case_each() {
        let mut keys: Vec<String> = Case::all().into_iter().map(|case| case.key).collect();
        let count = keys.len();
        keys.sort();
        keys.dedup();
        assert_eq!((keys.len(), count), (36, 36));
        assert!(keys.iter().any(|key| key == "sharing-1024-100ns"), "{keys:?}");
    }

    #[test]
    fn every_case_keeps_up_with_its_load() {
        for case in Case::all() {
            let outcome = case.simulate(30_000, 3);
            // Nearer to saturation, so few requests do not tell.
            assert!(case.load > 0.9 || !outcome.overload.is_overloaded(), "{}", case.key);
            assert_eq!(outcome.arrived, 27_000, "{}", case.key);
            assert!(case.arrivals_until(outcome.end_ps, 3) >= 30_000, "{}", case.key);
        }
    }

    #[test]
    fn quanta_are_counted_by_class() {
        let case = Case::sharing(16, Picos::from_nanos(2_000));
        let outcome = case.simulate(50_000, 1);
        let long = outcome.classes[1].latency_ps.count() as f64 / 45_000.0;
        let expected = (1.0 - long) + 250.0 * long;
        assert!((case.quanta_per_request(&outcome).unwrap() - expected).abs() < 1e-9);
        assert_eq!(Case::stealing(32, 0.5).quanta_per_request(&outcome), None);
    }
}
