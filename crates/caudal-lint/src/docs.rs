//! Doc comments that open without a noun: "What …", "Those …", "Whose …". The first line of a doc comment names the thing.
//! The check of all crates calls it for each file.

/// The lines, from 1 on, on which a block of `///` opens with one of these words.
#[must_use]
pub fn openings_without_noun(text: &str) -> Vec<usize> {
    const WORDS: [&str; 6] = ["What", "That", "Those", "Who", "Whose", "Which"];
    let mut found = Vec::new();
    let mut within = false;
    for (at, line) in text.lines().enumerate() {
        let doc = line.trim_start().strip_prefix("///").filter(|doc| !doc.starts_with('/'));
        if let Some(doc) = doc.filter(|_| !within) {
            let first = doc.trim_start().split(|letter: char| !letter.is_alphabetic()).next().unwrap_or("");
            if WORDS.contains(&first) {
                found.push(at + 1);
            }
        }
        within = doc.is_some();
    }
    found
}

#[cfg(test)]
mod tests {
    use super::openings_without_noun;

    #[test]
    fn only_the_first_line_of_a_block_opens_it() {
        let text = "/// What it is.\n/// Those.\nfn a() {}\n\n/// The thing.\n/// Who is second.\nfn b() {}\n    /// Whose it is\n";
        assert_eq!(openings_without_noun(text), [1, 8]);
        assert_eq!(openings_without_noun("//// What\n// What\n//! What\n/// Whatever\n"), []);
    }
}
