//! The frames of a coroutine's stack, walked in a signal handler, and the names of their functions. The report of an overflow calls it,
//! and so does the runtime's watchdog for stuck workers. It allocates nothing, because a signal handler may not.

use std::ffi::c_void;
use std::fmt::{self, Write};
use std::ops::Range;

/// Frames kept from the interrupted instruction outwards.
const INNERMOST: usize = 24;
/// Frames kept from the coroutine's beginning.
const OUTERMOST: usize = 8;

/// Frames of a stack: both ends of what may be thousands.
#[derive(Clone, Copy, Debug)]
pub struct Frames {
    inner: [usize; INNERMOST],
    /// A ring of the latest.
    outer: [usize; OUTERMOST],
    count: usize,
}

impl Frames {
    /// Frames of a stack that nobody has walked.
    pub const NONE: Frames = Frames { inner: [0; INNERMOST], outer: [0; OUTERMOST], count: 0 };

    /// Was the stack not walked?
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Walks the calling thread's frames from `pc`, the instruction that its signal handler has interrupted, up to the end of
    /// `stack`, on which that ran. Takes no lock and allocates nothing.
    pub fn walk(pc: usize, stack: &Range<usize>) -> Frames {
        let mut frames = Frames::NONE;
        // SAFETY: unsynchronised walking is for one thread at a time, as its callbacks may share state; this one does not,
        // and walking itself keeps no state between threads.
        unsafe {
            backtrace::trace_unsynchronized(|frame| {
                let address = frame.ip() as usize;
                // Frames of the handler come first, those of the thread that resumed the coroutine last.
                if frames.count == 0 && address != pc {
                    return true;
                }
                let inside = stack.contains(&(frame.sp() as usize));
                if inside || frames.count == 0 {
                    frames.add(address);
                }
                inside || frames.count == 1
            });
        }
        if frames.count == 0 {
            frames.add(pc);
        }
        frames
    }

    fn add(&mut self, address: usize) {
        match self.inner.get_mut(self.count) {
            Some(place) => *place = address,
            None => self.outer[self.count % OUTERMOST] = address,
        }
        self.count += 1;
    }

    /// Writes both ends by `one`, which is told whether an address is the innermost, and how much is between them.
    pub fn write<W: Write>(
        &self,
        out: &mut W,
        one: fn(&mut W, usize, innermost: bool) -> fmt::Result,
    ) -> fmt::Result {
        for (place, &address) in self.inner.iter().take(self.count).enumerate() {
            one(out, address, place == 0)?;
        }
        let more = self.count.saturating_sub(INNERMOST);
        if more > OUTERMOST {
            writeln!(out, "  … {} frames …", more - OUTERMOST)?;
        }
        (self.count - more.min(OUTERMOST)..self.count)
            .try_for_each(|place| one(out, self.outer[place % OUTERMOST], false))
    }
}

/// Writes the function, or the functions inlined into one another, at the address of a frame, as `resolve` finds them.
pub fn write_names<W: Write>(
    out: &mut W,
    address: usize,
    innermost: bool,
    resolve: impl FnOnce(*mut c_void, &mut dyn FnMut(&backtrace::Symbol)),
) -> fmt::Result {
    // A return address may be the first of the next function: the call is before it.
    let call = address.saturating_sub(usize::from(!innermost));
    let mut named = false;
    resolve(call as *mut c_void, &mut |symbol| {
        let Some(name) = symbol.name() else { return };
        named = true;
        let _ = match (symbol.filename(), symbol.lineno()) {
            (Some(file), Some(line)) => writeln!(out, "  {name:#} ({}:{line})", file.display()),
            _ => writeln!(out, "  {name:#}"),
        };
    });
    if named { Ok(()) } else { writeln!(out, "  {address:#x}") }
}
