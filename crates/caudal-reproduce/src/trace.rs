//! One run with all its arrivals and completions, for figures that show what happens to each request. `run` makes it for such figures. It
//! simulates once and keeps the events in memory.

use caudal_config::Point;
use caudal_policy::Picos;
use caudal_sim::engine::{Event, Length, Observer, Run, ShortCuts, simulate};
use serde_json::{Value, json};

/// Requests of a run that the file does not say the length of.
const REQUESTS: u64 = 100_000;

/// A run.
#[derive(Clone, Debug, Default)]
pub(crate) struct Trace {
    pub(crate) system: String,
    /// Target latencies that the file names.
    pub(crate) late: Vec<Picos>,
    /// When each request arrived and completed, in the order of arrival.
    pub(crate) requests: Vec<(u64, u64)>,
}

impl Trace {
    /// The run that the point's seed makes.
    pub(crate) fn of(point: &Point) -> Trace {
        let mut observer = Requests::default();
        let run = Run {
            short_cuts: ShortCuts::STEPWISE,
            ..Run::of(point, Length { warm_up: 0, measured: point.measure.requests.unwrap_or(REQUESTS) })
        };
        simulate(&run, &mut observer);
        // Arrivals go on until the last measured request is done; what is open then is not known.
        let completed = observer.arrived.into_iter().zip(observer.completed);
        let requests = completed.map_while(|(arrived, completed)| Some((arrived, completed?))).collect();
        Trace { system: point.system.name.clone(), late: point.measure.miss.clone(), requests }
    }

    /// Requests that arrived from `from_ps` on, before `to_ps`.
    pub(crate) fn arrived(&self, (from_ps, to_ps): (u64, u64)) -> &[(u64, u64)] {
        let at = |ps: u64| self.requests.partition_point(|(arrived, _)| *arrived < ps);
        &self.requests[at(from_ps)..at(to_ps)]
    }

    /// How many of those took longer than `late`.
    pub(crate) fn misses(&self, window: (u64, u64), late: Picos) -> usize {
        self.arrived(window).iter().filter(|(arrived, completed)| completed - arrived > late.0).count()
    }

    /// How many requests had arrived and not completed, at every `step_ps` of a window.
    pub(crate) fn active(&self, (from_ps, to_ps): (u64, u64), step_ps: u64) -> Vec<usize> {
        let mut completed: Vec<u64> = self.requests.iter().map(|(_, completed)| *completed).collect();
        completed.sort_unstable();
        let times = (from_ps..to_ps).step_by(step_ps as usize);
        let active = times.map(|now| {
            let arrived = self.requests.partition_point(|(arrived, _)| *arrived <= now);
            arrived - completed.partition_point(|completed| *completed <= now)
        });
        active.collect()
    }

    /// As results are written.
    pub(crate) fn row(&self) -> Value {
        let end = self.requests.last().map_or(0, |(arrived, _)| arrived + 1);
        let misses = self
            .late
            .iter()
            .map(|late| json!({ "late_ns": late.as_nanos_f64(), "requests": self.misses((0, end), *late) }));
        json!({ "system": self.system, "requests": self.requests.len(), "misses": misses.collect::<Vec<_>>() })
    }
}

/// Notes when requests arrive and complete.
#[derive(Default)]
struct Requests {
    arrived: Vec<u64>,
    completed: Vec<Option<u64>>,
}

impl Observer for &mut Requests {
    fn observe(&mut self, now_ps: u64, event: Event) {
        match event {
            Event::Arrived { number, .. } => {
                debug_assert_eq!(number, self.arrived.len() as u64, "requests are numbered as they arrive");
                self.arrived.push(now_ps);
                self.completed.push(None);
            }
            Event::Completed { number, .. } => self.completed[number as usize] = Some(now_ps),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trace(system: &str) -> Trace {
        let text = format!(
            "[workload]\nservice = \"log-normal-10ms\"\ndag = {{}}\nrate = \"1200/s\"\n[measure]\nrequests = 2000\nmiss = [\"10ms\"]\n\
             [system]\npreset = \"{system}\"\ncores = 16\n"
        );
        Trace::of(&caudal_config::File::parse(&text, "in.toml").unwrap().points().unwrap()[0])
    }

    #[test]
    fn two_systems_see_the_same_arrivals_and_who_is_active_arrived_and_did_not_complete() {
        let (a, b) = (trace("steal-first"), trace("admit-first"));
        let arrivals =
            |trace: &Trace| trace.requests.iter().take(2000).map(|request| request.0).collect::<Vec<_>>();
        assert!(a.requests.len() >= 2000 && arrivals(&a) == arrivals(&b) && a.requests != b.requests);
        let window = (200_000_000_000, 900_000_000_000);
        let plain = |now: u64| {
            a.requests.iter().filter(|(arrived, completed)| *arrived <= now && now < *completed).count()
        };
        let active = a.active(window, 50_000_000_000);
        assert_eq!(active.len(), 14);
        let expected: Vec<usize> = (0..14).map(|step| plain(window.0 + step * 50_000_000_000)).collect();
        assert_eq!(active, expected);
        assert!(active.iter().sum::<usize>() > 14, "{active:?}");
        let late = |request: &&(u64, u64)| {
            request.0 >= window.0 && request.0 < window.1 && request.1 - request.0 > 10_000_000_000
        };
        assert_eq!(a.misses(window, a.late[0]), a.requests.iter().filter(late).count());
    }
}
