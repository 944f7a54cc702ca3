//! Lines that the runtime writes to standard error, each whole: see [`caudal_fiber::message`].
//! Used by `runtime`, `fork`, `sink` and others.

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
