//! `Debug` of the crate's errors, which prints their text with all causes. The error types use its macro, so that a program that returns
//! one from `main`, or unwraps it, shows a sentence and not a structure.

use std::fmt;

/// Gives errors a `Debug` that is their text and what it was caused by. A program whose `main` returns a `Result` prints errors
/// so, and `Config(Invalid([Problem { …` tells nobody what to do.
macro_rules! debug_is_text {
    ($($error:ty),+ $(,)?) => {$(
        impl std::fmt::Debug for $error {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                $crate::base::text::write_with_causes(self, f)
            }
        }
    )+};
}
pub(crate) use debug_is_text;

/// The text of `error`, and of each cause that is not in it.
pub(crate) fn write_with_causes(error: &dyn std::error::Error, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let mut text = error.to_string();
    f.write_str(&text)?;
    let mut cause = error.source();
    while let Some(error) = cause {
        let more = error.to_string();
        if !text.contains(&more) {
            write!(f, ": {more}")?;
            text = more;
        }
        cause = error.source();
    }
    Ok(())
}
