//! Source files as the generated pages need them: documentation of modules, and fields of structs with theirs. The pages of policies,
//! files and output read some files each time that the pages are made. Only reads.

use std::path::Path;

use crate::DocsError;
use crate::markdown::without_code_links;

/// A source file.
pub(crate) struct SourceFile<'a> {
    path: &'a Path,
    text: String,
}

/// A public field with its documentation.
#[derive(Debug, PartialEq)]
pub(crate) struct Field {
    pub(crate) name: String,
    pub(crate) type_name: String,
    pub(crate) doc: String,
}

impl<'a> SourceFile<'a> {
    pub(crate) fn read(path: &'a Path) -> Result<SourceFile<'a>, DocsError> {
        let text = std::fs::read_to_string(path)
            .map_err(|source| DocsError::Io { path: path.to_owned(), source })?;
        Ok(SourceFile { path, text })
    }

    pub(crate) fn error(&self, problem: impl Into<String>) -> DocsError {
        DocsError::Source { path: self.path.to_owned(), problem: problem.into() }
    }

    /// The `//!` lines at its top.
    pub(crate) fn module_docs(&self) -> String {
        let lines = self.text.lines().map_while(|line| line.strip_prefix("//!"));
        lines.map(|line| line.strip_prefix(' ').unwrap_or(line)).collect::<Vec<_>>().join("\n")
    }

    /// The fields of a public struct that serde writes, in order.
    pub(crate) fn fields(&self, name: &str) -> Result<Vec<Field>, DocsError> {
        let start = format!("pub struct {name} {{");
        let mut lines = self.text.lines().skip_while(|line| !line.starts_with(&start));
        if lines.next().is_none() {
            return Err(self.error(format!("there is no `{start}`")));
        }
        let (mut fields, mut doc, mut skipped) = (Vec::new(), String::new(), false);
        for line in lines.take_while(|line| *line != "}").map(str::trim) {
            if let Some(more) = line.strip_prefix("///") {
                doc += if doc.is_empty() { "" } else { " " };
                doc += more.trim();
            } else if line == "#[serde(skip)]" {
                skipped = true;
            } else if let Some((name, type_name)) =
                line.strip_prefix("pub ").and_then(|field| field.split_once(": "))
            {
                let field = Field {
                    name: name.to_owned(),
                    type_name: type_name.trim_end_matches(',').to_owned(),
                    doc: without_code_links(&std::mem::take(&mut doc)),
                };
                if !std::mem::take(&mut skipped) {
                    fields.push(field);
                }
            }
        }
        Ok(fields)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_come_with_their_documentation_but_for_skipped_ones() {
        let text = "//! Docs\n//! more\n\npub struct Row {\n    /// Long,\n    /// [`very`](x).\n    pub a: Option<u32>,\n    /// B.\n    #[serde(skip)]\n    pub b: u32,\n    /// C.\n    pub c: f64,\n}\npub struct Other {\n    pub d: u8,\n}\n";
        let file = SourceFile { path: Path::new("row.rs"), text: text.to_owned() };
        assert_eq!(file.module_docs(), "Docs\nmore");
        let fields = file.fields("Row").unwrap();
        let shown: Vec<_> =
            fields.iter().map(|f| (f.name.as_str(), f.type_name.as_str(), f.doc.as_str())).collect();
        assert_eq!(shown, [("a", "Option<u32>", "Long, `very`."), ("c", "f64", "C.")]);
        assert!(file.fields("None").is_err());
    }
}
