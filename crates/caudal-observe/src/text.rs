//! `Debug` of errors: their text, and what caused them. A program whose `main` returns a `Result` prints errors that way.
//! Every error type of the crate writes its `Debug` form by it.

macro_rules! debug_is_text {
    ($($error:ty),+ $(,)?) => {$(
        impl std::fmt::Debug for $error {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(f, "{self}")
            }
        }
    )+};
}
pub(crate) use debug_is_text;
