//! What the requests of the model are made of: a graph for all of them, or graphs that were recorded.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};

use caudal_policy::random::{Draw, hash};
use caudal_workload::{Dag, FileSpec, Replay, Service, ServiceSpec};

/// What requests are made of.
#[derive(Clone, Debug)]
pub(crate) enum Shapes {
    Same(Dag),
    /// In the order of their file.
    Recorded(Vec<Sample>),
}

/// A recorded request.
#[derive(Clone, Debug)]
pub(crate) struct Sample {
    /// Classes are numbered as they first come.
    pub(crate) class: u8,
    pub(crate) tasks: Vec<Task>,
}

/// A task, and the earlier ones of its request that it waits for.
#[derive(Clone, Debug)]
pub(crate) struct Task {
    pub(crate) work_ns: u64,
    pub(crate) leaves: u32,
    pub(crate) before: Vec<usize>,
}

/// A node of a request that runs.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) work_ps: u64,
    pub(super) leaves: u32,
    /// Leaves that are not done, and nodes before it that are not.
    pub(super) left: u32,
    pub(super) blocked: u32,
    pub(super) after: Vec<usize>,
    /// The longest chain of serial work that begins with it.
    pub(super) chain_ps: u64,
}

impl Sample {
    pub(crate) fn work_ps(&self) -> u64 {
        self.tasks.iter().map(|task| task.work_ns * 1_000).sum()
    }

    fn span_ps(&self) -> u64 {
        let mut ends = Vec::new();
        for task in &self.tasks {
            let begin = task.before.iter().map(|&before| ends[before]).max().unwrap_or(0);
            ends.push(begin + (task.work_ns * 1_000).div_ceil(u64::from(task.leaves)));
        }
        ends.into_iter().max().unwrap_or(0)
    }

    fn chain_ps(&self, at: usize) -> u64 {
        let after = (0..self.tasks.len()).filter(|&other| self.tasks[other].before.contains(&at));
        let own_ps = (self.tasks[at].work_ns * 1_000).div_ceil(u64::from(self.tasks[at].leaves));
        own_ps + after.map(|other| self.chain_ps(other)).max().unwrap_or(0)
    }

    fn nodes(&self) -> Vec<Node> {
        let node = |(at, task): (usize, &Task)| Node {
            work_ps: task.work_ns * 1_000,
            leaves: task.leaves,
            left: task.leaves,
            blocked: task.before.len() as u32,
            after: (0..self.tasks.len()).filter(|&other| self.tasks[other].before.contains(&at)).collect(),
            chain_ps: self.chain_ps(at),
        };
        self.tasks.iter().enumerate().map(node).collect()
    }
}

impl Shapes {
    /// The nodes of request `number`.
    pub(super) fn nodes(
        &self,
        number: usize,
        (work_ps, class): (u64, u8),
        cores: u32,
        seed: u64,
    ) -> Vec<Node> {
        let dag = match self {
            Shapes::Same(dag) => dag,
            Shapes::Recorded(samples) => {
                let fits = |sample: &&Sample| sample.work_ps() == work_ps && sample.class == class;
                let fitting: Vec<&Sample> = samples.iter().filter(fits).collect();
                let drawn = Draw::new(hash(seed, 6), number as u64).below(fitting.len() as u32);
                return fitting[drawn as usize].nodes();
            }
        };
        let node = |at: usize| {
            let own_ps = dag.work_ps(at, work_ps);
            let leaves = dag.leaves(at, own_ps, cores);
            let after = dag.after(at).iter().map(|&after| after as usize).collect();
            let chain_ps = dag.chain_ps(at, work_ps);
            Node { work_ps: own_ps, leaves, left: leaves, blocked: dag.before(at), after, chain_ps }
        };
        (0..dag.len()).map(node).collect()
    }

    /// The least that any request of `work_ps` takes on any number of cores.
    pub(crate) fn span_ps(&self, work_ps: u64) -> u64 {
        match self {
            Shapes::Same(dag) => (dag.span() * work_ps as f64) as u64,
            Shapes::Recorded(samples) => {
                let fits = |sample: &&Sample| sample.work_ps() == work_ps;
                samples.iter().filter(fits).map(Sample::span_ps).min().expect("such a request")
            }
        }
    }

    /// Requests like these, with the service times of `service` unless their own were recorded.
    pub(crate) fn service(&self, service: Service) -> Service {
        match self {
            Shapes::Same(dag) => service.with_dag(dag.clone()),
            Shapes::Recorded(samples) => read(&csv(samples)),
        }
    }
}

/// The lines of requests take turns, as if they had run beside each other.
fn csv(samples: &[Sample]) -> String {
    let mut text = "class,request,task,work_ns,leaves,after\n".to_owned();
    let most = samples.iter().map(|sample| sample.tasks.len()).max().unwrap_or(0);
    for at in 0..most {
        for (number, sample) in samples.iter().enumerate() {
            let Some(task) = sample.tasks.get(at) else { continue };
            let before: Vec<String> = task.before.iter().map(|before| format!("t{before}")).collect();
            let leaves = if task.leaves == 1 { String::new() } else { task.leaves.to_string() };
            let (class, work_ns) = (sample.class, task.work_ns);
            text += &format!("c{class},{number},t{at},{work_ns},{leaves},{}\n", before.join(" "));
        }
    }
    text
}

fn read(csv: &str) -> Service {
    static FILES: AtomicU64 = AtomicU64::new(0);
    let name = format!("graphs-{}-{}.csv", std::process::id(), FILES.fetch_add(1, Ordering::Relaxed));
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&path, csv).expect("room for a small file");
    let replay = Replay::Off;
    let file = FileSpec { replay, ..FileSpec::new(path.clone()) };
    let service = ServiceSpec::File(file).compile(".".as_ref()).expect("sound graphs");
    std::fs::remove_file(&path).expect("it was just written");
    service
}
