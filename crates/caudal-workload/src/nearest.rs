//! The known name that a user's unknown word is probably a slip for. The reader of specifications asks it when a named workload is unknown, for the
//! help of the error. Pure.

/// The candidate that `name` may be a slip for.
pub(crate) fn nearest<'a>(name: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let name = name.to_lowercase().replace(['_', ' '], "-");
    candidates
        .map(|candidate| (strsim::jaro_winkler(&name, candidate), candidate))
        .filter(|(likeness, _)| *likeness > 0.8)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, candidate)| candidate)
}

/// The error for a `kind` of thing (`distribution`) that has no such name: the nearest name, and all that there are.
pub(crate) fn unknown(kind: &str, name: &str, all: &[&str]) -> String {
    let near = nearest(name, all.iter().copied());
    let hint = near.map(|near| format!("; did you mean \"{near}\"?")).unwrap_or_default();
    format!("no {kind} is called \"{name}\"{hint} (there are {})", all.join(", "))
}
