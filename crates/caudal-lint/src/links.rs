//! Links of the Markdown pages: each file and each heading that a page links to has to be there. Called by `check` for all pages.
//!
//! Links into the web are not followed: that they are up is nothing that a change of this tree decides.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

use crate::error::LintError;

/// The list of all pages below `docs`, of which `make site` makes its menu.
const SUMMARY: &str = "docs/SUMMARY.md";

/// Beginnings of the paths of files in the tree, which pages may name in backquotes.
const PLACES: [&str; 9] =
    ["crates/", "docs/", "scripts/", "pass/", "services/", "examples/", "experiments/", "benches/", "data/"];

/// A page: where it links to, and where one can link to in it.
struct Page {
    /// Line, from 1 on, and path of each file of the tree that is named in backquotes.
    named: Vec<(usize, String)>,
    /// Line, from 1 on, and target of each link.
    links: Vec<(usize, String)>,
    /// Names of its headings, as GitHub and mdBook make them.
    anchors: Vec<String>,
}

/// The broken links of all pages of the folder `workspace`, and pages of `docs` that the summary lacks; each as text, with its place.
///
/// # Errors
/// Files and folders that cannot be read.
pub fn broken(workspace: &Path) -> Result<Vec<String>, LintError> {
    let mut pages = BTreeMap::new();
    for path in pages_below(workspace)? {
        let page = read_page(&crate::read(&path)?);
        pages.insert(plain(&path), page);
    }
    let mut faults = Vec::new();
    for (path, page) in &pages {
        for (line, link) in &page.links {
            if let Some(fault) = fault_of(path, link, &pages) {
                faults.push(format!("{}:{line}: {fault}", path.display()));
            }
        }
        for (line, named) in page.named.iter().filter(|(_, named)| !workspace.join(named).exists()) {
            faults.push(format!("{}:{line}: there is no file `{named}` in the tree", path.display()));
        }
    }
    let (docs, summary) = (plain(&workspace.join("docs")), plain(&workspace.join(SUMMARY)));
    if let Some(listing) = pages.get(&summary) {
        let listed: Vec<PathBuf> = listing.links.iter().map(|(_, link)| plain(&docs.join(link))).collect();
        let pages = pages.keys().filter(|path| path.starts_with(&docs) && **path != summary);
        let missing = pages.filter(|path| !listed.contains(path));
        faults.extend(missing.map(|path| format!("{}: {SUMMARY} does not list this page", path.display())));
    }
    Ok(faults)
}

/// Why a link leads nowhere; none if it leads somewhere, or out of the tree.
fn fault_of(page: &Path, link: &str, pages: &BTreeMap<PathBuf, Page>) -> Option<String> {
    if link.contains("://") || link.starts_with("mailto:") {
        return None;
    }
    let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
    let target = match file {
        "" => page.to_path_buf(),
        file => plain(&page.parent().unwrap_or(Path::new("")).join(file)),
    };
    if !target.exists() {
        return Some(format!("there is no `{file}`"));
    }
    let known = pages.get(&target).is_none_or(|target| target.anchors.iter().any(|has| has == anchor));
    (!anchor.is_empty() && !known).then(|| format!("`{}` has no heading `#{anchor}`", target.display()))
}

/// The pages of a folder and of those in it, without hidden ones and what builds leave (`target`).
fn pages_below(folder: &Path) -> Result<Vec<PathBuf>, LintError> {
    let mut pages = Vec::new();
    for path in crate::sorted(folder)? {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_symlink() || name.starts_with('.') || name == "target" {
            continue;
        }
        if path.is_dir() {
            pages.extend(pages_below(&path)?);
        } else if name.ends_with(".md") {
            pages.push(path);
        }
    }
    Ok(pages)
}

fn read_page(text: &str) -> Page {
    let mut page = Page { named: Vec::new(), links: Vec::new(), anchors: Vec::new() };
    let mut heading: Option<String> = None;
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_FOOTNOTES;
    for (event, range) in Parser::new_ext(text, options).into_offset_iter() {
        match event {
            Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
                let line = text[..range.start].matches('\n').count() + 1;
                page.links.push((line, dest_url.into_string()));
            }
            Event::Start(Tag::Heading { .. }) => heading = Some(String::new()),
            Event::End(TagEnd::Heading(_)) => {
                let name = name_of(&heading.take().unwrap_or_default());
                let again = page.anchors.iter().filter(|has| **has == name).count();
                page.anchors.push(if again == 0 { name } else { format!("{name}-{again}") });
            }
            Event::Text(part) | Event::Code(part) => {
                if is_code_at(text, range.start) && is_path(&part) {
                    let line = text[..range.start].matches('\n').count() + 1;
                    page.named.push((line, part.trim_end_matches('/').to_owned()));
                }
                if let Some(heading) = &mut heading {
                    *heading += &part;
                }
            }
            _ => {}
        }
    }
    page
}

/// Is this the place of a code span?
fn is_code_at(text: &str, at: usize) -> bool {
    text[at..].starts_with('`')
}

/// Is `code` the path of a file or folder of the tree, and no pattern and no command?
fn is_path(code: &str) -> bool {
    let letters = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '/' | '.' | '_' | '-');
    PLACES.iter().any(|place| code.starts_with(place)) && code.chars().all(letters)
}

/// A heading's name in links: small letters, digits, `_`, and `-` for blanks.
fn name_of(heading: &str) -> String {
    let letters = heading.trim().chars().filter_map(|letter| match letter {
        ' ' => Some('-'),
        '-' | '_' => Some(letter),
        letter if letter.is_alphanumeric() => Some(letter),
        _ => None,
    });
    letters.collect::<String>().to_lowercase()
}

/// A path without `.` and `..`, by its text alone.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                plain.pop();
            }
            Component::CurDir => {}
            part => plain.push(part),
        }
    }
    plain
}

#[test]
fn headings_have_the_names_that_links_use() {
    assert_eq!(name_of("What goes with `no_preempt`, and why?"), "what-goes-with-no_preempt-and-why");
    let page = read_page(
        "# One\n\n## Two words\n\ntext [x](a.md#b)\n\n## Two words\n\n```text\n[no](link.md)\n```\n",
    );
    assert_eq!(page.anchors, ["one", "two-words", "two-words-1"]);
    assert_eq!(page.links, [(5, "a.md#b".to_owned())]);
}

#[test]
fn files_in_backquotes_are_found_and_patterns_are_not() {
    let page = read_page(
        "See `crates/a/src/lib.rs`,\n`data/`, `docs/*.md`, `scripts/x --y`, `src/lib.rs` and crates/b.\n",
    );
    assert_eq!(page.named, [(1, "crates/a/src/lib.rs".to_owned()), (2, "data".to_owned())]);
}
