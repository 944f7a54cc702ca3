//! Every kind of mistake: where it is pointed at (line and column), what is said, and what would be right.

use caudal_config::File;

/// Reads each text and holds the error, all of it, against what is expected; `in.toml:` stands before every
/// line of it.
fn refused(cases: &[(&str, &str)]) {
    for (text, expected) in cases {
        let read = File::parse(text, "in.toml").and_then(|file| file.points().map(|_| ()));
        let error = read.expect_err(text).to_string();
        let error = error.replace("in.toml:", "");
        assert_eq!(&error, expected, "{text}");
    }
}

#[test]
fn the_good_file_is_taken() {
    let text = "[workload]\nservice = \"exp-1us\"\nload = 0.5\n[system]\ncores = 16\n";
    assert_eq!(File::parse(text, "in.toml").unwrap().points().unwrap()[0].key, "system/load=0.5");
}

#[test]
fn what_is_no_description_at_all() {
    refused(&[
        (r#"x = ["#, r#"1:6: this is not TOML: unclosed array, expected `]`"#),
        (
            r#"[sytem]
cores = 16"#,
            r#"1:2: `sytem` is no key of this file (did you mean `system`?)"#,
        ),
        (
            r#"[mesure]
seed = 1
[system]
cors = 16"#,
            r#"1:2: `mesure` is no key of this file (did you mean `measure`?)
3:1: `[system]` needs `cores` (write the cores of the machine, as in cores = 16)
4:1: `cors` is no key of `[system]` (did you mean `cores`?)"#,
        ),
        (
            r#"[[system]]
cores = 16
[[system]]
cores = 8
name = "system""#,
            r#"3:1: two systems are called "system" (give each a `name` of its own)"#,
        ),
        (
            r#"system = 3"#,
            r#"1:10: `system` is a number, but must be a table (write [system] on a line of its own)"#,
        ),
        (r#""#, r#"1:1: there is no table [system] (add it, as in preset = "tiny-quanta" and cores = 16)"#),
    ]);
}

#[test]
fn the_system_table() {
    refused(&[
        (
            r#"[system]
cores = 16
quantum = "2us""#,
            r#"3:1: `quantum` is no key of `[system]` (it belongs to `discipline`, as in discipline = { policy = "processor-sharing", quantum = "2us" })"#,
        ),
        (
            r#"[system]
cores = 16
discipine = "fcfs""#,
            r#"3:1: `discipine` is no key of `[system]` (did you mean `discipline`?)"#,
        ),
        (
            r#"[system]
cores = 0"#,
            r#"2:9: `cores` is 0, and the machine can not have that many (write a whole number from 1 to 4096)"#,
        ),
        (
            r#"[system]
cores = -4"#,
            r#"2:9: `-4` is out of range (write a whole number from 1 to 4096)"#,
        ),
        (
            r#"[system]
cores = 1_000_000_000"#,
            r#"2:9: `cores` is 1000000000, and the machine can not have that many (write a whole number from 1 to 4096)"#,
        ),
        (
            r#"[system]
cores = 99999999999999999999"#,
            r#"2:9: `99999999999999999999` is beyond the whole numbers of TOML (write a whole number such as 16)"#,
        ),
        (
            r#"[system]
cores = "16""#,
            r#"2:9: "16" is not what belongs here (write a whole number from 1 to 4096)"#,
        ),
        (
            r#"[system]
name = "x""#,
            r#"1:1: `[system]` needs `cores` (write the cores of the machine, as in cores = 16)"#,
        ),
        (
            r#"[system]
cores = 16
preset = "tiny-quata""#,
            r#"3:10: no preset is called "tiny-quata" (did you mean `tiny-quanta`?)"#,
        ),
        (
            r#"[system]
cores = 16
preset = "zzz""#,
            r#"3:10: no preset is called "zzz" (known: `ix`, `arachne`, `shenango`, `caladan`, `caladan-delay-range`, `caladan-utilization-range`, `fred`, `go`, `shinjuku`, `tiny-quanta`, `nanopu`, `caudal-ps`, `caudal-fcfs`, `caudal-stealing`, `caudal-stealing-ps`, `sqd-sita`, `isqd-sita`, `smt`, `hsmt`, `esmt`, `corezilla`, `steal-first`, `admit-first`, `default-tbb`, `tail-control`, `tc-clairvoyant`, `no-balancing`, `enqueue-choice`, `work-shedding`, `work-stealing`, `stealing-and-shedding`, `stealing-and-choice`, `single-queue`, `jbsq-3`, `ideal`, `ps-fluid`, `las` and `srpt`)"#,
        ),
        (
            r#"[system]
cores = 1979-05-27"#,
            r#"2:9: `1979-05-27` is a date, which nothing here wants (write a number, or text in quotes)"#,
        ),
        (
            r#"[system]
cores = [16, 16]"#,
            r#"2:14: 16 stands twice in the list (remove one of them)"#,
        ),
    ]);
}

#[test]
fn policies_and_their_parameters() {
    refused(&[
        (
            r#"[workload]
service = { distribution = "mixture", classes = [
  { name = "get", weight = 0.9, service = "exp-1us" }, { name = "scan", weight = 0.1, service = "exp-1us" } ] }
load = 0.5
[[system]]
preset = "tail-control"
cores = 16
parallelism = { policy = "tail-control", target = "5ms", classes = { get = { target = "1ms" }, put = { target = "1ms" } } }"#,
            r#"8:96: the workload has no class `put` (it has get, scan)"#,
        ),
        (
            r#"[system]
cores = 16
discipline = { policy = "processor-sharing", quantum = "2 parsecs" }"#,
            r#"3:56: `parsecs` is not a unit of time; use ps, ns, us, ms or s"#,
        ),
        (
            r#"[system]
cores = 16
discipline = { policy = "processor-sharing", quantum = 2 }"#,
            r#"3:56: `2` has no unit; write "2ns", "2us", "2ms" or "2s""#,
        ),
        (
            r#"[system]
cores = 16
discipline = { policy = "processor-sharing", quantum = "-2us" }"#,
            r#"3:56: `-2us` is negative; write a time from 0 on, as in "2us""#,
        ),
        (
            r#"[system]
cores = 16
discipline = { policy = "processor-sharing", quantum = "50ns" }"#,
            r#"3:56: a quantum below 100 ns, or above an hour: a slice that is shorter than the switch at its end does no work (write at least "100ns"; 0 is the fluid limit, for the simulator only)"#,
        ),
        (
            r#"[system]
cores = 16
discipline = { policy = "processor-sharing", quantm = "2us" }"#,
            r#"3:46: `quantm` is no key of `system.discipline` (did you mean `quantum`?)"#,
        ),
        (
            r#"[system]
cores = 16
discipline = { policy = "processor-sharing", quantum = "2us", fresh = "fist" }"#,
            r#"3:71: `system.discipline.fresh` can not be "fist" (did you mean `first`?)"#,
        ),
        (
            r#"[system]
cores = 16
discipline = { polcy = "fcfs" }"#,
            r#"3:16: `polcy` is no key of `system.discipline` (did you mean `policy`?)"#,
        ),
        (
            r#"[system]
cores = 16
discipline = { quantum = "2us" }"#,
            r#"3:14: `system.discipline` needs `policy`"#,
        ),
        (
            r#"[system]
cores = 16
discipline = { policy = "procesor-sharing", quantum = "2us" }"#,
            r#"3:25: `system.discipline.policy` can not be "procesor-sharing" (did you mean `processor-sharing`?)"#,
        ),
        (
            r#"[system]
cores = 16
discipline = { policy = "fcfs", quantum = "2us" }"#,
            r#"3:33: `quantum` is no key of "fcfs" ("fcfs" takes no parameters; remove `quantum`)"#,
        ),
        (
            r#"[system]
cores = 16
discipline = 3"#,
            r#"3:14: `3` is not what belongs here (write the name of a policy, or a table with `policy`)"#,
        ),
        (
            r#"[system]
cores = 16
dispatch = { policy = "power-of-k", k = 17 }"#,
            r#"3:41: power of k choices with k = 0, k > 16, or k above the number of pools: k different pools are drawn for each request (let k lie between 1 and the number of pools, at most 16; "jsq" compares all of them)"#,
        ),
        (
            r#"[system]
cores = 16
dispatch = { policy = "power-of-k", k = -1 }"#,
            r#"3:41: `-1` is out of range (write a whole number from 0 to 4294967295)"#,
        ),
        (
            r#"[system]
cores = 16
dispatch = { policy = "power-of-k", k = 1.5 }"#,
            r#"3:41: `1.5` is not what belongs here (write a whole number from 0 to 4294967295)"#,
        ),
        (
            r#"[system]
cores = 16
pools = 5"#,
            r#"3:9: pools that the cores can not be shared out to: every core belongs to exactly one pool (write "per-core", a divisor of `cores`, or sizes above 0 that sum to `cores`)"#,
        ),
        (
            r#"[system]
cores = 16
pools = "percore""#,
            r#"3:9: "percore" is not what belongs here (write "per-core", a number of pools, or a list of their sizes such as [13, 2, 1])"#,
        ),
        (
            r#"[system]
cores = 16
pools = [13, 2, 2]"#,
            r#"3:9: pools that the cores can not be shared out to: every core belongs to exactly one pool (write "per-core", a divisor of `cores`, or sizes above 0 that sum to `cores`)"#,
        ),
        (
            r#"[system]
cores = 16
allocation = { cores = 17 }"#,
            r#"3:24: no allocated core, or more than the machine has: an application holds cores of its machine (let `allocation.cores` lie between 1 and `cores`)"#,
        ),
        (
            r#"[system]
cores = 16
allocation = { start = 3 }"#,
            r#"3:16: `start` is no key of "static" ("static" takes `cores`, the number of cores that are held)"#,
        ),
        (
            r#"[system]
cores = 16
allocation = { policy = "per-task" }"#,
            r#"3:14: growing by arrivals ("per-task", "no-thief") without work stealing: tasks that queue once all cores are held would have to be found by the others (set rebalance = "work-stealing")"#,
        ),
        (
            r#"[system]
cores = 16
rebalance = "work-stealing"
allocation = { policy = "delay-range", low = "2us", interval = "5us" }"#,
            r#"4:46: an allocation band with `low` at or above `high`: cores would be granted and revoked in alternation (let `low` lie below `high` (with triggers: shrink below grow))"#,
        ),
        (
            r#"[system]
cores = 16
rebalance = "work-stealing"
allocation = { policy = "triggers", grow = { when = "delay-max", above = "5" }, shrink = { when = "never" } }"#,
            r#"4:74: `5` has no unit; write "5ns", "5us", "5ms" or "5s""#,
        ),
        (
            r#"[system]
cores = 16
rebalance = "work-stealing"
allocation = { policy = "triggers", grow = { when = "delay-max", abov = "5us" }, shrink = { when = "never" } }"#,
            r#"4:66: `abov` is no key of `system.allocation.grow` (did you mean `above`?)"#,
        ),
        (
            r#"[system]
cores = 16
rebalance = "work-stealing"
allocation = { policy = "triggers", grow = { when = "delay-mx", above = "5us" }, shrink = { when = "never" } }"#,
            r#"4:53: `system.allocation.grow.when` can not be "delay-mx" (did you mean `delay-max`?)"#,
        ),
        (
            r#"[system]
cores = 16
allocation = { policy = "triggers", grow = { when = "delay-max", above = "5us" }, shrink = { when = "never", above = 3 } }"#,
            r#"3:110: `above` is no key of "never" ("never" takes no parameters; remove `above`)"#,
        ),
        (
            r#"[system]
cores = 16
allocation = { policy = "triggers", grow = { when = "delay-max", above = "5us" } }"#,
            r#"3:14: `system.allocation` needs `shrink`"#,
        ),
        (
            r#"[system]
cores = 16
allocation = { policy = "triggers", grow = { when = "delay-max" }, shrink = { when = "never" } }"#,
            r#"3:44: `system.allocation.grow` needs `above`"#,
        ),
    ]);
}

#[test]
fn costs() {
    refused(&[
        (
            r#"[system]
cores = 16
[costs]
preemption = "40""#,
            r#"4:14: `40` has no unit; write "40ns", "40us", "40ms" or "40s""#,
        ),
        (
            r#"[system]
cores = 16
[costs]
premption = "40ns""#,
            r#"4:1: `premption` is no key of `costs` (did you mean `preemption`?)"#,
        ),
        (
            r#"[system]
cores = 16
[costs]
steal = "1ns"
preemption = "40s""#,
            r#"5:14: a cost above one second: overheads are nanoseconds to milliseconds (is the unit right? write as in preemption = "40ns")"#,
        ),
        (
            r#"[system]
cores = 16
[costs]
probe_factor = 0.9"#,
            r#"4:16: a `probe_factor` below 1, or above 100: instrumentation stretches service times by this factor (write 1 for none, 1.1 for 10 % more)"#,
        ),
        (
            r#"[system]
cores = 16
[costs]
probe_factor = nan"#,
            r#"4:16: `nan` is no finite number (write digits, as in 1.5 or 1e-3)"#,
        ),
    ]);
}

#[test]
fn what_is_measured() {
    refused(&[
        (
            r#"[system]
cores = 16
[measure]
percentiles = [99, 50]"#,
            r#"4:15: the percentiles [99.0, 50.0] are not 1 to 32 numbers that rise between 0 and 100 (write 1 to 32 numbers above 0 and below 100, each above the one before, such as [50, 99, 99.9])"#,
        ),
        (
            r#"[system]
cores = 16
[measure]
stop = { confidence = 95 }"#,
            r#"4:23: an interval can not have a confidence of 95 (write a number from 0.5 to below 1, such as 0.95)"#,
        ),
        (
            r#"[system]
cores = 16
[measure]
seed = -1"#,
            r#"4:8: `-1` is out of range (write a whole number from 0 on)"#,
        ),
        (
            r#"[system]
cores = 16
[measure]
warm-up = "automatic""#,
            r#"4:11: "automatic" is not what belongs here (write "auto", a number of requests, or a time such as "10ms")"#,
        ),
        (
            r#"[system]
cores = 16
name = "shinjuku""#,
            r#"3:8: `name` gives the system the name "shinjuku", and takes nothing from the preset of that name (write preset = "shinjuku" to take that system, or give yours another name)"#,
        ),
        (
            r#"[system]
cores = 16
[measure]
sead = 1
percentiles = [100]
warmup = 3
[costs]
steel = "1us"
probe_fctor = 2"#,
            r#"4:1: `sead` is no key of `measure` (did you mean `seed`?)
6:1: `warmup` is no key of `measure` (did you mean `warm-up`?)
8:1: `steel` is no key of `costs` (did you mean `steal`?)
9:1: `probe_fctor` is no key of `costs` (did you mean `probe_factor`?)"#,
        ),
        (
            r#"[system]
cores = 16
[measure]
stop = { relative_eror = 0.1 }"#,
            r#"4:10: `relative_eror` is no key of `measure.stop` (did you mean `relative_error`?)"#,
        ),
    ]);
}

#[test]
fn workloads() {
    refused(&[
        (
            r#"[workload]
load = 0.5
[system]
cores = 16"#,
            r#"1:1: `[workload]` needs `service` (write a name, a distribution or a file, as in service = "exp-1us")"#,
        ),
        (
            r#"[workload]
service = "exp1us"
load = 0.5
[system]
cores = 16"#,
            r#"2:11: no workload is called `exp1us`; did you mean `exp-1us`?"#,
        ),
        (
            r#"[workload]
service = "exp-1us"
load = 1.0
[system]
cores = 16"#,
            r#"3:8: at a load of 1 the backlog grows without end (stay below 1, or say overload = true in [workload] if that is meant)"#,
        ),
        (
            r#"[workload]
service = "exp-1us"
load = [0.5, -0.1, 0.5]
[system]
cores = 16"#,
            r#"3:14: the load is -0.1, which can not be simulated (write a number above 0, such as 0.7; at most 100)
3:20: 0.5 stands twice in the list (remove one of them)"#,
        ),
        (
            r#"[workload]
service = "exp-1us"
rate = "17M/s"
[system]
cores = 16"#,
            r#"3:8: at a load of 1.0625 the backlog grows without end (stay below 1, or say overload = true in [workload] if that is meant)"#,
        ),
        (
            r#"[workload]
service = "exp-1us"
rate = "17M"
[system]
cores = 16"#,
            r#"3:8: `17M` is not a rate; write requests a second with their unit, as in "4.5M/s", "3k/s" or "1200/s""#,
        ),
        (
            r#"[workload]
service = "exp-1us"
load = []
[system]
cores = 16"#,
            r#"3:8: an empty list sweeps nothing (write at least one value)"#,
        ),
        (
            r#"[workload]
service = "exp-1us"
[system]
cores = 16"#,
            r#"1:1: `[workload]` says neither `load` nor `rate` (add load = 0.5, a list of loads, or rate = "4.5M/s")"#,
        ),
        (
            r#"[workload]
service = { distribution = "bimodal", short = "0.5us", long = "500us", p_long = 1.5 }
load = 0.5
[system]
cores = 16"#,
            r#"2:81: `p_long` = 1.5: a probability lies between 0 and 1"#,
        ),
        (
            r#"[workload]
service = { distribution = "mixture", classes = [{ name = "a", weight = 0.5, service = { distribution = "constant", value = "0us" } }, { name = "b", weight = 0.6, service = "exp-1us" }] }
load = 0.5
[system]
cores = 16"#,
            r#"2:125: `classes[0].service.value` = 0: a time must be longer than 0, such as "1us""#,
        ),
        (
            r#"[workload]
service = { distribution = "bimodal", short = 0.5 }
load = 0.5
[system]
cores = 16"#,
            r#"2:47: `0.5` has no unit; write "0.5ns", "0.5us", "0.5ms" or "0.5s""#,
        ),
        (
            r#"[workload]
service = { file = "nowhere.csv", unit = 3 }
load = 0.5
[system]
cores = 16"#,
            r#"2:42: `3` is not what belongs here (write one of the names that it can be, in quotes)"#,
        ),
        (
            r#"[workload]
service = { file = "nowhere.csv" }
load = 0.5
[system]
cores = 16"#,
            r#"2:20: cannot read nowhere.csv: No such file or directory (os error 2)"#,
        ),
        (
            r#"[workload]
service = "exp-1us"
arrivals = { process = "poison" }
load = 0.5
[system]
cores = 16"#,
            r#"3:24: no arrival process is called "poison"; did you mean "poisson"? (there are poisson, constant, log-normal, gamma, hyper-exponential, on-off, steps, ramps)"#,
        ),
        (
            r#"[workload]
service = { distribution = "exponential", mean = "1us", weight = 2 }
arrivals = { process = "poisson", rate = "1M/s" }
[system]
cores = 16"#,
            r#"2:57: `weight` is no key of `workload.service` (did you mean `weights`?)
3:35: `rate` is no key of `workload.arrivals` (it belongs to [workload]: write it beside `arrivals`)"#,
        ),
        (
            r#"[workload]
service = "exp-1us"
arrivals = { process = "poisson", zzz = 1 }
load = 0.5
[system]
cores = 16"#,
            r#"3:35: `zzz` is no key of `workload.arrivals` (known, depending on `process`: `process`, `file`, `scv`, `sigma`, `phases`, `on`, `off`, `off_rate`, `steps`, `points`, `column`, `unit`, `where`, `decimal` and `scale`)"#,
        ),
        (
            r#"[workload]
service = "exp-1us"
load = 0.5
"#,
            r#"1:1: there is no table [system] (add it, as in preset = "tiny-quanta" and cores = 16)"#,
        ),
    ]);
}

/// What is all alike and comes at equal distances needs no time to spare; everything else does.
#[test]
fn a_load_of_exactly_1_is_for_what_comes_and_goes_by_the_clock() {
    let read = |service: &str, arrivals: &str, offered: &str| {
        let text = format!(
            "[workload]\nservice = {service}\narrivals = \"{arrivals}\"\n{offered}\n[system]\ncores = 4\n\
             allocation = {{ policy = \"static\", cores = 2 }}\n"
        );
        File::parse(&text, "in.toml").map(drop).map_err(|error| error.to_string())
    };
    let constant = "{ distribution = \"constant\", value = \"3us\" }";
    // Two of four cores are held, so half of the machine is all of them.
    for offered in ["load = 0.5", "rate = \"666_666.66666666667/s\""] {
        assert_eq!(read(constant, "constant", offered), Ok(()), "{offered}");
        for (service, arrivals) in [(constant, "poisson"), ("\"exp-1us\"", "constant")] {
            let offered = if service == constant { offered } else { "load = 0.5" };
            let error = read(service, arrivals, offered).unwrap_err();
            assert!(error.contains("grows without end"), "{error}");
        }
    }
    assert!(read(constant, "constant", "load = 0.51").unwrap_err().contains("grows without end"));
}

#[test]
fn recorded_arrivals_of_which_a_warm_up_leaves_none() {
    let dir = tempfile::tempdir().unwrap();
    let times = |count: u64| (0..count).map(|n| format!("{}\n", 1_000 * n)).collect::<String>();
    std::fs::write(dir.path().join("5.csv"), times(5)).unwrap();
    std::fs::write(dir.path().join("100.csv"), times(100)).unwrap();
    let read = |file: &str, more: &str, warm_up: &str| {
        let text = format!(
            "[workload]\nservice = \"exp-1us\"\narrivals = {{ file = \"{file}\"{more} }}\n[system]\ncores = 4\n\
             [measure]\nwarm-up = {warm_up}\n"
        );
        File::parse(&text, dir.path().join("in.toml")).map(drop).map_err(|error| error.to_string())
    };
    for (file, warm_up, says) in [
        (
            "5.csv",
            "5",
            "a warm-up of 5 requests leaves none of the 5 recorded arrivals to measure (record more,",
        ),
        ("100.csv", "\"100us\"", "a warm-up of 100 requests leaves none of the 100"),
    ] {
        let error = read(file, "", warm_up).unwrap_err();
        assert!(error.contains(says), "{error}");
    }
    for (file, more, warm_up) in [
        ("5.csv", "", "\"auto\""),
        ("5.csv", "", "0"),
        ("5.csv", "", "4"),
        ("100.csv", "", "\"auto\""),
        ("100.csv", "", "\"98us\""),
        // How long they last then depends on the load.
        ("100.csv", ", scale = true", "\"100us\""),
    ] {
        let read = read(file, more, warm_up);
        assert!(read.is_ok(), "{file} {warm_up}: {read:?}");
    }
}

#[test]
fn more_than_the_held_cores_can_carry() {
    refused(&[
        (
            "[workload]\nservice = \"exp-1us\"\nload = [0.4, 0.7]\n[system]\ncores = 16\nallocation.cores = 8\n",
            "3:14: a load of 0.700 of 16 cores is 1.400 of the 8 that `system.allocation.cores` holds: the backlog grows without end \
             (stay below 0.500 with 8 cores, hold more of them, or say overload = true in [workload] if that is meant)",
        ),
        (
            "[workload]\nservice = \"exp-1us\"\nrate = \"8M/s\"\n[system]\ncores = 16\nallocation.cores = [8, 9]\n",
            "3:8: a load of 0.500 of 16 cores is 1.000 of the 8 that `system.allocation.cores` holds: the backlog grows without end \
             (stay below 0.500 with 8 cores, hold more of them, or say overload = true in [workload] if that is meant)",
        ),
    ]);
    for meant in [
        "load = 0.7\noverload = true\n[system]\ncores = 16\nallocation.cores = 8\n",
        "load = 0.7\n[system]\ncores = 16\nallocation = { policy = \"delay-range\", start = 8 }\n",
    ] {
        let text = format!("[workload]\nservice = \"exp-1us\"\n{meant}");
        assert!(File::parse(&text, "in.toml").is_ok(), "{text}");
    }
}

#[test]
fn recorded_graphs_say_themselves_what_forks() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("g.csv"), "request,task,work_us,after\n1,a,5,\n1,b,5,\n").unwrap();
    std::fs::write(dir.path().join("wrong.csv"), "request,task,work_us,after\n1,a,5,b\n").unwrap();
    let path = dir.path().join("in.toml");
    let read = |workload: &str| {
        std::fs::write(&path, format!("[workload]\n{workload}\nload = 0.5\n[system]\ncores = 4\n")).unwrap();
        File::read(&path)
    };
    let file = read("service = { file = \"g.csv\" }").expect("a workload");
    let workload = file.workload.expect("a workload");
    assert_eq!((workload.service.mean_ps(), workload.service.dag().span()), (1e7, 0.5));
    assert_eq!(workload.files, [dir.path().join("g.csv")]);
    for (text, says) in [
        ("service = { file = \"g.csv\" }\ndag = {}", "`service` reads recorded graphs"),
        ("service = \"exp-1us\"\ndag = \"g.csv\"", "`dag` is a table about all requests"),
        ("service = { file = \"wrong.csv\" }", "wrong.csv:2:7: `b` is no task of request `1`"),
    ] {
        let error = read(text).expect_err(says);
        let problem = &error.problems()[0];
        assert!(problem.message.contains(says), "{}", problem.message);
        if text.contains("dag") {
            let help = problem.help.as_deref().expect("what would be right");
            assert!(
                help.contains("remove `dag`") || help.contains("service = { file = \"g.csv\" }"),
                "{help}"
            );
        }
    }
    assert!(read("service = { file = \"g.csv\", column = \"work_us\" }\ndag = {}").is_ok());
}
