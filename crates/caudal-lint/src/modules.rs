//! The modules of a crate as its source files declare them: which names each module defines, imports and hands on.
//! The checks of circles and of users ask it; it reads source files and nothing else.
//!
//! The files are parsed and the names looked up as the language does it, but without types: a call of a method leads nowhere here, and so do
//! names that macros make up. Items under `#[cfg(test)]` are left out, for tests may import what they like.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::{Attribute, Item, UseTree, Visibility};

use crate::error::LintError;

/// The number of a module in [`Crate::modules`].
pub type ModuleId = usize;

/// All modules of one compiled root: a library, or a program's `main.rs`.
#[derive(Debug)]
pub struct Crate {
    /// The root is the first.
    pub modules: Vec<Module>,
    /// Files, in the order in which they were found; [`Module::file`] points here.
    pub files: Vec<PathBuf>,
}

/// A module, in a file of its own or within one.
#[derive(Debug)]
pub struct Module {
    /// Its name; `crate` for the root.
    pub name: String,
    /// The module that declares it; none for the root.
    pub parent: Option<ModuleId>,
    /// The number of its file in [`Crate::files`].
    pub file: usize,
    /// Modules that it declares, by name.
    pub children: BTreeMap<String, ModuleId>,
    /// Names of the items that it defines.
    pub defines: BTreeSet<String>,
    /// Its imports and re-exports.
    pub uses: Vec<Use>,
    /// Everything else that is written in it, from which paths are read.
    pub tokens: TokenStream,
}

/// One name that a `use` declaration brings into a module.
#[derive(Clone, Debug)]
pub struct Use {
    /// The name in the module that imports; none for `*`.
    pub name: Option<String>,
    /// The path that is imported, a segment each; `*` is left out.
    pub path: Vec<String>,
    /// It is handed on (`pub use`, `pub(crate) use`).
    pub is_handed_on: bool,
}

impl Crate {
    /// Reads the file `root` and all files that it declares.
    ///
    /// # Errors
    /// A file that cannot be read, or that is not Rust.
    pub fn read(root: &Path) -> Result<Crate, LintError> {
        let mut all = Crate { modules: Vec::new(), files: Vec::new() };
        all.read_file(root, "crate", None, root.parent().unwrap_or(Path::new("")))?;
        Ok(all)
    }

    /// `folder` is where the module's own children lie.
    fn read_file(
        &mut self,
        path: &Path,
        name: &str,
        parent: Option<ModuleId>,
        folder: &Path,
    ) -> Result<ModuleId, LintError> {
        let text = std::fs::read_to_string(path)
            .map_err(|source| LintError::Read { path: path.to_path_buf(), source })?;
        let parsed = syn::parse_file(&text).map_err(|error| LintError::Parse {
            path: path.to_path_buf(),
            line: error.span().start().line,
            error,
        })?;
        self.files.push(path.to_path_buf());
        let file = self.files.len() - 1;
        self.add_module(parsed.items, name, parent, file, folder)
    }

    fn add_module(
        &mut self,
        items: Vec<Item>,
        name: &str,
        parent: Option<ModuleId>,
        file: usize,
        folder: &Path,
    ) -> Result<ModuleId, LintError> {
        let id = self.modules.len();
        self.modules.push(Module {
            name: name.to_owned(),
            parent,
            file,
            children: BTreeMap::new(),
            defines: BTreeSet::new(),
            uses: Vec::new(),
            tokens: TokenStream::new(),
        });
        for item in items.into_iter().filter(|item| !is_for_tests(attributes_of(item))) {
            self.add_item(id, file, folder, item)?;
        }
        Ok(id)
    }

    fn add_item(&mut self, id: ModuleId, file: usize, folder: &Path, item: Item) -> Result<(), LintError> {
        let defines = match item {
            Item::Mod(module) => {
                let name = module.ident.to_string();
                let within = folder.join(&name);
                let child = match module.content {
                    Some((_, items)) => self.add_module(items, &name, Some(id), file, &within)?,
                    None => {
                        let path = file_of(&module.attrs, &self.files[file], folder, &name)?;
                        self.read_file(&path, &name, Some(id), &within)?
                    }
                };
                self.modules[id].children.insert(name, child);
                return Ok(());
            }
            Item::Use(declaration) => {
                let is_handed_on = !matches!(declaration.vis, Visibility::Inherited);
                add_uses(&mut self.modules[id].uses, &mut Vec::new(), &declaration.tree, is_handed_on);
                return Ok(());
            }
            Item::Const(ref item) => Some(&item.ident),
            Item::Enum(ref item) => Some(&item.ident),
            Item::Fn(ref item) => Some(&item.sig.ident),
            Item::Macro(ref item) => item.ident.as_ref(),
            Item::Static(ref item) => Some(&item.ident),
            Item::Struct(ref item) => Some(&item.ident),
            Item::Trait(ref item) => Some(&item.ident),
            Item::TraitAlias(ref item) => Some(&item.ident),
            Item::Type(ref item) => Some(&item.ident),
            Item::Union(ref item) => Some(&item.ident),
            _ => None,
        };
        let module = &mut self.modules[id];
        module.defines.extend(defines.map(ToString::to_string));
        module.tokens.extend(without_tests(item).to_token_stream());
        Ok(())
    }

    /// The module and those around it, from the root on.
    #[must_use]
    pub fn line_of(&self, module: ModuleId) -> Vec<ModuleId> {
        let mut line: Vec<_> =
            std::iter::successors(Some(module), |&module| self.modules[module].parent).collect();
        line.reverse();
        line
    }

    /// The module whose file defines what `path` means in `from`. None: another crate's, a name of the language, or a module by itself.
    #[must_use]
    pub fn find(&self, from: ModuleId, path: &[String]) -> Option<ModuleId> {
        self.find_in(from, path, true, &mut BTreeSet::new())
    }

    /// `is_open`: the first segment may be any name that the module sees, or `crate`, `super`, `self`.
    fn find_in(
        &self,
        from: ModuleId,
        path: &[String],
        is_open: bool,
        seen: &mut BTreeSet<(ModuleId, Vec<String>)>,
    ) -> Option<ModuleId> {
        let (first, rest) = path.split_first()?;
        if !seen.insert((from, path.to_vec())) {
            return None;
        }
        if is_open {
            match first.as_str() {
                "crate" => return self.find_in(0, rest, false, seen),
                "self" => return self.find_in(from, rest, false, seen),
                "super" => {
                    let parent = self.modules[from].parent?;
                    let is_still_open = rest.first().is_some_and(|next| next == "super");
                    return self.find_in(parent, rest, is_still_open, seen);
                }
                _ => {}
            }
        }
        let module = &self.modules[from];
        if let Some(&child) = module.children.get(first) {
            return self.find_in(child, rest, false, seen);
        }
        if module.defines.contains(first) {
            return Some(from);
        }
        for import in &module.uses {
            let Some(name) = &import.name else {
                let glob = self.module_at(from, &import.path);
                if let Some(found) = glob.and_then(|module| self.find_in(module, path, false, seen)) {
                    return Some(found);
                }
                continue;
            };
            // `use name::name` means another crate's, for a module or an item of that name would have been found above.
            if name != first || import.path.first() == Some(name) {
                continue;
            }
            let whole = [&import.path, rest].concat();
            if let Some(found) = self.find_in(from, &whole, true, seen) {
                return Some(found);
            }
        }
        None
    }

    /// The module of this crate that `path` names in `from`; none for an enum, and for other crates.
    fn module_at(&self, from: ModuleId, path: &[String]) -> Option<ModuleId> {
        let (first, rest) = path.split_first()?;
        let start = match first.as_str() {
            "crate" => 0,
            "self" => from,
            "super" => self.modules[from].parent?,
            name => match self.modules[from].children.get(name) {
                Some(&child) => child,
                None => {
                    let named = |import: &&Use| {
                        import.name.as_deref() == Some(name) && import.path.first() != Some(first)
                    };
                    self.module_at(from, &self.modules[from].uses.iter().find(named)?.path)?
                }
            },
        };
        rest.iter().try_fold(start, |module, name| match name.as_str() {
            "super" => self.modules[module].parent,
            name => self.modules[module].children.get(name).copied(),
        })
    }
}

/// Where the file of `mod name;` is, which stands in the file `declared_in`.
fn file_of(
    attributes: &[Attribute],
    declared_in: &Path,
    folder: &Path,
    name: &str,
) -> Result<PathBuf, LintError> {
    let written = attributes.iter().find(|attribute| attribute.path().is_ident("path")).and_then(|path| {
        let syn::Meta::NameValue(pair) = &path.meta else { return None };
        let syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(text), .. }) = &pair.value else { return None };
        Some(text.value())
    });
    let beside = declared_in.parent().unwrap_or(Path::new(""));
    let candidates = match written {
        Some(path) => vec![beside.join(path)],
        None => vec![folder.join(format!("{name}.rs")), folder.join(name).join("mod.rs")],
    };
    let found = candidates.iter().find(|path| path.is_file()).cloned();
    found.ok_or_else(|| LintError::NoFile { module: name.to_owned(), declared_in: declared_in.to_path_buf() })
}

fn add_uses(uses: &mut Vec<Use>, before: &mut Vec<String>, tree: &UseTree, is_handed_on: bool) {
    match tree {
        UseTree::Path(path) => {
            before.push(path.ident.to_string());
            add_uses(uses, before, &path.tree, is_handed_on);
            before.pop();
        }
        UseTree::Group(group) => {
            group.items.iter().for_each(|tree| add_uses(uses, before, tree, is_handed_on));
        }
        UseTree::Glob(_) => uses.push(Use { name: None, path: before.clone(), is_handed_on }),
        UseTree::Name(_) | UseTree::Rename(_) => {
            let (ident, name) = match tree {
                UseTree::Rename(rename) => (rename.ident.to_string(), rename.rename.to_string()),
                UseTree::Name(name) => (name.ident.to_string(), name.ident.to_string()),
                _ => return,
            };
            let mut path = before.clone();
            // `use a::{self}` names the module `a`.
            let name = if ident == "self" {
                path.last().cloned().unwrap_or(name)
            } else {
                path.push(ident);
                name
            };
            uses.push(Use { name: Some(name), path, is_handed_on });
        }
    }
}

fn attributes_of(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Macro(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Static(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Trait(item) => &item.attrs,
        Item::Type(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        _ => &[],
    }
}

/// An `impl` without what only tests have.
fn without_tests(mut item: Item) -> Item {
    if let Item::Impl(implementation) = &mut item {
        implementation.items.retain(|member| match member {
            syn::ImplItem::Fn(function) => !is_for_tests(&function.attrs),
            _ => true,
        });
    }
    item
}

/// Is it compiled for tests only, by `#[cfg(test)]`, `#[cfg(all(test, …))]` or `#[test]`?
fn is_for_tests(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let asks_for_tests = || {
            let condition = attribute.meta.to_token_stream().to_string().replace(' ', "");
            condition.contains("test") && !condition.contains("not(test") && !condition.contains("any(")
        };
        attribute.path().is_ident("test") || (attribute.path().is_ident("cfg") && asks_for_tests())
    })
}
