//! A table with a title, as figures make them. The command prints it, and `record` keeps it for the page of the figure. Data only.

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

    /// The tables of a page again, as [`to_markdown`](Sheet::to_markdown) has written them one after the other.
    pub(crate) fn all_of(markdown: &str) -> Vec<Sheet> {
        let mut sheets: Vec<Sheet> = Vec::new();
        for line in markdown.lines().filter(|line| !line.is_empty()) {
            match (cells(line), sheets.last_mut()) {
                (None, _) => {
                    sheets.push(Sheet { title: line.to_owned(), head: Vec::new(), rows: Vec::new() });
                }
                (Some(_), None) => {}
                (Some(cells), Some(sheet)) if sheet.head.is_empty() => sheet.head = cells,
                (Some(cells), Some(_)) if cells.iter().all(|cell| cell.starts_with("---")) => {}
                (Some(cells), Some(sheet)) => sheet.rows.push(cells),
            }
        }
        sheets
    }
}

/// The cells of a line of a table; none if it is no such line.
fn cells(line: &str) -> Option<Vec<String>> {
    let inner = line.strip_prefix("| ")?.strip_suffix(" |")?;
    Some(inner.split(" | ").map(|cell| cell.replace("\\|", "|")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_come_back_as_they_were_written() {
        let row = |cells: [&str; 2]| cells.map(str::to_owned).to_vec();
        let sheet = |title: &str| Sheet {
            title: title.to_owned(),
            head: row(["system", "a|b"]),
            rows: vec![row(["", "2.00"]), row(["x", ""])],
        };
        let written = sheet("one").to_markdown() + "\n" + &sheet("two").to_markdown() + "\n";
        let back = Sheet::all_of(&written);
        assert_eq!(back.iter().map(|sheet| sheet.title.as_str()).collect::<Vec<_>>(), ["one", "two"]);
        for sheet in back {
            assert_eq!(
                (sheet.head, sheet.rows),
                (row(["system", "a|b"]), vec![row(["", "2.00"]), row(["x", ""])])
            );
        }
    }
}
