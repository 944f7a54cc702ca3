//! Sentences and summaries of a plan: every number is that of a row, and what is not confirmed is not claimed.

use caudal_config::File;
use caudal_tune::{Budget, Machine, Question, Role};

use crate::asked::{DISPERSED, ON_CONSTANT, ON_DISPERSED, ON_DISPERSED_FOR_LONGER, planned, question};

#[test]
fn what_is_called_confirmed_was_seen_in_long_runs_and_nothing_else_is_cited() {
    for (plan, limit_ns) in [(&*ON_DISPERSED, 20_000.0), (&*ON_CONSTANT, 10_000.0)] {
        let mut confirmed = 0;
        for line in &plan.systems {
            let at = |load: f64| {
                plan.rows.iter().find(|row| row.system == line.system && row.load == load).expect("its row")
            };
            let tail = |load: f64| at(load).classes.0[0].1.latency_ns.percentile(99.9).expect("asked for");
            let Some(pass) = line.reach.pass else { continue };
            assert_eq!(line.reach.confirmed, line.reach.certain == Some(pass), "{line:?}");
            if let Some(certain) = line.reach.certain {
                assert!(at(certain).steady && tail(certain).high < limit_ns, "{} at {certain}", line.system);
                assert!(certain <= pass);
            }
            if let Some(missed) = line.reach.missed {
                assert!(at(missed).overloaded || tail(missed).low >= limit_ns, "{} at {missed}", line.system);
            }
            confirmed += u32::from(line.reach.confirmed);
        }
        assert!(confirmed > 1, "rivals are confirmed, too: {:?}", plan.systems);
        // Loads that sentences say systems reach.
        for sentence in &plan.explanation {
            for said in sentence.split("reaches load ").skip(1) {
                let load = said.split([' ', ':', ';', ',']).next().expect("a load").trim_end_matches('.');
                let load: f64 = load.parse().expect("a number");
                let known = plan.systems.iter().any(|line| line.reach.certain == Some(load));
                assert!(known, "{load} was not confirmed: {sentence}");
            }
        }
    }
}

#[test]
fn the_summary_shows_each_role_once_with_the_numbers_of_its_row() {
    for (plan, limit_ns) in [(&*ON_DISPERSED, 20_000.0), (&*ON_CONSTANT, 10_000.0)] {
        let shown = &plan.summary.shown;
        let with = |role: Role| shown.iter().filter(|it| it.roles.contains(&role)).collect::<Vec<_>>();
        for role in [Role::Answer, Role::RunnerUp, Role::NoPreemption, Role::Today, Role::Bound] {
            assert_eq!(with(role).len(), 1, "{role:?}: {shown:?}");
        }
        let names: std::collections::BTreeSet<&str> = shown.iter().map(|it| it.system.as_str()).collect();
        assert_eq!(names.len(), shown.len(), "a line each: {shown:?}");
        let winner = &plan.winner.as_ref().expect("a winner").system;
        assert_eq!((&shown[0].system, shown[0].roles[0]), (winner, Role::Answer));
        assert_eq!(with(Role::Today)[0].system, "work-stealing");
        assert_eq!(with(Role::Bound)[0].system, "ps-fluid");
        assert_ne!(with(Role::NoPreemption)[0].system, "caudal-ps");
        for it in shown {
            let line = plan.systems.iter().find(|line| line.system == it.system).expect("its line");
            let at = line.reach.certain.or(line.reach.pass).expect("all get somewhere here");
            assert_eq!(it.at, Some(at), "{it:?}");
            let row =
                plan.rows.iter().find(|row| row.system == it.system && row.load == at).expect("its row");
            assert_eq!((it.rate_per_s, it.efficiency), (Some(row.rate_per_s), Some(row.efficiency)));
            assert!(it.targets.len() == 1 && it.targets[0].limit == limit_ns, "{it:?}");
        }
    }
    // Who never interrupts and wins is both.
    assert!(
        ON_CONSTANT.summary.shown[0].roles.contains(&Role::NoPreemption),
        "{:?}",
        ON_CONSTANT.summary.shown
    );
    let dispersed = &ON_DISPERSED.summary;
    assert!(
        dispersed.run.starts_with("Run caudal-ps") && dispersed.run.ends_with(" on 8 cores."),
        "{}",
        dispersed.run
    );
    let abouts: Vec<&str> = dispersed.facts.iter().map(|fact| fact.about).collect();
    assert_eq!(abouts, ["It is", "It carries", "It costs", "How sure"]);
    let facts: Vec<&str> = dispersed.facts.iter().map(|fact| fact.text.as_str()).collect();
    let facts = facts.join(" ");
    assert!(
        facts.contains("20 µs") && !facts.split(' ').any(|word| word.trim_end_matches(',') == "us"),
        "{facts}"
    );
    assert!(dispersed.why.iter().all(|sentence| sentence.chars().count() < 300), "{:?}", dispersed.why);
}

#[test]
fn where_nothing_meets_the_targets_the_summary_says_what_to_do() {
    let plan = planned(
        &question("extreme-bimodal", "short p99.9 < 510ns", &["work-stealing", "caudal-ps", "ideal"]),
        2,
    );
    assert!(plan.winner.is_none() && plan.summary.run.starts_with("Nothing "), "{:?}", plan.summary);
    assert_eq!(plan.summary.facts.last().map(|fact| fact.about), Some("What to do"));
    assert!(plan.summary.shown[0].roles.contains(&Role::Nearest), "{:?}", plan.summary.shown);
}

#[test]
fn a_system_that_the_budget_left_without_an_answer_is_named() {
    let service =
        "[workload]\nservice = { distribution = \"exponential\", mean = \"1ms\" }\n[system]\ncores = 1";
    let workload = File::parse(service, "test.toml").expect("a file").workload.expect("there is one");
    let systems = ["work-stealing", "stealing-and-choice"];
    let question = Question {
        workload,
        // Of that many idle cores, each takes time to simulate.
        machine: Machine::Cores(256),
        budget: Budget { requests: 300_000 },
        ..question("exp-1us", "p99 < 10ms", &systems)
    };
    let plan = planned(&question, 2);
    let line = |name: &str| plan.systems.iter().find(|line| line.system == name).expect("its line");
    assert!(line("stealing-and-choice").untried, "{:?}", line("stealing-and-choice"));
    assert!(plan.headline.starts_with("Of the systems that were tried, work-stealing"), "{}", plan.headline);
    let why = plan.explanation.join("\n");
    assert!(why.contains("The budget ended before anything was known of stealing-and-choice."), "{why}");
}

#[test]
#[ignore = "long: make test-long"]
fn estimates_that_are_held_against_a_limit_come_with_what_is_known_of_them() {
    let mut held = 0;
    for sentence in &ON_DISPERSED_FOR_LONGER.explanation {
        for before in sentence.split(" times the limit").collect::<Vec<_>>().split_last().expect("one").1 {
            let said = &before[before.rfind(" its ").expect("whose it is")..];
            assert!(
                said.contains(" to ") || said.contains("at least ") || said.contains("precision)"),
                "{sentence}"
            );
            held += 1;
        }
    }
    assert!(held > 0);
}

#[test]
fn numbers_of_a_rival_are_said_to_be_of_the_load_that_they_are_of() {
    let plan = &*ON_DISPERSED;
    let winner = plan.winner.as_ref().expect("a winner");
    let line = plan.systems.iter().find(|line| line.system == winner.system).expect("its line");
    let place = format!("At load {} ", line.reach.pass.expect("a pass"));
    for sentence in
        plan.explanation.iter().filter(|sentence| sentence.contains("on average for its first time slice"))
    {
        assert!(sentence.contains(&format!("{place}a ")) && !sentence.contains("There a "), "{sentence}");
    }
    // Both dedicate a core to a dispatcher: that sets neither apart.
    let runner_up =
        plan.explanation.iter().find(|sentence| sentence.starts_with("The runner-up")).expect("one");
    assert!(!runner_up.contains("fewer for requests"), "{runner_up}");
}

/// A core that stands still for a percent of the time has a p99.9 that no policy mends: the costs do it, and are named.
#[test]
fn where_stalls_are_in_the_way_the_plan_says_so() {
    let costs = "[costs]\nstalls = { rate = \"100/s\", lengths = [[0.0, \"50us\"], [1.0, \"150us\"]] }\n";
    let costs = caudal_config::costs_as_overrides_of_text(costs).expect("costs");
    let base = question("exp-1us", "p99.9 < 20us", &["caudal-ps"]);
    let plan = planned(&Question { costs, budget: Budget { requests: 2_000_000 }, ..base }, 2);
    assert!(plan.winner.is_none(), "{}", plan.headline);
    let named = |reason: &&String| reason.contains("1.0 % of the time of each core, 100/s of them");
    let reason = plan.explanation.iter().find(named).unwrap_or_else(|| panic!("{:?}", plan.explanation));
    assert!(reason.contains("100 µs or longer") && reason.contains("the key `stalls`"), "{reason}");
}

#[test]
fn a_winner_that_the_budget_stopped_is_said_to_be_open() {
    let asked = question("extreme-bimodal", "short p99.9 < 20us", &DISPERSED);
    let mut said = Vec::new();
    for millions in [1, 2, 3, 4, 8] {
        let plan =
            planned(&Question { budget: Budget { requests: millions * 1_000_000 }, ..asked.clone() }, 2);
        let Some(winner) = plan.winner.as_ref().filter(|winner| winner.confirmed) else { continue };
        let line = plan.systems.iter().find(|line| line.system == winner.system).expect("its line");
        let open = plan.explanation.iter().any(|sentence| sentence.contains("may get further itself"));
        assert_eq!(open, line.budget_ended, "{millions} M: {:?}", plan.explanation);
        said.push(open);
    }
    assert!(said.contains(&true), "{said:?}");
}

#[test]
fn what_long_requests_pay_for_lanes_is_said_beside_what_they_pay_without() {
    let plan = planned(&question("extreme-bimodal", "short p99.9 < 2us", &["isqd-sita", "work-stealing"]), 2);
    let line = plan.systems.iter().find(|line| line.system == "isqd-sita").expect("its line");
    let pass = line.reach.pass.expect("a pass");
    let row = plan.rows.iter().find(|row| row.system == "isqd-sita" && row.load == pass).expect("its row");
    let mean = row.classes.0[1].1.latency_ns.mean;
    let said = plan.explanation.iter().find(|sentence| sentence.starts_with("What long requests pay"));
    let said = said.expect("it is said");
    let own = format!("a `long` of 500 µs is done after {:.0} µs (", mean.estimate / 1e3);
    assert!(said.contains(&own), "{own}: {said}");
    let (_, rival) = said.split_once("under work-stealing ").expect("what they pay without lanes");
    let rival_us: f64 = rival.split(' ').next().and_then(|number| number.parse().ok()).expect("a time");
    assert!(rival_us >= 500.0 && rival_us * 1e3 < mean.low, "{said}");
}
