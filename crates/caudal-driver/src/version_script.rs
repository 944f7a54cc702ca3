//! Version scripts of executables: a program exports the names that its script lists. Shared objects that have probes need the probe
//! library's names among them, so the linker is given the script with those added. `cc` calls it before the link of an executable that
//! has such a script, and gives the linker the new one. It reads the user's script and writes a copy into the cache.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use crate::beside::digest;
use crate::error::DriverError;

const SHOWN: &str = " caudal_*;";

/// Where a word for the linker stands among clang's.
#[derive(Clone, Copy)]
struct Place {
    word: usize,
    /// Among the parts of a `-Wl,`; `None`: a word of its own, behind `-Xlinker`.
    part: Option<usize>,
}

/// Gives the linker other scripts in place of those that `words` name, written to `directory`. What cannot be read stays: the linker says
/// what is wrong with it.
///
/// # Errors
/// A file that cannot be written.
pub fn show_probes(words: &mut [OsString], directory: &Path) -> Result<(), DriverError> {
    for (place, before, script) in scripts(words) {
        let Ok(text) = fs::read_to_string(&script) else { continue };
        let Some(text) = with_probes(&text) else { continue };
        let file = directory.join(format!("script-{}.map", digest(&[text.as_bytes()])));
        fs::write(&file, text).map_err(DriverError::at(&file))?;
        let mut new = before;
        new.push(&file);
        put(&mut words[place.word], place.part, &new);
    }
    Ok(())
}

/// Where scripts are named, what stands in front of the name in the same word, and the name.
fn scripts(words: &[OsString]) -> Vec<(Place, OsString, PathBuf)> {
    let mut found = Vec::new();
    let mut is_next = false;
    for (place, word) in linker_words(words) {
        let bytes = word.as_bytes();
        if std::mem::take(&mut is_next) {
            found.push((place, OsString::new(), PathBuf::from(&word)));
            continue;
        }
        let option = bytes.strip_prefix(b"--").or_else(|| bytes.strip_prefix(b"-")).unwrap_or_default();
        let Some(rest) = option.strip_prefix(b"version-script") else { continue };
        match rest.split_first() {
            None => is_next = true,
            Some((b'=', name)) => {
                let before = OsStr::from_bytes(&bytes[..bytes.len() - name.len()]).to_owned();
                found.push((place, before, PathBuf::from(OsStr::from_bytes(name))));
            }
            Some(_) => {}
        }
    }
    found
}

fn linker_words(words: &[OsString]) -> Vec<(Place, OsString)> {
    let mut found = Vec::new();
    for (at, word) in words.iter().enumerate() {
        if let Some(parts) = word.as_bytes().strip_prefix(b"-Wl,") {
            for (part, text) in parts.split(|&byte| byte == b',').enumerate() {
                found.push((Place { word: at, part: Some(part) }, OsString::from_vec(text.to_vec())));
            }
        } else if at > 0 && (words[at - 1] == "-Xlinker" || words[at - 1] == "--for-linker") {
            found.push((Place { word: at, part: None }, word.clone()));
        }
    }
    found
}

fn put(word: &mut OsString, part: Option<usize>, new: &OsStr) {
    let Some(part) = part else {
        *word = new.to_owned();
        return;
    };
    let bytes = word.as_bytes()["-Wl,".len()..].to_vec();
    let mut parts: Vec<&[u8]> = bytes.split(|&byte| byte == b',').collect();
    parts[part] = new.as_bytes();
    *word = OsString::from_vec([b"-Wl,", parts.join(&b","[..]).as_slice()].concat());
}

/// The script with the library's names; `None`: it has no part in which they could stand.
///
/// A part may begin with `global:`, with `local:`, or with names, which are global then. No linker takes `global:` twice.
fn with_probes(text: &str) -> Option<String> {
    let open = beyond(text, 0, |rest| !rest.starts_with('{'))? + 1;
    let first = beyond(text, open, |rest| rest.starts_with(char::is_whitespace))?;
    let label = |label: &str| {
        let rest = text[first..].strip_prefix(label)?;
        rest.trim_start().starts_with(':').then(|| first + label.len() + rest.find(':').unwrap_or(0) + 1)
    };
    let (at, before) = match (label("global"), label("local")) {
        (Some(behind), _) => (behind, ""),
        (None, Some(_)) => (open, " global:"),
        (None, None) => (open, ""),
    };
    Some(format!("{}{before}{SHOWN}{}", &text[..at], &text[at..]))
}

/// The place from `at` on where `goes_on` is over, outside of comments.
fn beyond(text: &str, mut at: usize, goes_on: impl Fn(&str) -> bool) -> Option<usize> {
    loop {
        let rest = &text[at..];
        if let Some(comment) = rest.strip_prefix("/*") {
            at += comment.find("*/")? + 4;
        } else if rest.starts_with('#') {
            at += rest.find('\n')?;
        } else if goes_on(rest) {
            at += rest.chars().next()?.len_utf8();
        } else {
            return Some(at);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_part_of_a_script_has_them() {
        for (text, shown) in [
            ("{ global: main; local: *; };", "{ global: caudal_*; main; local: *; };"),
            ("/* { */\nV1 { main; };\nV2 { f; } V1;\n", "/* { */\nV1 { caudal_*; main; };\nV2 { f; } V1;\n"),
            ("{ /* global: */ global_name; };", "{ caudal_*; /* global: */ global_name; };"),
            ("# {\n{ local: *; };", "# {\n{ global: caudal_*; local: *; };"),
        ] {
            assert_eq!(with_probes(text).as_deref(), Some(shown));
        }
        assert_eq!(with_probes("/* { nothing"), None);
    }

    #[test]
    fn scripts_are_found_wherever_they_are_named() {
        let place = tempfile::tempdir().unwrap();
        let map = place.path().join("a.map");
        fs::write(&map, "{ main; };").unwrap();
        let map = map.display();
        for line in [
            format!("-Wl,-z,now,--version-script={map},-O1"),
            format!("-Wl,--version-script -Wl,{map}"),
            format!("-Wl,-version-script,{map}"),
            format!("-Xlinker --version-script={map}"),
            format!("-Xlinker --version-script -Xlinker {map}"),
        ] {
            let mut words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
            show_probes(&mut words, place.path()).unwrap();
            let new = words.join(OsStr::new(" ")).into_string().unwrap();
            let file = place.path().join(format!("script-{}.map", digest(&[b"{ caudal_*; main; };"])));
            assert_eq!(new, line.replace(&map.to_string(), &file.display().to_string()));
            assert!(file.exists());
        }
    }
}
