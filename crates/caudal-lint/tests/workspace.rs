//! Small workspaces in which something is planted.

use std::path::Path;

use tempfile::TempDir;

/// A workspace of one crate, `a`, with these files and this list of what is known.
fn workspace(files: &[(&str, &str)], known: &str) -> TempDir {
    let folder = TempDir::new().expect("a temporary folder");
    let write = |path: &Path, text: &str| {
        std::fs::create_dir_all(path.parent().expect("it has a folder")).expect("a folder");
        std::fs::write(path, text).expect("a file");
    };
    for (path, text) in files {
        write(&folder.path().join("crates/a/src").join(path), text);
    }
    write(&folder.path().join("crates/caudal-lint/known.txt"), known);
    folder
}

fn faults(files: &[(&str, &str)], known: &str) -> Vec<String> {
    caudal_lint::check(workspace(files, known).path()).expect("the source is read")
}

const LIB: (&str, &str) = ("lib.rs", "mod one;\nmod two;\n");

#[test]
fn a_planted_circle_is_told_with_what_ties_it() {
    let one = ("one.rs", "use crate::two::Second;\npub struct First(Second);\n");
    let two = (
        "two.rs",
        "pub struct Second;\nimpl Second { fn first(self) -> Option<super::one::First> { None } }\n",
    );
    let found = faults(&[LIB, one, two], "");
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(
        found[0].contains("a: these modules use each other in a circle: crate::one crate::two"),
        "{}",
        found[0]
    );
    assert!(
        found[0].contains("one.rs uses Second of") && found[0].contains("two.rs uses First of"),
        "{}",
        found[0]
    );
    assert_eq!(faults(&[LIB, one, two], "# why\ncircle a: crate::one crate::two\n"), Vec::<String>::new());
}

#[test]
fn a_planted_use_upwards_is_told_and_so_is_a_module_without_a_floor() {
    let one = ("one.rs", "use crate::two::Second;\npub struct First(Second);\n");
    let two = ("two.rs", "pub struct Second;\n");
    let found = faults(&[LIB, one, two], "floors a: one two\n");
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(
        found[0].contains("uses Second of") && found[0].contains("`one` lies below `two`"),
        "{}",
        found[0]
    );
    assert_eq!(faults(&[LIB, one, two], "floors a: two one\n"), Vec::<String>::new());
    let found = faults(&[LIB, one, two], "floors a: two\n");
    assert!(found.len() == 1 && found[0].contains("`one` is no floor of the list"), "{found:?}");
}

#[test]
fn what_has_gone_is_taken_out_of_the_list() {
    let found = faults(&[("lib.rs", "")], "circle a: crate::one crate::two\ndocs a: 1\n");
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found.iter().any(|fault| fault.contains("take the line out")), "{found:?}");
    assert!(found.iter().any(|fault| fault.contains("`docs a: 0` now")), "{found:?}");
}

/// Neither a re-export nor a declaration is a use; a folder is one thing to those beside it, and its parts may use it.
#[test]
fn what_is_no_circle_is_none() {
    let none = Vec::<String>::new();
    let facade = ("lib.rs", "mod one;\nmod two;\npub use one::First;\npub use two::*;\n");
    let one = ("one.rs", "use crate::Second;\npub struct First(Second);\n");
    assert_eq!(faults(&[facade, one, ("two.rs", "pub struct Second;\n")], ""), none);

    let inner = ("one/inner.rs", "pub struct Inner(super::First);\n");
    let outer = ("one.rs", "mod inner;\npub struct First;\nfn of(_: inner::Inner) {}\n");
    assert_eq!(faults(&[LIB, outer, inner, ("two.rs", "use crate::one::First;\n")], ""), none);
    // Within the folder, a module of which uses what stands beside it.
    let inner = ("one/inner.rs", "use crate::two::Second;\n");
    let two = ("two.rs", "pub struct Second(crate::one::First);\n");
    let outer = ("one.rs", "mod inner;\npub struct First;\n");
    assert_eq!(faults(&[LIB, outer, inner, two], "").len(), 1);

    // Tests may use what they like; a field is no path; names of other crates are none.
    let one = (
        "one.rs",
        "use syn::syn;\nuse caudal::*;\npub struct First { second: u8 }\n#[cfg(test)]\nmod tests { use crate::two::second; }\n",
    );
    let two = ("two.rs", "pub fn second(first: crate::one::First) -> u8 { first.second }\n");
    assert_eq!(faults(&[LIB, one, two], ""), none);
}

#[test]
fn paths_in_macros_and_through_other_names_are_found() {
    let lib = ("lib.rs", "mod one;\nmod two;\nmod three;\n");
    let one = ("one.rs", "use crate::two as other;\nmacro_rules! make { () => { other::Second } }\n");
    let two = ("two.rs", "pub use crate::three::Third;\npub struct Second;\n");
    let three = ("three.rs", "pub struct Third(crate::one::First);\n");
    let found = faults(&[lib, one, two, three], "");
    assert_eq!(found, Vec::<String>::new(), "`First` is not there");
    let one = (
        "one.rs",
        "use crate::two as other;\npub struct First;\nmacro_rules! make { () => { other::Third } }\n",
    );
    let found = faults(&[lib, one, two, three], "");
    assert!(found.len() == 1 && found[0].contains("crate::one crate::three\n"), "{found:?}");
}

#[test]
fn a_planted_doc_comment_without_a_noun_is_told() {
    let found = faults(&[("lib.rs", "/// What it is for.\npub fn a() {}\n")], "");
    assert!(found.len() == 1 && found[0].contains("lib.rs:1"), "{found:?}");
}

/// Crates that have to run anywhere are known by their names.
#[test]
fn a_planted_file_in_a_crate_for_browsers_is_told() {
    let folder = workspace(&[], "");
    let source = folder.path().join("crates/caudal-row/src");
    std::fs::create_dir_all(&source).expect("a folder");
    std::fs::write(source.join("lib.rs"), "//! Rows.\nuse std::fs::File;\n").expect("a file");
    let found = caudal_lint::check(folder.path()).expect("the source is read");
    assert!(found.len() == 1 && found[0].contains("lib.rs:2: `std::fs::File`"), "{found:?}");
}

#[test]
fn faults_of_the_source_are_told_with_their_place() {
    let error = |files: &[(&str, &str)], known| {
        caudal_lint::check(workspace(files, known).path()).expect_err("it cannot be read").to_string()
    };
    assert!(error(&[("lib.rs", "fn a( {}\n")], "").contains("lib.rs:1"));
    assert!(error(&[("lib.rs", "mod gone;\n")], "").contains("`mod gone;`"));
    assert!(error(&[("lib.rs", "")], "ring a: b\n").contains("known.txt:1: write"));
}

/// Files and headings that are linked to have to be there; what is linked to in the web, or within code, need not.
#[test]
fn planted_links_to_nothing_are_told() {
    let folder = workspace(&[("lib.rs", "")], "");
    let write = |path: &str, text: &str| {
        let path = folder.path().join(path);
        std::fs::create_dir_all(path.parent().expect("it has a folder")).expect("a folder");
        std::fs::write(path, text).expect("a file");
    };
    write("docs/SUMMARY.md", "- [One](one.md)\n- [Two](deep/two.md)\n");
    write(
        "docs/one.md",
        "# One\n\n[two](deep/two.md#here) [web](https://example.org/x) `[no](none.md)` [lib](../crates/a/src/lib.rs)\n",
    );
    write("docs/deep/two.md", "# Two\n\n## Here\n\n[one](../one.md#one)\n");
    let faults = || caudal_lint::check(folder.path()).expect("the source is read");
    assert_eq!(faults(), Vec::<String>::new());
    write("docs/deep/two.md", "# Two\n\n[one](../one.md#nowhere) and\n[none](../none.md)\n");
    write("docs/three.md", "# Three\n");
    let found = faults();
    let has = |text: &str| found.iter().any(|fault| fault.contains(text));
    assert_eq!(found.len(), 4, "{found:?}");
    assert!(has("one.md:3: ") && has("has no heading `#here`"), "{found:?}");
    assert!(has("two.md:3: ") && has("has no heading `#nowhere`"), "{found:?}");
    assert!(has("two.md:4: there is no `../none.md`"), "{found:?}");
    assert!(has("three.md: docs/SUMMARY.md does not list this page"), "{found:?}");
}

/// The probe pass is C++, and its doc comments are checked as those of crates are.
#[test]
fn a_planted_doc_comment_of_the_pass_is_told() {
    let folder = workspace(&[("lib.rs", "")], "");
    std::fs::create_dir_all(folder.path().join("pass/src")).expect("a folder");
    std::fs::write(folder.path().join("pass/src/Plan.h"), "/// What was done.\nint done();\n")
        .expect("a file");
    let found = caudal_lint::check(folder.path()).expect("the source is read");
    assert!(found.len() == 1 && found[0].contains("Plan.h:1"), "{found:?}");
}
