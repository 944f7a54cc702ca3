//! The versions of LLVM for which there is a pass. `plugin` searches for one of them, and errors name them. A constant, in a file of its
//! own because tests and errors must name the same versions.

/// Versions of LLVM with which the pass is tested, the best first.
pub(crate) const MAJORS: [u32; 2] = [22, 19];

/// The versions, for a sentence.
pub(crate) fn majors_in_words() -> String {
    MAJORS.map(|major| major.to_string()).join(" or ")
}
