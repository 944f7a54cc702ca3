//! The drivers' own options, `--probe-…`: settings of the pass, and which tools to use. Every driver reads its command line by them.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::call::takes_value;
use crate::error::DriverError;

/// The mode of a probe; the pass documents the modes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Mode {
    Clock,
    Budget,
    Flag,
    InstructionCounter,
    CounterGatedClock,
}

/// How probes reach the lines of their thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tls {
    /// Chosen by what the code may become part of.
    #[default]
    Auto,
    /// For shared objects.
    InitialExec,
    /// For executables.
    LocalExec,
}

/// The receiver of the report of what the pass did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Report {
    /// No report.
    #[default]
    None,
    /// Text on stderr.
    Words,
    /// A file, JSON lines.
    Lines(PathBuf),
}

/// Options of the pass. An option that is `None` is left to it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct Probes {
    pub off: bool,
    pub mode: Option<Mode>,
    pub bound_cycles: Option<u32>,
    pub unknown_call_cycles: Option<u32>,
    pub tls: Tls,
    pub report: Report,
    pub exclude: Option<PathBuf>,
    pub verify: bool,
    /// No option: whether a link is to follow that optimises, for which functions are marked with what they are to be there.
    pub at_link: bool,
}

/// All options that are ours.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct Own {
    pub probes: Probes,
    pub plugin: Option<PathBuf>,
    pub clang: Option<PathBuf>,
}

const MODES: [(&str, Mode); 5] = [
    ("clock", Mode::Clock),
    ("budget", Mode::Budget),
    ("flag", Mode::Flag),
    ("instruction-counter", Mode::InstructionCounter),
    ("counter-gated-clock", Mode::CounterGatedClock),
];
const TLS: [(&str, Tls); 3] =
    [("auto", Tls::Auto), ("initial-exec", Tls::InitialExec), ("local-exec", Tls::LocalExec)];

impl Own {
    /// Takes our options out of `words` and gives back the rest. What follows an option that takes a value is that value,
    /// whatever it looks like.
    ///
    /// # Errors
    /// An option that begins like ours and is unknown, or has a wrong value.
    pub fn take(words: Vec<OsString>) -> Result<(Own, Vec<OsString>), DriverError> {
        let mut own = Own::default();
        let mut rest = Vec::with_capacity(words.len());
        let mut words = words.into_iter();
        while let Some(word) = words.next() {
            if takes_value(&word) {
                rest.push(word);
                rest.extend(words.next());
            } else if let Some(slot) = own.tool(&word) {
                *slot = Some(value_of(&word, &mut words)?);
            } else if !own.probes.take(&word)? {
                rest.push(word);
            }
        }
        Ok((own, rest))
    }

    fn tool(&mut self, word: &OsStr) -> Option<&mut Option<PathBuf>> {
        let name = word.as_bytes().split(|&byte| byte == b'=').next()?;
        match name {
            b"--plugin" => Some(&mut self.plugin),
            b"--clang" => Some(&mut self.clang),
            _ => None,
        }
    }
}

/// `--plugin=FILE` or `--plugin FILE`.
fn value_of(word: &OsStr, next: &mut impl Iterator<Item = OsString>) -> Result<PathBuf, DriverError> {
    let option = if word.as_bytes().starts_with(b"--plugin") { "--plugin" } else { "--clang" };
    let joined = word.as_bytes().get(option.len() + 1..).map(|value| OsStr::from_bytes(value).to_owned());
    let value = joined.or_else(|| next.next()).unwrap_or_default();
    if value.is_empty() {
        return Err(DriverError::BadValue { option, value, right: "a file belongs here" });
    }
    Ok(value.into())
}

impl Probes {
    /// Takes one option; false: it is not ours.
    fn take(&mut self, word: &OsStr) -> Result<bool, DriverError> {
        let bytes = word.as_bytes();
        if !bytes.starts_with(b"--probe-") {
            return Ok(false);
        }
        let (name, value) = match bytes.iter().position(|&byte| byte == b'=') {
            Some(at) => (&bytes[..at], Some(OsStr::from_bytes(&bytes[at + 1..]))),
            None => (bytes, None),
        };
        match (name, value) {
            (b"--probe-off", None) => self.off = true,
            (b"--probe-verify", None) => self.verify = true,
            (b"--probe-report", None) => self.report = Report::Words,
            (b"--probe-report", Some(file)) => self.report = Report::Lines(absolute("--probe-report", file)?),
            (b"--probe-exclude", file) => {
                self.exclude = Some(absolute("--probe-exclude", file.unwrap_or_default())?);
            }
            (b"--probe-mode", mode) => {
                let right = "one of budget, clock, flag, instruction-counter, counter-gated-clock";
                self.mode = Some(one_of("--probe-mode", mode, &MODES, right)?);
            }
            (b"--probe-tls", tls) => {
                self.tls = one_of("--probe-tls", tls, &TLS, "one of auto, initial-exec, local-exec")?;
            }
            (b"--probe-bound", bound) => {
                self.bound_cycles =
                    Some(cycles("--probe-bound", bound, 16, "a number of cycles from 16 to 100000")?);
            }
            (b"--probe-unknown-call", call) => {
                let right = "a number of cycles from 0 to 100000";
                self.unknown_call_cycles = Some(cycles("--probe-unknown-call", call, 0, right)?);
            }
            _ => return Err(DriverError::UnknownOption(word.to_string_lossy().into_owned())),
        }
        Ok(true)
    }

    /// As our options, paths and reports left out.
    pub fn words(&self) -> Vec<String> {
        let mut words = Vec::new();
        words.extend(self.mode.map(|mode| format!("--probe-mode={}", name_of(mode, &MODES))));
        words.extend(self.bound_cycles.map(|cycles| format!("--probe-bound={cycles}")));
        words.extend(self.unknown_call_cycles.map(|cycles| format!("--probe-unknown-call={cycles}")));
        words.push(format!("--probe-tls={}", name_of(self.tls, &TLS)));
        words.extend(self.verify.then(|| "--probe-verify".to_owned()));
        words.extend(self.off.then(|| "--probe-off".to_owned()));
        words
    }

    /// The pass's own notation, with the report appended to `report`.
    ///
    /// # Errors
    /// A path that the notation can not hold.
    pub fn text(&self, report: Option<&Path>) -> Result<String, DriverError> {
        let mut parts = Vec::new();
        if let Some(mode) = self.mode {
            parts.push(format!("mode={}", name_of(mode, &MODES)));
        }
        if let Some(cycles) = self.bound_cycles {
            parts.push(format!("bound={cycles}"));
        }
        if let Some(cycles) = self.unknown_call_cycles {
            parts.push(format!("unknown-call={cycles}"));
        }
        if self.tls != Tls::Auto {
            parts.push(format!("tls={}", name_of(self.tls, &TLS)));
        }
        for (word, is_said) in [("verify", self.verify), ("at-link", self.at_link), ("off", self.off)] {
            if is_said {
                parts.push(word.to_owned());
            }
        }
        for (key, path) in [("exclude", self.exclude.as_deref()), ("report", report)] {
            if let Some(path) = path {
                parts.push(format!("{key}={}", without_semicolon(path)?));
            }
        }
        Ok(parts.join(";"))
    }
}

fn without_semicolon(path: &Path) -> Result<&str, DriverError> {
    path.to_str().filter(|text| !text.contains(';')).ok_or_else(|| DriverError::Semicolon(path.to_owned()))
}

fn one_of<T: Copy>(
    option: &'static str,
    value: Option<&OsStr>,
    known: &[(&str, T)],
    right: &'static str,
) -> Result<T, DriverError> {
    let value = value.ok_or(DriverError::NoValue { option, right })?;
    let found = known.iter().find(|(name, _)| *name == value);
    found.map(|&(_, it)| it).ok_or_else(|| DriverError::BadValue { option, value: value.to_owned(), right })
}

fn name_of<T: PartialEq>(value: T, known: &[(&'static str, T)]) -> &'static str {
    known.iter().find(|(_, it)| *it == value).map_or("", |&(name, _)| name)
}

/// The most is the pass's own.
fn cycles(
    option: &'static str,
    value: Option<&OsStr>,
    least: u32,
    right: &'static str,
) -> Result<u32, DriverError> {
    let value = value.ok_or(DriverError::NoValue { option, right })?;
    let number = value.to_str().and_then(|text| text.parse().ok());
    number.filter(|number| (least..=100_000).contains(number)).ok_or_else(|| DriverError::BadValue {
        option,
        value: value.to_owned(),
        right,
    })
}

/// The absolute path: linkers in other directories read it, too.
fn absolute(option: &'static str, file: &OsStr) -> Result<PathBuf, DriverError> {
    if file.is_empty() {
        return Err(DriverError::BadValue { option, value: OsString::new(), right: "a file belongs here" });
    }
    std::path::absolute(file).map_err(DriverError::at(Path::new(file)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(words: &[&str]) -> Result<(Own, Vec<OsString>), DriverError> {
        Own::take(words.iter().map(OsString::from).collect())
    }

    fn text(words: &[&str]) -> String {
        taken(words).unwrap().0.probes.text(None).unwrap()
    }

    #[test]
    fn what_is_not_said_is_left_to_the_pass() {
        assert_eq!(text(&["-O2", "-c", "a.c"]), "");
        let all =
            ["--probe-mode=flag", "--probe-bound=300", "--probe-unknown-call=0", "--probe-tls=local-exec"];
        assert_eq!(text(&all), "mode=flag;bound=300;unknown-call=0;tls=local-exec");
        assert_eq!(text(&["--probe-verify", "--probe-exclude=/a/b"]), "verify;exclude=/a/b");
        let (own, _) = taken(&["--probe-off"]).unwrap();
        assert_eq!(Probes { at_link: true, ..own.probes }.text(None).unwrap(), "at-link;off");
    }

    #[test]
    fn the_rest_is_clangs_in_its_order() {
        let (own, rest) =
            taken(&["-c", "--plugin", "p", "a.c", "--clang=c", "--probe-off", "-o", "x"]).unwrap();
        assert_eq!(rest, ["-c", "a.c", "-o", "x"]);
        assert_eq!((own.plugin, own.clang), (Some("p".into()), Some("c".into())));
        assert!(own.probes.off);
    }

    #[test]
    fn values_of_clangs_options_are_not_ours() {
        let words = ["-Xlinker", "--plugin", "-Xlinker", "--probe-no-such", "-o", "--probe-off"];
        let (own, rest) = taken(&words).unwrap();
        assert_eq!(rest, words);
        assert_eq!(own, Own::default());
    }

    #[test]
    fn errors_name_what_would_be_right() {
        for (word, error) in [
            (
                "--probe-mode=clok",
                "`--probe-mode=clok`: one of budget, clock, flag, instruction-counter, counter-gated-clock",
            ),
            ("--probe-bound=8", "`--probe-bound=8`: a number of cycles from 16 to 100000"),
            (
                "--probe-bound",
                "`--probe-bound` has no value: write `--probe-bound=...`, a number of cycles from 16 to 100000",
            ),
            ("--probe-unknown-call=x", "`--probe-unknown-call=x`: a number of cycles from 0 to 100000"),
            ("--probe-tls=", "`--probe-tls`: one of auto, initial-exec, local-exec"),
            ("--probe-report=", "`--probe-report`: a file belongs here"),
            ("--plugin", "`--plugin`: a file belongs here"),
            ("--probe-verify=1", "`--probe-verify=1` is no option of the probes"),
        ] {
            assert_eq!(taken(&[word]).unwrap_err().to_string(), error);
        }
    }

    #[test]
    fn a_path_that_the_pass_can_not_read_is_refused() {
        let (own, _) = taken(&["--probe-exclude=/a;b"]).unwrap();
        assert!(matches!(own.probes.text(None), Err(DriverError::Semicolon(_))));
    }
}
