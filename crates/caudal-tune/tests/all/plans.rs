//! Plans from outside: who wins, why, and that the same question gives the same bits.

use caudal_config::File;
use caudal_tune::{Budget, Machine, Plan, Question};

use crate::asked::{ON_CONSTANT, ON_DISPERSED, ON_DISPERSED_FOR_LONGER, planned, question};

#[test]
fn a_constant_and_a_dispersed_workload_have_different_winners_for_different_reasons() {
    let (constant, dispersed) = (&*ON_CONSTANT, &*ON_DISPERSED);
    let name = |plan: &Plan| plan.winner.as_ref().expect("a winner").system.clone();
    assert!(name(constant).contains("stealing"), "{}", constant.headline);
    assert_eq!(name(dispersed), "caudal-ps", "{}", dispersed.headline);
    let why = |plan: &Plan| plan.explanation.join("\n");
    assert!(why(constant).contains("letting one overtake another gains nothing"), "{}", why(constant));
    assert!(why(constant).contains("Of the deployable systems that interrupt requests"), "{}", why(constant));
    assert!(
        why(dispersed).contains("0.50 % of the requests (`long`) bring 83 % of the work"),
        "{}",
        why(dispersed)
    );
    assert!(
        why(dispersed).contains("Of the deployable systems that run every request to completion"),
        "{}",
        why(dispersed)
    );
    assert!(why(dispersed).contains("preemptions a request"), "{}", why(dispersed));
}

#[test]
fn brackets_are_narrow_and_the_rows_bear_them_out() {
    let plan = &*ON_DISPERSED;
    let winner = plan.winner.as_ref().expect("a winner");
    let line = plan.systems.iter().find(|line| line.system == winner.system).expect("its line");
    let pass = line.reach.pass.expect("a pass");
    // Long requests relax slowly: what the budget can not reach neither passes nor fails.
    assert!(line.budget_ended && line.reach.fail.is_none_or(|fail| pass < fail), "{:?}", line.reach);
    let at = |load: f64| {
        plan.rows.iter().find(|row| row.system == winner.system && row.load == load).expect("its row")
    };
    let short = |load: f64| at(load).classes.0[0].1.latency_ns.percentile(99.9).expect("asked for");
    assert!(short(pass).high < 20_000.0, "{:?}", short(pass));
    assert!(at(pass).steady, "it confirms no more than the run is long enough for");
    // What the explanation says of preemptions is what the row says.
    let said = format!("{:.2} preemptions a request", at(pass).preemptions_per_request.estimate);
    let (why, value) = (plan.explanation.join("\n"), at(pass).preemptions_per_request.estimate);
    assert!(value >= 9.995 || why.contains(&said), "{said} in {why}");
    // Dedicated cores count: at load x of 8 cores, 7 workers are x * 8/7 busy.
    let row = at(pass);
    assert_eq!((row.cores, row.cores_allocated + row.cores_dedicated), (8, 8));
    assert!((row.rate_per_s - pass * 8.0 / 2.9975e-6).abs() < 1.0, "{}", row.rate_per_s);
    // More work than cores is no pass, however fast the short requests are.
    assert!(pass * 8.0 / 7.0 * 1.05 < 1.0, "{pass}");
    let reference = plan.systems.iter().find(|line| line.system == "ps-fluid").expect("its line");
    assert!(reference.reach.pass > Some(pass), "what costs nothing carries more: {:?}", reference.reach);
    assert!(reference.reference_only.is_some() && winner.system != "ps-fluid", "a reference line won");
}

#[test]
fn systems_that_are_the_same_queue_tie_and_the_simplest_is_named() {
    let systems = ["stealing-and-shedding", "work-stealing", "ix", "no-balancing"];
    let question = Question { machine: Machine::Cores(1), ..question("exp-1us", "p99 < 20us", &systems) };
    let plan = planned(&question, 2);
    let winner = plan.winner.as_ref().expect("a winner");
    // On one core there is nothing to steal: all are M/M/1, with an exact limit of 1 - ln(100) / 20.
    assert_eq!(winner.system, "no-balancing", "{}", plan.headline);
    assert!(winner.confirmed);
    let reach = plan.systems.iter().find(|line| line.system == winner.system).expect("its line").reach;
    assert!(reach.confirmed && (0.7..0.77).contains(&reach.pass.expect("a pass")), "{reach:?}");
    let tie = plan.explanation.iter().find(|sentence| sentence.starts_with("It is a tie with"));
    let tie = tie.unwrap_or_else(|| panic!("{:?}", plan.explanation));
    assert!(systems[..3].iter().all(|name| tie.contains(name)) && tie.contains("fewest mechanisms"), "{tie}");
}

#[test]
fn brackets_are_narrow_where_the_budget_reaches() {
    let plan = &*ON_CONSTANT;
    let winner = plan.winner.as_ref().expect("a winner");
    let line = plan.systems.iter().find(|line| line.system == winner.system).expect("its line");
    let (pass, fail) = (line.reach.pass.expect("a pass"), line.reach.fail.expect("a fail"));
    assert!(pass < fail && fail - pass <= 0.02 && winner.confirmed, "{pass} to {fail}");
    let failed =
        plan.rows.iter().find(|row| row.system == winner.system && row.load == fail).expect("its row");
    let above = failed.latency_ns.percentile(99.9).is_none_or(|found| found.high >= 10_000.0);
    assert!(failed.overloaded || above || !failed.steady, "{:?}", failed.latency_ns);
}

#[test]
fn dedicated_cores_are_held_all_the_time() {
    let mut dedicated = 0;
    for row in ON_DISPERSED.rows.iter().filter(|row| row.steady && row.load > 0.0) {
        // These presets hold all of their cores: no more of their time can be work than is offered.
        let (shown, of) = (row.efficiency, format!("{} at {}: {:?}", row.system, row.load, row.efficiency));
        assert!(shown.low <= row.load * 1.001, "{of}");
        let overheads = row.overheads;
        assert_eq!(overheads.dedicated, f64::from(row.cores_dedicated) / 8.0, "{of}");
        dedicated += row.cores_dedicated;
    }
    assert!(dedicated > 0, "somebody dispatches");
    for line in &ON_DISPERSED.systems {
        let (Some(pass), Some(efficiency)) = (line.reach.pass, line.efficiency) else { continue };
        assert!(efficiency.low <= pass * 1.001, "{}: {efficiency:?} at {pass}", line.system);
    }
}

#[test]
fn what_lacks_requests_gets_them_and_the_same_queue_reaches_as_far() {
    // Constant services: whoever has one queue and pays nothing is the same.
    let same = ["single-queue", "ideal", "nanopu"];
    let question = question("facebook-usr", "p99.9 < 8us", &[&same[..], &["work-stealing"]].concat());
    let plan = planned(&question, 2);
    assert!(plan.spent <= plan.budget, "{} of {}", plan.spent, plan.budget);
    let line = |name: &str| plan.systems.iter().find(|line| line.system == name).expect("its line");
    for name in same {
        let (pass, first) =
            (line(name).reach.pass.expect("a pass"), line(same[0]).reach.pass.expect("a pass"));
        assert!((pass - first).abs() <= 0.02, "{name} reaches {pass}, {} {first}", same[0]);
        // M/D/8: about 0.94.
        assert!((0.9..0.96).contains(&pass), "{name}: {pass}");
    }
    for line in plan.systems.iter().filter(|line| !line.budget_ended && !line.reach.fail_certain) {
        let Some(fail) = line.reach.fail else { continue };
        let at = |row: &&caudal_sim::row::Row| row.system == line.system && row.load == fail;
        let row = plan.rows.iter().find(at).expect("its row");
        let found = row.latency_ns.percentile(99.9).expect("asked for");
        let lacking = found.estimate < 8_000.0 && found.high.is_infinite();
        assert!(!lacking, "{} gave up at {fail} for a lack of requests: {found:?}", line.system);
    }
}

#[test]
fn the_winners_curve_shows_between_its_searches_places() {
    let plan = &*ON_DISPERSED_FOR_LONGER;
    let winner = plan.winner.as_ref().expect("a winner");
    let line = plan.systems.iter().find(|line| line.system == winner.system).expect("its line");
    let own = plan.rows.iter().filter(|row| row.system == winner.system);
    let mut loads: Vec<f64> = own.map(|row| row.load).filter(|&load| Some(load) <= line.reach.pass).collect();
    loads.push(0.0);
    loads.sort_by(f64::total_cmp);
    let widest = loads.windows(2).map(|pair| pair[1] - pair[0]).fold(0.0, f64::max);
    assert!(widest <= 0.25, "{loads:?}");
}

#[test]
fn the_policy_reads_back_and_says_what_made_it() {
    let question = question("exp-1us", "p99.9 < 20us", &["caudal-ps", "caudal-stealing"]);
    let plan = planned(&question, 2);
    let policy = plan.winner.expect("a winner").policy_toml;
    assert!(policy.starts_with("# Made by `caudal plan`"), "{policy}");
    assert!(policy.contains("p99.9 < 20us") && policy.contains("seed 1"), "{policy}");
    let file = File::parse(&policy, "policy.toml").expect("a policy file");
    assert_eq!(file.systems.len(), 1);
    assert_eq!(
        caudal_config::write_policy(&file.systems[0].system, &file.systems[0].costs, ""),
        policy.split_once("\n\n").expect("a header").1
    );
}

#[test]
fn the_runtime_gets_only_what_it_can_run() {
    let no_runtime = ["shenango", "caladan-delay-range", "las", "srpt", "ideal", "ps-fluid", "nanopu"];
    let asked = [&["caudal-ps", "caudal-fcfs", "work-stealing", "tiny-quanta"][..], &no_runtime].concat();
    let question = Question {
        machine: Machine::Runtime { workers: 2, dispatcher: true },
        budget: Budget { requests: 6_000_000 },
        ..question("exp-1us", "p99 < 20us", &asked)
    };
    let plan = planned(&question, 2);
    let names: Vec<&str> = plan.systems.iter().map(|line| line.system.as_str()).collect();
    assert!(names.contains(&"caudal-ps") && names.contains(&"work-stealing"), "{names:?}");
    for other in no_runtime {
        assert!(!names.contains(&other), "{names:?}");
        assert!(plan.left_out.iter().any(|out| out.system == other && !out.reason.is_empty()));
    }
    let policy = plan.winner.expect("a winner").policy_toml;
    let options = caudal_config::Options { host: caudal_config::SystemHost::Runtime, ..Default::default() };
    let file = File::parse_with(&policy, "policy.toml", &options).expect("the runtime takes it");
    assert_eq!(file.systems[0].system.cores_allocated, 2);
    assert!(plan.rows.iter().all(|row| row.cores == 2 && row.cores_allocated == 2));
}

#[test]
fn without_a_core_for_a_dispatcher_workers_take_their_requests_in_themselves() {
    let asked = ["caudal-ps", "caudal-fcfs", "caudal-stealing", "caudal-stealing-ps"];
    let question = Question {
        machine: Machine::Runtime { workers: 1, dispatcher: false },
        budget: Budget { requests: 3_000_000 },
        ..question("exp-1us", "p99 < 20us", &asked)
    };
    let plan = planned(&question, 2);
    let names: Vec<&str> = plan.systems.iter().map(|line| line.system.as_str()).collect();
    assert!(names.iter().all(|name| name.starts_with("caudal-stealing")) && names.len() == 2, "{names:?}");
    let reason = |system: &str| plan.left_out.iter().find(|out| out.system == system).map(|out| &out.reason);
    for system in ["caudal-ps", "caudal-fcfs"] {
        assert!(reason(system).is_some_and(|reason| reason.contains("dispatcher")), "{:?}", plan.left_out);
    }
    assert!(plan.headline.contains("1 worker without a dispatcher"), "{}", plan.headline);
}

#[test]
fn lanes_are_looked_for_where_the_published_ones_are_those_of_other_services() {
    let plan = planned(&question("log-normal-10ms", "p99 slowdown < 4", &["isqd-sita", "no-balancing"]), 2);
    let line = plan.systems.iter().find(|line| line.system == "isqd-sita").expect("its line");
    let tuning = line.tuning.as_ref().expect("lanes were looked for");
    // A cutoff of 10 us sends all requests of 10 ms to the second lane.
    assert_eq!(tuning.published, "5/2 at 10 µs");
    assert!(tuning.chosen.ends_with("ms") && tuning.tried.len() > 2, "{tuning:?}");
    assert!(tuning.tried.iter().any(|tried| tried.value == tuning.chosen.as_str()), "{tuning:?}");
    let winner = plan.winner.as_ref().expect("a winner");
    let named = format!("isqd-sita with lanes of {}", tuning.chosen);
    assert!(winner.system == "isqd-sita" && plan.headline.starts_with(&named), "{}", plan.headline);
    // What is deployed, and what is said of it, are those lanes.
    let (_, cutoff) = tuning.chosen.split_once(" at ").expect("a cutoff");
    // Files spell times as they are typed.
    let typed = cutoff.replace(' ', "");
    assert!(winner.policy_toml.contains(&format!("cutoffs = [\"{typed}\"]")), "{}", winner.policy_toml);
    let why = plan.explanation.join("\n");
    assert!(why.contains(&format!("lanes of isqd-sita: {} instead of 5/2 at 10 µs", tuning.chosen)), "{why}");
    assert!(why.contains("What long requests pay: the p99.9 of all latencies is "), "{why}");
}

/// 1,000 arrivals at 200/s, then 3,000 at 900/s, stretched: in the busy part there is 1.88 times the mean load.
#[test]
fn of_recorded_arrivals_the_busy_part_decides() {
    let dir = tempfile::tempdir().expect("a directory");
    let uniform =
        |number: u64| ((caudal_policy::random::hash(9, number) >> 11) as f64 + 0.5) / (1_u64 << 53) as f64;
    let mut now_ns = 0.0;
    let times: String = (0..4_000_u64)
        .map(|number| {
            now_ns += -uniform(number).ln() * if number < 1_000 { 5e6 } else { 1e9 / 900.0 };
            format!("{}\n", now_ns as u64)
        })
        .collect();
    std::fs::write(dir.path().join("times.csv"), times).expect("a file");
    let text = "[workload]\nservice = { distribution = \"exponential\", mean = \"1ms\" }\n\
                arrivals = { file = \"times.csv\", scale = true }\n[system]\ncores = 1";
    let file = File::parse(text, dir.path().join("in.toml")).expect("a file");
    let asked = Question {
        workload: file.workload.expect("a workload"),
        machine: Machine::Cores(1),
        ..question("exp-1us", "p99 < 20ms", &["caudal-stealing"])
    };
    let found = planned(&asked, 2);
    let carried = found.systems[0].reach.pass.expect("a load");
    assert!((0.35..0.5).contains(&carried), "{}", found.headline);
    let row = found.rows.iter().find(|row| row.load == carried).expect("a row of that load");
    assert!(!row.steady && row.holds(), "about the file, and not about a steady state");
}
