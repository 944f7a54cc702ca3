//! The users of a file: the modules that name something of it, and a check that the sentence in its header that names them is still true. The
//! check of a crate calls it for each file.
//!
//! A header may name users in a sentence whose first words are "Used" and "by". Each name in backquotes of that sentence has to be the end of
//! the path of a module of the same crate that uses the file. Any other name is a fault, so the sentence can not become stale unnoticed.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use crate::circles::paths_of;
use crate::modules::Crate;

/// The paths of the modules that use each file, from the crate's root on (`engine::general`), without modules of the same file and
/// the modules around it, which declare it.
#[must_use]
pub fn users(all: &Crate) -> BTreeMap<PathBuf, BTreeSet<String>> {
    let mut found: BTreeMap<PathBuf, BTreeSet<String>> = BTreeMap::new();
    for (id, module) in all.modules.iter().enumerate() {
        let names: Vec<_> =
            all.line_of(id).iter().skip(1).map(|&part| all.modules[part].name.as_str()).collect();
        if names.contains(&"tests") {
            continue;
        }
        let name = if names.is_empty() { "crate".to_owned() } else { names.join("::") };
        for path in paths_of(module) {
            let Some(used) = all.find(id, &path) else { continue };
            if all.modules[used].file != module.file {
                found.entry(all.files[all.modules[used].file].clone()).or_default().insert(name.clone());
            }
        }
    }
    found
}

/// Names in the sentence "Used by …" of the header of a file that are none of its `users`.
#[must_use]
pub fn stale(text: &str, users: &BTreeSet<String>) -> Vec<String> {
    let header: Vec<_> = text.lines().map_while(|line| line.strip_prefix("//!")).collect();
    let header = header.join("\n");
    let Some((_, rest)) = header.split_once("Used by ") else { return Vec::new() };
    let sentence = rest.split_once(".\n").map_or(rest, |(sentence, _)| sentence);
    let is_user = |name: &str| users.iter().any(|user| user == name || user.ends_with(&format!("::{name}")));
    sentence.split('`').skip(1).step_by(2).filter(|name| !is_user(name)).map(str::to_owned).collect()
}

/// Is there a line in the header that only lists users, as in "Used by `a`, `b` and others."? A list of names says neither when they call nor
/// why: the header has a sentence instead.
#[must_use]
pub fn has_bare_list(text: &str) -> bool {
    let header = text.lines().map_while(|line| line.strip_prefix("//!"));
    let is_bare = |line: &str| {
        let Some(list) = line.trim().strip_prefix("Used by ").and_then(|rest| rest.strip_suffix('.')) else {
            return false;
        };
        // Every second part is a name in backquotes.
        list.contains('`')
            && list
                .split('`')
                .step_by(2)
                .all(|between| matches!(between.trim(), "" | "," | "and" | "and others"))
    };
    header.into_iter().any(is_bare)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_of_names_is_no_sentence() {
        assert!(has_bare_list("//! A tree.\n//! Used by `a`.\n"));
        assert!(has_bare_list("//! A tree.\n//! Used by `a`, `b::c` and others.\n"));
        assert!(!has_bare_list("//! A tree.\n//! Used by `a` before each run.\n"));
        assert!(!has_bare_list(
            "//! A tree.\n//! Used by the check of all crates, for each file.\nfn a() {}\n"
        ));
    }

    #[test]
    fn a_name_that_does_not_use_the_file_is_stale() {
        let users = BTreeSet::from(["engine::general".to_owned(), "run".to_owned()]);
        let text = |sentence: &str| format!("//! A tree.\n//! Used by {sentence}.\n\nfn a() {{}}\n");
        assert!(stale(&text("`general` and `run`"), &users).is_empty());
        assert!(stale(&text("`engine::general` and others"), &users).is_empty());
        assert_eq!(stale(&text("`general` and `replay`"), &users), ["replay"]);
        assert!(stale("//! A tree.\nfn a() {}\n", &users).is_empty());
    }

    #[test]
    fn modules_that_name_something_of_a_file_are_its_users() {
        let folder = std::env::temp_dir().join(format!("caudal-lint-users-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let file = |name: &str, text: &str| std::fs::write(folder.join(name), text).unwrap();
        file("lib.rs", "mod a;\nmod b;\nmod c;\n");
        file("a.rs", "pub struct A;\n#[cfg(test)]\nmod tests { use super::A; }\n");
        file("b.rs", "use crate::a::A;\npub fn b() -> A { A }\n");
        file("c.rs", "pub fn c() { crate::b::b(); }\n");
        let users = users(&Crate::read(&folder.join("lib.rs")).unwrap());
        let of = |name: &str| {
            users.get(&folder.join(name)).cloned().unwrap_or_default().into_iter().collect::<Vec<_>>()
        };
        assert_eq!(
            (of("a.rs"), of("b.rs"), of("c.rs")),
            (vec!["b".to_owned()], vec!["c".to_owned()], vec![])
        );
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
