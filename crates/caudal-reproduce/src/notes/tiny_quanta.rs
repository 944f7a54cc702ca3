//! The notes on the statements of the Tiny Quanta paper. [`super::note`] looks up the one of a statement when the page of its figure is
//! made. Constants.

use caudal_results::table::digits;

use super::Note;
use super::explanation::Explanation;

/// The figure of the bimodal workloads.
const BIMODAL: &str = "tiny-quanta-figure-7";
/// The figure of the exponential workload.
const EXPONENTIAL: &str = "tiny-quanta-figure-10";
/// The table of both.
const RATES: &str = "Highest rates";

const OF_SHINJUKU: Explanation = Explanation::new(
    "with the costs that are published ({paper: 200} ns of its dispatcher a request and a quantum, {paper: 1} us an interrupt) Shinjuku \
     carries more than was measured: {bimodal} M/s of the extreme bimodal against {paper: 1.7}, and {exponential} M/s of the exponential \
     against {paper: 1.6}. There, its network thread and its dispatcher share a core, and its interrupts make workers unstable at short \
     quanta; no number of the paper says what that takes.",
)
.looked_up(|kept| {
    let bimodal = kept.figure(BIMODAL)?.cell(RATES, &["extreme-short", "Shinjuku"], "highest rate")?;
    let exponential = kept.figure(EXPONENTIAL)?.cell(RATES, &["Shinjuku"], "highest rate")?;
    Ok(vec![("bimodal", format!("{bimodal:.1}")), ("exponential", format!("{exponential:.1}"))])
})
.paper_says(
    "200 ns: McClure et al., NSDI 2022, section 3.2.1; 1 us: section 1; rates: section 5.3, TQ's 4.5 M/s over 2.6 and 11 M/s over 6.85",
);

const OF_CALADAN: Explanation = Explanation::new(
    "without the cost of a network stack, which the paper does not give, first come first served with stealing carries nearly all that \
     {given: 16} cores can do ({bimodal} of {all bimodal} M/s of the extreme bimodal, {exponential} of {all exponential} M/s of the \
     exponential). TQ's probes alone take a tenth of it.",
)
.looked_up(|kept| {
    let bimodal = kept.figure(BIMODAL)?;
    let carried = bimodal.cell(RATES, &["extreme-long", "Caladan"], "highest rate")?;
    let mean_us = bimodal.workload("extreme-long")?.service.mean_ps() / 1e6;
    let exponential = kept.figure(EXPONENTIAL)?;
    let exponential_us = exponential.workload("")?.service.mean_ps() / 1e6;
    Ok(vec![
        ("bimodal", digits(carried)),
        ("all bimodal", digits(16.0 / mean_us)),
        ("exponential", digits(exponential.cell(RATES, &["Caladan"], "highest rate")?)),
        ("all exponential", format!("{:.0}", 16.0 / exponential_us)),
    ])
});

const OF_DISPATCHER: Explanation = Explanation::new(
    "a quantum and the {given: 1} us of its interrupt pass between two calls on the dispatcher, so that {given: 16} cores ask it every \
     {asked} us for quanta of {given: 3} us, and it takes {taken} us. The preset's {given: 200} ns were set without that microsecond. \
     {short of 3} to {at 5} ns would have {given: 16} cores keep {given: 5} us and not {given: 3} us; {short of 4} to {at 3} ns would have \
     {given: 3} cores and not {given: 4} keep {given: 0.5} us: with one cost of a quantum, both do not come out.",
)
.looked_up(|_| {
    let shown = |cost_ns: f64| format!("{:.0}", (cost_ns / 10.0).round() * 10.0);
    Ok(vec![
        ("asked", format!("{:.0}", 3.0 + INTERRUPT_US)),
        ("taken", format!("{:.1}", 16.0 * 0.2)),
        ("short of 3", shown(most_cost_ns(3.0, 16.0))),
        ("at 5", shown(most_cost_ns(5.0, 16.0))),
        ("short of 4", shown(most_cost_ns(0.5, 4.0))),
        ("at 3", shown(most_cost_ns(0.5, 3.0))),
    ])
});

/// The time of an interrupt under Shinjuku.
const INTERRUPT_US: f64 = 1.0;

/// The most that a quantum may cost the dispatcher so that so many cores keep quanta of this length, as Figure 16 is judged: all of them
/// have been served once before the first asks again, and that takes longer than on one core by at most a tenth of the quantum.
fn most_cost_ns(quantum_us: f64, cores: f64) -> f64 {
    1e3 * (1.1 * quantum_us + INTERRUPT_US) / (cores - 1.0)
}

const OF_SCANS: Explanation = Explanation::new(
    "with quanta of {given: 15} us, {given: 1} us an interrupt takes {taken} % of a scan, less than TQ's probes do, and one queue for all \
     shares the cores better than a queue each. The paper names no limit for scans; {given: 8} ms is ours.",
)
.looked_up(|_| Ok(vec![("taken", format!("{:.0}", 100.0 * INTERRUPT_US / (15.0 + INTERRUPT_US)))]));

const EIGHT_TIMES: &str = "the file of the figure with eight times as many requests";

const MSQ: Explanation = Explanation::new(
    "in runs of eight times the length, p99.9 of the long jobs is {once: 1.03} under MSQ and {once: 1.01} under random ties at \
     {given: 2} M/s, where next to nobody waits. From {given: 2.5} to {given: 4} M/s MSQ is surely lower at every rate ({once: 1.30} \
     against {once: 1.80}, {once: 1.58} against {once: 1.96}, {once: 1.92} against {once: 1.99}, {once: 2.39} against {once: 2.57}), and \
     at {given: 4.5} M/s they are equal within their intervals ({once: 3.22} and {once: 3.26}).",
)
.once("2026-11-21", EIGHT_TIMES);

pub(super) const NOTES: &[Note] = &[
    (
        "tiny-quanta-figure-4",
        "MSQ tie breaking gives long jobs a much lower tail slowdown than random tie breaking",
        Explanation::new(
            "the paper gives no number; a third is our reading of *much*. In runs of eight times the length, MSQ has {once: 1.30} against \
             {once: 1.80} at {given: 2.5} M/s ({once: 28} % lower) and {once: 1.58} against {once: 1.96} at {given: 3} M/s ({once: 19} %), \
             then {once: 3} % at {given: 3.5}, {once: 7} % at {given: 4} and {once: 1} % at {given: 4.5} M/s. It is surely lower where \
             ties are common, by less than a third.",
        )
        .once("2026-11-21", EIGHT_TIMES),
    ),
    (
        "tiny-quanta-figure-4",
        "MSQ tie breaking is better than random tie breaking for long jobs at every medium and high rate",
        MSQ,
    ),
    ("tiny-quanta-figure-4", "MSQ tie breaking is nowhere worse than random tie breaking for long jobs", MSQ),
    (
        "tiny-quanta-figure-4",
        "Centralised scheduling performs better in simulation without overhead",
        Explanation::new(
            "only {given: 2} M/s is open, where hardly a long job shares its core: {once: 1.03} against {once: 1.01} in runs of eight times \
             the length, which is surely more, but within {given: 2} %.",
        )
        .once("2026-11-21", EIGHT_TIMES),
    ),
    ("tiny-quanta-figure-7", "Extreme bimodal, short requests: TQ carries 2.6 times the rate of Shinjuku", OF_SHINJUKU),
    ("tiny-quanta-figure-7", "High bimodal, short requests: TQ carries 1.33 times the rate of Shinjuku", OF_SHINJUKU),
    ("tiny-quanta-figure-7", "Extreme bimodal, long requests: TQ carries 1.2 times the rate of Caladan", OF_CALADAN),
    ("tiny-quanta-figure-7", "High bimodal, long requests: TQ sustains the highest throughput", OF_CALADAN),
    ("tiny-quanta-figure-9", "RocksDB with 0.5 % scans, gets: TQ carries 1.93 times the rate of Shinjuku", OF_SHINJUKU),
    ("tiny-quanta-figure-9", "RocksDB with 0.5 % scans, scans: TQ carries 1.63 times the rate of Shinjuku", OF_SCANS),
    ("tiny-quanta-figure-9", "RocksDB with 50 % scans, scans: TQ carries 1.13 times the rate of Shinjuku", OF_SCANS),
    (
        "tiny-quanta-figure-10",
        "Exponential: TQ carries 11 M/s within 50 us",
        Explanation::new(
            "its dispatcher's {given: 71} ns a request ({paper: 14} M/s, as the paper says in section 6) are all that limits it here.",
        )
        .paper_says("section 6"),
    ),
    ("tiny-quanta-figure-10", "Exponential: TQ carries 6.85 times the rate of Shinjuku", OF_SHINJUKU),
    ("tiny-quanta-figure-10", "Exponential: TQ carries 1.21 times the rate of Caladan", OF_CALADAN),
    ("tiny-quanta-figure-16", "Shinjuku keeps up with 16 cores at 5 us, and not at 3 us", OF_DISPATCHER),
    ("tiny-quanta-figure-16", "Shinjuku does not keep up with more than 3 cores at 0.5 us", OF_DISPATCHER),
];
