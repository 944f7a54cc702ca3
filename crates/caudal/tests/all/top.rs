//! `caudal top` against a runtime in this process, and a plan of what that runtime has measured.
#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

use std::fs::File as Device;
use std::io::{Read, Write};
use std::os::fd::{AsRawFd, FromRawFd};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Output, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use caudal_observe::{Export as _, Metric, Observe as _, Observed as _};
use caudal_rt::{Builder, Pinning, Runtime};

/// A name that no runtime of another process has: these tests may run twice at once.
fn named(name: &str) -> String {
    format!("{name}-{}", std::process::id())
}

/// A runtime with a name that has run some requests.
fn runtime(name: &str) -> Runtime {
    let text = "[system]\ncores = 1\npools = \"per-core\"\ndispatch = { policy = \"jsq\", ties = \"msq\" }\n\
                discipline = { policy = \"processor-sharing\", quantum = \"2us\" }\n";
    let builder = Builder::parse(text, "test.toml").unwrap().pinning(Pinning::None);
    let runtime = builder.observed_or_refused().name(name).start().unwrap();
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
    let shop = named("shop");
    let runtime = runtime(&shop);
    let path = runtime.socket_path().unwrap();
    let id = path.file_stem().unwrap().to_str().unwrap().to_owned();
    let list = printed(&["top"]);
    let line = list.lines().find(|line| line.contains(&shop)).unwrap_or_else(|| panic!("{list}"));
    assert!(line.starts_with(&id) && line.contains("get scan"), "{line}");

    std::thread::scope(|scope| {
        let sampling = scope.spawn(|| {
            let table = printed(&["top", &shop, "--once", "--interval", "500ms"]);
            let json = printed(&["top", &id, "--once", "--json", "--interval", "200ms"]);
            (table, json)
        });
        while !sampling.is_finished() {
            requests(&runtime);
        }
        let (table, json) = sampling.join().unwrap();
        for part in [&format!("{shop} ("), "queueing p99", "get", "scan", "scheduling", "no failures", "raw"]
        {
            assert!(table.contains(part), "{part}:\n{table}");
        }
        let sample: serde_json::Value = serde_json::from_str(&json).unwrap();
        assert_eq!((&sample["name"], &sample["stalls"]), (&shop.as_str().into(), &"raw".into()));
        let shares = ["busy", "scheduling", "idle"].map(|key| sample["workers"][0][key].as_f64().unwrap());
        assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-6, "{shares:?}");
        assert_eq!(sample["classes"][0]["class"], "get");
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
    let lonely = named("lonely");
    let runtime = runtime(&lonely);
    for (args, part) in [
        (&["top", "nobody-is-called-so"][..], "`caudal top` lists"),
        (&["top", "1"], "shows no runtime to this user"),
        (&["top", &lonely], "--once"),
        (&["top", &lonely, "--interval", "1ns"], "from 100ms"),
        (&["top", &lonely, "--timeline", "t", "--window", "2s"], "from 1ms to 1s"),
    ] {
        let output = caudal(args);
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{args:?}: {errors}");
        assert!(errors.contains(part), "{args:?}: {errors}");
    }
    let other = self::runtime(&lonely);
    let output = caudal(&["top", &lonely, "--once"]);
    assert!(String::from_utf8_lossy(&output.stderr).contains(&format!("2 runtimes are called `{lonely}`")));
    drop((runtime, other));
    let output = caudal(&["top", &lonely, "--once"]);
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

/// A terminal: its own end, and the end that programs have.
struct Terminal {
    own: Device,
    programs: Device,
}

impl Terminal {
    fn open() -> Terminal {
        let (mut own, mut programs) = (0, 0);
        let size = libc::winsize { ws_row: 30, ws_col: 100, ws_xpixel: 0, ws_ypixel: 0 };
        // SAFETY: the call writes both numbers, and reads the size; each descriptor has one owner then.
        unsafe {
            let name = std::ptr::null_mut();
            assert_eq!(libc::openpty(&mut own, &mut programs, name, std::ptr::null(), &size), 0);
            Terminal { own: Device::from_raw_fd(own), programs: Device::from_raw_fd(programs) }
        }
    }

    /// Does it echo, and read whole lines?
    fn modes(&self) -> [libc::tcflag_t; 4] {
        // SAFETY: all zeros is a setting, which the call overwrites.
        let now = unsafe {
            let mut now: libc::termios = std::mem::zeroed();
            assert_eq!(libc::tcgetattr(self.programs.as_raw_fd(), &mut now), 0);
            now
        };
        // Whoever sets modes may write down the input's speed, which until then is that of the output unsaid.
        [now.c_iflag, now.c_oflag, now.c_cflag & !libc::CIBAUD, now.c_lflag]
    }

    /// `caudal top` of this runtime, with this terminal as its own.
    fn top(&self, name: &str) -> Child {
        let end = || Stdio::from(self.programs.try_clone().unwrap());
        let mut command = Command::new(env!("CARGO_BIN_EXE_caudal"));
        command.args(["top", name, "--interval", "100ms"]).stdin(end()).stdout(end()).stderr(end());
        // SAFETY: two system calls, which a child may make before it becomes another program.
        unsafe {
            command.pre_exec(|| {
                libc::setsid();
                libc::ioctl(0, libc::TIOCSCTTY, 0);
                Ok(())
            });
        }
        command.spawn().unwrap()
    }
}

/// However the live view is ended, the terminal is as it was.
#[test]
fn the_terminal_is_as_it_was() {
    let name = named("on-a-terminal");
    let _runtime = runtime(&name);
    let signal = |number| {
        move |child: &Child, _: &Terminal| {
            // SAFETY: a child that has not been waited for.
            assert_eq!(unsafe { libc::kill(child.id() as libc::pid_t, number) }, 0);
        }
    };
    let twice = |child: &Child, terminal: &Terminal| {
        signal(libc::SIGTERM)(child, terminal);
        std::thread::sleep(Duration::from_millis(5));
        // SAFETY: as above; it may have ended, but has not been waited for.
        unsafe { libc::kill(child.id() as libc::pid_t, libc::SIGTERM) };
    };
    let key = |child: &Child, terminal: &Terminal| {
        assert!(child.id() > 0);
        (&terminal.own).write_all(b"\x03").unwrap();
    };
    type End<'a> = &'a dyn Fn(&Child, &Terminal);
    let ends: [(&str, End<'_>); 4] = [
        ("SIGTERM", &signal(libc::SIGTERM)),
        ("SIGINT", &signal(libc::SIGINT)),
        ("SIGTERM twice", &twice),
        ("Ctrl-C", &key),
    ];
    for (what, end) in ends {
        let terminal = Terminal::open();
        let before = terminal.modes();
        let drawn = Arc::new(Mutex::new(Vec::new()));
        let (mut screen, written) = (terminal.own.try_clone().unwrap(), Arc::clone(&drawn));
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(count @ 1..) = screen.read(&mut bytes) {
                written.lock().unwrap().extend_from_slice(&bytes[..count]);
            }
        });
        let shown = |text: &str| String::from_utf8_lossy(&drawn.lock().unwrap()).contains(text);
        let mut child = terminal.top(&name);
        while !shown(&name) {
            assert_eq!(child.try_wait().unwrap(), None, "{what}: it draws");
            std::thread::sleep(Duration::from_millis(10));
        }
        assert_ne!(terminal.modes(), before, "{what}: it takes keys as they come");
        end(&child, &terminal);
        child.wait().unwrap();
        assert_eq!(terminal.modes(), before, "{what}");
        // What was written last may be on its way.
        while !shown("\x1b[?1049l") {
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}
