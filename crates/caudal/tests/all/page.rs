//! The reproduction page in the docs is what the program makes: looked at where that takes no simulation.

use std::process::Command;

#[test]
fn a_figure_of_tables_alone_is_on_the_page_as_it_comes_out() {
    let dir = tempfile::tempdir().expect("a directory");
    let figure = "tail-control-figure-4";
    let mut command = Command::new(env!("CARGO_BIN_EXE_caudal"));
    command.args(["reproduce", figure, "--quiet", "--out"]).arg(dir.path());
    let done = command.output().expect("it runs");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let read = |path: &std::path::Path| std::fs::read_to_string(path).expect("a file");
    let made = read(&dir.path().join(figure).join("section.md"));
    let page = read(std::path::Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reproduction.md")));
    assert!(made.len() > 1_000 && page.contains(made.trim()), "run `caudal reproduce {figure} --docs docs`");
}
