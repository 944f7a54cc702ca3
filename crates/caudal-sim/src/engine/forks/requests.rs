//! The requests that have arrived and not completed, each with its graph. The loop adds one at each arrival, asks it for pieces to run,
//! and tells it which pieces are done. Data in memory.

use std::sync::Arc;

use caudal_policy::parallelism::Size;
use caudal_workload::{Dag, Demand, Graphs};

use super::nodes::{Node, Nodes};

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
    /// The part of that which the last check of the running requests has seen, and the number of that check.
    pub(super) seen_ps: u64,
    pub(super) check: u64,
    /// The number of its graph.
    graph: u32,
    /// The place of its first node.
    first: u32,
    /// Nodes that are not done.
    nodes_left: u32,
    pub(super) class: u8,
    /// Slices that ended before a piece of it was done.
    pub(super) preemptions: u32,
    /// The size that it was found to have.
    pub(super) size: Size,
}

/// Leaves of a node, from `from` to before `to`: what is stolen and done as one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Piece {
    pub(super) request: u32,
    /// The place of the node; [`NONE`] stands for a request that was not admitted yet.
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

/// The consequence of a piece that is done.
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
    graphs: Arc<Graphs>,
    /// Of the draws between graphs that fit a request equally well.
    seed: u64,
    cores: u32,
    requests: Vec<Request>,
    nodes: Nodes,
    free: Vec<u32>,
}

impl Requests {
    pub(super) fn new(graphs: Arc<Graphs>, seed: u64, cores: u32) -> Requests {
        Requests { graphs, seed, cores, requests: Vec::new(), nodes: Nodes::new(), free: Vec::new() }
    }

    pub(super) fn graphs(&self) -> &Arc<Graphs> {
        &self.graphs
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
        let place = self.graphs.of(demand, self.seed, number);
        let graph = self.graphs.graph(place);
        let first = self.nodes.take(graph.len());
        lay_out(&mut self.nodes, graph, (first, work_ps), self.cores);
        let request = Request {
            number,
            arrival_ps,
            service_ps: demand.service_ps,
            class: demand.class,
            work_ps,
            graph: place,
            first,
            nodes_left: graph.len() as u32,
            ..Request::default()
        };
        match self.free.pop() {
            Some(id) => {
                self.requests[id as usize] = request;
                id
            }
            None => {
                self.requests.push(request);
                self.requests.len() as u32 - 1
            }
        }
    }

    /// All of a node of its graph.
    #[inline(always)]
    pub(super) fn piece(&self, request: u32, node: u32) -> Piece {
        let node = self.get(request).first + node;
        Piece { request, node, from: 0, to: self.nodes.get(node).leaves() }
    }

    /// Work of a piece.
    #[inline(always)]
    pub(super) fn work_ps(&self, piece: Piece) -> u64 {
        self.nodes.get(piece.node).work_ps(piece.from, piece.to)
    }

    /// A piece is done.
    #[inline(always)]
    pub(super) fn done(&mut self, piece: Piece) -> Done {
        if !self.nodes.get_mut(piece.node).done(piece.leaves()) {
            return Done::Piece;
        }
        let request = &mut self.requests[piece.request as usize];
        request.nodes_left -= 1;
        if request.nodes_left == 0 { Done::Request } else { Done::Node }
    }

    /// One of the nodes before `node` of its graph is done; are all of them?
    #[inline(always)]
    pub(super) fn unblock(&mut self, request: u32, node: u32) -> bool {
        let place = self.get(request).first + node;
        self.nodes.get_mut(place).unblock()
    }

    /// The longest chain of serial work that is left of a request: a node counts until it is done.
    pub(super) fn span_left_ps(&self, request: u32) -> u64 {
        let request = self.get(request);
        let graph = request.graph(&self.graphs);
        let left = |node: &usize| self.nodes.get(request.first + *node as u32).is_left();
        (0..graph.len()).filter(left).map(|node| graph.chain_ps(node, request.work_ps)).max().unwrap_or(0)
    }

    /// Time, in ps, that `work_ps` of a request takes alone on all cores, forks for nothing: its share of them, or its span.
    pub(super) fn alone_ps(&self, request: &Request, work_ps: u64) -> u64 {
        let span_ps = request.graph(&self.graphs).span() * work_ps as f64;
        (work_ps / u64::from(self.cores)).max(span_ps as u64)
    }

    /// A request has completed and leaves.
    pub(super) fn remove(&mut self, request: u32) -> Request {
        let done = self.requests[request as usize];
        self.free.push(request);
        self.nodes.give_back(done.first, self.graphs.graph(done.graph).len());
        done
    }
}

impl Request {
    /// Its graph.
    #[inline(always)]
    pub(super) fn graph<'a>(&self, graphs: &'a Graphs) -> &'a Dag {
        graphs.graph(self.graph)
    }

    /// The node of its graph that has this place.
    #[inline(always)]
    pub(super) fn node_at(&self, place: u32) -> usize {
        (place - self.first) as usize
    }
}

/// The nodes of a request with `work_ps`, from the place `first` on.
fn lay_out(nodes: &mut Nodes, graph: &Dag, (first, work_ps): (u32, u64), cores: u32) {
    for at in 0..graph.len() {
        let own_ps = graph.work_ps(at, work_ps);
        let leaves = graph.leaves(at, own_ps, cores);
        *nodes.get_mut(first + at as u32) = Node::new(own_ps, leaves, graph.before(at));
    }
}
