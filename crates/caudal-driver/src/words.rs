//! Response files: `@file` stands for the words in it, quoted as gcc and clang read them. The drivers call [`expand`] as the first step for each
//! command line, and [`response_file`] where clang's command line becomes too long. Reads the files, and writes temporary ones.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::Write;
use std::os::unix::ffi::{OsStrExt, OsStringExt};

use tempfile::NamedTempFile;

use crate::error::DriverError;

/// The deepest nesting of response files; files that name one another would otherwise never end.
const DEPTH_MAX: usize = 32;

/// A command line whose response files were replaced by their contents.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Expanded {
    /// The words.
    pub words: Vec<OsString>,
    /// Whether there were response files: then the words may be too many for a command line.
    pub had_files: bool,
}

/// Replaces response files. A file that can not be read stays as the word `@file`, as with clang, which then looks for a source of that name.
pub fn expand(args: Vec<OsString>) -> Expanded {
    let mut expanded = Expanded::default();
    for arg in args {
        push(arg, &mut expanded, 0);
    }
    expanded
}

fn push(arg: OsString, expanded: &mut Expanded, depth: usize) {
    let text = match arg.as_bytes().strip_prefix(b"@") {
        Some(name) if depth < DEPTH_MAX => fs::read(OsStr::from_bytes(name)).ok(),
        _ => None,
    };
    let Some(text) = text else {
        expanded.words.push(arg);
        return;
    };
    expanded.had_files = true;
    for word in split(&text) {
        push(word, expanded, depth + 1);
    }
}

/// GNU's rules: blanks separate, a backslash takes the next character as it is, also within quotes of either kind.
pub(crate) fn split(text: &[u8]) -> Vec<OsString> {
    let mut words = Vec::new();
    let mut word: Option<Vec<u8>> = None;
    let mut quote = None;
    let mut bytes = text.iter().copied();
    while let Some(byte) = bytes.next() {
        match (byte, quote) {
            (b'\\', _) => word.get_or_insert_default().extend(bytes.next()),
            (b'"' | b'\'', None) => {
                quote = Some(byte);
                word.get_or_insert_default();
            }
            (_, Some(open)) if byte == open => quote = None,
            (_, None) if byte.is_ascii_whitespace() => words.extend(word.take()),
            _ => word.get_or_insert_default().push(byte),
        }
    }
    words.extend(word);
    words.into_iter().map(OsString::from_vec).collect()
}

/// A response file with `words`; it lives as long as the value.
///
/// # Errors
/// If the file can not be written.
pub fn response_file(words: &[OsString]) -> Result<NamedTempFile, DriverError> {
    let place = std::env::temp_dir();
    let mut file = tempfile::Builder::new()
        .prefix("caudal-")
        .suffix(".rsp")
        .tempfile()
        .map_err(DriverError::at(&place))?;
    let mut text = Vec::new();
    for word in words {
        text.push(b'"');
        for &byte in word.as_bytes() {
            if matches!(byte, b'"' | b'\\') {
                text.push(b'\\');
            }
            text.push(byte);
        }
        text.extend(b"\"\n");
    }
    file.write_all(&text).map_err(DriverError::at(&place))?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        split(text.as_bytes()).into_iter().map(|word| word.into_string().unwrap()).collect()
    }

    #[test]
    fn words_are_split_as_gcc_splits_them() {
        assert_eq!(
            words("-c  a.c\n-DX=\"a b\" '-DY=\"c\"' d\\ e \"\""),
            ["-c", "a.c", "-DX=a b", "-DY=\"c\"", "d e", ""]
        );
    }

    #[test]
    fn a_response_file_is_read_as_it_was_written() {
        let said: Vec<OsString> = ["a b", "c\"d", "e\\f", "", "g'h"].map(OsString::from).to_vec();
        let file = response_file(&said).unwrap();
        let mut at = OsString::from("@");
        at.push(file.path());
        assert_eq!(expand(vec![at]), Expanded { words: said, had_files: true });
    }

    #[test]
    fn a_file_that_is_not_there_stays_a_word() {
        let args = vec![OsString::from("@nowhere/at all")];
        assert_eq!(expand(args.clone()), Expanded { words: args, had_files: false });
    }

    #[test]
    fn files_that_name_themselves_end() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("me");
        fs::write(&path, format!("@{} x", path.display())).unwrap();
        let words = expand(vec![format!("@{}", path.display()).into()]).words;
        assert_eq!(words.len(), DEPTH_MAX + 1);
    }
}
