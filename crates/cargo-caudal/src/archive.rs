//! The modules of a link: which are bitcode, which the pass can still change, and which are machine code already. `link` asks before each
//! link, `libraries` asks about static libraries that were built. It reads object files and archives.

use std::fs;
use std::path::Path;

/// LLVM's bitcode, bare and in its wrapper.
const BITCODE: [&[u8]; 2] = [b"BC\xc0\xde", b"\xde\xc0\x17\x0b"];
const MAGIC: &[u8] = b"!<arch>\n";
const HEADER_BYTES: usize = 60;

/// An object file that rustc made of a crate's code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Module {
    /// The file, and the member if it is an archive's.
    pub(crate) name: String,
    pub(crate) is_bitcode: bool,
}

/// The modules in an object or a library that rustc wrote; none in other files. Objects of other compilers that a library
/// brings along are not rustc's to compile.
pub(crate) fn modules(file: &Path) -> Vec<Module> {
    let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let is_library = name.ends_with(".rlib");
    if !is_library && !name.ends_with(".rcgu.o") {
        return Vec::new();
    }
    let Ok(bytes) = fs::read(file) else { return Vec::new() };
    if !is_library {
        return vec![Module { name, is_bitcode: is_bitcode(&bytes) }];
    }
    let of_crate = members(&bytes).into_iter().filter(|(member, _)| member.ends_with(".rcgu.o"));
    let module =
        |(member, content)| Module { name: format!("{name}({member})"), is_bitcode: is_bitcode(content) };
    of_crate.map(module).collect()
}

/// Whether a library that rustc wrote holds code that is not compiled to the end.
pub(crate) fn has_bitcode(library: &Path) -> bool {
    let Ok(bytes) = fs::read(library) else { return false };
    members(&bytes).iter().any(|(_, content)| is_bitcode(content))
}

fn is_bitcode(content: &[u8]) -> bool {
    BITCODE.iter().any(|magic| content.starts_with(magic))
}

/// Names and contents, as GNU's `ar` writes them.
///
/// ```text
/// name 16 | date 12 | owner 6 | group 6 | mode 8 | size 10 | `\n   then the content, filled up to an even length
/// name/     a short name
/// /123      a long one, at 123 in the member `//`, where names end with /\n
/// ```
fn members(archive: &[u8]) -> Vec<(String, &[u8])> {
    let mut members = Vec::new();
    let mut names: &[u8] = &[];
    let mut rest = archive.strip_prefix(MAGIC).unwrap_or_default();
    while let Some((header, behind)) = rest.split_at_checked(HEADER_BYTES) {
        let text =
            |range: std::ops::Range<usize>| String::from_utf8_lossy(&header[range]).trim_end().to_owned();
        let Ok(size) = text(48..58).parse::<usize>() else { break };
        let Some(content) = behind.get(..size) else { break };
        match text(0..16).as_str() {
            "//" => names = content,
            name => members.push((full_name(name, names), content)),
        }
        rest = behind.get(size + size % 2..).unwrap_or_default();
    }
    members
}

fn full_name(name: &str, names: &[u8]) -> String {
    let offset = name.strip_prefix('/').and_then(|digits| digits.parse::<usize>().ok());
    match offset.and_then(|offset| names.get(offset..)) {
        Some(long) => {
            let end = long.iter().position(|&byte| byte == b'\n').unwrap_or(long.len());
            String::from_utf8_lossy(&long[..end]).trim_end_matches('/').to_owned()
        }
        None => name.trim_end_matches('/').to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn member(name: &str, content: &[u8]) -> Vec<u8> {
        let mut bytes =
            format!("{name:<16}{:<12}{:<6}{:<6}{:<8}{:<10}`\n", 0, 0, 0, 644, content.len()).into_bytes();
        bytes.extend(content);
        bytes.extend(vec![b'\n'; content.len() % 2]);
        bytes
    }

    #[test]
    fn modules_of_a_library() {
        let names = b"a_name_that_is_too_long.rcgu.o/\nlib.rmeta/\n";
        let parts = [
            MAGIC.to_vec(),
            member("/", b"symbols"),
            member("//", names),
            member("/32", b"metadata"),
            member("/0", b"BC\xc0\xdecode"),
            member("b.rcgu.o/", b"\x7fELF!"),
            member("c.o/", b"\x7fELF"),
        ];
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("libx.rlib");
        fs::write(&file, parts.concat()).unwrap();
        let module = |name: &str, is_bitcode| Module { name: name.to_owned(), is_bitcode };
        let expected =
            [module("libx.rlib(a_name_that_is_too_long.rcgu.o)", true), module("libx.rlib(b.rcgu.o)", false)];
        assert_eq!(modules(&file), expected);
    }

    #[test]
    fn what_is_no_archive_has_no_members() {
        for bytes in [&b""[..], b"!<arch>\nshort", b"!<thin>\n", b"\x7fELF"] {
            assert_eq!(members(bytes), []);
        }
        let mut cut = [MAGIC.to_vec(), member("a.rcgu.o/", b"content")].concat();
        cut.truncate(70);
        assert_eq!(members(&cut), []);
    }
}
