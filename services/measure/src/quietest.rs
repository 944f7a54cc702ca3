//! The choice of the run of a service that is kept: the one that the rest of the machine disturbed least. The program asks it after
//! each round, when it writes the files. Pure.
//!
//! The service's own times do not count, because otherwise the run with the shortest tail would be kept.

use crate::measure::Conditions;

/// Index of the run with the least [`disturbance`]; the first of equals.
///
/// # Panics
/// If there are no runs.
pub(crate) fn quietest(runs: &[Conditions]) -> usize {
    let quickest_spin_ns = runs.iter().map(|run| run.spin_ns).fold(f64::INFINITY, f64::min);
    let of = |run: usize| disturbance(&runs[run], quickest_spin_ns);
    (0..runs.len()).min_by(|&a, &b| of(a).total_cmp(&of(b))).expect("there are runs")
}

/// The sum of three shares, which is 0 on a quiet machine: stretches in which the thread was switched out, the time that the spin loop
/// took beyond its time in the quickest run, and the time in which other cores were busy, because these share caches and memory.
fn disturbance(run: &Conditions, quickest_spin_ns: f64) -> f64 {
    run.switched_out + (run.spin_ns / quickest_spin_ns - 1.0) + run.others_busy
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(switched_out: f64, spin_ns: f64, others_busy: f64) -> Conditions {
        Conditions {
            passes: 1,
            switched_out,
            repeated: 0,
            left: 0,
            stalled: 0.0,
            marked: 0,
            spin_ns,
            others_busy,
            stolen_ms: 0,
            clock_cost_ns: 20,
        }
    }

    #[test]
    fn the_least_disturbed_run_is_kept() {
        assert_eq!(quietest(&[run(0.5, 10.0, 0.5)]), 0);
        assert_eq!(quietest(&[run(0.1, 10.0, 0.0), run(0.0, 10.0, 0.0)]), 1, "never switched out");
        assert_eq!(quietest(&[run(0.0, 10.1, 0.0), run(0.0, 10.0, 0.0)]), 1, "a quicker core");
        assert_eq!(quietest(&[run(0.0, 10.0, 0.1), run(0.0, 10.0, 0.0)]), 1, "quieter neighbours");
        assert_eq!(
            quietest(&[run(0.0, 10.0, 0.9), run(0.0, 10.1, 0.1)]),
            1,
            "1 % of the core, 80 % of neighbours"
        );
        assert_eq!(quietest(&[run(0.1, 10.0, 0.1), run(0.1, 10.0, 0.1)]), 0, "the first of equals");
    }
}
