//! Every command in the table of `docs/guides/measure-your-service.md` does what the table says, on a file of that kind.

use std::path::Path;
use std::process::Command;

#[test]
fn every_tool_of_the_table_has_a_command_that_works() {
    let guide = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guides/measure-your-service.md");
    let inputs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../caudal-workload/tests/inputs");
    let text = std::fs::read_to_string(guide).unwrap();
    let rows = text.lines().filter(|line| line.starts_with('|'));
    let commands: Vec<&str> = rows
        .filter_map(|row| row.split('`').find(|part| part.starts_with("caudal workload show ")))
        .collect();
    assert!(commands.len() > 20, "{commands:?}");
    for command in commands {
        let arguments = words(command.strip_prefix("caudal ").unwrap());
        let ran =
            Command::new(env!("CARGO_BIN_EXE_caudal")).args(arguments).current_dir(&inputs).output().unwrap();
        let (out, error) = (String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
        assert!(ran.status.success() && out.contains("Read as "), "{command}: {out}{error}");
    }
}

/// Words as a shell takes them, with single quotes.
fn words(command: &str) -> Vec<String> {
    let mut words = Vec::new();
    for (index, part) in command.split('\'').enumerate() {
        match index % 2 {
            0 => words.extend(part.split_whitespace().map(str::to_owned)),
            _ => words.push(part.to_owned()),
        }
    }
    words
}
