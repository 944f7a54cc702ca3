//! The row about two threads: a sweep such as a user would run.

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

/// One run: seconds on the wall, CPU seconds of this thread, of the whole process.
fn run(points: &[Point], threads: usize) -> (f64, f64, f64) {
    let stop = AtomicBool::new(false);
    let sweep = Sweep { points, quick: false, threads, stop: &stop, progress: &|_| {} };
    let todo: Vec<usize> = (0..points.len()).collect();
    let (wall, own, all) = (Instant::now(), thread_cpu_s(), process_cpu_s());
    let mut done = 0;
    sweep.run(&todo, &mut |_, _| done += 1).expect("the points of the bench can be simulated");
    assert_eq!(done, points.len());
    (wall.elapsed().as_secs_f64(), thread_cpu_s() - own, process_cpu_s() - all)
}

/// Two threads against one, best of `rounds`.
///
/// Where others keep the cores busy, the clock on the wall says little about the program: what two cores of its
/// own would give follows from CPU times, as the time of one thread over that of the busier of two.
pub(crate) fn two_threads(rounds: u32, quick: bool) -> Row {
    let points = points(quick);
    let (mut speed_ups, mut by_cpu) = (Vec::new(), Vec::new());
    on_all_cores(|| {
        for _ in 0..rounds {
            let (wall_1, _, cpu_1) = run(&points, 1);
            let (wall_2, own, all) = run(&points, 2);
            speed_ups.push(wall_1 / wall_2);
            by_cpu.push(cpu_1 / own.max(all - own));
        }
    });
    let (wall, cpu) = (Figure::of(speed_ups), Figure::of(by_cpu));
    let best = Figure { value: wall.max, ..wall };
    Row {
        work: format!("two threads on a sweep, best of {rounds}"),
        unit: "x",
        measured: best,
        wall: None,
        target: Target::AtLeast(1.9),
        detail: format!(
            "by wall clock, median {}; on two cores of its own (by CPU times) median {}, best {}",
            short(wall.value),
            short(cpu.value),
            short(cpu.max),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sweep_is_a_sweep() {
        let points = points(true);
        assert_eq!(points.len(), 21);
        let (wall_s, own_s, all_s) = run(&points, 2);
        assert!(wall_s > 0.0 && own_s <= all_s);
    }
}
