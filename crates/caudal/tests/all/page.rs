//! The pages of the reproduction are what the program makes: of a figure that takes no simulation, from the start; of all others
//! from the results that are kept, which a test of the command looks at.

use std::path::{Path, PathBuf};
use std::process::Command;

fn docs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs")
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn reproduce(arguments: &[&str]) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_caudal"));
    let done = command.arg("reproduce").args(arguments).arg("--quiet").output().expect("it runs");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
}

#[test]
fn a_figure_of_tables_alone_is_kept_and_shown_as_it_comes_out() {
    let dir = tempfile::tempdir().expect("a directory");
    let figure = "tail-control-figure-4";
    reproduce(&[figure, "--out", dir.path().to_str().expect("UTF-8")]);
    let made = |name: &str| read(&dir.path().join(figure).join(name));
    let kept = |name: &str| read(&docs().join("reproduction").join(name));
    let stale = "run `caudal reproduce tail-control-figure-4 --docs docs`";
    assert!(made("page.md").len() > 1_000);
    assert_eq!(made("page.md"), kept(&format!("{figure}.md")), "{stale}");
    assert_eq!(made("record.json"), kept(&format!("results/{figure}.json")), "{stale}");
}

/// Every link to a page, a figure or an experiment leads somewhere.
#[test]
fn links_of_the_pages_lead_to_files() {
    let pages = std::fs::read_dir(docs().join("reproduction")).expect("pages");
    let mut pages: Vec<PathBuf> = pages.map(|entry| entry.expect("a file").path()).collect();
    pages.retain(|path| path.extension().is_some_and(|extension| extension == "md"));
    pages.push(docs().join("reproduction.md"));
    assert!(pages.len() > 40, "{} pages", pages.len());
    for page in pages {
        let text = read(&page);
        for link in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let path = page.parent().expect("a directory").join(link);
            assert!(link.starts_with("http") || path.exists(), "{}: {link}", page.display());
        }
    }
}
