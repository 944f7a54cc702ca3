//! Who takes part: the programs here, those that have to be built by another compiler, and commands that were given.

use std::path::{Path, PathBuf};
use std::process::Command;

/// A program and the options that it needs beyond those of all contestants.
#[derive(Clone, Debug)]
pub(crate) struct Contestant {
    /// Its name in the tables.
    pub(crate) name: String,
    /// The program and options of its own.
    pub(crate) command: Vec<String>,
    /// Quantum, as an option says it.
    pub(crate) quantum: &'static str,
    /// Whether it reads the schedule from a file.
    pub(crate) reads_schedule: bool,
}

/// Everybody: name, program, whether from a file, options, quantum.
const ALL: [(&str, &str, bool, &[&str], &str); 12] = [
    ("fcfs", "rival-fcfs", false, &[], "1us"),
    ("tokio", "rival-tokio", false, &[], "1us"),
    ("tokio-polled", "rival-tokio", false, &["--polled"], "1us"),
    ("rayon", "rival-rayon", false, &[], "1us"),
    ("go", "rival-go", true, &[], "1us"),
    ("onetbb", "rival-onetbb", true, &[], "1us"),
    ("tokio-edited-1us", "rival-tokio", false, &["--edited"], "1us"),
    ("tokio-edited-2us", "rival-tokio", false, &["--edited"], "2us"),
    ("tokio-waking-1us", "rival-tokio", false, &["--edited", "--waking"], "1us"),
    ("tokio-waking-2us", "rival-tokio", false, &["--edited", "--waking"], "2us"),
    ("go-edited-1us", "rival-go", true, &["-edited"], "1us"),
    ("go-edited-2us", "rival-go", true, &["-edited"], "2us"),
];

/// What `--only` says for nobody of these.
const NONE: &str = "none";

/// Those that take part, and why the others cannot.
pub(crate) fn assemble(only: &[String], extra: &[String]) -> Result<Vec<Contestant>, String> {
    if let Some(unknown) =
        only.iter().filter(|name| *name != NONE).find(|name| ALL.iter().all(|known| known.0 != **name))
    {
        let known: Vec<&str> = ALL.iter().map(|known| known.0).collect();
        return Err(format!("there is no contestant `{unknown}`; there are {}", known.join(", ")));
    }
    let mut taking_part = extra.iter().map(|given| from_command(given)).collect::<Result<Vec<_>, _>>()?;
    let wanted = ALL.iter().filter(|known| only.is_empty() || only.iter().any(|name| name == known.0));
    let mut skipped: Vec<&str> = Vec::new();
    for &(name, program, reads_schedule, own, quantum) in wanted {
        if skipped.contains(&program) {
            continue;
        }
        match program_file(program) {
            Ok(path) => {
                let command =
                    std::iter::once(path.display().to_string()).chain(own.iter().map(ToString::to_string));
                taking_part.push(Contestant {
                    name: name.to_owned(),
                    command: command.collect(),
                    quantum,
                    reads_schedule,
                });
            }
            Err(why) => {
                eprintln!("{program} is skipped: {why}");
                skipped.push(program);
            }
        }
    }
    if taking_part.is_empty() { Err("nobody is left to measure".to_owned()) } else { Ok(taking_part) }
}

fn from_command(given: &str) -> Result<Contestant, String> {
    let (name, command) = given.split_once('=').ok_or(format!("`--extra {given}` is not NAME=COMMAND"))?;
    let command: Vec<String> = command.split_whitespace().map(str::to_owned).collect();
    if command.is_empty() {
        return Err(format!("`--extra {given}` has no command"));
    }
    Ok(Contestant { name: name.to_owned(), command, quantum: "1us", reads_schedule: false })
}

/// The program beside this one; Go's and oneTBB's are built if their sources or this program are newer.
fn program_file(program: &str) -> Result<PathBuf, String> {
    let directory = std::env::current_exe().map_err(|error| error.to_string())?;
    let path = directory.with_file_name(program);
    let sources = Path::new(env!("CARGO_MANIFEST_DIR"));
    match program {
        "rival-go" => {
            let build = Command::new("go")
                .args(["build", "-o"])
                .arg(&path)
                .arg(".")
                .current_dir(sources.join("go"))
                .output();
            built(build, "Go (Debian: golang-go)")?;
        }
        "rival-onetbb" => {
            let flags = ["-O3", "-flto", "-std=c++17", "-Wall", "-Wextra", "main.cpp", "-ltbb", "-o"];
            let build =
                Command::new("g++").args(flags).arg(&path).current_dir(sources.join("onetbb")).output();
            built(build, "g++ and oneTBB (Debian: g++, libtbb-dev)")?;
        }
        _ if !path.exists() => return Err(format!("{} is missing: cargo build --release", path.display())),
        _ => {}
    }
    Ok(path)
}

fn built(output: std::io::Result<std::process::Output>, needs: &str) -> Result<(), String> {
    match output {
        Err(error) => Err(format!("it needs {needs}: {error}")),
        Ok(output) if !output.status.success() => {
            let said = String::from_utf8_lossy(&output.stderr);
            Err(format!(
                "it needs {needs}: {}",
                said.lines().next().unwrap_or("the compiler failed without a word")
            ))
        }
        Ok(_) => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_a_contestant() {
        let extra = ["ours=target/bench --mode two-level".to_owned()];
        let all = assemble(&["fcfs".to_owned()], &extra).unwrap();
        assert_eq!((all[0].name.as_str(), all[0].command.len()), ("ours", 3));
        assert_eq!(assemble(&[NONE.to_owned()], &extra).unwrap().len(), 1);
        for wrong in ["ours", "ours="] {
            assert!(assemble(&[], &[wrong.to_owned()]).is_err(), "{wrong}");
        }
        assert!(assemble(&["fcsf".to_owned()], &[]).unwrap_err().contains("there are fcfs, tokio"));
    }
}
