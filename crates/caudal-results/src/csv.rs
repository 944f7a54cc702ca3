//! Rows as a table of text, for spreadsheets and statistics programs. `directory` writes it as `rows.csv` when all points of a sweep are
//! there. It returns text.

use caudal_row::Row;
use serde_json::Value;

/// Rows as CSV: nested keys joined by dots, a column for every key of any row.
#[must_use]
pub fn table(rows: &[Row]) -> String {
    // A row has nothing that JSON can not hold; its keys and their order are those of its line.
    let lines = rows.iter().map(|row| serde_json::to_value(row).unwrap_or_default());
    text(&lines.collect::<Vec<_>>())
}

fn text(rows: &[Value]) -> String {
    let flat: Vec<Vec<(String, String)>> = rows
        .iter()
        .map(|row| {
            let mut cells = Vec::new();
            flatten(String::new(), row, &mut cells);
            cells
        })
        .collect();
    let mut columns: Vec<&str> = Vec::new();
    for (name, _) in flat.iter().flatten() {
        if !columns.contains(&name.as_str()) {
            columns.push(name);
        }
    }
    let mut text = columns.iter().map(|name| quoted(name)).collect::<Vec<_>>().join(",") + "\n";
    for cells in &flat {
        let cell = |column: &&str| {
            cells.iter().find(|(name, _)| name == column).map_or(String::new(), |(_, value)| quoted(value))
        };
        text += &(columns.iter().map(cell).collect::<Vec<_>>().join(",") + "\n");
    }
    text
}

fn flatten(name: String, value: &Value, cells: &mut Vec<(String, String)>) {
    match value {
        Value::Object(map) => {
            for (key, value) in map {
                let name = if name.is_empty() { key.clone() } else { format!("{name}.{key}") };
                flatten(name, value, cells);
            }
        }
        Value::Null => cells.push((name, String::new())),
        Value::String(text) => cells.push((name, text.clone())),
        other => cells.push((name, other.to_string())),
    }
}

fn quoted(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::text;

    #[test]
    fn keys_of_any_row_are_columns_and_text_is_quoted_where_it_must() {
        let rows = [json!({ "point": "a", "p": { "q": 1.5 } }), json!({ "point": "b", "note": "a,b" })];
        assert_eq!(text(&rows), "point,p.q,note\na,1.5,\nb,,\"a,b\"\n");
    }
}
