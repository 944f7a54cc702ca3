//! The arguments of `cargo caudal`: its own options, those of cargo that it has to know, and the rest, which go to cargo unread. The
//! program's `main` parses them first. Pure.

use std::ffi::{OsStr, OsString};

use caudal_driver::Own;

use crate::error::Error;

/// The text of `--help`; the options that all drivers have follow.
pub(crate) const HELP: &str = "\
Rust programs with probes, by the stable compiler

Usage: cargo caudal <build|run|test|bench> [OPTIONS] [CARGO'S OPTIONS] [-- ARGS]

The pass runs at the link, on all crates of the program, in every profile; build scripts and procedural macros are left as
they are. All that is not named here goes to cargo.

Options:
  --fat                   link-time optimisation of all as one module: covers the standard library too, and takes longer
  --help, --version";

const COMMANDS: [(&str, &str); 7] = [
    ("build", "build"),
    ("b", "build"),
    ("run", "run"),
    ("r", "run"),
    ("test", "test"),
    ("t", "test"),
    ("bench", "bench"),
];

/// A command line.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Parsed {
    Help,
    Version,
    Call(Box<Arguments>),
}

/// A call of cargo.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Arguments {
    /// `build`, `run`, ...
    pub(crate) command: String,
    pub(crate) own: Own,
    pub(crate) fat: bool,
    /// `--target`, which is not in `rest`.
    pub(crate) target: Option<String>,
    /// The profile that is built.
    pub(crate) profile: String,
    /// Values of `--config`, which are in `rest` too.
    pub(crate) configurations: Vec<String>,
    /// The arguments that cargo gets.
    pub(crate) rest: Vec<OsString>,
}

impl Arguments {
    /// Reads `args`, which begin with `caudal` where cargo called us.
    pub(crate) fn parse(args: Vec<OsString>) -> Result<Parsed, Error> {
        let mut args = args.into_iter().peekable();
        args.next_if(|first| first == "caudal");
        let first = args.next().unwrap_or_else(|| "--help".into());
        match first.to_str() {
            Some("--help" | "-h" | "help") => return Ok(Parsed::Help),
            Some("--version" | "-V") => return Ok(Parsed::Version),
            _ => {}
        }
        let known = COMMANDS.iter().find(|(name, _)| first == *name);
        let command = known.ok_or_else(|| Error::UnknownCommand(first.to_string_lossy().into_owned()))?.1;
        let args: Vec<OsString> = args.collect();
        // What follows a `--` is the program's.
        let ours = args.iter().position(|word| word == "--").unwrap_or(args.len());
        let (before, after) = args.split_at(ours);
        if before.iter().any(|word| word == "--help" || word == "-h") {
            return Ok(Parsed::Help);
        }
        let (own, words) = Own::take(before.to_vec())?;
        let mut arguments = Arguments { command: command.to_owned(), own, ..Arguments::default() };
        arguments.read(words)?;
        arguments.rest.extend_from_slice(after);
        Ok(Parsed::Call(Box::new(arguments)))
    }

    fn read(&mut self, words: Vec<OsString>) -> Result<(), Error> {
        self.profile = default_profile(&self.command).to_owned();
        let mut words = words.into_iter().peekable();
        while let Some(word) = words.next() {
            let text = word.to_string_lossy().into_owned();
            let mut value = |option: &'static str| value_of(option, &text, words.peek());
            match text.as_str() {
                "--fat" => {
                    self.fat = true;
                    continue;
                }
                "--release" | "-r" => self.profile = "release".to_owned(),
                _ => {}
            }
            if let Some(target) = value("--target")? {
                if text == "--target" {
                    words.next();
                }
                self.target = Some(target);
                continue;
            }
            if let Some(profile) = value("--profile")? {
                self.profile = profile;
            }
            self.configurations.extend(value("--config")?);
            self.rest.push(word);
        }
        Ok(())
    }

    /// The value of an option that is cargo's: the first.
    pub(crate) fn value(&self, option: &'static str) -> Option<&str> {
        let ours = self.rest.iter().take_while(|word| *word != "--");
        let mut words = ours.filter_map(|word| word.to_str());
        while let Some(word) = words.next() {
            match word.strip_prefix(option) {
                Some("") => return words.next(),
                Some(rest) if rest.starts_with('=') => return Some(&rest[1..]),
                _ => {}
            }
        }
        None
    }

    /// Whether cargo says nothing of its own.
    pub(crate) fn is_quiet(&self) -> bool {
        self.rest.iter().take_while(|word| *word != "--").any(|word| word == "-q" || word == "--quiet")
    }

    /// The settings that the profile has to have, as arguments of cargo.
    pub(crate) fn profile_settings(&self) -> Vec<String> {
        if !self.fat {
            return Vec::new();
        }
        vec!["--config".to_owned(), format!("profile.{}.lto=\"fat\"", self.profile)]
    }
}

fn default_profile(command: &str) -> &'static str {
    match command {
        "test" => "test",
        "bench" => "bench",
        _ => "dev",
    }
}

/// The value of `option`, if `word` is that: joined, or the next word.
fn value_of(option: &'static str, word: &str, next: Option<&OsString>) -> Result<Option<String>, Error> {
    let Some(rest) = word.strip_prefix(option) else { return Ok(None) };
    if let Some(value) = rest.strip_prefix('=') {
        return Ok(Some(value.to_owned()));
    }
    if !rest.is_empty() {
        return Ok(None);
    }
    let value = next.map(OsString::as_os_str).and_then(OsStr::to_str);
    value.map(|value| Some(value.to_owned())).ok_or(Error::NoValue(option))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(line: &str) -> Arguments {
        match Arguments::parse(line.split(' ').map(OsString::from).collect()) {
            Ok(Parsed::Call(arguments)) => *arguments,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn cargos_options_go_to_cargo() {
        let call = call("caudal run --release -p app --bin x -- --fat --probe-mode=no");
        assert_eq!((call.command.as_str(), call.profile.as_str(), call.fat), ("run", "release", false));
        assert_eq!(call.rest, ["--release", "-p", "app", "--bin", "x", "--", "--fat", "--probe-mode=no"]);
        assert_eq!(call.own, Own::default());
    }

    #[test]
    fn ours_do_not() {
        let call = call("b --fat --probe-verify --target x86_64-unknown-linux-musl --plugin=p -q");
        assert_eq!(call.rest, ["-q"]);
        assert_eq!(call.target.as_deref(), Some("x86_64-unknown-linux-musl"));
        assert!(call.fat && call.own.probes.verify);
        assert_eq!(call.profile_settings(), ["--config", "profile.dev.lto=\"fat\""]);
    }

    #[test]
    fn profiles_and_configurations_are_seen() {
        let call = call("t --profile=quick --config a.toml --config=b=1");
        assert_eq!((call.profile.as_str(), call.command.as_str()), ("quick", "test"));
        assert_eq!(call.configurations, ["a.toml", "b=1"]);
        assert_eq!(call.rest, ["--profile=quick", "--config", "a.toml", "--config=b=1"]);
        assert_eq!((call.value("--config"), call.value("--profile")), (Some("a.toml"), Some("quick")));
        assert_eq!(call.value("--target-dir"), None);
    }

    #[test]
    fn quiet_is_cargos_own_option() {
        assert!(call("b -q").is_quiet() && call("b --quiet -p x").is_quiet());
        assert!(!call("b").is_quiet() && !call("r -- -q").is_quiet());
    }

    #[test]
    fn errors() {
        let error = |line: &str| Arguments::parse(line.split(' ').map(OsString::from).collect()).unwrap_err();
        assert_eq!(error("caudal clippy").to_string(), "`clippy` is no command of cargo caudal");
        assert_eq!(error("build --target").to_string(), "`--target` needs a value");
        assert_eq!(
            error("build --probe-mod=flag").to_string(),
            "`--probe-mod=flag` is no option of the probes"
        );
    }
}
