//! The separator between the fields of a table: the sample finds it out, and the reader of rows goes by it.
//! Used by `graphs`, `recognise`, `columns` and others.

/// The separator between two fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Separator {
    /// This byte; fields may be quoted.
    Byte(u8),
    /// Blanks, any number of them.
    Blanks,
}
