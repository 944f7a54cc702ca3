//! The separator between the fields of a table. The sample finds it out once, and the reader of rows and of graphs splits lines by it.
//! Data only.

/// The separator between two fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Separator {
    /// This byte; fields may be quoted.
    Byte(u8),
    /// Blanks, any number of them.
    Blanks,
}
