//! The owner of a results directory: everything that its results depend on, as digests. `directory` and `journal` compare it with the one
//! that is kept before anything is simulated; a command that asks the same question goes on in the directory. It reads and writes
//! `meta.json`, and reads the files that it digests.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};

use crate::error::ResultsError;
use crate::files::{make_dir, write_whole};

/// Files of a directory that took time to compute.
const RESULTS: [&str; 3] = ["rows.jsonl", "plan.json", "progress.jsonl"];

/// The contents of `meta.json`: a question, as far as results depend on it.
#[derive(Clone, Debug)]
pub struct Meta {
    /// The command: `sim` or `plan`.
    pub command: &'static str,
    /// Seed of all randomness.
    pub seed: u64,
    /// Number of points, if that is known beforehand.
    pub points: Option<usize>,
    /// Everything that results depend on, by what users call it. Results go on only where all of it is equal.
    pub asked: Vec<(String, Value)>,
}

/// The owner of a directory.
#[derive(Debug, PartialEq)]
pub enum Owner {
    /// Nobody's: it is not there, or holds no results.
    Nobody,
    /// Results of this very question.
    Same,
    /// Results of something else; what differs.
    Other(String),
}

impl Meta {
    fn json(&self) -> Value {
        let asked: Map<String, Value> = self.asked.iter().cloned().collect();
        json!({
            "caudal": env!("CARGO_PKG_VERSION"),
            "command": self.command,
            "seed": self.seed,
            "points": self.points,
            "asked": asked,
        })
    }

    /// The owner of `dir`.
    #[must_use]
    pub fn owner(&self, dir: &Path) -> Owner {
        // What ended before it had any results, on a misspelt name say, has nothing to lose.
        let some = |name: &&str| fs::metadata(dir.join(name)).is_ok_and(|file| file.len() > 0);
        let Some(name) = RESULTS.into_iter().find(some) else { return Owner::Nobody };
        let Ok(text) = fs::read_to_string(dir.join("meta.json")) else {
            return Owner::Other(format!("a `{name}` of another origin"));
        };
        let (here, there) = (self.json(), serde_json::from_str::<Value>(&text).unwrap_or_default());
        if here == there {
            return Owner::Same;
        }
        let differs = |key: &&str| here[*key] != there[*key];
        let known = |key: &&str| here["asked"][*key] != there["asked"][*key];
        let outside = ["caudal", "command", "seed"].into_iter().filter(differs).map(|key| match key {
            "caudal" => "the version",
            "command" => "the command",
            _ => "the seed",
        });
        let asked = self.asked.iter().map(|(key, _)| key.as_str()).filter(known);
        let what: Vec<&str> = outside.chain(asked).collect();
        Owner::Other(match what[..] {
            [] => "what was asked differs".to_owned(),
            [one] => format!("{one} differs"),
            _ => format!("{} differ", what.join(", ")),
        })
    }

    /// Makes `dir` this question's, or finds that it is.
    ///
    /// # Errors
    /// If it holds results of something else, or can not be written.
    pub fn claim(&self, dir: &Path) -> Result<(), ResultsError> {
        if let Owner::Other(what) = self.owner(dir) {
            return Err(ResultsError::Foreign { dir: dir.to_owned(), differs: what });
        }
        make_dir(dir)?;
        write_whole(&dir.join("meta.json"), &format!("{:#}\n", self.json()))
    }
}

/// `sha256:` and the digest of `bytes` in hexadecimal digits.
#[must_use]
pub fn digest(bytes: &[u8]) -> String {
    let digits: String = Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect();
    format!("sha256:{digits}")
}

/// The digests of files, by name: an entry of [`Meta::asked`] each. What was read from a pipe is gone, and is not among
/// them.
///
/// # Errors
/// If one can not be read.
pub fn digests(files: &[PathBuf]) -> Result<Vec<(String, Value)>, ResultsError> {
    let one = |file: &PathBuf| {
        let bytes = fs::read(file).map_err(|error| ResultsError::read(file, &error))?;
        Ok((format!("the contents of {}", file.display()), digest(&bytes).into()))
    };
    let is_file = |file: &&PathBuf| !file.exists() && *file != Path::new("-") || file.is_file();
    files.iter().filter(is_file).map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_belongs_to_whoever_asks_the_same() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("new");
        let meta = |seed, config: &str| Meta {
            command: "sim",
            seed,
            points: Some(1),
            asked: vec![("the file".to_owned(), digest(config.as_bytes()).into())],
        };
        assert_eq!(meta(1, "a").owner(&path), Owner::Nobody);
        meta(1, "a").claim(&path).unwrap();
        assert_eq!(meta(1, "b").owner(&path), Owner::Nobody, "there are no results yet");
        fs::write(path.join("rows.jsonl"), "{}\n").unwrap();
        assert_eq!(meta(1, "a").owner(&path), Owner::Same);
        assert_eq!(meta(1, "b").owner(&path), Owner::Other("the file differs".to_owned()));
        assert_eq!(meta(2, "b").owner(&path), Owner::Other("the seed, the file differ".to_owned()));
        assert!(meta(2, "a").claim(&path).is_err());
        let plan = Meta { command: "plan", ..meta(1, "a") };
        assert_eq!(plan.owner(&path), Owner::Other("the command differs".to_owned()));
        fs::remove_file(path.join("meta.json")).unwrap();
        assert!(meta(1, "a").claim(&path).is_err(), "what says nothing of its origin is not overwritten");
    }

    #[test]
    fn digests_are_those_of_the_standard() {
        // FIPS 180-2, appendix B.1.
        assert_eq!(digest(b"abc"), "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    }
}
