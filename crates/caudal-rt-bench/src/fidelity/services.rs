//! Service times of the handlers by themselves, which the simulator has to be told.
//! Measured in every round, by a run to completion.
//!
//! The same requests on the same runtime, run to completion: from its first instruction to its last one a handler has the core,
//! and its probes are never due. A nominal time would leave out what such a run shows: the probes between its chunks, and the lines
//! that a handler finds in another core's cache. Requests in which the machine stood still are left out; the simulator has stalls of
//! its own.

use std::error::Error;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use caudal_measure::filter::warm_up;
use caudal_measure::gaps::Gap;
use caudal_measure::trace::{NEVER, Request, Trace};

use super::idle::arrivals_at_idle;
use crate::runs::Once;
use crate::workloads::Workload;

/// The service times of one workload, as a run to completion shows them.
pub(super) struct Services {
    /// Service times, for the simulator to read; gone with this value.
    file: PathBuf,
    /// From arrival to the handler's first instruction where the worker had nothing to do, in ns: the median. Caches are the
    /// colder the rarer requests come, and then it takes longer than where one comes after the other.
    pub(super) path_ns: f64,
}

impl Services {
    /// Measures them by the requests of `run`, to completion.
    pub(super) fn measure(run: &Once<'_>) -> Result<Services, Box<dyn Error>> {
        let trace = run.trace("fcfs", &[])?;
        let text = written(&trace, run.workload)?;
        let file = std::env::temp_dir().join(format!("caudal-fidelity-{}.csv", std::process::id()));
        std::fs::write(&file, text)?;
        Ok(Services { file, path_ns: path_ns(&trace).ok_or("no request found an idle worker")? })
    }

    pub(super) fn file(&self) -> &Path {
        &self.file
    }
}

impl Drop for Services {
    fn drop(&mut self) {
        // Where it stays, the system clears its directory some time.
        let _ = std::fs::remove_file(&self.file);
    }
}

/// As CSV: class, nanoseconds.
fn written(trace: &Trace, workload: &Workload) -> Result<String, Box<dyn Error>> {
    let mut text = String::from("class,service_ns\n");
    let mut found = vec![false; workload.classes.len()];
    for request in &trace.requests[warm_up(trace.requests.len())..] {
        let (start, end, class) = (request.start_ns, request.completion_ns, request.class as usize);
        if end == NEVER || is_stalled(&trace.gaps, start, end) {
            continue;
        }
        found[class] = true;
        writeln!(text, "{},{}", workload.classes[class].name, (end - start).max(1))?;
    }
    match workload.classes.iter().zip(found).find(|(_, found)| !found) {
        Some((class, _)) => {
            Err(format!("no request of class {} ran undisturbed; try again", class.name).into())
        }
        None => Ok(text),
    }
}

/// The median time on the path from arrival to handler, of requests that came when all before them were done.
pub(super) fn path_ns(trace: &Trace) -> Option<f64> {
    let path = |request: &Request| request.start_ns.saturating_sub(request.arrival_ns) as f64;
    let mut paths: Vec<f64> = arrivals_at_idle(&trace.requests).map(path).collect();
    let middle = paths.len() / 2;
    (!paths.is_empty()).then(|| *paths.select_nth_unstable_by(middle, f64::total_cmp).1)
}

/// Has the work of a request noticed a gap? They are in the order in which one worker noticed them.
fn is_stalled(gaps: &[Gap], start: u64, end: u64) -> bool {
    let first = gaps.partition_point(|gap| gap.end < start);
    gaps.get(first).is_some_and(|gap| gap.start <= end)
}

#[cfg(test)]
mod tests {
    use caudal_measure::contestant::mix;

    use super::*;
    use crate::workloads::Class;

    #[test]
    fn requests_in_which_the_machine_stood_still_are_left_out() {
        let class = |name: &str, service_ns| Class { name: name.to_owned(), share: 0.5, service_ns };
        let workload = Workload { name: "two", classes: vec![class("a", 100), class("b", 1_000)] };
        let request =
            |class, start_ns, completion_ns| Request { class, arrival_ns: 0, start_ns, completion_ns };
        let mut trace = Trace {
            contestant: String::new(),
            tsc_hz: 1e9,
            seed: 0,
            load: 0.5,
            mix: mix(&workload.mix()).unwrap(),
            requests: vec![
                request(0, 0, 104),
                request(1, 200, 1_210),
                request(0, 2_000, 9_000),
                request(1, 9_500, NEVER),
            ],
            gaps: vec![Gap { start: 2_050, end: 8_950 }],
            generator_gaps: Vec::new(),
            gaps_lost: 0,
        };
        assert_eq!(path_ns(&trace), None, "all came at once");
        trace.requests[2].arrival_ns = 1_700;
        assert_eq!(path_ns(&trace), Some(300.0));
        assert_eq!(written(&trace, &workload).unwrap(), "class,service_ns\na,104\nb,1010\n");
        trace.requests.remove(1);
        assert!(written(&trace, &workload).is_err_and(|error| error.to_string().contains("class b")));
    }
}
