//! Circles of modules: modules that stand beside each other and use each other, directly or by way of others.
//! The check of all crates calls it for each crate, with the modules that `modules` has read.
//!
//! A module counts with all that is within it, so that a folder is one thing to the modules beside it. A module and those within it may use
//! each other: the outer one is made of the inner ones. An arrow leads from the module that uses a name to the one that defines it. A
//! re-export is no arrow, for who uses the name depends on the module that defines it; nor is a declaration (`mod name;`).

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use petgraph::algo::tarjan_scc;
use petgraph::graphmap::DiGraphMap;
use proc_macro2::{TokenStream, TokenTree};

use crate::modules::{Crate, Module, ModuleId};

/// One use of another module's names: from which file, to which file, which names.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Arrow {
    /// The file that uses them.
    pub from: PathBuf,
    /// The file that defines them.
    pub to: PathBuf,
    /// The names, sorted.
    pub names: Vec<String>,
}

/// Modules beside each other that use each other in a loop.
#[derive(Debug)]
pub struct Circle {
    /// The modules, as paths from the crate on, sorted.
    pub modules: Vec<String>,
    /// The uses along the shortest way around: without one of them that way is gone.
    pub arrows: Vec<Arrow>,
}

type Names = BTreeSet<String>;

/// The circles of a crate, the largest first.
#[must_use]
pub fn circles(all: &Crate) -> Vec<Circle> {
    let mut levels: BTreeMap<ModuleId, Level> = BTreeMap::new();
    for (id, module) in all.modules.iter().enumerate() {
        for path in paths_of(module) {
            let Some(found) = all.find(id, &path) else { continue };
            let Some((around, from, to)) = beside(all, id, found) else { continue };
            let files = (module.file, all.modules[found].file);
            let name = path.last().cloned().unwrap_or_default();
            levels
                .entry(around)
                .or_default()
                .entry((from, to))
                .or_default()
                .entry(files)
                .or_default()
                .insert(name);
        }
    }
    let mut circles: Vec<_> = levels.values().flat_map(|level| circles_of(all, level)).collect();
    circles.sort_by_key(|circle| std::cmp::Reverse(circle.modules.len()));
    circles
}

/// Uses that lead upwards between the modules of the crate's root, which are `floors`, the lowest first; and modules that are none of them.
#[must_use]
pub fn upward_uses(all: &Crate, floors: &[String]) -> Vec<String> {
    let mut faults = BTreeSet::new();
    for (id, module) in all.modules.iter().enumerate() {
        for path in paths_of(module) {
            let Some(found) = all.find(id, &path) else { continue };
            let Some((0, from, to)) = beside(all, id, found) else { continue };
            let floor_of =
                |module: ModuleId| floors.iter().position(|floor| *floor == all.modules[module].name);
            let files = (all.files[module.file].display(), all.files[all.modules[found].file].display());
            let name = path.last().map_or("", String::as_str);
            let fault = match (floor_of(from), floor_of(to)) {
                (Some(from), Some(to)) if from >= to => continue,
                (Some(from), Some(to)) => {
                    let (from, to) = (&floors[from], &floors[to]);
                    format!("{} uses {name} of {}: `{from}` lies below `{to}`", files.0, files.1)
                }
                (None, _) => format!("{}: `{}` is no floor of the list", files.0, all.modules[from].name),
                (_, None) => format!("{}: `{}` is no floor of the list", files.1, all.modules[to].name),
            };
            faults.insert(fault);
        }
    }
    faults.into_iter().collect()
}

/// Arrows between the modules within one: from, to; for each the files and names.
type Level = BTreeMap<(ModuleId, ModuleId), BTreeMap<(usize, usize), Names>>;

/// The innermost module around both, and which of those within it they are in. None: one is around the other.
fn beside(all: &Crate, one: ModuleId, other: ModuleId) -> Option<(ModuleId, ModuleId, ModuleId)> {
    let (one, other) = (all.line_of(one), all.line_of(other));
    let common = one.iter().zip(&other).take_while(|(one, other)| one == other).count();
    Some((one[common - 1], *one.get(common)?, *other.get(common)?))
}

fn circles_of(all: &Crate, level: &Level) -> Vec<Circle> {
    let graph: DiGraphMap<ModuleId, ()> = level.keys().copied().collect();
    let components = tarjan_scc(&graph).into_iter().filter(|component| component.len() > 1);
    components
        .map(|component| {
            let mut modules: Vec<_> = component.iter().map(|&module| path_of(all, module)).collect();
            modules.sort();
            let shortest = shortest_way_around(&graph, &component);
            let ties = level.iter().filter(|(pair, _)| shortest.contains(pair));
            let arrows = ties.flat_map(|(_, files)| {
                files.iter().map(|(&(from, to), names)| Arrow {
                    from: all.files[from].clone(),
                    to: all.files[to].clone(),
                    names: names.iter().cloned().collect(),
                })
            });
            Circle { modules, arrows: arrows.collect() }
        })
        .collect()
}

/// The arrows of the shortest way from a module of a strongly connected component back to itself.
fn shortest_way_around(
    graph: &DiGraphMap<ModuleId, ()>,
    component: &[ModuleId],
) -> Vec<(ModuleId, ModuleId)> {
    let around = |start: ModuleId| {
        let mut from: BTreeMap<ModuleId, ModuleId> = BTreeMap::new();
        let mut next = std::collections::VecDeque::from([start]);
        while let Some(at) = next.pop_front() {
            for to in graph.neighbors(at) {
                if to == start {
                    let mut arrows = vec![(at, start)];
                    while let Some(&before) = from.get(&arrows[arrows.len() - 1].0) {
                        arrows.push((before, arrows[arrows.len() - 1].0));
                    }
                    return Some(arrows);
                }
                if let Entry::Vacant(unseen) = from.entry(to) {
                    unseen.insert(at);
                    next.push_back(to);
                }
            }
        }
        None
    };
    component.iter().filter_map(|&start| around(start)).min_by_key(Vec::len).unwrap_or_default()
}

/// As it is written in the code, from `crate` on.
fn path_of(all: &Crate, module: ModuleId) -> String {
    let names: Vec<_> = all.line_of(module).iter().map(|&module| all.modules[module].name.as_str()).collect();
    names.join("::")
}

/// Every path that the module uses: those that it imports for itself, and those in its code.
pub(crate) fn paths_of(module: &Module) -> Vec<Vec<String>> {
    let imported = module.uses.iter().filter(|import| !import.is_handed_on).map(|import| import.path.clone());
    let mut paths: Vec<_> = imported.collect();
    add_paths(&mut paths, module.tokens.clone());
    paths
}

/// Adds the paths that stand in `tokens`, also within macros.
fn add_paths(paths: &mut Vec<Vec<String>>, tokens: TokenStream) {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let is = |at: usize, which: char| matches!(tokens.get(at), Some(TokenTree::Punct(punct)) if punct.as_char() == which);
    // What follows a dot is a field or a method, but for what follows two of them.
    let is_member = |at: usize| at > 0 && is(at - 1, '.') && !(at > 1 && is(at - 2, '.'));
    let mut at = 0;
    while at < tokens.len() {
        match &tokens[at] {
            TokenTree::Group(group) => {
                add_paths(paths, group.stream());
                at += 1;
            }
            TokenTree::Ident(first) if !is_member(at) => {
                let mut path = vec![first.to_string()];
                at += 1;
                while is(at, ':') && is(at + 1, ':') {
                    let Some(TokenTree::Ident(next)) = tokens.get(at + 2) else { break };
                    path.push(next.to_string());
                    at += 3;
                }
                // `name: …` is a field, an argument or a variable.
                let is_binding = path.len() == 1 && is(at, ':') && !is(at + 1, ':');
                if !is_binding {
                    paths.push(path);
                }
            }
            _ => at += 1,
        }
    }
}
