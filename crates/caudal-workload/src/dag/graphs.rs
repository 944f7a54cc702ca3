//! The graphs of a service's requests: one that is the same for all, or one for each request that was recorded. A service holds them, and
//! the simulator asks for the graph of a request when that arrives. Data only.

use std::sync::Arc;

use caudal_policy::random::Draw;

use super::Dag;
use crate::Demand;

/// The graphs of a service's requests.
#[derive(Clone, Debug, PartialEq)]
pub struct Graphs {
    graphs: Arc<[Dag]>,
    recorded: Option<Arc<Recorded>>,
}

/// Statistics of recorded graphs, which are in the order of their work.
#[derive(Debug, PartialEq)]
pub struct Recorded {
    /// The work in ps and the class of each recorded request.
    keys: Vec<(u64, u8)>,
    spans_ps: Vec<u64>,
    /// Share of the requests with each.
    weights: Vec<f64>,
    /// Sums of weights, and of weighted spans, over all before each, and over all.
    up_to: Vec<(f64, f64)>,
}

impl From<Dag> for Graphs {
    /// The same for all requests.
    fn from(dag: Dag) -> Graphs {
        Graphs { graphs: [dag].into(), recorded: None }
    }
}

impl Default for Graphs {
    /// One worker does all of a request's work.
    fn default() -> Graphs {
        Graphs::from(Dag::default())
    }
}

impl Graphs {
    /// Recorded graphs, with the class of each and the share of requests that have it. At least one.
    pub(crate) fn recorded_as(mut all: Vec<(u8, f64, Dag)>) -> Graphs {
        // Stable: of those that are alike in both, the first of the file is the first.
        all.sort_by_key(|(class, _, dag)| (dag.measured_ps().0, *class));
        let keys = all.iter().map(|(class, _, dag)| (dag.measured_ps().0, *class)).collect();
        let spans_ps = all.iter().map(|(_, _, dag)| dag.measured_ps().1).collect();
        let weights = all.iter().map(|&(_, weight, _)| weight).collect();
        let graphs = all.into_iter().map(|(_, _, dag)| dag).collect();
        Graphs { graphs, recorded: Some(Arc::new(Recorded::new(keys, spans_ps, weights))) }
    }

    /// The same graphs of requests that are all of one class, or of classes by size.
    pub(crate) fn of_any_class(&self) -> Graphs {
        let any = |recorded: &Arc<Recorded>| {
            let keys = recorded.keys.iter().map(|&(work_ps, _)| (work_ps, 0)).collect();
            Arc::new(Recorded::new(keys, recorded.spans_ps.clone(), recorded.weights.clone()))
        };
        Graphs { graphs: self.graphs.clone(), recorded: self.recorded.as_ref().map(any) }
    }

    /// The place of the graph of request `number`. Recorded ones: that with the request's work and class; of several, one by a
    /// draw of the request's own under `seed`, which no policy has a part in. If there is none, the next larger one, or the
    /// largest; it is scaled to the request's work.
    #[inline]
    pub fn of(&self, demand: Demand, seed: u64, number: u64) -> u32 {
        self.recorded.as_ref().map_or(0, |recorded| recorded.find(demand, seed, number))
    }

    /// The graph at a place that [`Graphs::of`] names.
    #[inline]
    pub fn graph(&self, place: u32) -> &Dag {
        &self.graphs[place as usize]
    }

    /// All graphs: those that were recorded in the order of their work.
    pub fn all(&self) -> &[Dag] {
        &self.graphs
    }

    /// The statistics of the recorded graphs, if these were recorded.
    pub fn recorded(&self) -> Option<&Recorded> {
        self.recorded.as_deref()
    }

    /// Can no part of any request be done beside another one?
    pub fn is_serial(&self) -> bool {
        match &self.recorded {
            Some(recorded) => {
                recorded.keys.iter().zip(&recorded.spans_ps).all(|(key, &span_ps)| key.0 == span_ps)
            }
            None => self.graphs[0].is_serial(),
        }
    }

    /// The longest chain of serial work, as a share of all work ([`Dag::span`]); of recorded graphs, of all together.
    pub fn span(&self) -> f64 {
        match &self.recorded {
            Some(recorded) => recorded.mean_span_ps(0, u64::MAX) / recorded.mean_work_ps(),
            None => self.graphs[0].span(),
        }
    }

    /// Leaves of a request with `work_ps` on `cores`; of recorded graphs, on average over all.
    pub fn mean_leaves(&self, work_ps: u64, cores: u32) -> f64 {
        let of = |graph: &Dag, node| f64::from(graph.leaves(node, graph.work_ps(node, work_ps), cores));
        let all = self.graphs.iter().flat_map(|graph| (0..graph.len()).map(move |node| of(graph, node)));
        all.sum::<f64>() / self.graphs.len() as f64
    }
}

impl Recorded {
    fn new(keys: Vec<(u64, u8)>, spans_ps: Vec<u64>, weights: Vec<f64>) -> Recorded {
        let mut sum = (0.0, 0.0);
        let mut up_to = vec![sum];
        up_to.extend(weights.iter().zip(&spans_ps).map(|(weight, &span_ps)| {
            sum = (sum.0 + weight, sum.1 + weight * span_ps as f64);
            sum
        }));
        Recorded { keys, spans_ps, weights, up_to }
    }

    fn find(&self, demand: Demand, seed: u64, number: u64) -> u32 {
        let key = (demand.service_ps, demand.class);
        let from = self.keys.partition_point(|other| *other < key);
        let alike = self.keys[from..].partition_point(|other| *other == key);
        let place = match alike {
            0 => from.min(self.keys.len() - 1),
            1 => from,
            _ => from + Draw::new(seed, number).below(alike as u32) as usize,
        };
        place as u32
    }

    /// Mean span of requests with more work than the first, and at most the second; NaN if there are none.
    pub fn mean_span_ps(&self, more_than_ps: u64, at_most_ps: u64) -> f64 {
        let at = |ps: u64| self.up_to[self.keys.partition_point(|key| key.0 <= ps)];
        let (before, after) = (at(more_than_ps), at(at_most_ps));
        (after.1 - before.1) / (after.0 - before.0)
    }

    fn mean_work_ps(&self) -> f64 {
        let works = self.keys.iter().zip(&self.weights).map(|(key, weight)| key.0 as f64 * weight);
        works.sum::<f64>() / self.weights.iter().sum::<f64>()
    }

    /// Of the requests of `class`, or of all, how long each takes on `cores` at least, and which share of all they are.
    pub fn shortest_ps(&self, class: Option<usize>, cores: f64) -> impl Iterator<Item = (f64, f64)> {
        let of = move |at: &usize| class.is_none_or(|class| usize::from(self.keys[*at].1) == class);
        let alone_ps = move |at: usize| (self.keys[at].0 as f64 / cores).max(self.spans_ps[at] as f64);
        (0..self.keys.len()).filter(of).map(move |at| (alone_ps(at), self.weights[at]))
    }
}

#[cfg(test)]
mod tests {
    use super::super::Task;
    use super::*;

    fn dag(works_ps: &[u64]) -> Dag {
        let task = |&work_ps: &u64| Task { work_ps, leaves: None, before: Vec::new() };
        Dag::recorded(&works_ps.iter().map(task).collect::<Vec<_>>())
    }

    /// Two of class 0 and one of class 1 with 60 ps of work, one with 10.
    fn graphs() -> Graphs {
        Graphs::recorded_as(vec![
            (0, 0.2, dag(&[30, 30])),
            (1, 0.4, dag(&[60])),
            (0, 0.2, dag(&[20, 20, 20])),
            (0, 0.2, dag(&[10])),
        ])
    }

    fn nodes(graphs: &Graphs, (service_ps, class): (u64, u8), number: u64) -> usize {
        graphs.graph(graphs.of(Demand { service_ps, class }, 5, number)).len()
    }

    #[test]
    fn a_request_has_a_graph_of_its_work_and_class() {
        let graphs = graphs();
        let mut counts = [0; 4];
        for number in 0..2_000 {
            counts[nodes(&graphs, (60, 0), number)] += 1;
            assert_eq!(nodes(&graphs, (60, 1), number), 1);
            assert_eq!(nodes(&graphs, (10, 0), number), 1);
            assert_eq!(
                nodes(&graphs, (60, 0), number),
                nodes(&graphs, (60, 0), number),
                "the same each time"
            );
        }
        assert_eq!(counts[1], 0);
        assert!(counts[2] > 900 && counts[3] > 900, "{counts:?}");
        // By size, classes are others.
        let any: Vec<usize> =
            (0..2_000).map(|number| nodes(&graphs.of_any_class(), (60, 0), number)).collect();
        assert!((1..=3).all(|nodes| any.iter().filter(|&&found| found == nodes).count() > 550));
        // Of work that none has.
        assert_eq!((nodes(&graphs, (3, 0), 1), nodes(&graphs, (99, 0), 1)), (1, 1));
        assert!(nodes(&graphs, (11, 0), 1) > 1);
    }

    #[test]
    fn spans_are_means_over_the_requests_with_so_much_work() {
        let graphs = graphs();
        let recorded = graphs.recorded().expect("recorded graphs");
        let all = (0.2 * 30.0 + 0.4 * 60.0 + 0.2 * 20.0 + 0.2 * 10.0) / 1.0;
        assert!((recorded.mean_span_ps(0, 60) - all).abs() < 1e-9);
        assert!((graphs.span() - all / 50.0).abs() < 1e-9);
        assert!((recorded.mean_span_ps(10, 60) - 34.0 / 0.8).abs() < 1e-9);
        assert_eq!(recorded.mean_span_ps(0, 10), 10.0);
        assert!(recorded.mean_span_ps(60, u64::MAX).is_nan());
        let shortest: Vec<f64> = recorded.shortest_ps(Some(0), 2.5).map(|(ps, _)| ps).collect();
        assert_eq!(shortest, [10.0, 30.0, 24.0]);
        assert!(!graphs.is_serial());
        assert!(Graphs::recorded_as(vec![(0, 1.0, dag(&[5]))]).is_serial());
    }
}
