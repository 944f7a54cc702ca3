//! A fork/join graph as a file describes it (`dag = { … }`), and its compilation into a [`Dag`].
//! The configuration reads it.

use caudal_policy::Picos;
use serde::{Deserialize, Serialize};

use super::{Builder, Dag, NODES_MAX};
use crate::WorkloadError;

/// How long a leaf of a parallel loop is: the work of the loop over `per_core` times the cores, but at least `least`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Grain {
    /// The shortest leaf.
    pub least: Picos,
    /// Leaves of a loop, for each core.
    pub per_core: u32,
}

impl Default for Grain {
    fn default() -> Self {
        Grain { least: Picos::from_micros(10), per_core: 4 }
    }
}

impl Grain {
    #[inline]
    pub(super) fn of_ps(self, loop_ps: u64, cores: u32) -> u64 {
        let leaves = u64::from(self.per_core) * u64::from(cores);
        loop_ps.div_ceil(leaves.max(1)).max(self.least.0).max(1)
    }
}

/// The description of how much of a request can be done in parallel.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct DagSpec {
    /// Share of the work that one core has to do alone, 0 to 1: `segments` parts of it, with parallel loops between them.
    pub serial: f64,
    /// Parts into which the serial share is cut: one before the loops, and each further one after as many again.
    pub segments: u32,
    /// Equal parallel loops that follow each other wherever there is one: the next begins when the last leaf of the one before it is
    /// done.
    pub loops: u32,
    /// Instead of `serial` and `loops`: steps that follow each other.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<StepSpec>,
    /// How long a leaf of a loop is.
    pub grain: Grain,
}

impl Default for DagSpec {
    fn default() -> Self {
        DagSpec { serial: 0.0, segments: 2, loops: 1, steps: Vec::new(), grain: Grain::default() }
    }
}

/// A step of a request. Shares are relative to each other.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum StepSpec {
    /// A share of the work that one core does.
    Serial(f64),
    /// A share of the work that is a parallel loop.
    Loop(f64),
    /// Branches that go on beside each other; the next step waits for all of them.
    Fork(Vec<Vec<StepSpec>>),
}

impl DagSpec {
    /// Makes the graph.
    ///
    /// # Errors
    /// Shares that are none, and graphs that are too large or have no work.
    pub fn compile(&self) -> Result<Dag, WorkloadError> {
        let wrong = |message: String| Err(WorkloadError::dag(message));
        if self.grain.per_core == 0 {
            return wrong("a request has at least one leaf a core: `per_core = 0` is none".to_owned());
        }
        if self.steps.is_empty() {
            return self.loops_and_segments();
        }
        if self.serial != 0.0 {
            return wrong("`serial` and `steps` are two ways to say the same: keep one".to_owned());
        }
        if self.loops != 1 {
            return wrong("`loops` and `steps` are two ways to say the same: keep one".to_owned());
        }
        let mut builder = Builder::new(self.grain);
        add(&mut builder, &self.steps)?;
        if builder.shares.iter().all(|node| node.0 == 0.0) {
            return wrong("no step has a share of the work".to_owned());
        }
        Ok(builder.build())
    }

    fn loops_and_segments(&self) -> Result<Dag, WorkloadError> {
        let wrong = |message: String| Err(WorkloadError::dag(message));
        if !(0.0..=1.0).contains(&self.serial) {
            return wrong(format!("{} is no share of a request's work; write one from 0 to 1", self.serial));
        }
        if self.serial > 0.0 && !(1..=1000).contains(&self.segments) {
            return wrong(format!("{} segments are not 1 to 1000", self.segments));
        }
        if !(1..=1000).contains(&self.loops) {
            return wrong(format!("{} loops after each other are not 1 to 1000", self.loops));
        }
        let segments = if self.serial > 0.0 { self.segments } else { 0 };
        let parallel = segments.saturating_sub(1).max(1);
        let loops = parallel * self.loops;
        if (segments + loops) as usize > NODES_MAX {
            return wrong(format!(
                "{loops} loops between {segments} segments are more than {NODES_MAX} nodes"
            ));
        }
        let mut builder = Builder::new(self.grain);
        for at in 0..segments.max(1) {
            if segments > 0 {
                builder.step(self.serial / f64::from(segments), false);
            }
            if at < parallel && self.serial < 1.0 {
                (0..self.loops).for_each(|_| builder.step((1.0 - self.serial) / f64::from(loops), true));
            }
        }
        Ok(builder.build())
    }
}

fn add(builder: &mut Builder, steps: &[StepSpec]) -> Result<(), WorkloadError> {
    for step in steps {
        if builder.shares.len() >= NODES_MAX {
            return Err(WorkloadError::dag(format!("a request has at most {NODES_MAX} nodes")));
        }
        match step {
            StepSpec::Serial(share) | StepSpec::Loop(share) => {
                if !(*share >= 0.0 && share.is_finite()) {
                    return Err(WorkloadError::dag(format!(
                        "{share} is no share of a request's work: write one from 0 on"
                    )));
                }
                builder.step(*share, matches!(step, StepSpec::Loop(_)));
            }
            StepSpec::Fork(branches) => {
                if branches.iter().any(Vec::is_empty) || branches.is_empty() {
                    return Err(WorkloadError::dag(
                        "a branch without steps is none: leave it out".to_owned(),
                    ));
                }
                let mut failed = None;
                builder.fork(branches, |builder, branch| {
                    if let Err(error) = add(builder, branch) {
                        failed.get_or_insert(error);
                    }
                });
                if let Some(error) = failed {
                    return Err(error);
                }
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dag(spec: DagSpec) -> Dag {
        spec.compile().expect("a sound graph")
    }

    #[test]
    fn a_graph_of_which_nothing_is_said_is_one_loop() {
        let dag = dag(DagSpec::default());
        assert_eq!((dag.len(), dag.roots(), dag.span()), (1, &[0][..], 0.0));
        assert!(!dag.is_serial() && Dag::default().is_serial());
        let ms = 1_000_000_000;
        assert_eq!(dag.leaves(0, 10 * ms, 16), 64);
        // 100 us in leaves of at least 10 us.
        assert_eq!(dag.leaves(0, ms / 10, 16), 10);
        assert_eq!(dag.leaves(0, 0, 16), 1);
    }

    #[test]
    fn serial_segments_stand_around_loops() {
        let dag = dag(DagSpec { serial: 0.1, ..DagSpec::default() });
        assert_eq!(dag.len(), 3);
        assert!((dag.span() - 0.1).abs() < 1e-12);
        assert_eq!((dag.after(0), dag.after(1), dag.after(2)), (&[1][..], &[2][..], &[][..]));
        let parts: Vec<u64> = (0..3).map(|node| dag.work_ps(node, 1_000_001)).collect();
        assert_eq!(parts.iter().sum::<u64>(), 1_000_001);
        assert_eq!(parts[0], 50_000);
        let three = DagSpec { serial: 0.3, segments: 3, ..DagSpec::default() };
        assert_eq!(three.compile().expect("a sound graph").len(), 5);
        let all = DagSpec { serial: 1.0, segments: 1, ..DagSpec::default() };
        assert_eq!(all.compile().expect("a sound graph").len(), 1);
        let parts =
            DagSpec { serial: 1.0, segments: 3, ..DagSpec::default() }.compile().expect("a sound graph");
        assert!(parts.is_serial() && parts.len() == 3, "parts after each other are serial, too");
    }

    #[test]
    fn loops_follow_each_other_and_are_split_alike() {
        let four = dag(DagSpec { loops: 4, ..DagSpec::default() });
        let chain: Vec<&[u32]> = (0..4).map(|node| four.after(node)).collect();
        assert_eq!(chain, [&[1][..], &[2], &[3], &[]]);
        let work_ps = 8_000_000_002;
        let parts: Vec<u64> = (0..4).map(|node| four.work_ps(node, work_ps)).collect();
        assert!(parts.iter().sum::<u64>() == work_ps && parts.iter().all(|part| part / 2 == 1_000_000_000));
        assert_eq!(four.leaves(0, parts[0], 16), 64, "each has as many leaves as one that is alone");
        let spec = DagSpec { serial: 0.3, segments: 3, loops: 2, ..DagSpec::default() };
        let between = dag(spec);
        let serial: Vec<usize> = (0..7).filter(|&node| between.leaves(node, work_ps, 16) == 1).collect();
        assert_eq!((between.len(), serial), (7, vec![0, 3, 6]));
    }

    #[test]
    fn branches_join() {
        let branch = |steps: &[StepSpec]| steps.to_vec();
        let fork = StepSpec::Fork(vec![
            branch(&[StepSpec::Loop(3.0)]),
            branch(&[StepSpec::Serial(1.0), StepSpec::Loop(4.0)]),
        ]);
        let steps = vec![StepSpec::Serial(2.0), fork, StepSpec::Serial(10.0)];
        let dag = dag(DagSpec { steps, ..DagSpec::default() });
        assert_eq!(dag.after(0), [1, 2]);
        assert_eq!((dag.after(1), dag.after(2), dag.after(3)), (&[4][..], &[3][..], &[4][..]));
        assert_eq!(dag.before(4), 2);
        assert!((dag.span() - 13.0 / 20.0).abs() < 1e-12);
    }

    #[test]
    fn what_is_no_graph_is_refused() {
        let wrong = |spec: DagSpec| spec.compile().expect_err("refused").to_string();
        assert!(wrong(DagSpec { serial: 1.5, ..DagSpec::default() }).contains("1.5 is no share"));
        assert!(wrong(DagSpec { loops: 0, ..DagSpec::default() }).contains("0 loops after each other"));
        let steps = vec![StepSpec::Loop(1.0)];
        assert!(wrong(DagSpec { steps, loops: 2, ..DagSpec::default() }).contains("`loops` and `steps`"));
        let many = DagSpec { serial: 0.5, segments: 1000, loops: 1000, ..DagSpec::default() };
        assert!(wrong(many).contains("999000 loops between 1000 segments are more than 65536 nodes"));
        let steps = vec![StepSpec::Fork(vec![])];
        assert!(wrong(DagSpec { steps, ..DagSpec::default() }).contains("without steps"));
        let steps = vec![StepSpec::Loop(0.0)];
        assert!(wrong(DagSpec { steps, ..DagSpec::default() }).contains("no step has a share"));
        let steps = vec![StepSpec::Loop(-1.0)];
        assert!(wrong(DagSpec { steps, ..DagSpec::default() }).contains("-1 is no share"));
    }
}
