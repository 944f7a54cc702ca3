//! The notes on the statements of the policies paper. [`super::note`] looks up the one of a statement when the page of its figure is
//! made. Constants.

use caudal_results::table::digits;

use super::Note;
use super::explanation::{Explanation, Numbers};
use super::kept::{Kept, Missing, Results, least, most};

/// The table of points whose cores come and go.
const DYNAMIC: &str = "Cores come and go";
/// The figure with exponential service times on as many cores.
const EXPONENTIAL: &str = "policies-figure-3";

const LOWEST: &str =
    "Work stealing performs best with every core-allocation policy: latency over the single queue's";
const NEAREST: &str =
    "Work stealing performs best with every core-allocation policy: distance to the single queue's curve";
const ORDER: &str = "The ordering of the static curves is the same as with exponential service times";

const CONSTANT: Explanation = Explanation::new(
    "only the median on all {given: 32} cores speaks against it. Half of the cores are idle then, and without balancing the median \
     task finds its core so and takes exactly its {given: 1} us. A core that looks for work to steal sees its own queue at the end of \
     a check, up to {given: 100} ns later.",
);

const AS_IN_FIGURE_5A: Explanation = Explanation::new(
    "as in Figure 5a: delay range holds {stealing} cores with stealing, {choice} with choice and {shedding} with shedding, for tails of \
     {stealing tail}, {choice tail} and {shedding tail} us.",
)
.looked_up(delay_range);

/// Cores that delay range holds and its p99.9, by how the load is balanced.
fn delay_range(kept: &Kept<'_>) -> Numbers {
    let here = kept.here();
    let shown =
        |balancing: &str, column: &str| here.cell(DYNAMIC, &[balancing, "delay-range"], column).map(digits);
    Ok(vec![
        ("stealing", shown("work-stealing", "cores held")?),
        ("choice", shown("enqueue-choice", "cores held")?),
        ("shedding", shown("work-shedding", "cores held")?),
        ("stealing tail", shown("work-stealing", "p99.9")?),
        ("choice tail", shown("enqueue-choice", "p99.9")?),
        ("shedding tail", shown("work-shedding", "p99.9")?),
    ])
}

/// The share of the cores' time that the load of Figure 3 takes on 17 cores of 32: half of all 32.
const TAKEN_ON_17: f64 = 0.5 * 32.0 / 17.0;

pub(super) const NOTES: &[Note] = &[
    (
        "policies-figure-3",
        "Work shedding improves on no load balancing",
        Explanation::new(
            "on {given: 17} cores, {taken} % of whose time the load takes, shedding falls behind and no balancing does not. Nearly every \
             core has raised a flag then, so cores answer one between any two tasks, and its {given: 100} ns are more than the {spare} % \
             to spare. The authors' published simulator looks at the second queued task instead of the oldest and carries the load on \
             {given: 17} cores, with a median of {shedding} us against {none} us without balancing.",
        )
        .looked_up(|kept| {
            let authors = |balancing: &str| kept.here().authors(&[balancing, "17.0 / 17.0"], "p50").map(digits);
            Ok(vec![
                ("taken", format!("{:.0}", 100.0 * TAKEN_ON_17)),
                ("spare", format!("{:.0}", 100.0 * (1.0 - TAKEN_ON_17))),
                ("shedding", authors("work-shedding")?),
                ("none", authors("no-balancing")?),
            ])
        }),
    ),
    (
        "policies-figure-3",
        "Work stealing at 200 ns outperforms enqueue choice at no cost for most numbers of cores: median",
        Explanation::new(
            "what the paper says without naming a percentile is true of the tail. A task that free choice sends to the shorter of two \
             queues mostly starts at once (median {choice} us on {given: 20} cores); with stealing it waits where it arrived until a \
             thief looks there, and each look costs {given: 200} ns ({stealing at 200} us). At {given: 100} ns a look stealing is ahead \
             ({stealing at 100} us).",
        )
        .looked_up(|kept| {
            let median = |system: &str| kept.here().cell("p50 of the latency", &[system], "20").map(digits);
            Ok(vec![
                ("choice", median("enqueue-choice 0 ns")?),
                ("stealing at 200", median("work-stealing 200 ns")?),
                ("stealing at 100", median("work-stealing")?),
            ])
        }),
    ),
    (
        "policies-figure-3",
        "Checking ten cores for the price of one gives work stealing marginal benefits at best",
        Explanation::new(
            "checks of {given: 10} ns each gain more than ten checks at once in {given: 100} ns can. Even they gain less than {many} % \
             from {given: 24} cores on, where the paper is right; with fewer cores they gain up to {few} %, and how much of that ten \
             checks at once would gain is open.",
        )
        .looked_up(|kept| {
            let few = gain_of_cheap_checks(&kept.here(), &["17", "18", "19", "20", "21", "22"])?;
            let many = gain_of_cheap_checks(&kept.here(), &["24", "28", "32"])?;
            Ok(vec![("few", format!("{few:.0}")), ("many", format!("{:.0}", many.ceil()))])
        }),
    ),
    (
        "policies-figure-5a",
        LOWEST,
        Explanation::new(
            "delay range holds {stealing} cores with stealing, {choice} with choice and {shedding} with shedding: it keeps a mean delay, \
             so better balancing turns into fewer cores and not into a shorter tail ({stealing tail}, {choice tail} and {shedding tail} \
             us), nearer to where the single queue's curve bends. In both directions at once, stealing is nearer there.",
        )
        .looked_up(delay_range),
    ),
    (
        "policies-figure-5a",
        "Keeping a buffer of idle cores performs significantly worse than the other policies",
        Explanation::new(
            "the paper says neither how large the buffer is nor how it is restored. Here, two cores are kept idle, and one is added or \
             revoked in {given: 5} us, which is as steady as the ranges. The authors' published simulator keeps two to four by its \
             defaults, adds or revokes the whole difference at once, and revokes at random: a reading closer to the paper's \"too \
             noisy\", which Caudal has no policy for.",
        ),
    ),
    (
        "policies-figure-5c",
        "Utilization range uses close to 60 % of the cores for all service times",
        Explanation::new(
            "it does with stealing. With tasks of {given: 1} us, choice and shedding run into overload on about {choice} and {shedding} \
             cores and stay: their {given: 100} ns actions leave {left} % of the time for tasks, which is within the range of \
             {given: 75-95} %, so no core is added. The authors' published simulator does not count these actions as time of the core, \
             and so sees {given: 100} % there.",
        )
        .looked_up(|kept| {
            let of_1us = kept.figure("policies-figure-5a")?;
            let shown = |balancing: &str, column: &str| {
                let found = of_1us.cell(DYNAMIC, &[balancing, "utilization-range"], column);
                found.map(|value| format!("{value:.0}"))
            };
            Ok(vec![
                ("choice", shown("enqueue-choice", "cores held")?),
                ("shedding", shown("work-shedding", "cores held")?),
                ("left", shown("work-shedding", "efficiency")?),
            ])
        }),
    ),
    ("policies-figure-6", LOWEST, AS_IN_FIGURE_5A),
    (
        "policies-figure-7",
        "Delay range keeps tail latency more constant across loads than per-task",
        Explanation::new(
            "from load {given: 0.2} on, per-task holds {fewest} to {most} of the {given: 64} cores, so its tail is that of all cores \
             ({longest} to {shortest} us) and its efficiency that of the load. Delay range keeps a mean delay with {from} to {to} cores; \
             more cores share bursts better, and its tail falls from {tail from} to {tail to} us. It is steadier than Shenango and \
             Caladan.",
        )
        .looked_up(|kept| {
            let here = kept.here();
            let along = |allocation: &str, column: &str| -> Result<Vec<f64>, _> {
                let loads = ["0.20", "0.30", "0.40", "0.50", "0.60", "0.70", "0.80"];
                loads.iter().map(|load| here.cell(DYNAMIC, &[allocation, load], column)).collect()
            };
            let (cores, tail) = (along("per-task", "cores held")?, along("per-task", "p99.9")?);
            let (range, range_tail) = (along("delay-range", "cores held")?, along("delay-range", "p99.9")?);
            Ok(vec![
                ("fewest", format!("{:.0}", least(&cores))),
                ("most", format!("{:.0}", most(&cores))),
                ("longest", format!("{:.1}", most(&tail))),
                ("shortest", format!("{:.1}", least(&tail))),
                ("from", format!("{:.0}", least(&range))),
                ("to", format!("{:.0}", most(&range))),
                ("tail from", format!("{:.0}", most(&range_tail))),
                ("tail to", format!("{:.0}", least(&range_tail))),
            ])
        }),
    ),
    (
        "policies-figure-7",
        "Both ranges use fewer cores than per-task allocation at every load",
        Explanation::new(
            "a tie: at load {given: 0.9}, {given: 75-95} % of utilization take {fewest} to {most} cores, and both hold all {held}.",
        )
        .looked_up(|kept| {
            let cores = |allocation: &str| kept.here().cell(DYNAMIC, &[allocation, "0.90"], "cores held");
            let work = 0.9 * 64.0;
            Ok(vec![
                ("fewest", format!("{:.0}", work / 0.95)),
                ("most", format!("{:.0}", work / 0.75)),
                ("held", format!("{:.0}", least(&[cores("utilization-range")?, cores("per-task")?]))),
            ])
        }),
    ),
    (
        "policies-figure-8",
        "Utilization range and delay range leave more to the other program than Caladan and Shenango",
        Explanation::new(
            "at low load, Shenango and Caladan wait for a delay of {given: 5} and {given: 10} us before they add a core, and hold fewer \
             than the ranges, with a p99.9 of {rivals from} to {rivals to} us where the ranges have {ranges from} to {ranges to} us. \
             Delay range holds fewer than Shenango from a load of {shenango} on and than Caladan from {caladan} on: at {given: 0.8} it \
             leaves {more than shenango} and {more than caladan} cores more.",
        )
        .looked_up(few_cores_at_low_load),
    ),
    (
        "policies-figure-8",
        "With utilization range, memcached spends less than 14 % of its time in the scheduler at all but the lowest loads",
        Explanation::new(
            "the share falls with the load, from {first} % at {given: 0.1} to {last} % at {given: 0.8}, and is {middle} % at \
             {given: 0.5}; what the paper calls its lowest loads is not said.",
        )
        .looked_up(|kept| {
            let share = |load: &str| {
                let useful = kept.here().cell(DYNAMIC, &["utilization-range", load], "efficiency");
                useful.map(|useful| format!("{:.0}", 100.0 - useful))
            };
            Ok(vec![("first", share("0.10")?), ("middle", share("0.50")?), ("last", share("0.80")?)])
        }),
    ),
    ("policies-figure-9a", LOWEST, AS_IN_FIGURE_5A),
    ("policies-figure-9b", LOWEST, AS_IN_FIGURE_5A),
    (
        "policies-figure-9b",
        NEAREST,
        Explanation::new(
            "under Caladan, stealing holds {stealing} cores with a p99.9 of {stealing tail} us, shedding {shedding} with {shedding tail} \
             us: thieves find work for longer, so fewer cores park. The curve is steep there, so what counts is mostly cores, of which \
             stealing holds {more} % more; in latency alone it is far nearer.",
        )
        .looked_up(|kept| {
            let of = |balancing: &str, column: &str| kept.here().cell(DYNAMIC, &[balancing, "caladan"], column);
            let stealing = of("work-stealing", "cores held")?;
            let shedding = of("work-shedding", "cores held")?;
            Ok(vec![
                ("stealing", digits(stealing)),
                ("stealing tail", digits(of("work-stealing", "p99.9")?)),
                ("shedding", digits(shedding)),
                ("shedding tail", digits(of("work-shedding", "p99.9")?)),
                ("more", format!("{:.0}", 100.0 * (stealing / shedding - 1.0))),
            ])
        }),
    ),
    ("policies-figure-10a", "With constant service times, work stealing outperforms no load balancing", CONSTANT),
    ("policies-figure-10a", "With constant service times, work stealing outperforms work shedding", CONSTANT),
    (
        "policies-figure-10a",
        ORDER,
        Explanation::new(
            "what speaks against it is choice and shedding alone, of which the paper says on the same page that their order varies with \
             the distribution. With constant service times no task is stuck behind a long one, which is what shedding mends: on \
             {given: 20} cores its p99.9 is {shedding} us against {choice} us for choice, with exponential ones {exponential shedding} us \
             against {exponential choice} us.",
        )
        .looked_up(|kept| {
            let tail = |of: &Results<'_>, system: &str| of.cell("p99.9 of the latency", &[system], "20");
            let (here, exponential) = (kept.here(), kept.figure(EXPONENTIAL)?);
            Ok(vec![
                ("shedding", format!("{:.1}", tail(&here, "work-shedding")?)),
                ("choice", format!("{:.1}", tail(&here, "enqueue-choice")?)),
                ("exponential shedding", format!("{:.1}", tail(&exponential, "work-shedding")?)),
                ("exponential choice", format!("{:.1}", tail(&exponential, "enqueue-choice")?)),
            ])
        }),
    ),
    (
        "policies-figure-10b",
        ORDER,
        Explanation::new(
            "what speaks against it is choice and shedding alone, of which the paper says on the same page that their order varies with \
             the distribution: on {given: 24} cores, shedding has {shedding} us and choice {choice} us, with exponential service times \
             {exponential shedding} us and {exponential choice} us.",
        )
        .looked_up(|kept| {
            let tail = |of: &Results<'_>, system: &str| of.cell("p99.9 of the latency", &[system], "24");
            let (here, exponential) = (kept.here(), kept.figure(EXPONENTIAL)?);
            Ok(vec![
                ("shedding", digits(tail(&here, "work-shedding")?)),
                ("choice", digits(tail(&here, "enqueue-choice")?)),
                ("exponential shedding", digits(tail(&exponential, "work-shedding")?)),
                ("exponential choice", digits(tail(&exponential, "enqueue-choice")?)),
            ])
        }),
    ),
];

/// The largest gain, in per cent of p99.9, of checks of 10 ns over checks of 100 ns on any of these numbers of cores.
fn gain_of_cheap_checks(here: &Results<'_>, cores: &[&str]) -> Result<f64, Missing> {
    let tail = |system: &str| here.cells("p99.9 of the latency", &[system], cores);
    let (cheap, dear) = (tail("work-stealing parallel checks")?, tail("work-stealing")?);
    let gains: Vec<f64> = cheap.iter().zip(&dear).map(|(cheap, dear)| 100.0 * (1.0 - cheap / dear)).collect();
    Ok(most(&gains))
}

/// Figure 8: p99.9 at the loads at which the rivals hold fewer cores than the ranges, and from which loads on delay range holds fewer.
fn few_cores_at_low_load(kept: &Kept<'_>) -> Numbers {
    const LOADS: [&str; 8] = ["0.10", "0.20", "0.30", "0.40", "0.50", "0.60", "0.70", "0.80"];
    const LOW: &[&str] = &["0.10", "0.20", "0.30"];
    let here = kept.here();
    let of = |balancing: &str, allocation: &str, loads: &[&str], column: &str| -> Result<Vec<f64>, _> {
        loads.iter().map(|load| here.cell(DYNAMIC, &[balancing, allocation, load], column)).collect()
    };
    let tails = |one: &str, other: &str| -> Result<Vec<f64>, Missing> {
        let both = [of("work-stealing", one, LOW, "p99.9")?, of("work-stealing", other, LOW, "p99.9")?];
        Ok(both.concat())
    };
    let (rivals, ranges) = (tails("shenango", "caladan")?, tails("delay-range", "utilization-range")?);
    let cores = |allocation: &str| of("work-stealing", allocation, &LOADS, "cores held");
    // The load from which on delay range holds fewer cores at all loads.
    let fewer_from = |rival: &str| -> Result<String, Missing> {
        let (own, others) = (cores("delay-range")?, cores(rival)?);
        let fewer = own.iter().zip(&others).rev().take_while(|(own, other)| own < other).count();
        let load = LOADS.get(LOADS.len() - fewer).ok_or_else(|| kept.missing(rival, "it holds fewer cores"));
        load.map(|load| load.trim_end_matches('0').to_owned())
    };
    Ok(vec![
        ("rivals from", format!("{:.0}", least(&rivals))),
        ("rivals to", format!("{:.0}", most(&rivals))),
        ("ranges from", format!("{:.0}", least(&ranges))),
        ("ranges to", format!("{:.0}", most(&ranges))),
        ("shenango", fewer_from("shenango")?),
        ("caladan", fewer_from("caladan")?),
        (
            "more than shenango",
            format!("{:.1}", here.judged("They leave up to 22 % of all throughput more")?),
        ),
        ("more than caladan", format!("{:.1}", here.judged("They leave up to 13 % of all throughput more")?)),
    ])
}
