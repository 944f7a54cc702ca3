//! Requests that have arrived and not completed, and how far each of their nodes is.

use std::sync::Arc;

use caudal_workload::{Dag, Demand};

/// No request.
pub(super) const NONE: u32 = u32::MAX;

/// A request.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Request {
    pub(super) number: u64,
    pub(super) arrival_ps: u64,
    /// When it was admitted.
    pub(super) start_ps: u64,
    pub(super) service_ps: u64,
    /// Service and probes.
    pub(super) work_ps: u64,
    /// Time that workers have been at it, but for those that are now.
    pub(super) processed_ps: u64,
    /// What the worker that looked last has seen of that, and the number of that look.
    pub(super) seen_ps: u64,
    pub(super) look: u64,
    /// Nodes that are not done.
    nodes_left: u32,
    pub(super) class: u8,
    /// Its tasks are not stolen any more.
    pub(super) marked: bool,
}

/// A node of a request.
#[derive(Clone, Copy, Debug, Default)]
struct NodeState {
    /// Work of each leaf; the first `longer` have 1 ps more.
    leaf_ps: u64,
    longer: u32,
    leaves: u32,
    /// Leaves that are not done.
    left: u32,
    /// Nodes before it that are not done.
    blocked: u32,
}

/// Leaves of a node, from `from` to before `to`: what is stolen and done as one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Piece {
    pub(super) request: u32,
    /// [`NONE`] stands for a request that was not admitted yet.
    pub(super) node: u32,
    pub(super) from: u32,
    pub(super) to: u32,
}

impl Piece {
    pub(super) const NOTHING: Piece = Piece { request: NONE, node: NONE, from: 0, to: 0 };

    /// A request as a whole.
    pub(super) fn whole(request: u32) -> Piece {
        Piece { request, ..Piece::NOTHING }
    }

    #[inline(always)]
    pub(super) fn leaves(self) -> u32 {
        self.to - self.from
    }
}

/// What a piece that is done brings about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Done {
    /// Others of its node are not done.
    Piece,
    /// Its node is done.
    Node,
    /// Its request is done.
    Request,
}

pub(super) struct Requests {
    dag: Arc<Dag>,
    cores: u32,
    requests: Vec<Request>,
    /// As many for each request as the graph has.
    nodes: Vec<NodeState>,
    free: Vec<u32>,
}

impl Requests {
    pub(super) fn new(dag: Arc<Dag>, cores: u32) -> Requests {
        Requests { dag, cores, requests: Vec::new(), nodes: Vec::new(), free: Vec::new() }
    }

    pub(super) fn dag(&self) -> &Arc<Dag> {
        &self.dag
    }

    #[inline(always)]
    pub(super) fn get(&self, request: u32) -> &Request {
        &self.requests[request as usize]
    }

    #[inline(always)]
    pub(super) fn get_mut(&mut self, request: u32) -> &mut Request {
        &mut self.requests[request as usize]
    }

    /// A request arrives.
    pub(super) fn insert(&mut self, number: u64, arrival_ps: u64, demand: Demand, work_ps: u64) -> u32 {
        let request = Request {
            number,
            arrival_ps,
            service_ps: demand.service_ps,
            class: demand.class,
            work_ps,
            nodes_left: self.dag.len() as u32,
            ..Request::default()
        };
        let id = match self.free.pop() {
            Some(id) => {
                self.requests[id as usize] = request;
                id
            }
            None => {
                self.requests.push(request);
                self.nodes.resize(self.requests.len() * self.dag.len(), NodeState::default());
                self.requests.len() as u32 - 1
            }
        };
        self.lay_out(id, work_ps);
        id
    }

    fn lay_out(&mut self, request: u32, work_ps: u64) {
        let count = self.dag.len();
        let nodes = &mut self.nodes[request as usize * count..][..count];
        for (at, node) in nodes.iter_mut().enumerate() {
            let own_ps = self.dag.work_ps(at, work_ps);
            let leaves = self.dag.leaves(at, own_ps, work_ps, self.cores);
            let leaf_ps = own_ps / u64::from(leaves);
            *node = NodeState {
                leaf_ps,
                longer: (own_ps - leaf_ps * u64::from(leaves)) as u32,
                leaves,
                left: leaves,
                blocked: self.dag.before(at),
            };
        }
    }

    #[inline(always)]
    fn node(&self, request: u32, node: u32) -> usize {
        request as usize * self.dag.len() + node as usize
    }

    /// All of a node.
    #[inline(always)]
    pub(super) fn piece(&self, request: u32, node: u32) -> Piece {
        Piece { request, node, from: 0, to: self.nodes[self.node(request, node)].leaves }
    }

    /// Work of a piece.
    #[inline(always)]
    pub(super) fn work_ps(&self, piece: Piece) -> u64 {
        let node = &self.nodes[self.node(piece.request, piece.node)];
        let longer = piece.to.min(node.longer).saturating_sub(piece.from);
        node.leaf_ps * u64::from(piece.leaves()) + u64::from(longer)
    }

    /// A piece is done.
    #[inline(always)]
    pub(super) fn done(&mut self, piece: Piece) -> Done {
        let at = self.node(piece.request, piece.node);
        let node = &mut self.nodes[at];
        node.left -= piece.leaves();
        if node.left > 0 {
            return Done::Piece;
        }
        let request = &mut self.requests[piece.request as usize];
        request.nodes_left -= 1;
        if request.nodes_left == 0 { Done::Request } else { Done::Node }
    }

    /// One of the nodes before `node` is done; are all of them?
    #[inline(always)]
    pub(super) fn unblock(&mut self, request: u32, node: u32) -> bool {
        let at = self.node(request, node);
        self.nodes[at].blocked -= 1;
        self.nodes[at].blocked == 0
    }

    /// A request has completed and leaves.
    pub(super) fn remove(&mut self, request: u32) -> Request {
        self.free.push(request);
        self.requests[request as usize]
    }
}
