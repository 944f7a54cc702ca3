//! Policies paper, Figure 3: load balancing on a fixed number of cores. `figures` lists it; `reproduction` simulates its file of
//! `experiments/`, and then asks here for statements, charts and tables.

use caudal_report::Outcome;
use caudal_report::chart::Chart;
use caudal_stats::Estimate;

use super::cell::{Cell, Stat};
use super::charts;
use super::claim::{Ask, Claim, Finding, Limit, Needs, all, each, judge, one, prefixed};
use super::compare::{LATENCIES, MEDIAN, TAIL, along_cores, where_both_carry};
use super::figure::{Figure, FigureKind, Source, Statement, Study};
use super::measured::Measured;
use super::sheet::Sheet;
use super::tables::{authors_sheet, static_sheets};
use super::words::{MARGINAL, MUCH};

/// The first is faster than the second.
const FASTER: Limit = Limit::Below(1.0);

pub(crate) const FIGURE: Figure = Figure {
    name: "policies-figure-3",
    title: "Policies paper, Figure 3: load balancing with static core allocations",
    shows: "Latency of each load-balancing policy on 17 to 32 statically allocated cores of 32, while the load \
            is half of all 32 and every cross-core action costs 100 ns; further systems with 0, 200 and 400 ns.",
    files: &[Source::alone(include_str!("../../../experiments/policies-figure-3.toml"))],
    kind: FigureKind::Points,
    statements: &STATEMENTS,
    charts,
    sheets,
};

const fn statement(
    text: &'static str,
    source: &'static str,
    reading: &'static str,
    judge: fn(&Study<'_>) -> Finding,
) -> Statement {
    Statement { text, source, reading, needs: &[], judge }
}

const EVERYWHERE: &str = "p50, p99 and p99.9 on every number of cores; a system that falls behind loses";
const WHERE_CARRIED: &str = "p50, p99 and p99.9 on every number of cores on which both carry the load";

static STATEMENTS: [Statement; 19] = [
    statement(
        "Work stealing has lower latency than work shedding, median and tail, for the same number of cores",
        "section 4.2.1, Finding 1",
        EVERYWHERE,
        |study| faster(study.here(), "work-stealing", "work-shedding"),
    ),
    statement(
        "Work stealing has lower latency than enqueue choice, median and tail, for the same number of cores",
        "section 4.2.1, Finding 1",
        EVERYWHERE,
        |study| faster(study.here(), "work-stealing", "enqueue-choice"),
    ),
    statement("Work stealing improves on no load balancing", "section 4.2.1", EVERYWHERE, |study| {
        faster(study.here(), "work-stealing", "no-balancing")
    }),
    statement("Work shedding improves on no load balancing", "section 4.2.1", EVERYWHERE, |study| {
        faster(study.here(), "work-shedding", "no-balancing")
    }),
    statement("Enqueue choice improves on no load balancing", "section 4.2.1", WHERE_CARRIED, |study| {
        let systems = ("enqueue-choice", "no-balancing");
        all(&where_both_carry(study.here(), systems, &LATENCIES, FASTER))
    }),
    statement(
        "Per-task overheads of enqueue choice cap the possible throughput",
        "section 4.2.1",
        "on some number of cores on which no load balancing carries the load, enqueue choice does not",
        |study| capped(study.here()),
    ),
    statement(
        "Which of enqueue choice and work shedding is better varies with the number of cores and the percentile",
        "section 4.2.1",
        "each is surely better somewhere",
        |study| varies(study.here()),
    ),
    statement(
        "Two choices of queues are much better than one, particularly without overhead",
        "section 4.2.1",
        "p99.9 without overhead is more than a third below that of no load balancing on every number of cores",
        |study| {
            let systems = ("enqueue-choice 0 ns", "no-balancing");
            all(&along_cores(study.here(), systems, &[TAIL], Limit::Below(1.0 - MUCH)))
        },
    ),
    statement(
        "For the same overhead, work stealing consistently outperforms the others: 0 ns",
        "section 4.2.1, shaded regions of Figure 3",
        EVERYWHERE,
        |study| best_at(study.here(), "0 ns"),
    ),
    statement(
        "For the same overhead, work stealing consistently outperforms the others: 200 ns",
        "section 4.2.1, shaded regions of Figure 3",
        EVERYWHERE,
        |study| best_at(study.here(), "200 ns"),
    ),
    statement(
        "Work stealing consistently achieves the best performance with overheads of 400 ns",
        "section 4.2.1",
        EVERYWHERE,
        |study| best_at(study.here(), "400 ns"),
    ),
    statement(
        "Work stealing at 200 ns outperforms enqueue choice at no cost for most numbers of cores: median",
        "section 4.2.1",
        "surely lower p50 on more than half of the simulated numbers of cores",
        |study| mostly(study.here(), "enqueue-choice 0 ns", MEDIAN),
    ),
    statement(
        "Work stealing at 200 ns outperforms enqueue choice at no cost for most numbers of cores: tail",
        "section 4.2.1",
        "surely lower p99.9 on more than half of the simulated numbers of cores",
        |study| mostly(study.here(), "enqueue-choice 0 ns", TAIL),
    ),
    statement(
        "Work stealing at 200 ns outperforms work shedding at no cost for most numbers of cores: median",
        "section 4.2.1",
        "surely lower p50 on more than half of the simulated numbers of cores",
        |study| mostly(study.here(), "work-shedding 0 ns", MEDIAN),
    ),
    statement(
        "Work stealing at 200 ns outperforms work shedding at no cost for most numbers of cores: tail",
        "section 4.2.1",
        "surely lower p99.9 on more than half of the simulated numbers of cores",
        |study| mostly(study.here(), "work-shedding 0 ns", TAIL),
    ),
    statement(
        "More choices improve the tail of enqueue choice, but less than removing the overhead does",
        "section 4.2.1",
        "p99.9: four choices below two, and two choices at 0 ns below four at 100 ns, where both carry the load",
        |study| choices(study.here()),
    ),
    statement(
        "JBSQ improves tail latency over work stealing by up to 10 us",
        "section 4.2.1",
        "the largest difference at p99.9 lies between 5 and 15 us",
        |study| jbsq(study.here()),
    ),
    statement(
        "The single queue is the ideal: no policy has a lower tail",
        "sections 3.2.1 and 4.2.1",
        "p99.9 of every other system at its canonical costs is at most 1 % below that of the single queue",
        |study| ideal(study.here()),
    ),
    statement(
        "Checking ten cores for the price of one gives work stealing marginal benefits at best",
        "section 4.2.1",
        "p99.9: checks of 10 ns instead of 100 ns gain more than ten at once can; if even these gain less than a \
         tenth it holds, else it is open",
        |study| parallel(study.here()),
    ),
];

fn faster(measured: &Measured, first: &str, second: &str) -> Finding {
    all(&along_cores(measured, (first, second), &LATENCIES, FASTER))
}

fn best_at(measured: &Measured, overhead: &str) -> Finding {
    let stealing = format!("work-stealing {overhead}");
    let against = |other: &str| faster(measured, &stealing, &format!("{other} {overhead}"));
    each(&[
        ("against enqueue choice", against("enqueue-choice")),
        ("against shedding", against("work-shedding")),
    ])
}

fn mostly(measured: &Measured, other: &str, stat: Stat) -> Finding {
    judge(Needs::Most, &along_cores(measured, ("work-stealing 200 ns", other), &[stat], FASTER))
}

fn varies(measured: &Measured) -> Finding {
    let better = |first: &str, second: &str| {
        judge(Needs::Any, &where_both_carry(measured, (first, second), &LATENCIES, FASTER))
    };
    each(&[
        ("choice over shedding", better("enqueue-choice", "work-shedding")),
        ("shedding over choice", better("work-shedding", "enqueue-choice")),
    ])
}

fn capped(measured: &Measured) -> Finding {
    let carries = |system: &str| {
        let held =
            measured.curve(system).into_iter().filter(|cell| !cell.overloaded).map(|cell| cell.held).min();
        held.map_or(f64::INFINITY, f64::from)
    };
    let (none, choice) = (carries("no-balancing"), carries("enqueue-choice"));
    one(|_| {
        let place = format!("enqueue choice carries the load on {choice} cores or more, no balancing on");
        Claim::new(place, Estimate::exact(none), Limit::Below(choice))
    })
}

fn parallel(measured: &Measured) -> Finding {
    let systems = ("work-stealing parallel checks", "work-stealing");
    let found = all(&along_cores(measured, systems, &[TAIL], Limit::Above(1.0 - MARGINAL)));
    // It bounds the gain from above: it can show that there is little, not that there is much.
    match found.outcome {
        Outcome::DoesNotHold => Finding::open(found.numbers),
        _ => found,
    }
}

fn choices(measured: &Measured) -> Finding {
    let below =
        |first: &str, second: &str| all(&where_both_carry(measured, (first, second), &[TAIL], FASTER));
    each(&[
        ("four choices over two", below("choice-of-4", "enqueue-choice")),
        ("two at 0 ns over four at 100 ns", below("enqueue-choice 0 ns", "choice-of-4")),
    ])
}

fn jbsq(measured: &Measured) -> Finding {
    let pairs = measured.pairs("work-stealing", "jbsq-3");
    let gain = |stealing: &Cell, jbsq: &Cell, confidence: f64| {
        let (a, b) = (TAIL.of(stealing, confidence), TAIL.of(jbsq, confidence));
        let us = |ns: f64| ns / 1e3;
        Estimate { estimate: us(a.estimate - b.estimate), low: us(a.low - b.high), high: us(a.high - b.low) }
    };
    one(|confidence| {
        let carried = pairs.iter().filter(|(a, b)| !a.overloaded && !b.overloaded);
        let gains = carried.map(|&(a, b)| (gain(a, b, confidence), a, b));
        let (place, limit) = ("largest difference at p99.9 in us:", Limit::Within(5.0, 15.0));
        match gains.max_by(|(a, ..), (b, ..)| a.estimate.total_cmp(&b.estimate)) {
            Some((most, a, b)) => Claim::new(place, most, limit).about(&[a, b]),
            None => Claim::new(place, Estimate::MISSING, limit),
        }
    })
}

fn ideal(measured: &Measured) -> Finding {
    let others = ["no-balancing", "enqueue-choice", "work-shedding", "work-stealing", "jbsq-3"];
    let asks: Vec<Ask<'_>> = others
        .iter()
        .flat_map(|other| {
            let asks = along_cores(measured, (other, "single-queue"), &[TAIL], Limit::Above(0.99));
            asks.into_iter().map(move |ask| prefixed(format!("{other}, "), ask))
        })
        .collect();
    all(&asks)
}

fn sheets(measured: &Measured) -> Vec<Sheet> {
    static_sheets(measured).into_iter().chain(authors_sheet(measured)).collect()
}

fn charts(measured: &Measured) -> Vec<Chart> {
    let canonical = |name: &str| !name.contains([' ', '(']) && name != "choice-of-4";
    let overheads = |name: &str| name.starts_with("work-stealing") || name.ends_with(" 0 ns");
    let plots = |stat: Stat| {
        let title = |part: &str| format!("{}, {part}", stat.label());
        vec![
            charts::along_cores(measured, &title("100 ns an action"), stat, canonical),
            charts::along_cores(measured, &title("other overheads"), stat, |name| {
                overheads(name) && !name.contains("parallel") && !name.contains('(')
            }),
        ]
    };
    let variants = [TAIL, Stat::Latency(99.0), MEDIAN].map(|stat| (stat.label(), plots(stat)));
    vec![charts::variants(FIGURE.title, "Lower and further left is better.", variants.into())]
}
