//! Lines that the runtime writes to standard error, by [`caudal_fiber::message`], so that each comes out whole. Warnings use it that have
//! no caller to whom an error could be returned.

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
