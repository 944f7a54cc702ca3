//! `caudal top` against a runtime in this process, and a plan of what that runtime has measured.
#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

use std::process::{Command, Output};

use caudal_config::{File, Host, Options};
use caudal_rt::observe::Metric;
use caudal_rt::{Builder, Pinning, Runtime};

/// A runtime with a name that has run some requests.
fn runtime(name: &str) -> Runtime {
    let text = "[system]\ncores = 1\npools = \"per-core\"\ndispatch = { policy = \"jsq\", ties = \"msq\" }\n\
                discipline = { policy = \"processor-sharing\", quantum = \"2us\" }\n";
    let options = Options { host: Host::Runtime, ..Options::default() };
    let file = File::parse_with(text, "test.toml", &options).unwrap();
    let builder = Builder::of(file.systems.into_iter().next().unwrap()).pinning(Pinning::None);
    let runtime = builder.socket(true).name(name).start().unwrap();
    requests(&runtime);
    runtime
}

fn requests(runtime: &Runtime) {
    let (get, scan) = (runtime.class("get").unwrap(), runtime.class("scan").unwrap());
    for i in 0..400 {
        let (class, turns) = if i % 10 == 0 { (scan, 20_000) } else { (get, 10) };
        let handle = runtime.submit(class, move || (0..turns).for_each(|_| caudal_rt::probe())).unwrap();
        handle.wait().unwrap();
    }
}

fn caudal(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_caudal")).args(args).output().unwrap()
}

/// What it printed, if it went well.
fn printed(args: &[&str]) -> String {
    let output = caudal(args);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{args:?}: {errors}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn a_runtime_is_listed_found_and_shown() {
    let runtime = runtime("shop");
    let path = runtime.socket_path().unwrap();
    let id = path.file_stem().unwrap().to_str().unwrap().to_owned();
    let list = printed(&["top"]);
    let line = list.lines().find(|line| line.contains("shop")).unwrap_or_else(|| panic!("{list}"));
    assert!(line.starts_with(&id) && line.contains("get scan"), "{line}");

    std::thread::scope(|scope| {
        let looks = scope.spawn(|| {
            let table = printed(&["top", "shop", "--once", "--interval", "500ms"]);
            let json = printed(&["top", &id, "--once", "--json", "--interval", "200ms"]);
            (table, json)
        });
        while !looks.is_finished() {
            requests(&runtime);
        }
        let (table, json) = looks.join().unwrap();
        for part in ["shop (", "queueing p99", "get", "scan", "scheduling", "no failures", "raw"] {
            assert!(table.contains(part), "{part}:\n{table}");
        }
        let look: serde_json::Value = serde_json::from_str(&json).unwrap();
        assert_eq!((&look["name"], &look["stalls"]), (&"shop".into(), &"raw".into()));
        let shares = ["busy", "scheduling", "idle"].map(|key| look["workers"][0][key].as_f64().unwrap());
        assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-6, "{shares:?}");
        assert_eq!(look["classes"][0]["class"], "get");
    });
    let dir = tempfile::tempdir().unwrap();
    let trace = dir.path().join("run.pftrace");
    printed(&["top", &id, "--timeline", trace.to_str().unwrap(), "--window", "20ms"]);
    assert!(!caudal_report::timeline::decode(&std::fs::read(&trace).unwrap()).unwrap().packet.is_empty());
    assert!(
        printed(&["top", &id, "--prometheus"]).contains("# TYPE caudal_request_service_seconds histogram")
    );
}

#[test]
fn what_can_not_be_shown_is_said_with_a_way_out() {
    let runtime = runtime("lonely");
    for (args, part) in [
        (&["top", "nobody-is-called-so"][..], "`caudal top` lists"),
        (&["top", "1"], "shows no runtime to this user"),
        (&["top", "lonely"], "--once"),
        (&["top", "lonely", "--interval", "1ns"], "from 100ms"),
        (&["top", "lonely", "--timeline", "t", "--window", "2s"], "from 1ms to 1s"),
    ] {
        let output = caudal(args);
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{args:?}: {errors}");
        assert!(errors.contains(part), "{args:?}: {errors}");
    }
    let other = self::runtime("lonely");
    let output = caudal(&["top", "lonely", "--once"]);
    assert!(String::from_utf8_lossy(&output.stderr).contains("2 runtimes are called `lonely`"));
    drop((runtime, other));
    let output = caudal(&["top", "lonely", "--once"]);
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn a_plan_takes_the_service_times_that_a_runtime_measured() {
    let runtime = runtime("measured");
    let dir = tempfile::tempdir().unwrap();
    let log = dir.path().join("service.hlog");
    runtime.stats().write_hlog(Metric::Service, std::fs::File::create(&log).unwrap()).unwrap();
    let shown = printed(&["workload", "show", log.to_str().unwrap()]);
    assert!(shown.contains("get") && shown.contains("scan"), "{shown}");
    let output = Command::new(env!("CARGO_BIN_EXE_caudal"))
        .args(["plan", "--workload", "service.hlog", "--target", "get p99 < 50ms", "--cores", "2"])
        .args(["--systems", "work-stealing", "--quick", "--budget", "1s", "--out", "plan"])
        .current_dir(dir.path())
        .output()
        .unwrap();
    let (text, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(matches!(output.status.code(), Some(0 | 1)), "{text}{errors}");
    assert!(text.contains("get p99"), "{text}{errors}");
    assert!(dir.path().join("plan/plan.json").exists());
}
