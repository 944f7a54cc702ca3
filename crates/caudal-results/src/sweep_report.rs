//! The report of a sweep: its rows as charts and tables, without an answer. `directory` makes one when a sweep is done, and `caudal
//! report` makes it anew. It returns the report; others write it.

use caudal_report::Report;
use caudal_row::Row;

/// The report of `rows`, which the file `config_toml` made.
#[must_use]
pub fn sweep_report(rows: Vec<Row>, config_toml: String) -> Report {
    let seed = rows.first().map_or(String::new(), |row| row.seed.to_string());
    Report {
        title: "Caudal: simulated systems".to_owned(),
        question: "How do these systems compare on this workload?".to_owned(),
        rows,
        config_toml,
        provenance: vec![
            ("version".to_owned(), env!("CARGO_PKG_VERSION").to_owned()),
            ("seed".to_owned(), seed),
        ],
        ..Report::default()
    }
}
