//! The header that is checked in is what cbindgen makes from the sources.

use std::path::{Path, PathBuf};

/// What mends a stale header.
const MEND: &str = "make header";

/// With `CAUDAL_WRITE_HEADER` in the environment, it is written instead.
#[test]
fn the_header_is_what_the_sources_say() {
    let (path, wanted) = (path(), generated());
    if std::env::var_os("CAUDAL_WRITE_HEADER").is_some() {
        return std::fs::write(&path, wanted).expect("the header can be written");
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(found == wanted, "{} is stale; this mends it: {MEND}", path.display());
}

/// In the order in which a reader wants them.
const SOURCES: [&str; 7] =
    ["abi.rs", "runtime.rs", "request.rs", "inside.rs", "carry.rs", "locks.rs", "stats.rs"];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Where it is checked in.
fn path() -> PathBuf {
    root().join("include/caudal/caudal.h")
}

/// What it should be.
fn generated() -> String {
    let config = cbindgen::Config::from_file(root().join("cbindgen.toml")).expect("cbindgen.toml is right");
    let mut builder = cbindgen::Builder::new().with_config(config);
    for name in SOURCES {
        builder = builder.with_src(root().join("src").join(name));
    }
    let mut text = Vec::new();
    builder.generate().expect("the sources are what cbindgen reads").write(&mut text);
    let text = String::from_utf8(text).expect("the header is text");
    without_rust_words(&text)
}

/// With comments as C has them, and without the sections that are for Rust's readers.
fn without_rust_words(text: &str) -> String {
    let mut out = String::new();
    let mut comment: Option<Vec<&str>> = None;
    for line in text.lines() {
        let words = line.trim_start();
        match &mut comment {
            None if words == "/**" => comment = Some(Vec::new()),
            None => {
                out.push_str(line.trim_end());
                out.push('\n');
            }
            Some(lines) if words == "*/" => {
                let indent = &line[..line.len() - words.len() - 1];
                out.push_str(&block(lines, indent));
                comment = None;
            }
            Some(lines) => lines.push(words.strip_prefix("* ").unwrap_or_default().trim_end()),
        }
    }
    out.replace("\n\n\n", "\n\n")
}

fn block(lines: &[&str], indent: &str) -> String {
    let safety = lines.iter().position(|line| *line == "# Safety").unwrap_or(lines.len());
    let end = lines[..safety].iter().rposition(|line| !line.is_empty()).map_or(0, |last| last + 1);
    match &lines[..end] {
        [one] => format!("{indent}/* {one} */\n"),
        lines => {
            let body: String =
                lines.iter().map(|line| format!("{indent} * {line}").trim_end().to_owned() + "\n").collect();
            format!("{indent}/*\n{body}{indent} */\n")
        }
    }
}
