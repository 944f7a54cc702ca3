//! The versions of LLVM that there is a pass for. Errors name them, and `plugin` looks for one of them.

/// Versions of LLVM that the pass is tried with, the best first.
pub(crate) const MAJORS: [u32; 2] = [22, 19];

/// The versions, for a sentence.
pub(crate) fn majors_in_words() -> String {
    MAJORS.map(|major| major.to_string()).join(" or ")
}
