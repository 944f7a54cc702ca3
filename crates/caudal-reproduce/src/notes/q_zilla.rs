//! The notes on the statements of the Q-Zilla paper. [`super::note`] looks up the one of a statement when the page of its figure is made.
//! Constants.

use caudal_results::table::digits;

use super::super::q_zilla::SHOWN_ONLY;
use super::Note;
use super::explanation::{Explanation, Numbers};
use super::kept::{Kept, Missing, Results, most, times};

/// The table of the figures' tail.
const P99: &str = "p99 of the latency";

const MORE_8B: &str = "ISQD-SITA improves the tail over M/G/k by more with 4 servers than with 2";
const MORE_8C: &str = "ISQD-SITA improves the tail over M/G/k by more with 8 servers than with 4";
const SHORT_OF_SITA: &str =
    "In a few cases, (I)SQD-SITA falls short of (G-)SITA, which knows the sizes of requests";
const NEVER_WORSE: &str = "ISQD-SITA is never worse than M/G/k";
const ISQD_SQD: &str = "ISQD-SITA is no worse than SQD-SITA";
const ISQD_SQD_ALIKE: &str = "ISQD-SITA is no worse than SQD-SITA with the same lanes";

const OF_TWO_SERVERS: Explanation = Explanation::new(
    "that depends on the services. Where requests are much alike, one queue in order of arrival is best, and turns or the shortest first \
     only delay some (`routing`: {queue} us in one queue, {sharing} us under processor sharing, {shortest} us under SRPT); where the p99 \
     is one of the longest requests, it waits for all shorter ones (`nearest-12`, `stemming`). Both are ahead where short requests stand \
     behind few much longer ones: `rocksdb-0.5`, and a bounded Pareto at load {given: 0.5}, under which processor sharing has \
     {pareto sharing} of ISQD-SITA's p99 and SRPT {pareto shortest} (`q-zilla-figure-8-pareto`).",
)
.looked_up(|kept| {
    let routing = |system: &str| {
        let tail = kept.here().cell(P99, &[system], "routing");
        tail.map(|tail| format!("{tail:.0}"))
    };
    let pareto = kept.figure("q-zilla-figure-8-pareto")?;
    let tail = |system: &str| pareto.cell(P99, &[system], "2-servers");
    let lanes = tail("ISQD-SITA")?;
    Ok(vec![
        ("queue", routing("M/G/k")?),
        ("sharing", routing("PS")?),
        ("shortest", routing("SRPT")?),
        ("pareto sharing", format!("{:.2}", tail("PS")? / lanes)),
        ("pareto shortest", format!("{:.2}", tail("SRPT")? / lanes)),
    ])
});

const OF_KNOWN_SIZES: Explanation = Explanation::new(
    "SRPT knows the sizes. With {given: 10} % of scans, the p99 is a scan that waits behind another scan, which lanes by time served leave \
     in order, while SRPT takes the one with least left. For `block-cache` it is the other way round than in the paper: its p99 is one of \
     the longest requests, which SRPT lets wait.",
);

const OF_THREE_READINGS: Explanation = Explanation::new(
    "of the three readings, the first ({given: 32} servers of a context's speed) and the third (all contexts of {given: 32} cores) have \
     the signs of all of the paper's figures: {first of 2}, {first of 4} and {first of 8}, and {third of 2}, {third of 4} and \
     {third of 8}, against {paper: 1.31}, {paper: 1.22} and {paper: 0.88}. Servers of a whole core's speed are too fast for it.",
)
.looked_up(|kept| {
    let judged = |figure: &str, begins: &str, reading: &str| {
        kept.figure(figure)?.judged(&format!("{begins} ({reading} reading)")).map(digits)
    };
    Ok(vec![
        ("first of 2", judged("q-zilla-figure-9a", IDEAL_2, "first")?),
        ("first of 4", judged("q-zilla-figure-9b", IDEAL_4, "first")?),
        ("first of 8", judged("q-zilla-figure-9c", IDEAL_8, "first")?),
        ("third of 2", judged("q-zilla-figure-9a", IDEAL_2, "third")?),
        ("third of 4", judged("q-zilla-figure-9b", IDEAL_4, "third")?),
        ("third of 8", judged("q-zilla-figure-9c", IDEAL_8, "third")?),
    ])
})
.paper_says("section 7.2, Figure 9");
const IDEAL_2: &str =
    "With 2 contexts, CoreZilla's tail is higher than that of an ideal queue for 32 cores, by 31 %";
const IDEAL_4: &str =
    "With 4 contexts, CoreZilla's tail is higher than that of an ideal queue for 32 cores, by 22 %";
const IDEAL_8: &str =
    "With 8 contexts, CoreZilla's tail is lower than that of an ideal queue for 32 cores, by 12 %";

const OF_SITA: Explanation = Explanation::new(
    "at this load, G-SITA's best is one queue for nearly all services: servers that only short requests may use are missing where the \
     long ones bring most of the work. With lanes it comes out beside ISQD-SITA, not before it.",
);

/// The 99th percentile of requests of which 1 % are scans.
const EDGE: Explanation = Explanation::new(
    "`rocksdb-1` and `rocksdb-1-short` have {given: 1} % of scans, so that their p99 is the edge between a get and a scan, and its interval \
     reaches from the one to the other.",
);

const AS_IN_FIGURE_8: Explanation =
    Explanation::new("as in Figure 8: with more servers one queue lets short requests pass by itself.");

/// The requests a us that a lock lets pass which each of them takes for 71 ns.
const LOCKED_PER_US: f64 = 1e3 / 71.0;

pub(super) const NOTES: &[Note] = &[
    (
        "q-zilla-figure-1",
        "In practice, synchronisation leaves scale-up only a part of that: 1.93 times",
        Explanation::new(
            "a lock of {given: 71} ns is all that synchronisation costs here, and hardly any request feels it: `rocksdb-1-short` comes at \
             {most} million a second, all others at {others} million or fewer, of which it lets {passed} pass. The paper measured a real \
             queue, with the cache misses of sharing it.",
        )
        .looked_up(|kept| {
            const FIRST: &str = "rocksdb-1-short";
            let here = kept.here();
            let others = here.workloads().filter(|workload| *workload != FIRST);
            let others: Vec<f64> =
                others.map(|workload| here.arrivals_per_us(workload)).collect::<Result<_, _>>()?;
            Ok(vec![
                ("most", format!("{:.0}", here.arrivals_per_us(FIRST)?)),
                ("others", format!("{:.1}", most(&others))),
                ("passed", format!("{LOCKED_PER_US:.0}")),
            ])
        }),
    ),
    (
        "q-zilla-figure-1",
        "A hierarchical organization has a slightly higher tail than practical scale-up: 16 %",
        Explanation::new(
            "it is {times} times: two contexts share a queue, and a scan or two take both. A lock of {given: 71} ns costs nothing beside \
             requests of {given: 50} us; the paper's shared queue, measured, costs much more.",
        )
        .looked_up(|kept| {
            let judged = kept.here().judged("A hierarchical organization has a slightly higher tail")?;
            Ok(vec![("times", format!("{judged:.1}"))])
        }),
    ),
    (
        "q-zilla-figure-1",
        "Services without a heavy tail, such as McRouter, have a lower tail with the hierarchical organization than with \
         practical scale-up",
        Explanation::new(
            "a `routing` takes {mean} us, so that {arrivals} million come a second, and a lock of {given: 71} ns is nothing to them. With one \
             key a request instead of {given: 200} ({once: 0.15} us, {once: 120} million a second) it let too few pass, and the statement \
             held; the paper's requests are tens of microseconds, too, so that its shared queue must have cost far more.",
        )
        .looked_up(|kept| {
            let here = kept.here();
            let mean_us = here.workload("routing")?.service.mean_ps() / 1e6;
            let arrivals = here.arrivals_per_us("routing")?;
            Ok(vec![("mean", format!("{mean_us:.0}")), ("arrivals", format!("{arrivals:.1}"))])
        })
        .once("2026-11-30", "the figure with the `routing` that data/ had until then, of one key a request"),
    ),
    (
        "q-zilla-figure-7",
        "At low load, fewer contexts yield a lower tail",
        Explanation::new(
            "a core of this model is as fast for one request with seven idle contexts beside it as without them. Where two requests meet, \
             the later one of equal length {given: 1} that comes u after the other has a latency of {given: 2 - u} in a queue, and \
             {given: 2(1 - u)/s + u}, which is less, on two contexts that do {given: s > 1} together. So more contexts have the lower tail \
             from the lowest loads on, but where the p99 is a long request's. A core whose idle contexts cost it something (partitioned \
             buffers) would have a break-even point.",
        ),
    ),
    (
        "q-zilla-figure-7",
        "The break-even points of McRouter lie at higher loads than those of word stemming, whose tail is heavier",
        Explanation::new(
            "the stalls of the host, which made most of the SCV of an earlier `routing`, were not the reason: measured without them (SCV \
             {scv of routing}; that of `stemming` is {scv of stemming}), {given: 8} contexts have the lower p99 from {routing} and {stemming} \
             on. What moves the point is shown by log-normal service (`experiments/q-zilla-break-even`): with a standard deviation of \
             {given: 0.1}, {given: 0.3}, {given: 0.7}, {given: 1}, {given: 2} and {given: 4} times the mean it lies at {once: 0.25}, \
             {once: 0.33}, {once: 0.52}, {once: 0.53}, {once: 0.40} and {once: 0.15}. With a light tail, the p99 is a request that met others, \
             and more contexts spare it the queue; the heavier the tail, the more it is a long request's own time, which more contexts only \
             stretch, until long requests block the queue, and a heavier tail brings the point down again. It takes more than twice the mean \
             until it lies before that of requests that are alike; `stemming` has {spread of stemming} times. Contexts that cost something \
             while they are idle do not change the order: {given: 4} servers of {given: 2.3/4} of a core's speed against {given: 8} of \
             {given: 2.8/8} break even at {once: 0.58} under `routing` and at {once: 0.69} under `stemming` (`servers.toml` there), with \
             log-normal service at {once: 0.55} ({given: 0.1}), {once: 0.69} ({given: 1}), {once: 0.61} ({given: 2}) and {once: 0.50} \
             ({given: 4}), and at {once: 0.45} with a bounded Pareto. The paper's order is that of a tail so heavy. It does not publish how \
             heavy its is.",
        )
        .looked_up(|kept| {
            const POINTS: &str = "Loads from which on the next number of contexts has the lower p99";
            let here = kept.here();
            let scv = |service: &str| here.workload(service).map(|workload| workload.service.scv());
            let point = |service: &str| here.cell(POINTS, &[service], "4 to 8").map(digits);
            let stemming = scv("stemming")?;
            Ok(vec![
                ("scv of routing", format!("{:.3}", scv("routing")?)),
                ("scv of stemming", digits(stemming)),
                ("spread of stemming", digits(stemming.sqrt())),
                ("routing", point("routing")?),
                ("stemming", point("stemming")?),
            ])
        })
        .once("2026-11-30", "`caudal sim` with the files of experiments/q-zilla-break-even, and servers.toml with other services in it"),
    ),
    (
        "q-zilla-figure-8a",
        "With 2 servers, processor sharing outperforms ISQD-SITA: by 6 %, on average",
        OF_TWO_SERVERS,
    ),
    ("q-zilla-figure-8a", "With 2 servers, SRPT outperforms ISQD-SITA: by 11 %, on average", OF_TWO_SERVERS),
    ("q-zilla-figure-8a", SHORT_OF_SITA, OF_SITA),
    (
        "q-zilla-figure-8b",
        MORE_8B,
        Explanation::new(
            "the service with {given: 1} % of scans as measured gains {times} with {given: 2} servers, where a scan or two block everybody. \
             With more servers one queue lets short requests pass by itself, at the same load: its p99 is soon that of the long requests' own \
             service time, and no organization makes that shorter. The paper's loads rise with the number of servers (break-even points); \
             ours are {given: 70} % throughout.",
        )
        .looked_up(|kept| {
            let two = kept.figure("q-zilla-figure-8a")?;
            Ok(vec![("times", times(gain_of_lanes(&two, "rocksdb-1")?))])
        }),
    ),
    (
        "q-zilla-figure-8b",
        "With 4 servers, ISQD-SITA consistently outperforms processor sharing: by 16 %, on average",
        EDGE,
    ),
    ("q-zilla-figure-8b", "With 4 servers, SRPT outperforms ISQD-SITA for RSC only", OF_KNOWN_SIZES),
    ("q-zilla-figure-8b", SHORT_OF_SITA, OF_SITA),
    ("q-zilla-figure-8b", NEVER_WORSE, EDGE),
    ("q-zilla-figure-8b", ISQD_SQD, EDGE),
    ("q-zilla-figure-8b", ISQD_SQD_ALIKE, EDGE),
    ("q-zilla-figure-8c", MORE_8C, Explanation::new("as with {given: 4} servers against {given: 2}, see there.")),
    ("q-zilla-figure-8c", "With 8 servers, ISQD-SITA consistently outperforms processor sharing", EDGE),
    ("q-zilla-figure-8c", "With 8 servers, ISQD-SITA consistently outperforms SRPT", OF_KNOWN_SIZES),
    ("q-zilla-figure-8c", SHORT_OF_SITA, OF_SITA),
    ("q-zilla-figure-8c", NEVER_WORSE, EDGE),
    ("q-zilla-figure-8c", ISQD_SQD, EDGE),
    ("q-zilla-figure-8c", ISQD_SQD_ALIKE, EDGE),
    ("q-zilla-figure-8c", "SQD-SITA is no worse than PG-SITA", EDGE),
    (
        "q-zilla-figure-8c",
        "ISQD-SITA improves the tail over M/G/k: 4.76 times with 8 servers, on average",
        Explanation::new(
            "of all services but `rocksdb-1` the p99 is that of a long request, or of one of many that are alike, and {given: 8} servers \
             serve it at once nearly always. Where {given: 0.5} % of requests are long (`rocksdb-0.5`), the factor is {times}.",
        )
        .looked_up(|kept| {
            let factor = gain_of_lanes(&kept.here(), "rocksdb-0.5")?;
            Ok(vec![("times", format!("{:.0}", (factor / 100.0).round() * 100.0))])
        }),
    ),
    ("q-zilla-figure-9b", "CoreZilla improves the tail over SMT by more with 4 contexts than with 2", AS_IN_FIGURE_8),
    (
        "q-zilla-figure-9b",
        "ESMT is only slightly behind CoreZilla with 2 contexts, and falls well short with 4",
        Explanation::new(
            "one service keeps it open: the p99 of `rocksdb-1` is the edge between gets and scans, {fixed} ms under ESMT with {given: 2} \
             contexts and {dynamic} ms under CoreZilla (with {given: 200} us as its cutoff, ESMT has {once: 0.85} ms). Without it ESMT is \
             {with 2} and {with 4} times as high on average, as the paper says; at loads of {given: 0.3} and {given: 0.5}, with {given: 2} \
             contexts, {once: 1.15} to {once: 1.27} times (`nearest-20`, `block-cache`, `rocksdb-10`).",
        )
        .looked_up(esmt_behind)
        .once("2026-11-22", "the files of Figure 9a with that cutoff, and with those loads"),
    ),
    ("q-zilla-figure-9c", "CoreZilla improves the tail over SMT by more with 8 contexts than with 4", AS_IN_FIGURE_8),
    (
        "q-zilla-figure-9c",
        "With 8 contexts, CoreZilla's tail is lower than that of an ideal queue for 32 cores, by 12 % (second reading)",
        OF_THREE_READINGS,
    ),
    ("q-zilla-figure-9c", "CoreZilla never falls short of SMT", EDGE),
    (
        "q-zilla-figure-10",
        "ISQD-SITA increases the number of preemptions over SQD-SITA",
        Explanation::new(
            "in eight lanes of one server, a server of SQD-SITA that reaches a cutoff mostly may not follow its request into the next lane, \
             and stops. One of ISQD-SITA, which would idle otherwise, goes on with it, and that is no preemption; with short requests and \
             light tails this saves more than arrivals cost.",
        ),
    ),
    (
        "q-zilla-figure-10",
        "For RSC, ISQD-SITA has more preemptions than preemptive SITA: 0.84 of a request against 0.63",
        Explanation::new(
            "preemptive SITA stops a request at each cutoff that it passes, so that its number follows from the cutoffs alone: {sita} with \
             ours, which share out a block cache's work among eight servers. ISQD-SITA comes to {once: 0.31} with the same cutoffs and to \
             {lanes} with its own, and to {once: 0.84} and {once: 1.03} at a load of {given: 0.9}.",
        )
        .looked_up(|kept| {
            let stops = |system: &str| kept.here().cell(PREEMPTIONS, &[system], "block-cache").map(digits);
            Ok(vec![("sita", stops("P-SITA")?), ("lanes", stops("ISQD-SITA")?)])
        })
        .once("2026-11-22", "the file of Figure 10 about `block-cache` with preemptive SITA's cutoffs for ISQD-SITA, and with that load"),
    ),
    (
        "q-zilla-figure-10",
        "The number of preemptions of (I)SQD-SITA is small",
        Explanation::new(
            "it is of ISQD-SITA. Eight lanes that end at every {given: 2.8} us for requests of {mean} us, so that each of eight servers has \
             as much to do, stop each of them {times}; nobody would have them.",
        )
        .looked_up(|kept| {
            let here = kept.here();
            let mean_us = here.workload("routing")?.service.mean_ps() / 1e6;
            let stops = here.cell(PREEMPTIONS, &["SQD-SITA"], "routing")?;
            Ok(vec![("mean", format!("{mean_us:.0}")), ("times", times(stops))])
        }),
    ),
];

/// The table of Figure 10.
const PREEMPTIONS: &str = "Preemptions of a request";

/// How many times the p99 of one queue that of ISQD-SITA is.
fn gain_of_lanes(figure: &Results<'_>, service: &str) -> Result<f64, Missing> {
    Ok(figure.cell(P99, &["M/G/k"], service)? / figure.cell(P99, &["ISQD-SITA"], service)?)
}

/// The p99 of ESMT beside that of CoreZilla: of the service that keeps the statement open, and of the others on average.
fn esmt_behind(kept: &Kept<'_>) -> Numbers {
    const OPEN: &str = "rocksdb-1";
    let (two, four) = (kept.figure("q-zilla-figure-9a")?, kept.here());
    let of_open_ms = |system: &str| two.cell(P99, &[system], OPEN).map(|us| us / 1e3);
    Ok(vec![
        ("fixed", format!("{:.1}", of_open_ms("ESMT")?)),
        ("dynamic", format!("{:.2}", of_open_ms("CoreZilla")?)),
        ("with 2", digits(behind_on_average(&two, OPEN)?)),
        ("with 4", digits(behind_on_average(&four, OPEN)?)),
    ])
}

/// How many times the p99 of ESMT that of CoreZilla is, on geometric average over the services that statements are about and that both
/// carry, but `open`.
fn behind_on_average(figure: &Results<'_>, open: &str) -> Result<f64, Missing> {
    let services = figure.columns(P99)?.iter().filter(|service| *service != open && *service != SHOWN_ONLY);
    let logarithms: Vec<f64> = services
        .filter_map(|service| {
            let tail = |system: &str| figure.cell(P99, &[system], service).ok();
            Some((tail("ESMT")? / tail("CoreZilla")?).ln())
        })
        .collect();
    Ok((logarithms.iter().sum::<f64>() / logarithms.len() as f64).exp())
}
