//! Times whose unit nothing says, or that are 0: they are asked about, or taken in one way by every reader.

use caudal_workload::{AskKey, Columns, Unit, WorkloadError};

use crate::reading::{in_unit, mean_us, notes, read_with, try_read};

#[test]
fn small_seconds_are_asked_for_their_unit() {
    for text in [
        "3.090409298069241451e-05\n3.920897245533751626e-05\n3.067092311915370454e-05\n",
        "\"\",\"op\",\"elapsed\"\n\"1\",\"get\",3.25e-05\n\"2\",\"put\",2.57e-05\n",
        "[{\"op\": \"get\", \"elapsed\": 0.00003}, {\"op\": \"get\", \"elapsed\": 0.00004}]",
    ] {
        match try_read(text) {
            Err(WorkloadError::Ask(ask)) => assert_eq!(ask.key, AskKey::Unit, "{text}"),
            other => panic!("{text}: {other:?}"),
        }
        assert!(mean_us(&in_unit(text, Unit::S)) > 20.0, "{text}");
    }
}

#[test]
fn times_of_zero_are_the_same_in_every_format() {
    let rows = [("0.004", 3), ("0.000", 5)];
    let lines = |line: &dyn Fn(&str) -> String| -> String {
        rows.iter().flat_map(|(time, times)| std::iter::repeat_n(line(time), *times)).collect()
    };
    for text in [
        format!("request_time\n{}", lines(&|time| format!("{time}\n"))),
        lines(&|time| format!("{{\"request_time\": {time}, \"status\": 200}}\n")).replace("0.000", "0"),
        lines(&|time| format!("GET / took={time}s\n")),
    ] {
        let service = in_unit(&text, Unit::S);
        assert!(notes(&service).contains("5 of 8 times are 0"), "{text}: {}", notes(&service));
        assert!(service.quantile(0.1) >= 500_000_000, "{text}: {}", service.quantile(0.1));
    }
    let error = try_read("[{\"latency\": 0}, {\"latency\": 0}]").unwrap_err();
    assert!(error.to_string().contains("all its times are 0"), "{error}");
}

#[test]
fn durations_are_times_in_seconds() {
    for rows in [
        "0 days 00:00:00.000030000\n0 days 00:00:00.000050000\n",
        "00:00:00.000030\n00:00:00.000050\n",
        "PT0.00003S\nPT0.00005S\n",
    ] {
        assert_eq!(mean_us(&try_read(&format!("latency\n{rows}")).unwrap()), 40.0, "{rows}");
    }
    let lines = "{\"op\":\"get\",\"latency\":\"PT0.00003S\"}\n{\"op\":\"get\",\"latency\":\"PT0.00005S\"}\n";
    assert_eq!(mean_us(&try_read(lines).unwrap()), 40.0);
}

#[test]
fn bare_numbers_among_times_with_units_are_asked_about() {
    match try_read("latency\n1.2ms\n850\n900\n") {
        Err(WorkloadError::Ask(ask)) => assert_eq!(ask.key, AskKey::Unit),
        other => panic!("{other:?}"),
    }
    assert_eq!(mean_us(&try_read("latency\n1.2ms\n800us\n").unwrap()), 1000.0);
}

#[test]
fn whole_numbers_without_a_unit_say_what_they_were_taken_for() {
    for text in ["latency\n8432\n9120\n7001\n", "8432\n9120\n7001\n", "time,class\n8432,a\n9120,a\n7001,b\n"]
    {
        let service = try_read(text).unwrap();
        let notes = notes(&service);
        assert!(
            notes.starts_with("the times (8432, 9120, 7001, …) were read as ns, since nothing says"),
            "{notes}"
        );
        assert!(notes.contains("a mean of 8.18 ms), say `--unit us`"), "{notes}");
        assert!(!self::notes(&in_unit(text, Unit::Us)).contains("were read as ns"));
    }
    // What is called a latency is no few hundred nanoseconds.
    for text in
        ["latency\n312\n420\n387\n", "[{\"duration\": 312}, {\"duration\": 420}]", "op,elapsed\na,90\nb,80\n"]
    {
        match try_read(text) {
            Err(WorkloadError::Ask(ask)) => {
                assert!(ask.key == AskKey::Unit && ask.to_string().contains("microsecond"), "{ask}");
            }
            other => panic!("{text}: {other:?}"),
        }
    }
    assert!(try_read("312\n420\n387\n").is_ok() && try_read("latency_ns\n312\n420\n").is_ok());
}

/// The step of a clock is seen also where times have no unit of their own.
#[test]
fn zeros_of_sql_shells_are_half_a_step() {
    let text = "Query OK, 0 rows affected (0.000 sec)\nQuery OK, 1 row affected (0.013 sec)\nQuery OK, 1 row affected (0.000 sec)\n";
    let service = try_read(text).unwrap();
    assert!(notes(&service).contains("step of 1 ms"), "{}", notes(&service));
    assert!((mean_us(&service) - 14_000.0 / 3.0).abs() < 1.0, "{}", mean_us(&service));
}

#[test]
fn times_below_a_picosecond_are_refused() {
    for text in [
        "latency\n3.09e-05\n3.92e-05\n",
        "[{\"took\": 0.00003}, {\"took\": 0.00004}]",
        "duration=0.00003\nduration=0.00004\n",
    ] {
        let columns = Columns { unit: Some(Unit::Ns), ..Columns::default() };
        let error = read_with(text, columns).unwrap_err().to_string();
        assert!(
            error.contains("is less than a picosecond, which nothing takes; is the unit right?"),
            "{text}: {error}"
        );
    }
    // Nor is such a reading offered.
    let ask = try_read("latency\n0.0004\n0.0005\n").unwrap_err().to_string();
    assert!(ask.contains("--unit s ") && ask.contains("--unit ms ") && !ask.contains("--unit us"), "{ask}");
    // A standard deviation of 0 is one, whatever rounding leaves.
    let calls = "execve(\"/bin/ls\") = 0 <0.000434>\nbrk(0) = 0 <0.000042>\nbrk(0) = 0 <0.000103>\n";
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("strace.txt");
    std::fs::write(&path, calls).unwrap();
    let shown = caudal_workload::show::Shown::open(&path).unwrap().text(100);
    assert!(!shown.contains("0.000"), "{shown}");
}
