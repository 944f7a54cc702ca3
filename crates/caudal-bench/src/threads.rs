//! The rows about two threads: a sweep such as a user would run, and three policies of requests that fork. `caudal-bench` calls them when its
//! table has their groups; they run free on all cores, while most other rows take one.

use std::sync::atomic::AtomicBool;
use std::time::Instant;

use caudal_config::{File, Point};
use caudal_sim::sweep::Sweep;

use crate::machine::{on_all_cores, process_cpu_s, thread_cpu_s};
use crate::measure::Figure;
use crate::row::{Row, Target, short};

/// Twenty-one points of about the same work.
const SWEEP: &str = r#"
[workload]
service = "exp-1us"
load = [0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8]

[[system]]
name = "one queue"
cores = 16
pools = 1

[[system]]
name = "stealing"
cores = 16
rebalance.policy = "work-stealing"

[[system]]
name = "jsq"
cores = 16
dispatch.policy = "jsq"

[measure]
warm-up = 1_000
requests = REQUESTS
replications = 12
"#;

fn points(quick: bool) -> Vec<Point> {
    let text = SWEEP.replace("REQUESTS", if quick { "2_000" } else { "40_000" });
    File::parse(&text, "sweep.toml").and_then(|file| file.points()).expect("the sweep of the bench is right")
}

/// One run of the sweep.
#[derive(Clone, Copy, Debug)]
struct Run {
    wall_s: f64,
    /// CPU seconds of the calling thread.
    own_cpu_s: f64,
    /// CPU seconds of all threads.
    all_cpu_s: f64,
}

impl Run {
    /// CPU seconds of the thread with more work, if there are two.
    fn busier_cpu_s(self) -> f64 {
        self.own_cpu_s.max(self.all_cpu_s - self.own_cpu_s)
    }
}

fn run(points: &[Point], threads: usize) -> Run {
    let stop = AtomicBool::new(false);
    let sweep = Sweep { points, quick: false, threads, stop: &stop, progress: &|_| {} };
    let todo: Vec<usize> = (0..points.len()).collect();
    let (wall, own, all) = (Instant::now(), thread_cpu_s(), process_cpu_s());
    let mut done = 0;
    sweep.run(&todo, &mut |_, _, _| done += 1).expect("the points of the bench can be simulated");
    assert_eq!(done, points.len());
    Run {
        wall_s: wall.elapsed().as_secs_f64(),
        own_cpu_s: thread_cpu_s() - own,
        all_cpu_s: process_cpu_s() - all,
    }
}

/// The speed of two threads over that of one: the shortest time of one thread in `rounds`, over the shortest time of two. The best
/// ratio within a round would come from the round in which the machine disturbed the single thread most.
///
/// Where other programs keep the cores busy, the clock on the wall says little about the program. Then the CPU times say what two cores
/// of its own would give: the time of one thread over the time of the busier one of two.
pub(crate) fn two_threads(rounds: u32, quick: bool) -> Row {
    let points = points(quick);
    let mut runs = Vec::new();
    on_all_cores(|| runs.extend((0..rounds).map(|_| (run(&points, 1), run(&points, 2)))));
    let best = |wall_s: &dyn Fn(&(Run, Run)) -> f64| runs.iter().map(wall_s).fold(f64::INFINITY, f64::min);
    let speed_up = best(&|(one, _)| one.wall_s) / best(&|(_, two)| two.wall_s);
    let wall = Figure::of(runs.iter().map(|(one, two)| one.wall_s / two.wall_s));
    let cpu = Figure::of(runs.iter().map(|(one, two)| one.all_cpu_s / two.busier_cpu_s()));
    let doubt = if speed_up > 2.0 { "; above 2: the machine was too busy to tell" } else { "" };
    Row {
        work: format!("two threads on a sweep, best of {rounds}"),
        unit: "x",
        measured: Figure { value: speed_up, low: wall.min, high: wall.max, ..wall },
        wall: None,
        target: Target::AtLeast(1.9),
        detail: format!(
            "by wall clock{doubt}; on two cores of its own (by CPU times) median {}, best {}",
            short(cpu.value),
            short(cpu.max),
        ),
    }
}

/// 100,000 requests under three policies of requests that fork.
const FORKS: &str = r#"
[workload]
service = "log-normal-10ms"
dag = {}
rate = "1200/s"

[[system]]
preset = ["steal-first", "admit-first", "tail-control"]
cores = 16

[measure]
warm-up = 0
requests = 50_000
replications = 2
"#;

/// The time of [`FORKS`] by the clock on the wall, table and statistics included, best of `rounds`.
pub(crate) fn three_policies(rounds: u32) -> Row {
    let points = File::parse(FORKS, "forks.toml").and_then(|file| file.points());
    let points = points.expect("the file of the bench is right");
    let mut runs = Vec::new();
    on_all_cores(|| runs.extend((0..rounds).map(|_| run(&points, 2))));
    let wall = Figure::of(runs.iter().map(|run| run.wall_s));
    let cpu = Figure::of(runs.iter().map(|run| run.busier_cpu_s()));
    Row {
        work: "100,000 requests that fork x 3 policies, two threads".to_owned(),
        unit: "s",
        measured: Figure { value: wall.min, low: wall.min, high: wall.max, ..wall },
        wall: None,
        target: Target::AtMost(5.0),
        detail: format!("best of {rounds}; on two cores of its own (by CPU times) {}", short(cpu.value)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sweep_is_a_sweep() {
        let points = points(true);
        assert_eq!(points.len(), 21);
        let Run { wall_s, own_cpu_s, all_cpu_s } = run(&points, 2);
        assert!(wall_s > 0.0 && own_cpu_s <= all_cpu_s);
    }
}
