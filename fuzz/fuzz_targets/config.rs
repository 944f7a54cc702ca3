//! The file that describes a system: any text gives a file, or errors that point into the text; a system
//! that was read is the same one after it was written as a policy file.
#![no_main]

use caudal_config::{ConfigError, File, Options, SystemHost, write_policy};
use libfuzzer_sys::fuzz_target;

/// Files that the text may name are looked for where there are none.
const PATH: &str = "/nonexistent/fuzz.toml";

fuzz_target!(|text: &str| {
    // A file may name any other, also one that never ends.
    if text.contains("/dev") || text.contains("/proc") {
        return;
    }
    for host in [SystemHost::Simulator, SystemHost::Runtime] {
        let options = Options { host, ..Options::default() };
        match File::parse_with(text, PATH, &options) {
            Ok(file) => check(&file),
            Err(error) => check_error(&error, text),
        }
    }
    // The first line as an override of the rest, as `--set` on the command line gives it.
    if let Some((first, rest)) = text.split_once('\n') {
        let options = Options { overrides: vec![first.to_owned()], ..Options::default() };
        let _ = File::parse_with(rest, PATH, &options);
    }
});

fn check(file: &File) {
    if let Ok(points) = file.points() {
        assert!(!points.is_empty() && points.iter().all(|point| point.load > 0.0));
    }
    for plan in file.systems.iter().take(8) {
        let text = write_policy(&plan.system, &plan.costs, "a header\nof two lines");
        let again = File::parse(&text, PATH).unwrap_or_else(|error| panic!("{text}\n{error:?}"));
        assert_eq!(again.systems[0].system, plan.system, "{text}");
        assert_eq!(again.systems[0].costs, plan.costs, "{text}");
    }
}

fn check_error(error: &ConfigError, text: &str) {
    assert!(!error.to_string().is_empty());
    let lines = text.split('\n').count();
    assert!(!error.problems().is_empty());
    for problem in error.problems() {
        assert!(
            problem.line >= 1 && problem.line <= lines && problem.column >= 1,
            "{problem:?} of {lines} lines"
        );
        assert!(!problem.message.is_empty());
    }
}
