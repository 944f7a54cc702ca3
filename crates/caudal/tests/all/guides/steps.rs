//! The steps of a page of the docs: what a reader types and saves, in the order of the page. Read by the tests in `guides/mod.rs`.
//!
//! | fence | step |
//! | --- | --- |
//! | `console` | each line behind `$ ` is a command (a `\` at its end goes on), the lines below it are what it prints; `…` stands for anything |
//! | `console measured` | the same, and numbers and widths of columns differ from machine to machine |
//! | `console fails` | the same, and the last command of it ends with an error |
//! | `console keeps running` | its only command goes on while the rest of the page is done: a service in a terminal of its own |
//! | any language | where the first line is a comment with a file's name, a file that the reader saves |
//! | `toml` without a name | a system file, or a part of one, that `caudal check` has to accept |
//! | any, `not run: WHY` | nothing that a test could do, and why |
//!
//! Pieces of Rust without a name are compiled by other tests: `examples/first-service/tests`, and the documentation tests of `caudal-rt`.

/// A step of a page.
#[derive(Debug, PartialEq)]
pub(super) enum Step {
    /// A file that the reader saves in the current folder.
    Save {
        /// Its name.
        name: String,
        /// Its contents, with the line that names it.
        text: String,
    },
    /// A command that the reader types.
    Run(Call),
    /// A command that goes on while the reader goes on, in another terminal.
    Begin(Call),
    /// A system file without a name, or a part of one.
    Check(String),
    /// Nothing: a fence that says why it is not run.
    Skip(String),
}

/// A command and what the page says of it.
#[derive(Debug, PartialEq)]
pub(super) struct Call {
    /// The line of the page, from 1 on.
    pub(super) line: usize,
    /// The command, for a shell.
    pub(super) command: String,
    /// The lines that the page shows below it.
    pub(super) shown: Vec<String>,
    /// Numbers in the output are those of a machine.
    pub(super) measured: bool,
    /// The command ends with an error.
    pub(super) fails: bool,
}

/// The steps of a page in their order.
///
/// # Panics
/// If a fence is none of those in the table of this module, or is not closed.
pub(super) fn of(page: &str) -> Vec<Step> {
    let mut steps = Vec::new();
    let mut lines = page.lines().enumerate();
    while let Some((at, line)) = lines.next() {
        let Some(info) = line.trim_start().strip_prefix("```") else { continue };
        let mut body = Vec::new();
        loop {
            let (_, line) =
                lines.next().unwrap_or_else(|| panic!("line {}: the fence is not closed", at + 1));
            if line.trim_start().starts_with("```") {
                break;
            }
            body.push(line);
        }
        steps.extend(of_fence(at + 1, info, &body));
    }
    steps
}

fn of_fence(at: usize, info: &str, body: &[&str]) -> Vec<Step> {
    let (language, says) = info.split_once(' ').unwrap_or((info, ""));
    if let Some(why) = says.strip_prefix("not run: ") {
        return vec![Step::Skip(why.to_owned())];
    }
    match (language, says) {
        ("console", "") => calls(at, body, false, false).into_iter().map(Step::Run).collect(),
        ("console", "measured") => calls(at, body, true, false).into_iter().map(Step::Run).collect(),
        ("console", "fails") => calls(at, body, false, true).into_iter().map(Step::Run).collect(),
        ("console", "keeps running") => calls(at, body, true, false).into_iter().map(Step::Begin).collect(),
        (_, "") => match (name_of(body.first().copied().unwrap_or("")), language) {
            (Some(name), _) => {
                vec![Step::Save { name: name.to_owned(), text: format!("{}\n", body.join("\n")) }]
            }
            (None, "toml") => vec![Step::Check(body.join("\n"))],
            (None, "rust" | "text") => Vec::new(),
            (None, _) => panic!(
                "line {at}: name the file in the first line of the fence, or say `{language} not run: WHY`"
            ),
        },
        _ => panic!("line {at}: `{says}` is nothing that a fence of `{language}` may say"),
    }
}

/// The name in a comment that is one word with an ending: `# system.toml`, `/* work.c */`, `// main.rs`.
fn name_of(line: &str) -> Option<&str> {
    let inside = ["# ", "// ", "/* "].iter().find_map(|begin| line.strip_prefix(begin))?;
    let name = inside.trim_end_matches("*/").trim();
    (name.contains('.') && !name.ends_with('.') && !name.contains(' ')).then_some(name)
}

fn calls(at: usize, body: &[&str], measured: bool, fails: bool) -> Vec<Call> {
    let mut calls: Vec<Call> = Vec::new();
    let mut goes_on = false;
    for (offset, &line) in body.iter().enumerate() {
        if let Some(command) = line.strip_prefix("$ ") {
            let command = command.to_owned();
            calls.push(Call { line: at + 1 + offset, command, shown: Vec::new(), measured, fails: false });
        } else {
            let call = calls.last_mut().unwrap_or_else(|| panic!("line {at}: the fence begins with `$ `"));
            if goes_on {
                call.command += &format!("\n{line}");
            } else {
                call.shown.push(line.to_owned());
            }
        }
        goes_on = calls.last().is_some_and(|call| call.shown.is_empty() && call.command.ends_with('\\'));
    }
    if let Some(last) = calls.last_mut() {
        last.fails = fails;
    }
    calls
}

/// Whether a command printed what the page shows.
pub(super) fn matches(shown: &[String], printed: &str, measured: bool) -> bool {
    let form = |line: &str| if measured { without_numbers(line) } else { line.trim_end().to_owned() };
    let shown: Vec<String> = shown.iter().map(|line| form(line)).collect();
    let printed: Vec<String> = printed.trim_end().lines().map(form).collect();
    all_match(&shown, &printed)
}

fn all_match(shown: &[String], printed: &[String]) -> bool {
    let Some((first, rest)) = shown.split_first() else { return printed.is_empty() };
    if first.trim() == "…" {
        return (0..=printed.len()).any(|skipped| all_match(rest, &printed[skipped..]));
    }
    printed.split_first().is_some_and(|(line, others)| line_matches(first, line) && all_match(rest, others))
}

/// `…` within a line stands for any text.
fn line_matches(shown: &str, printed: &str) -> bool {
    let Some((head, mut rest)) = shown.split_once('…') else { return shown == printed };
    let Some(mut left) = printed.strip_prefix(head) else { return false };
    while let Some((part, others)) = rest.split_once('…') {
        let Some(found) = left.find(part) else { return false };
        (left, rest) = (&left[found + part.len()..], others);
    }
    left.ends_with(rest)
}

/// Each number, with the unit behind it, as `#`, and a run of blanks as one.
fn without_numbers(line: &str) -> String {
    const UNITS: [&str; 9] = ["ns", "us", "µs", "ms", "s", "k", "M", "G", "%"];
    let words = line.split_whitespace().map(|word| {
        let mut text = String::new();
        for part in word.split_inclusive(|letter: char| !letter.is_ascii_digit() && letter != '.') {
            let number = part.trim_end_matches(|letter: char| !letter.is_ascii_digit());
            if number.starts_with(|letter: char| letter.is_ascii_digit()) {
                text.push('#');
                text += &part[number.len()..];
            } else {
                text += part;
            }
        }
        text
    });
    let mut line: Vec<String> = Vec::new();
    for word in words {
        // `1.2 µs` and `1.2µs` are one number.
        let is_unit = UNITS.contains(&word.trim_end_matches([',', '.', ';', ')']));
        match line.last_mut() {
            Some(before) if is_unit && before.ends_with('#') => {}
            _ => line.push(UNITS.iter().fold(word, |word, unit| word.replace(&format!("#{unit}"), "#"))),
        }
    }
    line.join(" ")
}

#[test]
fn a_page_is_read_as_its_steps() {
    let page = "# Title\n```toml\n# a.toml\nx = 1\n```\ntext\n```console measured\n$ one \\\n  two\nout 1\n$ three\n```\n```c not run: a piece\nint x;\n```\n```console fails\n$ four\n  × no\n```\n";
    let call = |line, command: &str, shown: &[&str], measured, fails| {
        let shown = shown.iter().map(|&line| line.to_owned()).collect();
        Step::Run(Call { line, command: command.to_owned(), shown, measured, fails })
    };
    let wanted = [
        Step::Save { name: "a.toml".to_owned(), text: "# a.toml\nx = 1\n".to_owned() },
        call(8, "one \\\n  two", &["out 1"], true, false),
        call(11, "three", &[], true, false),
        Step::Skip("a piece".to_owned()),
        call(17, "four", &["  × no"], false, true),
    ];
    assert_eq!(of(page), wanted);
}

#[test]
fn what_is_shown_is_held_against_what_is_printed() {
    let shown = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
    assert!(matches(&shown("a\n…\nd e … g"), "a\nb\nc\nd e f g\n", false));
    assert!(!matches(&shown("a\nc"), "a\nb\nc\n", false));
    assert!(!matches(&shown("a 1.5 µs"), "a 2 ms\n", false));
    assert!(matches(
        &shown("get  325 scans: p50 34.7µs, p99 99.0µs"),
        "get 5 scans: p50 1.2ms, p99 3.0s",
        true
    ));
    assert!(!matches(&shown("325 scans"), "325 gets", true));
}
