//! Pieces of Markdown: tables, code, and documentation without its links to code. The generated pages call it when they are made. Pure.

/// A table, with escaped cells.
pub(crate) fn table(head: &[&str], rows: &[Vec<String>]) -> String {
    let mut text = line(head.iter().copied());
    text += &line(head.iter().map(|_| "---"));
    for row in rows {
        text += &line(row.iter().map(String::as_str));
    }
    text
}

fn line<'a>(cells: impl Iterator<Item = &'a str>) -> String {
    let cells: Vec<String> = cells.map(|cell| cell.replace('\n', " ").replace('|', "\\|")).collect();
    format!("| {} |\n", cells.join(" | "))
}

/// `text` as code, if there is any.
pub(crate) fn code(text: &str) -> String {
    if text.is_empty() { String::new() } else { format!("`{text}`") }
}

/// Documentation of code without its links to code, of which the label stays.
pub(crate) fn without_code_links(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some(start) = rest.find('[') {
        let (before, from) = rest.split_at(start);
        plain += before;
        rest = from;
        let Some(end) = from.find(']') else { break };
        let (label, after) = (&from[1..end], &from[end + 1..]);
        let target = after.strip_prefix('(').and_then(|after| after.split_once(')'));
        rest = match target {
            Some((target, after)) if !target.contains("http") && !target.ends_with(".md") => {
                plain += label;
                after
            }
            None if label.starts_with('`') && label.ends_with('`') => {
                plain += label;
                after
            }
            _ => {
                plain += &from[..=end];
                after
            }
        };
    }
    plain + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_to_code_lose_their_targets_and_others_stay() {
        for (text, plain) in [
            ("as in [`A`](super::A), [`B`] and [the page](x.md)", "as in `A`, `B` and [the page](x.md)"),
            ("[m](self); a list [13, 2, 1] stays, [so", "m; a list [13, 2, 1] stays, [so"),
        ] {
            assert_eq!(without_code_links(text), plain);
        }
    }

    #[test]
    fn cells_can_hold_bars() {
        assert_eq!(
            table(&["a", "b"], &[vec!["x|y".into(), "z\nz".into()]]),
            "| a | b |\n| --- | --- |\n| x\\|y | z z |\n"
        );
    }
}
