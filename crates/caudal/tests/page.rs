//! The reproduction page in the docs is what the program makes: looked at where that takes no simulation.

use std::path::Path;
use std::process::Command;

/// The part of the page about a figure.
fn section<'a>(page: &'a str, figure: &str) -> &'a str {
    let begin = page.find(&format!("<!-- {figure} ")).expect("the figure is on the page");
    let rest = &page[begin..];
    let end = rest[4..].find("\n<!-- ").map_or(rest.len(), |end| end + 4);
    rest[..end].trim_end()
}

#[test]
fn a_figure_of_tables_alone_is_on_the_page_as_it_comes_out() {
    let dir = tempfile::tempdir().expect("a directory");
    let figure = "tail-control-figure-4";
    let mut command = Command::new(env!("CARGO_BIN_EXE_caudal"));
    command.args(["reproduce", figure, "--quiet", "--out"]).arg(dir.path().join("results"));
    let done = command.arg("--docs").arg(dir.path()).output().expect("it runs");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let read = |path: &Path| std::fs::read_to_string(path).expect("a page");
    let made = read(&dir.path().join("reproduction.md"));
    let docs = read(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reproduction.md")));
    assert_eq!(section(&made, figure), section(&docs, figure), "run `caudal reproduce {figure} --docs docs`");
}
