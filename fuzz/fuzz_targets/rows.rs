//! Rows of results: any text gives rows, or the line that is none; rows that were read can be written,
//! read again and drawn.
#![no_main]

use caudal_report::{Report, Row};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let rows = match Row::from_lines(text) {
        Ok(rows) => rows,
        Err(error) => {
            assert!(error.line >= 1 && error.line <= text.lines().count(), "{error}");
            return;
        }
    };
    let written: String =
        rows.iter().map(|row| serde_json::to_string(row).expect("a row is JSON") + "\n").collect();
    let again = Row::from_lines(&written).expect("a row that was written is a row");
    assert_eq!(again.len(), rows.len());
    let html = Report { rows, ..Report::default() }.to_html();
    if let (Some(at), false) = (html.find("NaN"), written.contains("NaN")) {
        panic!(
            "no number in the picture: {}",
            &html[html.floor_char_boundary(at.saturating_sub(200))..at + 3]
        );
    }
});
