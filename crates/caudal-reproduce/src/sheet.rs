//! A table with a title, as figures make them: printed by the command, and written into the page of the figure.

use caudal_results::table::Table;

/// A table with a title.
pub(crate) struct Sheet {
    pub(crate) title: String,
    pub(crate) head: Vec<String>,
    pub(crate) rows: Vec<Vec<String>>,
}

impl Sheet {
    /// For the terminal.
    pub(crate) fn to_table(&self) -> Table {
        let head: Vec<&str> = self.head.iter().map(String::as_str).collect();
        let mut table = Table::new(&head);
        self.rows.iter().for_each(|row| table.row(row.clone()));
        table
    }

    /// For a page.
    pub(crate) fn to_markdown(&self) -> String {
        let line = |cells: &[String]| {
            let cells: Vec<String> = cells.iter().map(|cell| cell.trim().replace('|', "\\|")).collect();
            format!("| {} |\n", cells.join(" | "))
        };
        let rule: Vec<String> =
            (0..self.head.len()).map(|at| if at == 0 { "---" } else { "---:" }.to_owned()).collect();
        let rows: String = self.rows.iter().map(|row| line(row)).collect();
        format!("{}\n\n{}{}{rows}", self.title, line(&self.head), line(&rule))
    }
}
