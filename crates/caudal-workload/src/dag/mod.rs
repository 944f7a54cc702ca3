//! Fork/join graphs: how much of a request can be done in parallel, in shares of its work. The configuration reads one from `dag = …`,
//! recorded ones come from a file, and the simulator walks them. Data, with its checks.
//!
//! ```text
//!   { serial = 0.1 }                            steps = [ { serial = 0.2 }, { fork = [ [{ loop = 0.3 }], [{ serial = 0.1 }, { loop = 0.4 }] ] } ]
//!
//!   serial 0.05 --> loop 0.9 --> serial 0.05              .--> loop 0.3 -----------------.
//!                                               serial 0.2 --> serial 0.1 --> loop 0.4 --> (done)
//! ```
//!
//! A *serial* node is done by one worker. A *loop* is a parallel loop: a range of equal leaves, which is split in halves
//! until one leaf is left. How many leaves that are, its *grain* says. A node can begin when all before it are done.
//!
//! All requests have the same graph, or each one that was [recorded](Graphs).

mod graphs;
mod order;
mod spec;

pub use graphs::{Graphs, Recorded};
pub(crate) use order::in_order;
pub use spec::{DagSpec, Grain, StepSpec};

/// A fork/join graph as hosts need it: nodes in an order in which each comes after those before it.
#[derive(Clone, Debug, PartialEq)]
pub struct Dag {
    nodes: Vec<Node>,
    after: Vec<u32>,
    roots: Vec<u32>,
    grain: Grain,
    /// The sum over all nodes: 1, of which each has a share, or the picoseconds that were measured.
    total: f64,
    /// The longest chain, as a part of that.
    span: f64,
}

/// One node.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Node {
    /// Work of the nodes before it, and with its own, as parts of the graph's total.
    from: f64,
    to: f64,
    leaves: Leaves,
    /// Nodes that wait for it, as places in `after`.
    after: (u32, u32),
    /// Nodes that it waits for.
    before: u32,
    /// The longest chain of serial work from its start on, as a part of the graph's total.
    chain: f64,
}

/// Into how many leaves a node is split.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Leaves {
    /// One node: the request is serial.
    One,
    /// As many as the grain says.
    ByGrain,
    /// As many as were measured.
    Many(u32),
}

/// A task as it was measured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Task {
    pub(crate) work_ps: u64,
    /// Of a parallel loop, 1 to [`LEAVES_MAX`].
    pub(crate) leaves: Option<u32>,
    /// Tasks that it waits for, each once, all of which stand before it.
    pub(crate) before: Vec<u32>,
}

impl Default for Dag {
    /// One worker does all of the work: of a service of which nothing else is known.
    fn default() -> Dag {
        let mut builder = Builder::new(Grain::default());
        builder.step(1.0, false);
        builder.build()
    }
}

impl Dag {
    /// The graph of a request with these tasks, in an order in which each comes after those that it waits for. They have work.
    pub(crate) fn recorded(tasks: &[Task]) -> Dag {
        let leaves = |task: &Task| match task.leaves {
            None | Some(1) => Leaves::One,
            Some(leaves) => Leaves::Many(leaves),
        };
        let parts: Vec<(f64, Leaves)> =
            tasks.iter().map(|task| (task.work_ps as f64, leaves(task))).collect();
        let before: Vec<&[u32]> = tasks.iter().map(|task| task.before.as_slice()).collect();
        // Whole numbers up to an hour: exact.
        let total = parts.iter().map(|part| part.0).sum();
        assemble(&parts, &before, total, Grain::default())
    }

    /// The number of nodes.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Never: a request has work.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// Can no part of a request be done beside another one?
    pub fn is_serial(&self) -> bool {
        // Parts that follow each other may be a share of rounding off.
        self.span >= self.total * (1.0 - 1e-12)
    }

    /// Nodes that wait for none.
    pub fn roots(&self) -> &[u32] {
        &self.roots
    }

    /// Nodes that wait for `node`.
    #[inline]
    pub fn after(&self, node: usize) -> &[u32] {
        let (from, to) = self.nodes[node].after;
        &self.after[from as usize..to as usize]
    }

    /// How many nodes `node` waits for.
    #[inline]
    pub fn before(&self, node: usize) -> u32 {
        self.nodes[node].before
    }

    /// The part that `node` has of a request's `work_ps`. All nodes have all of it.
    #[inline]
    pub fn work_ps(&self, node: usize, work_ps: u64) -> u64 {
        // Of a request with the work that was measured, exactly 1.
        let scale = work_ps as f64 / self.total;
        let part = |part: f64| if part >= self.total { work_ps } else { (part * scale) as u64 };
        let Node { from, to, .. } = self.nodes[node];
        part(to) - part(from)
    }

    /// Leaves of `node`, which has `own_ps` of its request's work, on `cores`; at least 1.
    #[inline]
    pub fn leaves(&self, node: usize, own_ps: u64, cores: u32) -> u32 {
        match self.nodes[node].leaves {
            Leaves::One => 1,
            Leaves::ByGrain => {
                let grain_ps = self.grain.of_ps(own_ps, cores);
                own_ps.div_ceil(grain_ps).clamp(1, u64::from(LEAVES_MAX)) as u32
            }
            Leaves::Many(leaves) => leaves,
        }
    }

    /// The longest chain of serial work that begins with `node`, of a request with `work_ps`.
    #[inline]
    pub fn chain_ps(&self, node: usize, work_ps: u64) -> u64 {
        (self.nodes[node].chain * (work_ps as f64 / self.total)) as u64
    }

    /// The longest chain of serial work, as a share of all work: what is left on any number of cores, but for the grain. Of a
    /// loop whose leaves were measured, a leaf counts.
    pub fn span(&self) -> f64 {
        self.span / self.total
    }

    /// The measured work of all nodes and of the longest chain, both in ps.
    fn measured_ps(&self) -> (u64, u64) {
        (self.total as u64, self.span as u64)
    }
}

/// The largest number of leaves of a loop.
pub const LEAVES_MAX: u32 = 1 << 20;
/// The largest number of nodes of a graph.
pub const NODES_MAX: usize = 1 << 16;

/// Puts nodes after each other, or beside each other.
struct Builder {
    shares: Vec<(f64, bool)>,
    before: Vec<Vec<u32>>,
    /// The nodes that the next step waits for.
    ends: Vec<u32>,
    grain: Grain,
}

impl Builder {
    fn new(grain: Grain) -> Builder {
        Builder { shares: Vec::new(), before: Vec::new(), ends: Vec::new(), grain }
    }

    fn step(&mut self, share: f64, is_loop: bool) {
        let node = self.shares.len() as u32;
        self.shares.push((share, is_loop));
        self.before.push(std::mem::replace(&mut self.ends, vec![node]));
    }

    /// Each of `branches` begins when all so far is done; what comes next waits for all of them.
    fn fork<T>(&mut self, branches: &[T], mut add: impl FnMut(&mut Builder, &T)) {
        let begin = self.ends.clone();
        let mut ends = Vec::new();
        for branch in branches {
            self.ends.clone_from(&begin);
            add(self, branch);
            ends.append(&mut self.ends);
        }
        ends.sort_unstable();
        ends.dedup();
        self.ends = ends;
    }

    /// Shares are scaled to sum to 1.
    fn build(self) -> Dag {
        let total: f64 = self.shares.iter().map(|node| node.0).sum();
        let leaves = |is_loop| if is_loop { Leaves::ByGrain } else { Leaves::One };
        let parts: Vec<(f64, Leaves)> =
            self.shares.iter().map(|&(share, is_loop)| (share / total, leaves(is_loop))).collect();
        let before: Vec<&[u32]> = self.before.iter().map(Vec::as_slice).collect();
        assemble(&parts, &before, 1.0, self.grain)
    }
}

/// Nodes with these `parts` of `total`, each after those of `before`.
fn assemble(parts: &[(f64, Leaves)], before: &[&[u32]], total: f64, grain: Grain) -> Dag {
    let mut nodes = Vec::with_capacity(parts.len());
    let mut so_far = 0.0;
    for (at, &(part, leaves)) in parts.iter().enumerate() {
        let to = if at + 1 == parts.len() { total } else { so_far + part };
        let before = before[at].len() as u32;
        nodes.push(Node { from: so_far, to, leaves, after: (0, 0), before, chain: 0.0 });
        so_far = to;
    }
    let after = turned_around(&mut nodes, before);
    for (at, &(part, leaves)) in parts.iter().enumerate().rev() {
        let (from, to) = nodes[at].after;
        let rest = after[from as usize..to as usize].iter().map(|&next| nodes[next as usize].chain);
        let own = match leaves {
            Leaves::One => part,
            Leaves::ByGrain => 0.0,
            Leaves::Many(leaves) => (part as u64).div_ceil(u64::from(leaves)) as f64,
        };
        nodes[at].chain = own + rest.fold(0.0, f64::max);
    }
    let roots = (0..parts.len() as u32).filter(|&node| before[node as usize].is_empty()).collect();
    let span = nodes.iter().map(|node| node.chain).fold(0.0, f64::max);
    Dag { nodes, after, roots, grain, total, span }
}

/// The nodes that wait for each node, in increasing order, from the nodes that each node waits for.
fn turned_around(nodes: &mut [Node], before: &[&[u32]]) -> Vec<u32> {
    let mut counts = vec![0_u32; nodes.len()];
    before.iter().flat_map(|before| before.iter()).for_each(|&node| counts[node as usize] += 1);
    let mut end = 0;
    for (node, count) in nodes.iter_mut().zip(counts) {
        // Filled up to the second as they come.
        node.after = (end, end);
        end += count;
    }
    let mut after = vec![0; end as usize];
    for (at, before) in before.iter().enumerate() {
        for &node in *before {
            let place = &mut nodes[node as usize].after.1;
            after[*place as usize] = at as u32;
            *place += 1;
        }
    }
    after
}

#[cfg(test)]
mod tests {
    use super::*;

    fn task(work_ps: u64, leaves: Option<u32>, before: &[u32]) -> Task {
        Task { work_ps, leaves, before: before.to_vec() }
    }

    #[test]
    fn a_recorded_graph_has_the_work_that_was_measured() {
        // A fork of a loop and a chain, and what joins them.
        let tasks = [
            task(1_000_003, None, &[]),
            task(999_999_999_999_937, Some(4), &[0]),
            task(7, None, &[0]),
            task(0, None, &[2]),
            task(30_000_001, Some(1), &[1, 3]),
        ];
        let dag = Dag::recorded(&tasks);
        let total_ps: u64 = tasks.iter().map(|task| task.work_ps).sum();
        for (at, task) in tasks.iter().enumerate() {
            assert_eq!(dag.work_ps(at, total_ps), task.work_ps, "task {at}, to the picosecond");
        }
        assert_eq!(
            (dag.roots(), dag.after(0), dag.after(1), dag.after(2)),
            (&[0][..], &[1, 2][..], &[4][..], &[3][..])
        );
        assert_eq!((dag.before(4), dag.after(4)), (2, &[][..]));
        assert_eq!([0, 1, 4].map(|node| dag.leaves(node, 1, 16)), [1, 4, 1]);
        // The longest leaf of the loop, which has 1 ps more than the others.
        let span_ps = 1_000_003 + 249_999_999_999_985 + 30_000_001;
        assert_eq!(dag.measured_ps(), (total_ps, span_ps));
        // Probes make all of it longer.
        let longer_ps = total_ps / 10 * 11;
        assert_eq!((0..5).map(|node| dag.work_ps(node, longer_ps)).sum::<u64>(), longer_ps);
        assert!((dag.work_ps(0, longer_ps) as f64 / 1_100_003.3 - 1.0).abs() < 1e-5);
    }
}
