//! The generated pages of `docs/reference`, a file each. The program makes all of them, to write them or to compare them with the files.

mod file_format;
mod output;
mod policies;
mod schema;
mod systems;
mod workloads;

use std::path::Path;

use crate::DocsError;

/// A page and how it is made.
pub(crate) struct Page {
    /// Below the project's directory.
    pub(crate) path: &'static str,
    body: fn(&Path) -> Result<String, DocsError>,
}

pub(crate) const PAGES: &[Page] = &[
    Page { path: "docs/reference/policies.md", body: policies::body },
    Page { path: "docs/reference/systems.md", body: |_| Ok(systems::body()) },
    Page { path: "docs/reference/workloads.md", body: |_| workloads::body() },
    Page { path: "docs/reference/file-format.md", body: |_| Ok(file_format::body()) },
    Page { path: "docs/reference/output.md", body: output::body },
    Page { path: "docs/reference/row.schema.json", body: |_| Ok(format!("{:#}", caudal_row::schema())) },
];

impl Page {
    /// The whole page.
    pub(crate) fn text(&self, root: &Path) -> Result<String, DocsError> {
        let body = (self.body)(root)?;
        // JSON has no comments.
        if self.path.ends_with(".json") {
            return Ok(body + "\n");
        }
        Ok(format!(
            "<!-- Made from the code by `{}`. Change it there. -->\n\n{}\n",
            crate::MEND,
            body.trim_end()
        ))
    }
}
