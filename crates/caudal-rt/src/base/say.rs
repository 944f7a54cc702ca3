//! Lines that the runtime writes to standard error, each whole: see [`caudal_fiber::message`].
//! The runtime says so what no caller can be told: a panic of a source or sink, a stuck worker, a stack that overflowed.

/// Writes a line, which begins with `caudal: `, to standard error.
macro_rules! say {
    ($($text:tt)*) => {{
        let mut message = ::caudal_fiber::message::Message::new();
        // Writing to a message always succeeds.
        let _ = ::std::fmt::Write::write_str(&mut message, "caudal: ");
        let _ = ::std::fmt::Write::write_fmt(&mut message, ::std::format_args!($($text)*));
        let _ = ::std::fmt::Write::write_str(&mut message, "\n");
    }};
}

pub(crate) use say;
