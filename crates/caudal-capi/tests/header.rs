//! The header that is checked in is what cbindgen makes from the sources.

#[path = "common/header.rs"]
mod header;

/// What mends a stale header.
const MEND: &str = "make header";

/// With `CAUDAL_WRITE_HEADER` in the environment, it is written instead.
#[test]
fn the_header_is_what_the_sources_say() {
    let (path, wanted) = (header::path(), header::generated());
    if std::env::var_os("CAUDAL_WRITE_HEADER").is_some() {
        return std::fs::write(&path, wanted).expect("the header can be written");
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(found == wanted, "{} is stale; this mends it: {MEND}", path.display());
}
