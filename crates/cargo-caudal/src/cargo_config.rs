//! The place of the user's flags for rustc in cargo's configuration. The program's `main` reads it before it calls cargo, so that `flags`
//! can append to flags of the same kind. It reads cargo's configuration files and the environment.
//!
//! Cargo joins flags of one kind from all files, but takes one kind only: `target.*` where there are any, else `build`. Flags
//! of ours have to be of the kind that the user has, or the user's were lost.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::str::FromStr;

use cargo_platform::{Cfg, Platform};
use toml::{Table, Value};

use crate::error::Error;
use crate::rustc;

/// Where cargo takes flags from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// `target.<triple>.rustflags`, `target.'cfg(...)'.rustflags`
    Target,
    /// `build.rustflags`
    Build,
}

/// All configuration that applies: that of `--config`, and of the files from the working directory upwards.
#[derive(Debug, Default)]
pub(crate) struct Configuration {
    tables: Vec<Table>,
    /// How many of them are of `--config`, in front.
    given: usize,
}

impl Configuration {
    pub(crate) fn read(given: &[String]) -> Result<Configuration, Error> {
        let mut configuration = Configuration::default();
        // The last that is given counts.
        for text in given.iter().rev() {
            if Path::new(text).is_file() {
                configuration.add_file(Path::new(text))?;
            } else {
                configuration.tables.push(parse(text, &format!("--config {text}"))?);
            }
        }
        configuration.given = configuration.tables.len();
        for file in files() {
            configuration.add_file(&file)?;
        }
        Ok(configuration)
    }

    /// The target that cargo would build for without `--target`: `build.target`, or `CARGO_BUILD_TARGET`, which stands
    /// between `--config` and the files; none: the machine's own.
    pub(crate) fn target(&self) -> Result<Option<String>, Error> {
        let variable = std::env::var("CARGO_BUILD_TARGET").ok().filter(|target| !target.is_empty());
        self.target_beside(variable)
    }

    fn target_beside(&self, variable: Option<String>) -> Result<Option<String>, Error> {
        fn target(table: &Table) -> Option<&Value> {
            table.get("build")?.get("target")
        }
        let (given, files) = self.tables.split_at(self.given);
        let nearest = |tables: &[Table]| tables.iter().find_map(target).cloned();
        let value = nearest(given).or(variable.map(Value::String)).or_else(|| nearest(files));
        let Some(Value::Array(_)) = value else {
            return Ok(value.and_then(|one| one.as_str().map(str::to_owned)));
        };
        // Lists are joined.
        let lists = self.tables.iter().filter_map(|table| target(table)?.as_array());
        let mut names: Vec<&str> = lists.flatten().filter_map(Value::as_str).collect();
        names.sort_unstable();
        names.dedup();
        match names[..] {
            [] => Ok(None),
            [one] => Ok(Some(one.to_owned())),
            _ => Err(Error::SeveralTargets(names.join(", "))),
        }
    }

    fn add_file(&mut self, file: &Path) -> Result<(), Error> {
        let io = |source| Error::Io { path: file.to_owned(), source };
        let table = parse(&fs::read_to_string(file).map_err(io)?, &file.display().to_string())?;
        let directory = file.parent().unwrap_or(Path::new("."));
        let names = included(&table);
        // What a file says itself stands in front of what it includes.
        self.tables.push(table);
        for name in names.iter().rev() {
            let included = directory.join(name);
            if included.is_file() {
                self.add_file(&included)?;
            }
        }
        Ok(())
    }

    /// Of which kind the user's `key` (`rustflags`, `rustdocflags`) is. `environment` says whether a variable is set.
    pub(crate) fn kind(
        &self,
        key: &str,
        target: &str,
        environment: &dyn Fn(&str) -> bool,
    ) -> Result<Kind, Error> {
        let upper = |text: &str| text.to_uppercase().replace(['-', '.'], "_");
        let has_build = environment(&format!("CARGO_BUILD_{}", upper(key)))
            || self.tables.iter().any(|table| table.get("build").and_then(|build| build.get(key)).is_some());
        if !has_build || environment(&format!("CARGO_TARGET_{}_{}", upper(target), upper(key))) {
            return Ok(Kind::Target);
        }
        let applies = self.targets_with(key).any(|name| name == target)
            || cfg_applies(&self.targets_with(key).collect::<Vec<_>>(), target)?;
        Ok(if applies { Kind::Target } else { Kind::Build })
    }

    /// The user's flags at `path`, if they are one string there: cargo does not join strings, and not strings with lists.
    pub(crate) fn string(&self, path: &[&str]) -> Option<&str> {
        let value = |table| {
            let (last, tables) = path.split_last()?;
            let table = tables.iter().try_fold(table, |table: &Table, key| table.get(*key)?.as_table())?;
            table.get(*last)
        };
        self.tables.iter().find_map(value)?.as_str()
    }

    /// Names of `[target.<name>]` that have the key.
    fn targets_with<'a>(&'a self, key: &'a str) -> impl Iterator<Item = &'a str> {
        let targets = self.tables.iter().filter_map(|table| table.get("target")?.as_table());
        targets.flatten().filter(move |(_, of)| of.get(key).is_some()).map(|(name, _)| name.as_str())
    }
}

fn parse(text: &str, place: &str) -> Result<Table, Error> {
    let bad = |error: toml::de::Error| Error::Configuration {
        place: place.to_owned(),
        message: error.message().to_owned(),
    };
    text.parse().map_err(bad)
}

/// `include`: a path, a list of them, or of tables that have one.
fn included(table: &Table) -> Vec<String> {
    let path = |value: &Value| match value {
        Value::String(path) => Some(path.clone()),
        Value::Table(table) => Some(table.get("path")?.as_str()?.to_owned()),
        _ => None,
    };
    match table.get("include") {
        Some(Value::Array(several)) => several.iter().filter_map(path).collect(),
        Some(one) => path(one).into_iter().collect(),
        None => Vec::new(),
    }
}

fn files() -> Vec<PathBuf> {
    let here = std::env::current_dir().unwrap_or_default();
    let mut places: Vec<PathBuf> = here.ancestors().map(|directory| directory.join(".cargo")).collect();
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    places.extend(home.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cargo"))));
    let file = |place: PathBuf| {
        ["config", "config.toml"].map(|name| place.join(name)).into_iter().find(|f| f.is_file())
    };
    let mut files: Vec<PathBuf> = places.into_iter().filter_map(file).collect();
    files.dedup();
    files
}

/// Whether one of the `cfg(...)` among `names` holds for the target; rustc is asked only where there is one.
fn cfg_applies(names: &[&str], target: &str) -> Result<bool, Error> {
    let conditions: Vec<Platform> = names
        .iter()
        .filter(|name| name.starts_with("cfg("))
        .filter_map(|name| Platform::from_str(name).ok())
        .collect();
    if conditions.is_empty() {
        return Ok(false);
    }
    let program = rustc::program();
    let not_run = |source| Error::Cargo { program: program.clone(), source };
    let output =
        Command::new(&program).args(["--print", "cfg", "--target", target]).output().map_err(not_run)?;
    let said = String::from_utf8_lossy(&output.stdout);
    let holds: Vec<Cfg> = said.lines().filter_map(|line| Cfg::from_str(line).ok()).collect();
    Ok(conditions.iter().any(|condition| condition.matches(target, &holds)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TARGET: &str = "x86_64-unknown-linux-gnu";

    /// As of files, the nearest first.
    fn of(texts: &[&str]) -> Configuration {
        Configuration { tables: texts.iter().map(|text| parse(text, "test").unwrap()).collect(), given: 0 }
    }

    fn kind(text: &str, variables: &[&str]) -> Kind {
        let configuration = of(&[text]);
        configuration.kind("rustflags", TARGET, &|name| variables.contains(&name)).unwrap()
    }

    #[test]
    fn ours_are_of_the_kind_that_the_user_has() {
        let build = "build.rustflags = [\"-Ca\"]\n";
        for (text, variables, expected) in [
            ("", &[][..], Kind::Target),
            (build, &[], Kind::Build),
            ("", &["CARGO_BUILD_RUSTFLAGS"], Kind::Build),
            (build, &["CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUSTFLAGS"], Kind::Target),
            (
                "build.rustflags = \"-Ca\"\ntarget.x86_64-unknown-linux-gnu.rustflags = \"-Cb\"",
                &[],
                Kind::Target,
            ),
            ("build.rustflags = \"-Ca\"\ntarget.x86_64-unknown-linux-gnu.linker = \"cc\"", &[], Kind::Build),
            ("build.rustflags = \"-Ca\"\ntarget.'cfg(unix)'.rustflags = \"-Cb\"", &[], Kind::Target),
            ("build.rustflags = \"-Ca\"\ntarget.'cfg(windows)'.rustflags = \"-Cb\"", &[], Kind::Build),
        ] {
            assert_eq!(kind(text, variables), expected, "{text} {variables:?}");
        }
    }

    #[test]
    fn the_nearest_string_is_the_one() {
        let tables = ["build.jobs = 1", "build.rustflags = \"-Ca\"", "build.rustflags = \"-Cb\""];
        let configuration = of(&tables);
        assert_eq!(configuration.string(&["build", "rustflags"]), Some("-Ca"));
        assert_eq!(configuration.string(&["target", TARGET, "rustflags"]), None);
        let list = of(&["build.rustflags = [\"-Ca\"]"]);
        assert_eq!(list.string(&["build", "rustflags"]), None);
    }

    #[test]
    fn the_target_is_that_of_cargo() {
        let target = |given: &[&str], variable: Option<&str>, files: &[&str]| {
            let mut configuration = of(&[given, files].concat());
            configuration.given = given.len();
            configuration.target_beside(variable.map(str::to_owned))
        };
        let (a, b) = ("build.target = \"a\"", "build.target = [\"b\"]");
        assert_eq!(target(&[], None, &["build.jobs = 1"]).unwrap(), None);
        assert_eq!(target(&[], None, &[b, b]).unwrap().as_deref(), Some("b"));
        assert!(target(&[], None, &[b, "build.target = [\"c\"]"]).is_err());
        assert_eq!(target(&[], Some("c"), &[a]).unwrap().as_deref(), Some("c"));
        assert_eq!(target(&[a], Some("c"), &[b]).unwrap().as_deref(), Some("a"));
        let error = target(&[], None, &["build.target = [\"a\", \"b\"]"]).unwrap_err();
        assert_eq!(error.to_string(), "the configuration names several targets: a, b");
    }

    #[test]
    fn files_may_include_others() {
        let table = |text| parse(text, "test").unwrap();
        assert_eq!(included(&table("include = \"a.toml\"")), ["a.toml"]);
        assert_eq!(included(&table("include = [\"a\", { path = \"b\", optional = true }]")), ["a", "b"]);
    }

    #[test]
    fn an_error_names_the_place() {
        let error = Configuration::read(&["a = ".to_owned()]).unwrap_err();
        assert!(error.to_string().starts_with("--config a = : "), "{error}");
    }
}
