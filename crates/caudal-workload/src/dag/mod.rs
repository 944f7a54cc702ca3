//! What of a request can be done in parallel: a fork/join graph, in shares of its work.
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

mod spec;

pub use spec::{DagSpec, Grain, StepSpec};

/// A fork/join graph as hosts need it: nodes in an order in which each comes after those before it.
#[derive(Clone, Debug, PartialEq)]
pub struct Dag {
    nodes: Vec<Node>,
    after: Vec<u32>,
    roots: Vec<u32>,
    grain: Grain,
    span: f64,
}

/// One node.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Node {
    /// Shares of the request's work before the node's own, and up to its end.
    from: f64,
    to: f64,
    is_loop: bool,
    /// Nodes that wait for it, as places in `after`.
    after: (u32, u32),
    /// Nodes that it waits for.
    before: u32,
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
    /// Nodes.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Never: a request has work.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// Can no part of a request be done beside another one?
    pub fn is_serial(&self) -> bool {
        self.nodes.len() == 1 && !self.nodes[0].is_loop
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

    /// What `node` has of a request's `work_ps`. All nodes have all of it.
    #[inline]
    pub fn work_ps(&self, node: usize, work_ps: u64) -> u64 {
        let part = |share: f64| if share >= 1.0 { work_ps } else { (share * work_ps as f64) as u64 };
        let Node { from, to, .. } = self.nodes[node];
        part(to) - part(from)
    }

    /// Leaves of `node`, of a request with `work_ps` of which it has `own_ps`, on `cores`; at least 1.
    #[inline]
    pub fn leaves(&self, node: usize, own_ps: u64, work_ps: u64, cores: u32) -> u32 {
        if !self.nodes[node].is_loop {
            return 1;
        }
        let grain_ps = self.grain.of_ps(work_ps, cores);
        own_ps.div_ceil(grain_ps).clamp(1, u64::from(LEAVES_MAX)) as u32
    }

    /// The longest chain of serial work, as a share of all work: what is left on any number of cores, but for the grain.
    pub fn span(&self) -> f64 {
        self.span
    }
}

/// Most leaves of a loop.
pub const LEAVES_MAX: u32 = 1 << 20;
/// Most nodes of a graph.
pub const NODES_MAX: usize = 1 << 16;

/// Puts nodes after each other, or beside each other.
struct Builder {
    shares: Vec<(f64, bool)>,
    before: Vec<Vec<u32>>,
    /// What the next step waits for.
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
        let mut nodes = Vec::with_capacity(self.shares.len());
        let mut so_far = 0.0;
        let count = self.shares.len();
        for (at, &(share, is_loop)) in self.shares.iter().enumerate() {
            let to = if at + 1 == count { 1.0 } else { so_far + share / total };
            nodes.push(Node {
                from: so_far,
                to,
                is_loop,
                after: (0, 0),
                before: self.before[at].len() as u32,
            });
            so_far = to;
        }
        let mut after = Vec::new();
        for (at, node) in nodes.iter_mut().enumerate() {
            let from = after.len() as u32;
            after.extend(
                (at..count).filter(|&other| self.before[other].contains(&(at as u32))).map(|o| o as u32),
            );
            node.after = (from, after.len() as u32);
        }
        let mut chains = vec![0.0_f64; count];
        for (at, &(share, is_loop)) in self.shares.iter().enumerate() {
            let longest = self.before[at].iter().map(|&node| chains[node as usize]).fold(0.0, f64::max);
            chains[at] = longest + if is_loop { 0.0 } else { share / total };
        }
        let roots = (0..count as u32).filter(|&node| self.before[node as usize].is_empty()).collect();
        let span = chains.into_iter().fold(0.0, f64::max);
        Dag { nodes, after, roots, grain: self.grain, span }
    }
}
