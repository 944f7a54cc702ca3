//! Stalls of a worker that has nothing to do. Only work notices a stall, by its clock readings; one of an idle worker shows
//! in nothing but the request that came in it, which waited though nothing was before it.
//! A fidelity run puts measured and simulated traces through it before it filters them.

use caudal_measure::gaps::{GAP_NS, Gap};
use caudal_measure::trace::{NEVER, Request, Trace};

/// Takes the wait of a request that found an idle worker for a stall if it is longer than [`GAP_NS`], which is several times
/// as long as the path to a handler. A simulated trace must go through this as a measured one does, without the stalls that its
/// workers had when idle; so the same requests are dropped, and those that a stall hardly touched are left in both.
///
/// Which share of all requests is that? It is to be held against the other side's: a runtime that were slow to start requests
/// would have more of them.
pub(super) fn note_idle_stalls(trace: &mut Trace) -> f64 {
    let stalls = of_idle(&trace.requests);
    let share = stalls.len() as f64 / trace.requests.len().max(1) as f64;
    trace.gaps.extend(stalls);
    share
}

fn of_idle(requests: &[Request]) -> Vec<Gap> {
    let idle = arrivals_at_idle(requests);
    let gap = |request: &Request| Gap { start: request.arrival_ns, end: request.start_ns };
    idle.map(gap).filter(|gap| gap.end > gap.start + GAP_NS).collect()
}

/// The requests that came when all before them were done, and were complete in the end; in order of arrival.
pub(super) fn arrivals_at_idle(requests: &[Request]) -> impl Iterator<Item = &Request> {
    let mut idle_from = 0;
    requests.iter().filter(move |request| {
        let finds_idle = request.arrival_ns > idle_from && request.completion_ns != NEVER;
        idle_from = idle_from.max(request.completion_ns);
        finds_idle
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_wait_is_a_stall_only_where_nothing_was_before() {
        let request =
            |arrival_ns, start_ns, completion_ns| Request { class: 0, arrival_ns, start_ns, completion_ns };
        let requests = [
            request(1_000, 1_300, 2_000),
            request(1_500, 9_000, 9_500), // behind the first
            request(20_000, 29_000, 30_000),
            request(21_000, 30_000, 31_000), // in the same stall
            request(40_000, 40_000 + GAP_NS, 50_000),
            request(60_000, 70_000, NEVER),
            request(80_000, 90_000, 91_000), // nobody knows when the one before is done
        ];
        assert_eq!(of_idle(&requests), [Gap { start: 20_000, end: 29_000 }]);
    }
}
