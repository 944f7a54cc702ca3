//! Sources of requests.

pub(crate) mod source;
