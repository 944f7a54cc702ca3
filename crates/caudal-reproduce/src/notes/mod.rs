//! What was looked into where a statement did not come out, and what is not judged.

/// Statements that several figures have.
const MORE_8B: &str = "ISQD-SITA improves the tail over M/G/k by more with 4 servers than with 2";
const MORE_8C: &str = "ISQD-SITA improves the tail over M/G/k by more with 8 servers than with 4";

/// A finding about several of Q-Zilla's statements.
const OF_TWO_SERVERS: &str = "\
    that depends on the services. Where requests are much alike, one queue in order of arrival is best, and turns or the shortest \
    first only delay some (`routing`: 95 us in one queue, 156 us under processor sharing, 154 us under SRPT); where the p99 is one of \
    the longest requests, it waits for all shorter ones (`nearest-12`, `stemming`). Both are ahead where short requests stand behind \
    few much longer ones: `rocksdb-0.5`, and a bounded Pareto at load 0.5, under which processor sharing has 0.89 of ISQD-SITA's p99 \
    and SRPT 0.80 (`q-zilla-figure-8-pareto`).";
const OF_KNOWN_SIZES: &str = "\
    SRPT knows the sizes. With 10 % of scans, the p99 is a scan that waits behind another scan, which lanes by time served \
    leave in order, while SRPT takes the one with least left. For `block-cache` it is the other way round than in the paper: \
    its p99 is one of the longest requests, which SRPT lets wait.";
const READINGS: &str = "\
    of the three readings, the first (32 servers of a context's speed) and the third (all contexts of 32 cores) have the \
    signs of all of the paper's figures: 1.78, 1.13 and 0.77, and 1.89, 1.26 and 0.89, against 1.31, 1.22 and 0.88. Servers of \
    a whole core's speed are too fast for it.";
const SHORT_OF_SITA: &str =
    "In a few cases, (I)SQD-SITA falls short of (G-)SITA, which knows the sizes of requests";
const OF_SITA: &str = "\
    at this load, G-SITA's best is one queue for nearly all services: servers that only short requests may use are missing \
    where the long ones bring most of the work. With lanes it comes out beside ISQD-SITA, not before it.";
/// The 99th percentile of requests of which 1 % are scans.
const EDGE: &str = "\
    `rocksdb-1` and `rocksdb-1-short` have 1 % of scans, so that their p99 is the edge between a get and a scan, and its \
    interval reaches from the one to the other.";
const NEVER_WORSE: &str = "ISQD-SITA is never worse than M/G/k";
const ISQD_SQD: &str = "ISQD-SITA is no worse than SQD-SITA";
const ISQD_SQD_ALIKE: &str = "ISQD-SITA is no worse than SQD-SITA with the same lanes";

/// Several of tail-control's.
const OF_FINANCE: &str = "\
    tail-control is ahead of steal-first by 9 % at heavy load and the shortest target, level with it at medium load, and behind by \
    14 to 24 % at light load. The table takes it that the request that begins a pile-up has the threshold's work ahead of everybody: \
    at light load and 4.02 ms it gives up requests of more than 44.8 ms of work as soon as there are two, which on all cores \
    would be in time. Thresholds 1.5 and 2 times as large have 2.35 % ± 3.9 % and 2.40 % ± 3.4 % misses there instead of 2.90 % ± \
    2.9 %, steal-first has 2.51 % ± 3.6 % (10 replications of 50,000 requests): `caudal threshold --refine` is for that. How \
    many rows the paper's tables have is not said. By its heuristic, twice the requests that are active on average, ours end at 2, 3 \
    and 6 active requests, and all but one give nobody up: that is the second reading, a figure by itself. The finance server's \
    histogram is not published; `finance-like` has its range.";
const OF_LOOKS: &str = "\
    no request is given up, and the schedule is steal-first's but for what looking costs: a worker that runs out of work looks at the \
    processing time of all that run, as in the paper's Figure 5a. That alone brings 2 to 5 % more misses at light and medium load \
    and 6 to 9 % at heavy load, instead of 14 to 24 % more at light load with the full table.";
const OF_KNOWN_WORK: &str = "\
    the one that knows the work has 0.55 of the misses for Bing's work and 0.43 for log-normal work, at the longest target, too. A \
    request that never gets more than one core holds nobody up; tail-control does the threshold's work of it on all cores \
    before it finds out.";

/// Of the systems beside Tiny Quanta, of which the paper has measurements.
const OF_SHINJUKU: &str = "\
    with the costs that are published (200 ns of its dispatcher a request and a quantum, 1 us an interrupt) Shinjuku carries more than \
    was measured: 3.3 M/s of the extreme bimodal against 1.7, and 4.9 M/s of the exponential against 1.6. There, its network thread \
    and its dispatcher share a core, and its interrupts make workers unstable at short quanta; no number of the paper says what \
    that takes.";
const OF_CALADAN: &str = "\
    without the cost of a network stack, which the paper does not give, first come first served with stealing carries nearly all that 16 \
    cores can do (5.30 of 5.34 M/s of the extreme bimodal, 15.7 of 16 M/s of the exponential). TQ's probes alone take a tenth of it.";
const OF_DISPATCHER: &str = "\
    a quantum and the 1 us of its interrupt pass between two calls on the dispatcher, so that 16 cores ask it every 4 us for quanta of 3 \
    us, and it takes 3.2 us. The preset's 200 ns were set without that microsecond. 290 to 430 ns would have 16 cores keep 5 us and \
    not 3 us; 520 to 780 ns would have 3 cores and not 4 keep 0.5 us: with one cost of a quantum, both do not come out.";
const OF_SCANS: &str = "\
    with quanta of 15 us, 1 us an interrupt takes 6 % of a scan, less than TQ's probes do, and one queue for all shares the cores \
    better than a queue each. The paper names no limit for scans; 8 ms is ours.";

/// Figure, the statement's text, and what was found when it was looked into.
const NOTES: &[(&str, &str, &str)] = &[
    (
        "policies-figure-8",
        "Utilization range and delay range leave more to the other program than Caladan and Shenango",
        "at low load, Shenango and Caladan wait for a delay of 5 and 10 us before they add a core, and hold fewer than the ranges, with \
         a p99.9 of 28 to 79 us where the ranges have 8 to 14 us. Delay range holds fewer than Shenango from a load of 0.4 on and than \
         Caladan from 0.6 on: at 0.8 it leaves 3.3 and 3.2 cores more.",
    ),
    (
        "policies-figure-8",
        "With utilization range, memcached spends less than 14 % of its time in the scheduler at all but the lowest loads",
        "the share falls with the load, from 26 % at 0.1 to 13 % at 0.8, and is 14 % at 0.5; what the paper calls its lowest loads is \
         not said.",
    ),
    (
        "tiny-quanta-figure-7",
        "Extreme bimodal, short requests: TQ carries 2.6 times the rate of Shinjuku",
        OF_SHINJUKU,
    ),
    (
        "tiny-quanta-figure-7",
        "High bimodal, short requests: TQ carries 1.33 times the rate of Shinjuku",
        OF_SHINJUKU,
    ),
    (
        "tiny-quanta-figure-7",
        "Extreme bimodal, long requests: TQ carries 1.2 times the rate of Caladan",
        OF_CALADAN,
    ),
    ("tiny-quanta-figure-7", "High bimodal, long requests: TQ sustains the highest throughput", OF_CALADAN),
    (
        "tiny-quanta-figure-9",
        "RocksDB with 0.5 % scans, gets: TQ carries 1.93 times the rate of Shinjuku",
        OF_SHINJUKU,
    ),
    (
        "tiny-quanta-figure-9",
        "RocksDB with 0.5 % scans, scans: TQ carries 1.63 times the rate of Shinjuku",
        OF_SCANS,
    ),
    (
        "tiny-quanta-figure-9",
        "RocksDB with 50 % scans, scans: TQ carries 1.13 times the rate of Shinjuku",
        OF_SCANS,
    ),
    (
        "tiny-quanta-figure-10",
        "Exponential: TQ carries 11 M/s within 50 us",
        "its dispatcher's 71 ns a request (14 M/s, as the paper says in section 6) are all that limits it here.",
    ),
    (
        "tail-control-figure-7-short-table",
        "Under heavy load and the two longest targets, tail-control is the same schedule as steal-first (the table's length by the paper's heuristic)",
        OF_LOOKS,
    ),
    (
        "tail-control-figure-7-short-table",
        "Where steal-first is best, tail-control does not increase the misses by serialising requests unnecessarily (the table's length by the paper's heuristic)",
        OF_LOOKS,
    ),
    (
        "tail-control-figure-7-short-table",
        "Under medium load with the longest target, tail-control improves on steal-first: by 36 % (the table's length by the paper's heuristic)",
        OF_LOOKS,
    ),
    ("tiny-quanta-figure-16", "Shinjuku keeps up with 16 cores at 5 us, and not at 3 us", OF_DISPATCHER),
    ("tiny-quanta-figure-16", "Shinjuku does not keep up with more than 3 cores at 0.5 us", OF_DISPATCHER),
    ("tiny-quanta-figure-10", "Exponential: TQ carries 6.85 times the rate of Shinjuku", OF_SHINJUKU),
    ("tiny-quanta-figure-10", "Exponential: TQ carries 1.21 times the rate of Caladan", OF_CALADAN),
    (
        "policies-figure-3",
        "Work shedding improves on no load balancing",
        "on 17 cores, 94 % of whose time the load takes, shedding falls behind and no balancing does not. Nearly every \
         core has raised a flag then, so cores answer one between any two tasks, and its 100 ns are more than the 6 % to \
         spare. The authors' published simulator looks at the second queued task instead of the oldest and carries the \
         load on 17 cores, with a median of 10.0 us against 13.0 us without balancing.",
    ),
    (
        "policies-figure-3",
        "Work stealing at 200 ns outperforms enqueue choice at no cost for most numbers of cores: median",
        "what the paper says without naming a percentile is true of the tail. A task that free choice sends to the \
         shorter of two queues mostly starts at once (median 1.57 us on 20 cores); with stealing it waits where it \
         arrived until a thief looks there, and each look costs 200 ns (1.76 us). At 100 ns a look stealing is ahead \
         (1.36 us).",
    ),
    (
        "policies-figure-3",
        "Checking ten cores for the price of one gives work stealing marginal benefits at best",
        "checks of 10 ns each gain more than ten checks at once in 100 ns can. Even they gain less than 5 % from 24 \
         cores on, where the paper is right; with fewer cores they gain up to 22 %, and how much of that ten checks at \
         once would gain is open.",
    ),
    (
        "policies-figure-5a",
        LOWEST,
        "delay range holds 18.5 cores with stealing, 22.9 with choice and 24.1 with shedding: \
      it keeps a mean delay, so better balancing turns into fewer cores and not into a shorter tail (13.3, 11.5 and \
      11.0 us), nearer to where the single queue's curve bends. In both directions at once, stealing is nearer there.",
    ),
    (
        "policies-figure-6",
        LOWEST,
        "as in Figure 5a: delay range holds 36.2 cores with stealing, 45.6 with choice and \
      48.3 with shedding, for tails of 12.1, 11.2 and 10.9 us.",
    ),
    (
        "policies-figure-9a",
        LOWEST,
        "as in Figure 5a: delay range holds 11.4 cores with stealing, 13.9 with choice and \
      14.5 with shedding, for tails of 14.7, 12.1 and 11.2 us.",
    ),
    (
        "policies-figure-9b",
        LOWEST,
        "as in Figure 5a: delay range holds 25.5 cores with stealing, 31.1 with choice and \
      31.7 with shedding, for tails of 12.7, 11.5 and 11.3 us.",
    ),
    (
        "policies-figure-9b",
        NEAREST,
        "under Caladan, stealing holds 26.6 cores with a p99.9 of 10.0 us, shedding 25.2 \
      with 23.8 us: thieves find work for longer, so fewer cores park. The curve is steep there, so what counts is \
      mostly cores, of which stealing holds 6 % more; in latency alone it is far nearer.",
    ),
    (
        "policies-figure-5a",
        "Keeping a buffer of idle cores performs significantly worse than the other policies",
        "the paper says neither how large the buffer is nor how it is restored. Here, two cores are kept idle, and one is \
         added or revoked in 5 us, which is as steady as the ranges. The authors' published simulator keeps two to four \
         by its defaults, adds or revokes the whole difference at once, and revokes at random: a reading closer to the \
         paper's \"too noisy\", which Caudal has no policy for.",
    ),
    (
        "policies-figure-5c",
        "Utilization range uses close to 60 % of the cores for all service times",
        "it does with stealing. With tasks of 1 us, choice and shedding run into overload on about 17 cores and stay: \
         their 100 ns actions leave 91 % of the time for tasks, which is within the range of 75-95 %, so no core is \
         added. The authors' published simulator does not count these actions as time of the core, and so sees \
         100 % there.",
    ),
    (
        "policies-figure-7",
        "Delay range keeps tail latency more constant across loads than per-task",
        "from load 0.2 on, per-task holds 62 to 64 of the 64 cores, so its tail is that of all cores (8.5 to 7.9 us) and \
         its efficiency that of the load. Delay range keeps a mean delay with 15 to 57 cores; more cores share bursts \
         better, and its tail falls from 14 to 11 us. It is steadier than Shenango and Caladan.",
    ),
    (
        "policies-figure-7",
        "Both ranges use fewer cores than per-task allocation at every load",
        "a tie: at load 0.9, 75-95 % of utilization take 61 to 77 cores, and both hold all 64.",
    ),
    (
        "policies-figure-10a",
        "With constant service times, work stealing outperforms no load balancing",
        CONSTANT,
    ),
    ("policies-figure-10a", "With constant service times, work stealing outperforms work shedding", CONSTANT),
    (
        "policies-figure-10a",
        ORDER,
        "what speaks against it is choice and shedding alone, of which the paper says on the \
      same page that their order varies with the distribution. With constant service times no task is stuck behind a \
      long one, which is what shedding mends: on 20 cores its p99.9 is 5.7 us against 4.9 us for choice, with exponential \
      ones 12.1 us against 13.3 us.",
    ),
    (
        "policies-figure-10b",
        ORDER,
        "what speaks against it is choice and shedding alone, of which the paper says on the \
      same page that their order varies with the distribution: on 24 cores, shedding has 15.2 us and choice 15.9 us, with \
      exponential service times 11.0 us and 10.7 us.",
    ),
    (
        "tiny-quanta-figure-4",
        "MSQ tie breaking gives long jobs a much lower tail slowdown than random tie breaking",
        "the paper gives no number; a third is our reading of *much*. In runs of eight times the length, MSQ has 1.30 against \
         1.80 at 2.5 M/s (28 % lower) and 1.58 against 1.96 at 3 M/s (19 %), then 3 % at 3.5, 7 % at 4 and 1 % at \
         4.5 M/s. It is surely lower where ties are common, by less than a third.",
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
        "only 2 M/s is open, where hardly a long job shares its core: 1.03 against 1.01 in runs of eight times \
         the length, which is surely more, but within 2 %.",
    ),
    (
        "q-zilla-figure-1",
        "In practice, synchronisation leaves scale-up only a part of that: 1.93 times",
        "a lock of 71 ns is all that synchronisation costs here, and hardly any request feels it: `rocksdb-1-short` comes at 7 million \
         a second, all others at 3.3 million or fewer, of which it lets 14 pass. The paper measured a real queue, with the cache misses of \
         sharing it.",
    ),
    (
        "q-zilla-figure-1",
        "A hierarchical organization has a slightly higher tail than practical scale-up: 16 %",
        "it is 2.4 times: two contexts share a queue, and a scan or two take both. A lock of 71 ns costs nothing beside \
         requests of 50 us; the paper's shared queue, measured, costs much more.",
    ),
    (
        "q-zilla-figure-1",
        "Services without a heavy tail, such as McRouter, have a lower tail with the hierarchical organization than with \
         practical scale-up",
        "a `routing` takes 22 us, so that 0.8 million come a second, and a lock of 71 ns is nothing to them. With one key a request \
         instead of 200 (0.15 us, 120 million a second) it let too few pass, and the statement held; the paper's requests are \
         tens of microseconds, too, so that its shared queue must have cost far more.",
    ),
    (
        "q-zilla-figure-7",
        "At low load, fewer contexts yield a lower tail",
        "a core of this model is as fast for one request with seven idle contexts beside it as without them. Where two \
         requests meet, the later one of equal length 1 that comes u after the other has a latency of 2 - u in a queue, and \
         2(1 - u)/s + u, which is less, on two contexts that do s > 1 together. So more contexts have the lower tail from \
         the lowest loads on, but where the p99 is a long request's. A core whose idle contexts cost it something \
         (partitioned buffers) would have a break-even point.",
    ),
    (
        "q-zilla-figure-7",
        "The break-even points of McRouter lie at higher loads than those of word stemming, whose tail is heavier",
        "the stalls of the host, which made most of the SCV of an earlier `routing`, were not the reason: measured without them (SCV 0.012; \
         that of `stemming` is 1.55), 8 contexts have the lower p99 from 0.20 and 0.42 on. What moves the point is shown by log-normal \
         service (`experiments/q-zilla-break-even`): with a standard deviation of 0.1, 0.3, 0.7, 1, 2 and 4 times the mean it lies \
         at 0.25, 0.33, 0.52, 0.53, 0.40 and 0.15. With a light tail, the p99 is a request that met others, and more contexts spare it the \
         queue; the heavier the tail, the more it is a long request's own time, which more contexts only stretch, until long requests \
         block the queue, and a heavier tail brings the point down again. It takes more than twice the mean until it lies before that of \
         requests that are alike; `stemming` has 1.24 times. Contexts that cost something while they are idle do not change the \
         order: 4 servers of 2.3/4 of a core's speed against 8 of 2.8/8 break even at 0.58 under `routing` and at 0.69 under `stemming` (`servers.toml` there), \
         with log-normal service at 0.55 (0.1), 0.69 (1), 0.61 (2) and 0.50 (4), and at 0.45 with a bounded Pareto. The paper's order is that \
         of a tail so heavy. It does not publish how heavy its is.",
    ),
    (
        "q-zilla-figure-8b",
        MORE_8B,
        "the service with 1 % of scans as measured gains three times with 2 servers, where a scan or two block \
         everybody. With more servers one queue lets short requests pass by itself, at the same load: its p99 is soon \
         that of the long requests' own service time, and no organization makes that shorter. The paper's loads rise \
         with the number of servers (break-even points); ours are 70 % throughout.",
    ),
    ("q-zilla-figure-8c", MORE_8C, "as with 4 servers against 2, see there."),
    (
        "q-zilla-figure-8a",
        "With 2 servers, processor sharing outperforms ISQD-SITA: by 6 %, on average",
        OF_TWO_SERVERS,
    ),
    ("q-zilla-figure-8a", "With 2 servers, SRPT outperforms ISQD-SITA: by 11 %, on average", OF_TWO_SERVERS),
    (
        "q-zilla-figure-8b",
        "With 4 servers, ISQD-SITA consistently outperforms processor sharing: by 16 %, on average",
        EDGE,
    ),
    ("q-zilla-figure-8c", "With 8 servers, ISQD-SITA consistently outperforms processor sharing", EDGE),
    ("q-zilla-figure-8b", "With 4 servers, SRPT outperforms ISQD-SITA for RSC only", OF_KNOWN_SIZES),
    ("q-zilla-figure-8c", "With 8 servers, ISQD-SITA consistently outperforms SRPT", OF_KNOWN_SIZES),
    (
        "q-zilla-figure-9b",
        "CoreZilla improves the tail over SMT by more with 4 contexts than with 2",
        "as in Figure 8: with more servers one queue lets short requests pass by itself.",
    ),
    (
        "q-zilla-figure-9b",
        "ESMT is only slightly behind CoreZilla with 2 contexts, and falls well short with 4",
        "one service keeps it open: the p99 of `rocksdb-1` is the edge between gets and scans, 2.4 ms under ESMT with 2 \
         contexts and 0.86 ms under CoreZilla (with 200 us as its cutoff, ESMT has 0.85 ms). Without it ESMT is 1.28 and \
         1.53 times as high on average, as the paper says; at loads of 0.3 and 0.5, with 2 contexts, 1.15 to 1.27 times \
         (`nearest-20`, `block-cache`, `rocksdb-10`).",
    ),
    (
        "q-zilla-figure-9c",
        "CoreZilla improves the tail over SMT by more with 8 contexts than with 4",
        "as in Figure 8: with more servers one queue lets short requests pass by itself.",
    ),
    (
        "q-zilla-figure-9c",
        "With 8 contexts, CoreZilla's tail is lower than that of an ideal queue for 32 cores, by 12 % (second reading)",
        READINGS,
    ),
    ("q-zilla-figure-8a", SHORT_OF_SITA, OF_SITA),
    ("q-zilla-figure-8b", SHORT_OF_SITA, OF_SITA),
    ("q-zilla-figure-8c", SHORT_OF_SITA, OF_SITA),
    ("q-zilla-figure-8b", NEVER_WORSE, EDGE),
    ("q-zilla-figure-8c", NEVER_WORSE, EDGE),
    ("q-zilla-figure-8b", ISQD_SQD, EDGE),
    ("q-zilla-figure-8c", ISQD_SQD, EDGE),
    ("q-zilla-figure-8b", ISQD_SQD_ALIKE, EDGE),
    ("q-zilla-figure-8c", ISQD_SQD_ALIKE, EDGE),
    ("q-zilla-figure-8c", "SQD-SITA is no worse than PG-SITA", EDGE),
    ("q-zilla-figure-9c", "CoreZilla never falls short of SMT", EDGE),
    (
        "q-zilla-figure-8c",
        "ISQD-SITA improves the tail over M/G/k: 4.76 times with 8 servers, on average",
        "of all services but `rocksdb-1` the p99 is that of a long request, or of one of many that are alike, and 8 servers \
         serve it at once nearly always. Where 0.5 % of requests are long (`rocksdb-0.5`), the factor is 200.",
    ),
    (
        "q-zilla-figure-10",
        "ISQD-SITA increases the number of preemptions over SQD-SITA",
        "in eight lanes of one server, a server of SQD-SITA that reaches a cutoff mostly may not follow its request into the \
         next lane, and stops. One of ISQD-SITA, which would idle otherwise, goes on with it, and that is no preemption; \
         with short requests and light tails this saves more than arrivals cost.",
    ),
    (
        "q-zilla-figure-10",
        "For RSC, ISQD-SITA has more preemptions than preemptive SITA: 0.84 of a request against 0.63",
        "preemptive SITA stops a request at each cutoff that it passes, so that its number follows from the cutoffs \
         alone: 1.41 with ours, which share out a block cache's work among eight servers. ISQD-SITA comes to 0.31 with \
         the same cutoffs and to 0.39 with its own, and to 0.84 and 1.03 at a load of 0.9.",
    ),
    (
        "q-zilla-figure-10",
        "The number of preemptions of (I)SQD-SITA is small",
        "it is of ISQD-SITA. Eight lanes that end at every 2.8 us for requests of 22 us, so that each of eight servers has as \
         much to do, stop each of them twice; nobody would have them.",
    ),
    (
        "tail-control-figure-6",
        "For Bing's work, admit-first performs better than steal-first in most cases",
        "it is ahead at the two shortest targets of each load, and behind at the two longest. Which targets the paper has is known by their ranks \
         alone.",
    ),
    (
        "tail-control-figure-7",
        "Under heavy load and the two longest targets, tail-control is the same schedule as steal-first",
        OF_FINANCE,
    ),
    (
        "tail-control-figure-7",
        "Where steal-first is best, tail-control does not increase the misses by serialising requests unnecessarily",
        OF_FINANCE,
    ),
    (
        "tail-control-figure-7",
        "Even for the finance server's work, tail-control significantly improves the miss ratio in some cases",
        OF_FINANCE,
    ),
    (
        "tail-control-figure-7",
        "Under medium load with the longest target, tail-control improves on steal-first: by 36 %",
        OF_FINANCE,
    ),
    (
        "tail-control-figure-8",
        "With log-normal work, steal-first performs slightly worse than admit-first when the target is short",
        "they are within 3 % of each other. It depends on what helping costs: 25 ns a fork, 100 ns an attempt and nothing for a steal here. \
         With 1 us, 1 us and 5 us, steal-first has 6.3 % ± 15 % misses of 13.9 ms at heavy load against 3.5 % ± 9 % for admit-first \
         (10 replications of 50,000 requests).",
    ),
    (
        "tail-control-figure-13",
        "Tail-control is comparable to the one that knows the work when the target is long",
        OF_KNOWN_WORK,
    ),
    (
        "tail-control-figure-14",
        "Tail-control is comparable to the one that knows the work when the target is long",
        OF_KNOWN_WORK,
    ),
];

const MSQ: &str = "in runs of eight times the length, p99.9 of the long jobs is 1.03 under MSQ and 1.01 under random ties at \
     2 M/s, where next to nobody waits. From 2.5 to 4 M/s MSQ is surely lower at every rate (1.30 against 1.80, 1.58 \
     against 1.96, 1.92 against 1.99, 2.39 against 2.57), and at 4.5 M/s they are equal within their intervals (3.22 and \
     3.26).";

const LOWEST: &str =
    "Work stealing performs best with every core-allocation policy: latency over the single queue's";
const NEAREST: &str =
    "Work stealing performs best with every core-allocation policy: distance to the single queue's curve";
const ORDER: &str = "The ordering of the static curves is the same as with exponential service times";
const CONSTANT: &str = "only the median on all 32 cores speaks against it. Half of the cores are idle then, and without \
     balancing the median task finds its core so and takes exactly its 1 us. A core that looks for work to steal sees its \
     own queue at the end of a check, up to 100 ns later.";

/// The reasons that were found for a statement that did not hold, or stayed undecided.
pub(crate) fn note(figure: &str, statement: &str) -> Option<&'static str> {
    NOTES.iter().find(|(name, text, _)| *name == figure && *text == statement).map(|(_, _, note)| *note)
}

/// The end of the overview.
pub(crate) const UNJUDGED: &str = "\
**What is not judged:** of Tiny Quanta, that its dispatcher keeps small quanta (Figure 16: its cores preempt themselves, by
construction), TQ-TIMING (Figure 11: other quanta for gets than for scans), caches and compiler (Figures 13 to 15, Table 3) and
latencies that are curves alone (Figure 8); the policies paper's Figure 1 (other systems than those of Figure
8) and, of its section 4.2.1, how long tasks wait on other cores, placement by the work in two queues, and lower thresholds of
shedding; Q-Zilla's Figures 4 and 5, which are steps of an example that tests follow, and its break-even loads, which are of its own
core; tail-control's Figures 1, 3 and 5 (histograms and algorithms), and what it calls similar without a number (sections 5.2, 5.3).
";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::FIGURES;

    #[test]
    fn every_note_belongs_to_a_statement() {
        for (name, text, _) in NOTES {
            let figure = FIGURES.iter().find(|figure| figure.name == *name).expect(name);
            assert!(figure.statements.iter().any(|statement| statement.text == *text), "{name}: {text}");
        }
    }
}
