//! Uses of the host (threads, files, clocks, sockets, processes) in crates that have to run anywhere, a browser included: they may stand
//! under the feature `host` alone. `scripts/portable` builds these crates without it and looks at what they depend on.
//! The check of all crates calls it for those that a browser needs.

use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;
use syn::{Attribute, File, ImplItem, Item, UseTree};

/// The crates that have to run anywhere.
pub const PORTABLE: [&str; 7] = [
    "caudal-policy",
    "caudal-stats",
    "caudal-row",
    "caudal-log",
    "caudal-workload",
    "caudal-config",
    "caudal-sim",
];

/// Modules of the standard library that a browser does not have.
const MODULES: [&str; 6] = ["env", "fs", "net", "os", "process", "thread"];
/// Names of other modules that it does not have, each with its module.
const NAMES: [(&str, &str); 4] =
    [("time", "Instant"), ("time", "SystemTime"), ("io", "stdin"), ("io", "stdout")];

/// The uses of the host in a source file: the line, from 1 on, and the path.
#[must_use]
pub fn uses_of_host(file: &File) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    file.items.iter().for_each(|item| add_item(&mut found, item));
    found.sort();
    found.dedup();
    found
}

fn add_item(found: &mut Vec<(usize, String)>, item: &Item) {
    match item {
        Item::Mod(module) if !is_left_out(&module.attrs) => {
            module.content.iter().flat_map(|(_, items)| items).for_each(|item| add_item(found, item));
        }
        Item::Use(import) if !is_left_out(&import.attrs) => {
            add_imports(found, &mut Vec::new(), &import.tree);
        }
        Item::Impl(implementation) if !is_left_out(&implementation.attrs) => {
            for member in &implementation.items {
                let attributes = match member {
                    ImplItem::Fn(function) => &function.attrs[..],
                    _ => &[],
                };
                if !is_left_out(attributes) {
                    add_paths(found, member.to_token_stream());
                }
            }
        }
        Item::Mod(_) | Item::Use(_) | Item::Impl(_) => {}
        Item::Fn(item) if is_left_out(&item.attrs) => {}
        Item::Const(item) if is_left_out(&item.attrs) => {}
        Item::Static(item) if is_left_out(&item.attrs) => {}
        Item::Struct(item) if is_left_out(&item.attrs) => {}
        Item::Enum(item) if is_left_out(&item.attrs) => {}
        other => add_paths(found, other.to_token_stream()),
    }
}

/// Is it compiled for tests, or with the feature `host`, alone?
fn is_left_out(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let condition = attribute.meta.to_token_stream().to_string().replace(' ', "");
        attribute.path().is_ident("test")
            || (attribute.path().is_ident("cfg")
                && !condition.contains("not(")
                && !condition.contains("any(")
                && (condition.contains("test") || condition.contains("feature=\"host\"")))
    })
}

fn is_of_host(path: &[String]) -> bool {
    match path {
        [root, module, ..] if root == "std" && MODULES.contains(&module.as_str()) => true,
        [root, module, name, ..] if root == "std" => NAMES.contains(&(module.as_str(), name.as_str())),
        _ => false,
    }
}

fn add_imports(found: &mut Vec<(usize, String)>, before: &mut Vec<String>, tree: &UseTree) {
    let (ident, line) = match tree {
        UseTree::Path(path) => {
            before.push(path.ident.to_string());
            add_imports(found, before, &path.tree);
            before.pop();
            return;
        }
        UseTree::Group(group) => {
            group.items.iter().for_each(|tree| add_imports(found, before, tree));
            return;
        }
        UseTree::Glob(glob) => ("*".to_owned(), glob.star_token.spans[0].start().line),
        UseTree::Name(name) => (name.ident.to_string(), name.ident.span().start().line),
        UseTree::Rename(name) => (name.ident.to_string(), name.ident.span().start().line),
    };
    let path: Vec<String> = before.iter().cloned().chain([ident]).collect();
    if is_of_host(&path) {
        found.push((line, path.join("::")));
    }
}

/// Adds the paths from `std` on that stand in `tokens`.
fn add_paths(found: &mut Vec<(usize, String)>, tokens: TokenStream) {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let is_colon =
        |at: usize| matches!(tokens.get(at), Some(TokenTree::Punct(punct)) if punct.as_char() == ':');
    let mut at = 0;
    while at < tokens.len() {
        match &tokens[at] {
            TokenTree::Group(group) => add_paths(found, group.stream()),
            TokenTree::Ident(first) if first == "std" => {
                let (mut path, line) = (vec![first.to_string()], first.span().start().line);
                while is_colon(at + 1) && is_colon(at + 2) {
                    let Some(TokenTree::Ident(next)) = tokens.get(at + 3) else { break };
                    path.push(next.to_string());
                    at += 3;
                }
                if is_of_host(&path) {
                    found.push((line, path.join("::")));
                }
            }
            _ => {}
        }
        at += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<(usize, String)> {
        uses_of_host(&syn::parse_file(text).expect("it is Rust"))
    }

    #[test]
    fn what_a_browser_lacks_is_found_wherever_it_stands() {
        let text = "use std::{fs::File, fmt};\nfn a() {\n    let now = std::time::Instant::now();\n    std::thread::spawn(|| ());\n}\n\
                    struct B;\nimpl B {\n    fn c() -> std::time::Duration { std::process::exit(1) }\n}\n";
        let paths: Vec<(usize, String)> = found(text);
        let expected = [
            (1, "std::fs::File"),
            (3, "std::time::Instant::now"),
            (4, "std::thread::spawn"),
            (8, "std::process::exit"),
        ];
        assert_eq!(paths, expected.map(|(line, path)| (line, path.to_owned())));
    }

    #[test]
    fn it_may_stand_under_the_feature_and_in_tests() {
        let text = "#[cfg(feature = \"host\")]\nuse std::fs::File;\n#[cfg(feature = \"host\")]\nmod a { use std::thread; }\n\
                    #[cfg(test)]\nmod tests { use std::fs; }\nstruct B;\nimpl B {\n    #[cfg(feature = \"host\")]\n    fn c() { std::fs::read(\"a\"); }\n}\n";
        assert_eq!(found(text), []);
        let without = "#[cfg(not(feature = \"host\"))]\nuse std::fs::File;\n";
        assert_eq!(found(without).len(), 1, "a build without the feature has it");
    }
}
