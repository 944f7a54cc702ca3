//! What becomes of results: nothing that was computed is lost, and nothing that was computed for something else is
//! taken for it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

/// A directory to run the command in.
struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Place {
        Place(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, text: &str) -> &Place {
        fs::write(self.path(name), text).unwrap();
        self
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    fn json(&self, name: &str) -> serde_json::Value {
        serde_json::from_str(&self.read(name)).unwrap()
    }

    fn command(&self, line: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_caudal"));
        command.args(words(line)).current_dir(self.0.path());
        command
    }

    fn run(&self, line: &str) -> Ran {
        Ran::new(&self.command(line).output().unwrap())
    }
}

/// Words of a command line; quotes hold some together.
fn words(line: &str) -> Vec<String> {
    let word = |(index, part): (usize, &str)| -> Vec<String> {
        if index % 2 == 1 {
            return vec![part.to_owned()];
        }
        part.split_whitespace().map(str::to_owned).collect()
    };
    line.split('\'').enumerate().flat_map(word).collect()
}

struct Ran {
    code: Option<i32>,
    out: String,
    err: String,
}

impl Ran {
    fn new(output: &Output) -> Ran {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Ran { code: output.status.code(), out: text(&output.stdout), err: text(&output.stderr) }
    }

    fn expect(self, code: i32, says: &str) -> Ran {
        // Lines are broken where they are long.
        let err: String = self.err.replace('│', " ").split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(self.code, Some(code), "{}{}", self.out, self.err);
        assert!(err.contains(says), "{says:?}: {}", self.err);
        self
    }
}

const SERVICE: &str = "[workload]\nservice = { file = \"service.csv\" }\nload = [0.2, 0.3]\n[system]\ncores = 2\n\
                       [measure]\nrequests = 500\nwarm-up = 100\nseed = 3\n";

#[test]
fn rows_of_another_measurement_are_not_taken_for_this_one() {
    let place = Place::new();
    place.write("service.csv", "1000\n2000\n").write("in.toml", SERVICE);
    place.run("sim in.toml --out r").expect(0, "");
    let rows = place.read("r/rows.jsonl");
    place.run("sim in.toml --out r").expect(0, "");
    assert_eq!(place.read("r/rows.jsonl"), rows, "all rows are there already");
    place.write("service.csv", "1000\n2001\n");
    place
        .run("sim in.toml --out r")
        .expect(2, "`r` holds results of something else: the contents of service.csv differs");
    place.write("service.csv", "1000\n2000\n");
    place.run("sim in.toml --out r --set system.cores=3").expect(2, "what the file says differs");
    place.run("sim in.toml --out r --quick").expect(2, "--quick differs");
    assert_eq!(place.read("r/rows.jsonl"), rows);
}

#[test]
fn rows_come_in_the_order_of_the_points_whoever_is_first() {
    let place = Place::new();
    // The first point takes a hundred times as long as the others.
    let text = "[workload]\nservice = \"exp-1us\"\nload = [0.5, 0.4, 0.3, 0.2]\n[system]\ncores = [256, 1]\n\
                dispatch = \"jsq\"\n[measure]\nrequests = 2_000\nwarm-up = 100\nreplications = 12\n";
    place.write("in.toml", text);
    let points = |ran: &str| -> Vec<String> {
        let row = |line: &str| serde_json::from_str::<serde_json::Value>(line).unwrap()["point"].to_string();
        ran.lines().map(row).collect()
    };
    let one = points(&place.run("sim in.toml --json --quiet --threads 1").expect(0, "").out);
    assert_eq!(one.len(), 8);
    for _ in 0..3 {
        assert_eq!(points(&place.run("sim in.toml --json --quiet --threads 4").expect(0, "").out), one);
    }
    // Also of those that were there before, and in the file.
    place.run("sim in.toml --json --quiet --threads 4 --out r").expect(0, "");
    assert_eq!(points(&place.read("r/rows.jsonl")), one);
    let rows = place.read("r/rows.jsonl");
    let kept: Vec<&str> = rows.lines().skip(1).step_by(2).collect();
    place.write("r/rows.jsonl", &(kept.join("\n") + "\n"));
    assert_eq!(points(&place.run("sim in.toml --json --quiet --threads 4 --out r").expect(0, "").out), one);
    assert_eq!(points(&place.read("r/rows.jsonl")), one);
}

#[test]
fn recorded_arrivals_count_as_well() {
    let place = Place::new();
    let arrivals = "[workload]\nservice = \"exp-1us\"\narrivals = { file = \"a.csv\" }\n[system]\ncores = 2\n\
                    [measure]\nrequests = 500\nwarm-up = 1\n";
    place.write("a.csv", "0\n2000\n4000\n9000\n").write("in.toml", arrivals);
    place.run("sim in.toml --out r").expect(0, "");
    place.write("a.csv", "0\n2000\n4000\n9001\n");
    place.run("sim in.toml --out r").expect(2, "the contents of a.csv differs");
}

#[test]
fn recorded_graphs_count_as_well() {
    let place = Place::new();
    let graphs = "request,task,work_us,after\n1,a,5,\n1,b,5,a\n";
    let forks = "[workload]\nservice = { file = \"g.csv\" }\nload = 0.3\n[system]\npreset = \"steal-first\"\ncores = 2\n\
                 [measure]\nrequests = 500\nwarm-up = 1\n";
    place.write("g.csv", graphs).write("in.toml", forks);
    place.run("sim in.toml --out r").expect(0, "");
    // The same service times of other graphs.
    place.write("g.csv", &graphs.replace(",a\n", ",\n"));
    place.run("sim in.toml --out r").expect(2, "the contents of g.csv differs");
    let plan = "plan --workload in.toml --target 'p99 < 1ms' --cores 2 --systems steal-first --quick --budget 8s --out p";
    place.run(plan).expect(0, "");
    place.write("g.csv", graphs);
    place.run(plan).expect(2, "the contents of g.csv differs");
}

#[test]
fn a_directory_says_what_made_it() {
    let place = Place::new();
    place.write("service.csv", "1000\n2000\n").write("in.toml", SERVICE);
    place.run("sim in.toml --out r --set measure.seed=7 --set system.cores=4").expect(0, "");
    let meta = place.json("r/meta.json");
    assert_eq!((&meta["seed"], &meta["points"]), (&7.into(), &2.into()));
    assert_eq!(meta["command"], "sim");
    // The file in the directory makes the same rows, without the overrides.
    place
        .run("sim r/config.toml --out again --set workload.service.file='service.csv'")
        .expect(2, "service.csv");
    fs::copy(place.path("r/config.toml"), place.path("same.toml")).unwrap();
    place.run("sim same.toml --out r").expect(0, "");
    assert!(place.read("r/config.toml").contains("cores = 4"), "{}", place.read("r/config.toml"));
}

#[test]
fn what_can_not_be_written_is_said_before_the_work() {
    let place = Place::new();
    // No such thing could be simulated within a test.
    let endless = SERVICE.replace("requests = 500", "requests = 100_000_000_000");
    place.write("service.csv", "1000\n2000\n").write("in.toml", &endless).write("taken", "");
    for command in [
        "sim in.toml --out taken",
        "sim in.toml --out taken/below",
        "sim in.toml --timeline none/run.pftrace",
        "plan --workload service.csv --target 'p99 < 50us' --out taken",
        "plan --workload service.csv --target 'p99 < 50us' --out r --policy none/policy.toml",
        "reproduce tiny-quanta-figure-1 --out taken",
    ] {
        let ran = place.run(command).expect(3, "can not write");
        assert_eq!(ran.err.matches("can not").count(), 1, "{command}: {}", ran.err);
        assert_eq!(ran.out, "", "{command}");
    }
    assert_eq!(place.read("taken"), "");
    place.write("rows.jsonl", "{\"system\": \"a\"}\n");
    fs::create_dir(place.path("report.html")).unwrap();
    place.run("report .").expect(3, "can not write `./report.html`");
}

/// Waits until there is a whole line in a file.
fn wait_for_line(path: &Path) {
    while !fs::read_to_string(path).is_ok_and(|text| text.contains('\n')) {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
}

fn interrupt(child: Child) -> Ran {
    let killed = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(killed.success());
    Ran::new(&child.wait_with_output().unwrap())
}

fn start(command: &mut Command) -> Child {
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

#[cfg(unix)]
#[test]
fn an_interrupted_sweep_shows_what_was_done() {
    let place = Place::new();
    // The first point is done at once, the second one is not within a test.
    let text = "[workload]\nservice = \"exp-1us\"\nload = [0.5, 0.999]\n[system]\ncores = 1\n\
                [measure]\nstop = { relative_error = 0.02, max_requests = 100_000_000_000 }\n";
    place.write("in.toml", text);
    let child = start(&mut place.command("sim in.toml --threads 1 --out r"));
    wait_for_line(&place.path("r/rows.jsonl"));
    let ran = interrupt(child).expect(130, "interrupted: 1 of 2 points are done; the same command goes on");
    assert!(ran.out.starts_with("system") && ran.out.lines().count() == 2, "{}", ran.out);

    // Without a directory, and with JSON, whose line shows that the point is done.
    let out = fs::File::create(place.path("out")).unwrap();
    let child =
        place.command("sim in.toml --threads 1 --json").stdout(out).stderr(Stdio::piped()).spawn().unwrap();
    wait_for_line(&place.path("out"));
    interrupt(child).expect(130, "1 of 2 points are done; --out DIR would keep them");
    assert_eq!(place.read("out").lines().count(), 1);
}

const PLAN: &str =
    "plan --workload service.csv --target 'p99 < 50us' --cores 4 --systems caudal-ps,caudal-stealing --quick";

/// Everything but how long it took.
fn timeless(rows: &str) -> Vec<serde_json::Value> {
    let row = |line: &str| {
        let mut row: serde_json::Value = serde_json::from_str(line).unwrap();
        row["wall_s"] = 0.into();
        row
    };
    rows.lines().map(row).collect()
}

#[cfg(unix)]
#[test]
fn an_interrupted_plan_goes_on_and_comes_to_the_same_answer() {
    let place = Place::new();
    place.write("service.csv", "1000\n1000\n30000\n");
    let whole = place.run(&format!("{PLAN} --budget 1s --out whole")).expect(0, "");

    let child = start(&mut place.command(&format!("{PLAN} --budget 1s --out part")));
    wait_for_line(&place.path("part/progress.jsonl"));
    let part = interrupt(child).expect(130, "so far");
    assert!(part.err.contains("the same command goes on from part"), "{}", part.err);
    assert!(part.out.contains("So far, as it was interrupted: "), "{}", part.out);

    let rest = place.run(&format!("{PLAN} --budget 1s --out part")).expect(0, "going on in part: ");
    assert_eq!(rest.out, whole.out);
    assert_eq!(timeless(&place.read("part/rows.jsonl")), timeless(&place.read("whole/rows.jsonl")));
    assert_eq!(place.read("part/policy.toml"), place.read("whole/policy.toml"));
    assert_eq!(place.read("part/plan.json"), place.read("whole/plan.json"));

    // Its report can be made again, with all that it said.
    let report = place.read("part/report.html");
    assert!(report.contains("carries load"), "the headline");
    fs::remove_file(place.path("part/report.html")).unwrap();
    place.run("report part").expect(0, "");
    assert_eq!(place.read("part/report.html"), report);
    assert_eq!(place.run("report part --json").out, "{\"report\":\"part/report.html\"}\n");
    // Of an older version, which kept less, or something else, or nothing.
    let now = place.json("part/report.json");
    let (mut lacking, mut other) = (now.clone(), now);
    lacking.as_object_mut().unwrap().remove("reaches");
    other["reaches"] = serde_json::json!({ "go": 0.5 });
    for older in [lacking, other] {
        place.write("part/report.json", &older.to_string());
        let refused =
            place.run("report part").expect(2, "the plan in `part` is of an older version of caudal");
        refused.expect(2, "remove the directory and run caudal plan --workload");
    }
    fs::remove_file(place.path("part/report.json")).unwrap();
    place.run("report part").expect(2, "the plan in `part` is of an older version of caudal");
}

#[test]
fn a_plan_leaves_the_results_of_others_alone() {
    let place = Place::new();
    place.write("service.csv", "1000\n1000\n30000\n").write("in.toml", SERVICE);
    place.run("sim in.toml --out sweep").expect(0, "");
    place
        .run(&format!("{PLAN} --budget 500ms --out sweep"))
        .expect(2, "`sweep` holds results of something else");
    place.run(&format!("{PLAN} --budget 500ms --out plan")).expect(0, "");
    let answer = place.read("plan/plan.json");
    place.run("sim in.toml --out plan").expect(2, "`plan` holds results of something else: the command");
    for (other, what) in [("--budget 600ms", "the budget"), ("--budget 500ms --seed 5", "the seed")] {
        place.run(&format!("{PLAN} --out plan {other}")).expect(2, what);
    }
    place.write("service.csv", "1000\n1000\n30001\n");
    place.run(&format!("{PLAN} --budget 500ms --out plan")).expect(2, "the contents of service.csv differs");
    assert_eq!(place.read("plan/plan.json"), answer);
    // Without --out, another question gets another directory.
    place.run(&format!("{PLAN} --budget 500ms")).expect(0, "wrote caudal-plan/report.html");
    place.run(&format!("{PLAN} --budget 500ms")).expect(0, "wrote caudal-plan/report.html");
    place.run(&format!("{PLAN} --budget 500ms --seed 2")).expect(0, "wrote caudal-plan-2/report.html");
}

#[test]
fn a_budget_of_nothing_is_refused() {
    let place = Place::new();
    place.write("service.csv", "1000\n2000\n");
    place.run(&format!("{PLAN} --budget 0s --out r")).expect(2, "a budget of 0 holds no simulation");
    assert!(!place.path("r").exists());
    let little = place.run(&format!("{PLAN} --budget 1us --out r")).expect(1, "");
    assert!(
        little.out.starts_with("Nothing was seen to meet ") && little.out.contains("What to do"),
        "{}",
        little.out
    );
}

#[test]
fn a_plan_that_is_refused_leaves_nothing_behind() {
    let place = Place::new();
    place.write("service.csv", "1000\n2000\n");
    place
        .run(&format!("{PLAN} --target 'scan p99 < 9us' --out r"))
        .expect(2, "its requests are of one class");
    place.run(&format!("{PLAN} --systems idael --out r")).expect(2, "did you mean `ideal`?");
    assert!(!place.path("r").exists());
}

#[test]
fn latencies_can_be_had_as_histograms() {
    let place = Place::new();
    place.write("service.csv", "class,service_ns\nget,1000\nget,1000\nscan,9000\n").write("in.toml", SERVICE);
    place.run("sim in.toml --hdr").expect(2, "--out");
    place.run("sim in.toml --out r").expect(0, "");
    let rows = place.read("r/rows.jsonl");
    // Rows that are there stay; their logs are made.
    place.run("sim in.toml --out r --hdr").expect(0, "");
    assert_eq!(place.read("r/rows.jsonl"), rows);
    let shown = place.run("workload show r/hdr/0001-system_load=0.2.hlog --json").expect(0, "");
    let shown: serde_json::Value = serde_json::from_str(&shown.out).unwrap();
    let row = timeless(&rows).into_iter().find(|row| row["load"] == 0.2).unwrap();
    for class in ["get", "scan"] {
        let (log, row) = (&shown["classes"][class], &row["classes"][class]);
        let (log, row) =
            (log["mean_ns"].as_f64().unwrap(), row["latency_ns"]["mean"]["estimate"].as_f64().unwrap());
        assert!((log / row - 1.0).abs() < 0.004, "{class}: {log} and {row}");
    }
}

#[test]
fn the_schema_needs_no_file() {
    let place = Place::new();
    let schema = place.run("check --schema").expect(0, "");
    let schema: serde_json::Value = serde_json::from_str(&schema.out).unwrap();
    assert!(schema["properties"]["workload"].is_object());
}

/// Costs of another machine make another question, and are in the policy that answers it; a line of reference stays free.
#[test]
fn a_plan_takes_the_costs_of_a_file_and_says_so() {
    let place = Place::new();
    place.write("in.csv", "class,service_ns\nget,1000\nget,1200\nscan,100000\n");
    place.write("costs.toml", "[costs]\nhop = \"90ns\"\npreemption = \"1us\"\n");
    let plan = "plan --workload in.csv --target 'get p99 < 5ms' --cores 2 --systems caudal-stealing-ps,ideal --quick --budget 1s";
    let with = format!("{plan} --costs costs.toml --out p --policy policy.toml");
    let ran = place.run(&with);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let policy = place.read("policy.toml");
    assert!(policy.contains("hop                = \"90ns\"\n"), "{policy}");
    assert!(policy.contains("preemption         = \"1us\"\n"), "{policy}");
    assert_eq!(place.json("p/meta.json")["asked"]["the costs"][0], "costs.hop=\"90ns\"");
    assert!(place.read("p/report.json").contains("--costs 'costs.toml'"));
    let rows = place.read("p/rows.jsonl");
    let rows = rows.lines().map(|row| serde_json::from_str::<serde_json::Value>(row).unwrap());
    let ideal: Vec<_> = rows.filter(|row| row["system"] == "ideal").collect();
    assert!(!ideal.is_empty());
    assert!(ideal.iter().all(|row| row["wait_ns"]["overhead"] == 0.0), "what costs nothing stays so");
    place.run(&format!("{plan} --out p")).expect(2, "what was asked differs");
    place.write("costs.toml", "[costs]\nhop = \"80ns\"\n");
    place.run(&format!("{plan} --costs costs.toml --out p")).expect(2, "the costs differs");
}
