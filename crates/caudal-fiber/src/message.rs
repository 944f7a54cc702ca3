//! A message to standard error, written whole in one system call. The report of an overflow writes by it in a signal handler, and so does
//! the runtime above. It allocates nothing.
//!
//! Not by `eprintln!`, which writes a message in pieces, so that those of other threads come between, and under a lock: a request
//! that was pre-empted, a thread that a fork has left behind, or what a signal handler has interrupted may hold it.

use std::fmt::{self, Write};

/// As much as a pipe takes without mixing it with what others write (`PIPE_BUF` of Linux).
const WHOLE: usize = 4096;

/// A message, which is written when it is dropped or by [`Message::say`]; in pieces only if it is longer than 4,096 bytes. It
/// takes no lock and allocates nothing, so signal handlers may use it.
#[derive(Debug)]
pub struct Message {
    bytes: [u8; WHOLE],
    len: usize,
}

impl Message {
    /// An empty message.
    pub const fn new() -> Self {
        Self { bytes: [0; WHOLE], len: 0 }
    }

    /// Writes what there is so far. What standard error does not take is lost.
    pub fn say(&mut self) {
        let mut rest = &self.bytes[..self.len];
        while !rest.is_empty() {
            // SAFETY: writes from a slice that lives.
            let written = unsafe { libc::write(libc::STDERR_FILENO, rest.as_ptr().cast(), rest.len()) };
            match usize::try_from(written) {
                Ok(written) => rest = &rest[written..],
                Err(_) if std::io::Error::last_os_error().kind() == std::io::ErrorKind::Interrupted => {}
                Err(_) => break,
            }
        }
        self.len = 0;
    }
}

impl Write for Message {
    fn write_str(&mut self, mut text: &str) -> fmt::Result {
        while !text.is_empty() {
            let mut fits = text.len().min(WHOLE - self.len);
            // Characters stay whole.
            while !text.is_char_boundary(fits) {
                fits -= 1;
            }
            if fits == 0 {
                self.say();
                continue;
            }
            self.bytes[self.len..self.len + fits].copy_from_slice(&text.as_bytes()[..fits]);
            self.len += fits;
            text = &text[fits..];
        }
        Ok(())
    }
}

impl Drop for Message {
    fn drop(&mut self) {
        self.say();
    }
}

impl Default for Message {
    fn default() -> Message {
        Message::new()
    }
}
