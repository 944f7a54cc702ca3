//! A reader who does what a page says, step by step, in a shell of its own in an empty folder beside a clone. Called by `guides/mod.rs`.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

use super::steps::{Call, Step, matches};

/// How long a service may take until it has printed what the page shows: a release build may come first.
const BEGUN_WITHIN: Duration = Duration::from_secs(1800);

pub(super) struct Reader {
    folder: TempDir,
    shell: Child,
    commands: ChildStdin,
    statuses: BufReader<ChildStdout>,
    /// What was begun in other terminals.
    services: Vec<Child>,
}

impl Reader {
    /// A reader in a folder that holds nothing but `caudal`, the clone, and copies of `files`, the reader's own.
    ///
    /// The clone is a link. A page that builds something of it says `cd caudal` first: there cargo sees the clone's own place, which what it
    /// builds may remember.
    pub(super) fn new(clone: &Path, files: &[PathBuf]) -> Reader {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::create_dir_all(at(".bin")).unwrap();
        std::fs::create_dir_all(at(".home")).unwrap();
        std::os::unix::fs::symlink(clone, at("caudal")).unwrap();
        std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_caudal"), at(".bin/caudal")).unwrap();
        for file in files {
            std::fs::copy(file, at(file.file_name().unwrap().to_str().unwrap())).unwrap();
        }
        let mut shell = terminal(folder.path());
        let mut shell =
            shell.current_dir(folder.path()).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (commands, statuses) =
            (shell.stdin.take().unwrap(), BufReader::new(shell.stdout.take().unwrap()));
        Reader { folder, shell, commands, statuses, services: Vec::new() }
    }

    /// Does one step.
    ///
    /// # Panics
    /// If a command does not end as the page says, or prints something else than the page shows.
    pub(super) fn does(&mut self, step: &Step) {
        match step {
            Step::Save { name, text } => {
                let folder = self.ask("pwd").1;
                std::fs::write(Path::new(folder.trim_end()).join(name), text).unwrap();
            }
            Step::Run(call) => self.runs(call),
            Step::Begin(call) => self.begins(call),
            Step::Check(text) => {
                let file = self.folder.path().join(".check.toml");
                let workload = "[workload]\nservice = \"exp-1us\"\nload = 0.4\n";
                let text =
                    if text.contains("[workload]") { text.clone() } else { format!("{workload}{text}") };
                std::fs::write(&file, &text).unwrap();
                let (status, _, err) = self.ask(&format!("caudal check {}", file.display()));
                assert_eq!(status, 0, "{text}\n{err}");
            }
            Step::Skip(_) => {}
        }
    }

    fn runs(&mut self, call: &Call) {
        let (status, out, err) = self.ask(&call.command);
        let said = format!("line {}: {}\nexit code {status}\n{err}{out}", call.line, call.command);
        assert_eq!(status != 0, call.fails, "{said}");
        // A page may show what goes to stdout alone, to stderr alone, or both.
        let both = format!("{err}{out}");
        let is_shown = |printed: &&String| matches(&call.shown, printed, call.measured);
        assert!(
            call.shown.is_empty() || [&out, &err, &both].iter().any(is_shown),
            "{said}\nThe page shows:\n{}",
            call.shown.join("\n")
        );
    }

    /// Exit code, stdout and stderr of a command in the page's shell, in which folders and variables stay what they became.
    fn ask(&mut self, command: &str) -> (i32, String, String) {
        let (out, err) = (self.folder.path().join(".out"), self.folder.path().join(".err"));
        let (to_out, to_err) = (out.display(), err.display());
        write!(self.commands, "{{ {command}\n}} </dev/null >{to_out} 2>{to_err}; echo $?\n").unwrap();
        let mut status = String::new();
        self.statuses.read_line(&mut status).unwrap();
        let text = |path| String::from_utf8_lossy(&std::fs::read(path).unwrap()).into_owned();
        let status = status.trim().parse().unwrap_or_else(|_| panic!("the shell ended at: {command}"));
        (status, text(&out), text(&err))
    }

    fn begins(&mut self, call: &Call) {
        let folder = self.ask("pwd").1;
        let printed = self.folder.path().join(format!(".service-{}", self.services.len()));
        let out = std::fs::File::create(&printed).unwrap();
        let command = format!("exec {}", call.command);
        let mut terminal = terminal(self.folder.path());
        let terminal = terminal.args(["-c", &command]).current_dir(folder.trim_end());
        // Its input stays open until the reader has done with the page.
        let service = terminal.stdin(Stdio::piped()).stdout(out.try_clone().unwrap()).stderr(out).spawn();
        self.services.push(service.unwrap());
        let begun = Instant::now();
        loop {
            let text = std::fs::read_to_string(&printed).unwrap();
            let wanted = |line: &String| {
                text.lines().any(|has| matches(std::slice::from_ref(line), has, call.measured))
            };
            if call.shown.iter().all(wanted) {
                return;
            }
            let ended = self.services.last_mut().unwrap().try_wait().unwrap();
            let too_long = begun.elapsed() > BEGUN_WITHIN;
            assert!(ended.is_none() && !too_long, "line {}: {}\n{text}", call.line, call.command);
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        for process in self.services.iter_mut().chain([&mut self.shell]) {
            // It may have ended by itself.
            let _ = process.kill();
            let _ = process.wait();
        }
    }
}

/// A shell whose `caudal` is that of this build, and whose home is in the reader's folder.
fn terminal(folder: &Path) -> Command {
    let home = PathBuf::from(std::env::var_os("HOME").unwrap_or_default());
    let kept = |name: &str, beside: &str| std::env::var_os(name).unwrap_or(home.join(beside).into());
    let path = std::env::var("PATH").unwrap_or_default();
    let mut shell = Command::new("bash");
    shell
        .env("PATH", format!("{}:{path}", folder.join(".bin").display()))
        .env("CARGO_HOME", kept("CARGO_HOME", ".cargo"))
        .env("RUSTUP_HOME", kept("RUSTUP_HOME", ".rustup"))
        .env("HOME", folder.join(".home"))
        // Those of `cargo test` are not the reader's.
        .env_remove("CARGO_TARGET_DIR")
        .env_remove("LD_LIBRARY_PATH")
        .env_remove("RUSTFLAGS");
    for (name, _) in std::env::vars() {
        if name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_") {
            shell.env_remove(name);
        }
    }
    shell
}
