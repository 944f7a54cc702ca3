//! The meaning that the papers' words ("similar", "much") are given, the same in all statements. The files of the figures judge by these
//! numbers, which are ours. Constants.

/// "Unchanged", "does not beat": within this share.
pub(super) const UNCHANGED: f64 = 0.02;
/// "Marginal", "little": less than this share.
pub(super) const MARGINAL: f64 = 0.1;
/// "Similar": at most this share above.
pub(super) const SIMILAR: f64 = 0.25;
/// "Competitive": at most this share above.
pub(super) const COMPETITIVE: f64 = 0.5;
/// "Much", "significantly": more than this share.
pub(super) const MUCH: f64 = 1.0 / 3.0;

/// The same for readers of the page.
pub(super) const EXPLAINED: &str = "\
Words are taken to mean the same everywhere: *unchanged* and *does not beat* allow for 2 %, *marginal* and *little*
are less than a tenth, *similar* is at most a quarter above, *competitive* at most a half, *much* and *significantly*
are more than a third.
";
