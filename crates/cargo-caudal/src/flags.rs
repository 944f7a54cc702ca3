//! The flags for rustc, appended to those that the user has. The program's `main` asks for them once, before it calls cargo. Pure.

use std::process::Command;

use crate::cargo_config::{Configuration, Kind};
use crate::error::Error;

/// Cargo's separator in variables with `ENCODED` in their names, by which a flag with blanks stays one flag.
const SEPARATOR: char = '\x1f';

/// The source of the user's flags of one kind, in cargo's order. Cargo takes only the first source that exists.
#[derive(Debug, PartialEq, Eq)]
enum Source {
    /// `CARGO_ENCODED_RUSTFLAGS`, or `RUSTFLAGS` in that form.
    Variable(String),
    /// The configuration's key with a list, to which our flags are joined.
    List(String),
    /// The configuration's key with a string, and that string: our string replaces it.
    Text(String, String),
}

/// Flags for rustc, and for rustdoc, which compiles tests in documentation.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Flags {
    rustc: Source,
    rustdoc: Source,
}

impl Flags {
    pub(crate) fn of_user(configuration: &Configuration, target: &str) -> Result<Flags, Error> {
        let source = |key: &str| source(key, target, configuration);
        Ok(Flags { rustc: source("rustflags")?, rustdoc: source("rustdocflags")? })
    }

    /// Makes cargo use the user's flags and `ours`.
    ///
    /// # Errors
    /// If the user's flags are one string and one of `ours` has a blank in it, because it would become two flags in that string.
    pub(crate) fn append(&self, ours: &[String], cargo: &mut Command) -> Result<(), Error> {
        append("CARGO_ENCODED_RUSTFLAGS", &self.rustc, ours, cargo)?;
        append("CARGO_ENCODED_RUSTDOCFLAGS", &self.rustdoc, ours, cargo)
    }
}

fn source(key: &str, target: &str, configuration: &Configuration) -> Result<Source, Error> {
    let upper = key.to_uppercase();
    if let Ok(encoded) = std::env::var(format!("CARGO_ENCODED_{upper}")) {
        return Ok(Source::Variable(encoded));
    }
    // An empty variable counts as well: cargo then does not read the configuration.
    if let Ok(plain) = std::env::var(upper) {
        return Ok(Source::Variable(encoded(plain.split_whitespace())));
    }
    let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let path = match configuration.kind(key, target, &is_set)? {
        Kind::Target => vec!["target", target, key],
        Kind::Build => vec!["build", key],
    };
    Ok(match configuration.string(&path) {
        Some(users) => Source::Text(path.join("."), users.to_owned()),
        None => Source::List(path.join(".")),
    })
}

fn append(variable: &str, users: &Source, ours: &[String], cargo: &mut Command) -> Result<(), Error> {
    let mut set = |key: &str, value: toml::Value| {
        cargo.arg("--config").arg(format!("{key}={value}"));
    };
    match users {
        Source::Variable(users) => {
            let all =
                users.split(SEPARATOR).filter(|flag| !flag.is_empty()).chain(ours.iter().map(String::as_str));
            cargo.env(variable, encoded(all));
        }
        Source::List(key) => set(key, ours.to_vec().into()),
        Source::Text(key, users) => match ours.iter().find(|flag| flag.contains(char::is_whitespace)) {
            Some(flag) => return Err(Error::Blank { key: key.clone(), flag: flag.clone() }),
            None => set(key, format!("{users} {}", ours.join(" ")).into()),
        },
    }
    Ok(())
}

fn encoded<'a>(flags: impl Iterator<Item = &'a str>) -> String {
    flags.collect::<Vec<_>>().join(&SEPARATOR.to_string())
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;

    use super::*;

    #[test]
    fn variables_are_appended_to() {
        let mut cargo = Command::new("cargo");
        append("V", &Source::Variable("-Ca\x1f-L my lib".to_owned()), &["-Cb".to_owned()], &mut cargo)
            .unwrap();
        let set: Vec<_> = cargo.get_envs().collect();
        assert_eq!(set, [(OsStr::new("V"), Some(OsStr::new("-Ca\x1f-L my lib\x1f-Cb")))]);
    }

    #[test]
    fn keys_are_joined_by_cargo() {
        let mut cargo = Command::new("cargo");
        append("V", &Source::List("build.rustflags".to_owned()), &["-Ca \"b".to_owned()], &mut cargo)
            .unwrap();
        let text = Source::Text("build.rustdocflags".to_owned(), "-Cc".to_owned());
        append("V", &text, &["-Ca".to_owned(), "-Cb".to_owned()], &mut cargo).unwrap();
        let error = append("V", &text, &["-Ca b".to_owned()], &mut cargo).unwrap_err();
        assert!(error.to_string().starts_with("`build.rustdocflags` is a string"), "{error}");
        let args: Vec<_> = cargo.get_args().collect();
        let expected =
            ["--config", "build.rustflags=['-Ca \"b']", "--config", "build.rustdocflags=\"-Cc -Ca -Cb\""];
        assert_eq!(args, expected);
    }
}
