//! A small table that gives up columns where a screen is narrow. `lane_table` and `plan_table` fill one; the command's screen prints it
//! in the width of the terminal. Pure.

/// Between two columns.
const GAP: usize = 2;

/// A column: its head, its cells, and how much it matters.
#[derive(Clone, Debug)]
struct Column {
    head: String,
    cells: Vec<String>,
    /// Aligned left: words, not numbers.
    words: bool,
    /// The column with the highest rank goes first; one of rank 0 stays.
    rank: u8,
}

impl Column {
    fn width(&self) -> usize {
        self.cells.iter().chain([&self.head]).map(|cell| cell.chars().count()).max().unwrap_or(0)
    }
}

/// A table, column by column.
#[derive(Clone, Debug, Default)]
pub struct Columns {
    columns: Vec<Column>,
}

impl Columns {
    /// A column of words; the higher its rank, the sooner it is left out.
    pub fn words(&mut self, head: &str, rank: u8, cells: impl IntoIterator<Item = String>) {
        self.add(head, rank, true, cells);
    }

    /// A column of numbers.
    pub fn numbers(&mut self, head: &str, rank: u8, cells: impl IntoIterator<Item = String>) {
        self.add(head, rank, false, cells);
    }

    fn add(&mut self, head: &str, rank: u8, words: bool, cells: impl IntoIterator<Item = String>) {
        let column = Column { head: head.to_owned(), cells: cells.into_iter().collect(), words, rank };
        debug_assert!(self.columns.first().is_none_or(|first| first.cells.len() == column.cells.len()));
        self.columns.push(column);
    }

    fn width(&self) -> usize {
        self.columns.iter().map(Column::width).sum::<usize>() + GAP * self.columns.len().saturating_sub(1)
    }

    /// Leaves columns out until the rest fits, and returns their heads.
    pub fn fit(&mut self, width: usize) -> Vec<String> {
        let mut left_out = Vec::new();
        while self.width() > width {
            let last = (0..self.columns.len()).filter(|&at| self.columns[at].rank > 0);
            let Some(last) = last.max_by_key(|&at| (self.columns[at].rank, at)) else { break };
            left_out.push(self.columns.remove(last).head);
        }
        left_out.reverse();
        left_out
    }

    /// The heads and the rows, cell by cell, for a page that has room.
    pub fn cells(&self) -> (Vec<String>, Vec<Vec<String>>) {
        let rows = self.columns.first().map_or(0, |column| column.cells.len());
        let row = |row: usize| self.columns.iter().map(|column| column.cells[row].clone()).collect();
        (self.columns.iter().map(|column| column.head.clone()).collect(), (0..rows).map(row).collect())
    }

    /// The head, and a line a row.
    pub fn lines(&self) -> Vec<String> {
        let rows = self.columns.first().map_or(0, |column| column.cells.len());
        let line = |row: Option<usize>| {
            let cells = self.columns.iter().map(|column| {
                let (cell, width) = (row.map_or(&column.head, |row| &column.cells[row]), column.width());
                if column.words { format!("{cell:<width$}") } else { format!("{cell:>width$}") }
            });
            cells.collect::<Vec<_>>().join(&" ".repeat(GAP)).trim_end().to_owned()
        };
        std::iter::once(line(None)).chain((0..rows).map(|row| line(Some(row)))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Columns {
        let mut table = Columns::default();
        table.words("system", 0, ["a".to_owned(), "a-long-name".to_owned()]);
        table.numbers("load", 1, ["0.9".to_owned(), "0.85".to_owned()]);
        table.numbers("requests/s", 2, ["2 M".to_owned(), "1.5 M".to_owned()]);
        table
    }

    #[test]
    fn words_stand_left_and_numbers_right() {
        let lines = [
            "system       load  requests/s",
            "a             0.9         2 M",
            "a-long-name  0.85       1.5 M",
        ];
        assert_eq!(table().lines(), lines);
    }

    #[test]
    fn what_matters_least_goes_first_and_what_matters_most_stays() {
        let mut narrow = table();
        assert_eq!(narrow.fit(20), ["requests/s"]);
        assert_eq!(narrow.lines()[2], "a-long-name  0.85");
        assert_eq!(narrow.fit(5), ["load"]);
        assert_eq!(narrow.lines(), ["system", "a", "a-long-name"]);
        assert!(table().fit(30).is_empty());
    }
}
