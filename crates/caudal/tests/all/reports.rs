//! What the report of a plan shows, held against the plan's answer and the rows that the simulator made.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

/// Half of the requests' work comes from one in ten of them.
const SERVICE: &str = "class,service_ns\nget,1000\nget,1000\nget,1000\nget,1000\nget,1000\nget,1000\nget,1000\n\
                       get,1000\nget,1000\nscan,9000\n";

struct Planned {
    answer: Value,
    rows: Vec<Value>,
    html: String,
}

fn planned(arguments: &[&str]) -> Planned {
    let place = tempfile::tempdir().unwrap();
    std::fs::write(place.path().join("service.csv"), SERVICE).unwrap();
    let always =
        ["plan", "--workload", "service.csv", "--quick", "--quiet", "--budget", "500ms", "--out", "r"];
    let mut command = Command::new(env!("CARGO_BIN_EXE_caudal"));
    let output = command.args(always).args(arguments).current_dir(place.path()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let read = |name: &str| std::fs::read_to_string(place.path().join("r").join(Path::new(name))).unwrap();
    Planned {
        answer: serde_json::from_str(&read("plan.json")).unwrap(),
        rows: read("rows.jsonl").lines().map(|line| serde_json::from_str(line).unwrap()).collect(),
        html: read("report.html"),
    }
}

impl Planned {
    /// Heads and lines of the table in the section of this id, cell by cell, as text.
    fn table(&self, id: &str) -> (Vec<String>, Vec<Vec<String>>) {
        let section =
            self.html.split(&format!("<section aria-labelledby=\"{id}\">")).nth(1).expect("the section");
        let (head, body) = section.split("</table>").next().unwrap().split_once("<tbody>").unwrap();
        let cells = |row: &str| {
            row.split("<t").skip(1).filter(|cell| cell.starts_with(['h', 'd'])).map(text).collect()
        };
        let heads = head.split("<tr>").nth(1).unwrap();
        (
            cells(heads),
            body.split("</tr>")
                .filter(|row| row.contains("<tr"))
                .map(|row| cells(row.split_once("<tr").unwrap().1))
                .collect(),
        )
    }

    fn line<'a>(&'a self, system: &str) -> &'a Value {
        let lines = self.answer["systems"].as_array().unwrap();
        lines.iter().find(|line| line["system"] == system).unwrap()
    }

    /// The row of a system at a load, or on so many cores.
    fn row(&self, system: &str, fits: impl Fn(&Value) -> bool) -> &Value {
        self.rows.iter().find(|row| row["system"] == system && fits(row)).unwrap()
    }
}

/// The text of what began with the rest of a tag; badges and small print come after a bar.
fn text(cell: &str) -> String {
    let (mut text, mut rest) = (String::new(), cell.split_once('>').unwrap().1);
    while let Some((before, after)) = rest.split_once('<') {
        text.push_str(before);
        if after.starts_with("small") || after.starts_with("span class=\"badge") {
            text.push('|');
        }
        rest = after.split_once('>').map_or("", |(_, rest)| rest);
    }
    (text + rest).trim().trim_end_matches('|').trim().to_owned()
}

/// What stands before the small print.
fn first(cell: &str) -> &str {
    cell.split('|').next().unwrap().trim()
}

fn ns(shown: &str) -> f64 {
    let (number, unit) = first(shown).split_once(' ').unwrap();
    let factor = match unit {
        "ns" => 1.0,
        "µs" => 1e3,
        "ms" => 1e6,
        other => panic!("{other}"),
    };
    number.parse::<f64>().unwrap() * factor
}

/// Equal, to the digits that are shown.
fn same(shown: f64, value: f64) -> bool {
    (shown - value).abs() <= 0.006 * value.abs() + 0.06
}

#[test]
fn waiting_adds_up_and_its_part_behind_long_requests_is_not_counted_twice() {
    // Where all are simulated on the same cores.
    let systems = "caudal-stealing-ps,work-stealing,ideal";
    let plan =
        planned(&["--cores", "6", "--target", "get p99 < 30us", "--rate", "1M/s", "--systems", systems]);
    let (heads, lines) = plan.table("waits");
    let column = |name: &str| {
        heads.iter().position(|head| head == name).unwrap_or_else(|| panic!("{name}: {heads:?}"))
    };
    let (behind_long, other) = (column("queued behind long"), column("other queueing"));
    assert!(!heads.iter().any(|head| head == "queued" || head == "behind long"), "{heads:?}");
    let place = plan.html.split("<h2 id=\"waits\">").nth(1).unwrap().split("</h2>").next().unwrap();
    let cores: f64 = place.split(' ').rev().nth(1).unwrap().parse().unwrap();
    let (mut told, mut untold) = (0, 0);
    for cells in lines.iter().filter(|cells| cells[1] != "overloaded") {
        let row = plan.row(first(&cells[0]), |row| row["cores_allocated"].as_f64() == Some(cores));
        let of = |class: &Value| class["wait_ns"].clone();
        let wait = of(&row["classes"]["get"]);
        let amount = |key: &str| wait[key].as_f64().unwrap();
        // Nothing is waited for that is not latency.
        let latency = row["classes"]["get"]["latency_ns"]["mean"]["estimate"].as_f64().unwrap();
        assert!(same(ns(&cells[1]), latency - 1_000.0), "{cells:?}: {latency}");
        match wait["behind_long"].as_f64() {
            Some(behind_long_ns) => {
                assert!(same(ns(&cells[behind_long]), behind_long_ns), "{cells:?}: {wait}");
                assert!(same(ns(&cells[other]), amount("queued") - behind_long_ns), "{cells:?}: {wait}");
                told += 1;
            }
            None => {
                assert_eq!(cells[behind_long], "–", "what is unknown is not 0");
                assert!(same(ns(&cells[other]), amount("queued")), "{cells:?}: {wait}");
                untold += 1;
            }
        }
        let parts: f64 = cells[3..].iter().filter(|cell| *cell != "–").map(|cell| ns(cell)).sum();
        assert!(same(parts, ns(&cells[1])), "{cells:?}");
    }
    assert!(told > 0 && untold > 0, "{lines:?}");
    assert!(plan.html.contains("Under preemption nobody knows"));
}

#[test]
fn the_fewest_cores_are_those_of_the_answer_dedicated_ones_included() {
    let systems = "caudal-ps,caudal-fcfs,work-stealing,ideal";
    let plan = planned(&["--cores", "8", "--target", "p99 < 40us", "--rate", "1M/s", "--systems", systems]);
    let (heads, lines) = plan.table("systems");
    assert_eq!(heads[1..3], ["Fewest cores within the target", "Cores there"]);
    let mut dedicated_seen = 0;
    for cells in &lines {
        let (system, line) = (first(&cells[0]), plan.line(first(&cells[0])));
        let cores = line["reach"]["pass"].as_f64().unwrap();
        assert_eq!(first(&cells[1]).trim_end_matches('?').parse(), Ok(cores), "{cells:?}");
        assert_eq!(cells[2].parse(), Ok(cores), "{cells:?}");
        let tail = line["targets"][0]["estimate"]["estimate"].as_f64().unwrap();
        assert!(same(ns(&cells[3]), tail), "{cells:?}: {tail}");
        let efficiency = line["efficiency"]["estimate"].as_f64().unwrap();
        let shown: f64 = cells[4].trim_end_matches(" %").parse().unwrap();
        assert!((shown / 100.0 - efficiency).abs() < 6e-4, "{cells:?}: {efficiency}");
        // 1.8 cores' worth of work.
        assert!((efficiency * cores - 1.8).abs() < 0.05, "{system}: {efficiency} of {cores} cores");
        let dedicated = line["dedicated_cores"].as_f64().unwrap();
        let row = plan.row(system, |row| row["cores_allocated"].as_f64() == Some(cores - dedicated));
        assert_eq!(row["efficiency"]["estimate"].as_f64(), Some(efficiency));
        dedicated_seen += u32::from(dedicated > 0.0);
    }
    assert_eq!(dedicated_seen, 2);
}

#[test]
fn a_runtime_counts_its_workers() {
    let plan = planned(&[
        "--runnable",
        "--workers",
        "6",
        "--target",
        "p99 < 40us",
        "--rate",
        "1M/s",
        "--systems",
        "caudal-ps,work-stealing",
    ]);
    let (heads, lines) = plan.table("systems");
    assert_eq!(heads[1], "Fewest workers within the target");
    assert_eq!(lines.len(), 2);
    for cells in &lines {
        let workers = plan.line(first(&cells[0]))["reach"]["pass"].as_f64().unwrap();
        assert_eq!(first(&cells[1]).trim_end_matches('?').parse(), Ok(workers), "{cells:?}");
    }
}
