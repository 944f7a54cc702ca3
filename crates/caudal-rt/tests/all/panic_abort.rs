//! Programs that are compiled with `panic = "abort"` are told apart: the runtime refuses to start in them, as one request's panic would
//! end all of them.
//!
//! The runtime and all that it needs are not compiled anew for this. The file that tells is, into a program of its own; that the start
//! heeds it is a test beside that.

use std::path::Path;
use std::process::Command;

const PROGRAM: &str = "fn main() {\n    println!(\"panics unwind: {}\", unwinding::PANICS_UNWIND);\n}\n";

/// Answer of a program about its panics, compiled so.
fn said(directory: &Path, panics: &str) -> String {
    let tells = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/base/unwinding.rs");
    let (source, program) = (directory.join("program.rs"), directory.join(panics));
    std::fs::write(&source, format!("#[path = {tells:?}]\nmod unwinding;\n{PROGRAM}")).unwrap();
    let compiled = Command::new("rustc")
        .args(["--edition", "2024", "-D", "warnings", "-C", &format!("panic={panics}"), "-o"])
        .args([&program, &source])
        .output()
        .unwrap();
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    String::from_utf8(Command::new(program).output().unwrap().stdout).unwrap()
}

#[test]
fn a_program_knows_whether_its_panics_unwind() {
    let directory = tempfile::tempdir().unwrap();
    assert_eq!(said(directory.path(), "abort"), "panics unwind: false\n");
    assert_eq!(said(directory.path(), "unwind"), "panics unwind: true\n");
}
