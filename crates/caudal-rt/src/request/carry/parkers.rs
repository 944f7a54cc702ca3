//! Thread-locals of libraries in which their callers wait: each request has its own. The start of a runtime finds them and registers them
//! with `carry`, which swaps them at each switch.
//!
//! `blocking_send` and `blocking_recv` of tokio, `send_blocking` and `recv_blocking` of async-channel, and the `block_on` of futures wait on
//! one *parker a thread*, whose state says whether the thread waits. Two requests of a worker would take each other's wake-ups, or end in
//! a panic that finds the thread waiting already. The libraries have the parker in a thread-local that nobody else can name. So it is
//! searched for in the symbols of the executable ([`prepare`], when a runtime starts). Its bytes go with the request, whatever they mean:
//!
//! ```text
//!   a request gives its worker back   its bytes ──▶ its stack    the place: a spare parker, or as in a thread that has had none
//!   it goes on                        what is there ──▶ spare    the place: its bytes
//! ```
//!
//! Std registers the destructor of a thread-local when it is first used, so a place that is used anew has it once more; the second
//! run finds nothing left. Spare parkers are those of requests that have ended: as many as have waited at once, and one that is
//! woken late only makes its next user check once more.
//!
//! They are registered as places that go with requests when the first runtime starts: a request that is set aside within `block_on`
//! refers into the thread-local, long before anybody waits, so that no later moment would do. Where the symbols were stripped nothing is
//! found, and nothing is changed.

use std::cell::RefCell;
use std::ffi::c_void;
use std::fs::File;
use std::os::fd::AsRawFd;
use std::ptr;
use std::sync::{Once, OnceLock};

use caudal_probe as probe;

use super::{BYTES_MAX, Hooks, hooks};
use crate::base::quiet::NoYield;
use crate::base::say::say;

/// Parts of the names of each, as compilers mangle them.
const NAMES: [[&str; 3]; 4] = [
    ["tokio", "4park14CURRENT_PARKER", INSIDE],
    ["14event_listener", "6PARKER", INSIDE],
    ["16futures_executor", "7ENTERED", INSIDE],
    ["16futures_executor", "21CURRENT_THREAD_NOTIFY", INSIDE],
];
/// Std's own part of a thread-local's name.
const INSIDE: &str = "RUST_STD_INTERNAL_VAL";
/// More versions of a library than a program has.
const FOUND_MAX: usize = 8;

type Bytes = [u8; BYTES_MAX];

/// A thread-local that was found.
#[derive(Debug)]
struct LibraryParker {
    number: usize,
    /// From this thread's block of the probe library on, as in all threads: both are in the same object.
    distance: isize,
    size: usize,
    /// Its bytes in a new thread.
    unused: Bytes,
}

static FOUND: OnceLock<Vec<LibraryParker>> = OnceLock::new();

thread_local! {
    /// Bytes of spare parkers, with the numbers of those.
    static SPARE: RefCell<Vec<(usize, Bytes)>> = const { RefCell::new(Vec::new()) };
}

/// Finds them and lets them go with requests, once a process: before any request runs.
pub(crate) fn prepare() {
    static ONCE: Once = Once::new();
    // A request may start a runtime, too.
    let _quiet = NoYield::enter();
    ONCE.call_once(|| {
        let found = FOUND.get_or_init(|| find().unwrap_or_default());
        for parker in found {
            let context = ptr::from_ref(parker).cast_mut().cast();
            // SAFETY: the places are thread-locals of the executable, at the same distance in all threads, and live as long as these; what
            // is done with them neither unwinds nor waits.
            if let Err(error) = unsafe { hooks(Hooks { leave, enter, begin, context }) } {
                say!("requests of one worker share what tokio, async-channel and futures wait on: {error}");
                break;
            }
        }
    });
}

/// Resets the place: the request that this thread has run was abandoned, and nobody waits on its parker. The next one begins as in a new thread.
pub(super) fn abandon() {
    FOUND.get().into_iter().flatten().for_each(|parker| parker.write(&parker.unused));
}

impl LibraryParker {
    fn place(&self) -> *mut u8 {
        probe::block().cast::<u8>().wrapping_offset(self.distance)
    }

    fn read(&self) -> Bytes {
        let mut bytes = [0; BYTES_MAX];
        // SAFETY: so many bytes are this thread's at that place.
        unsafe { ptr::copy_nonoverlapping(self.place(), bytes.as_mut_ptr(), self.size) };
        bytes
    }

    fn write(&self, bytes: &Bytes) {
        // SAFETY: as above; they are what the library itself has had there, or what a new thread has.
        unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), self.place(), self.size) };
    }
}

unsafe extern "C" fn leave(context: *mut c_void, state: *mut c_void) {
    // SAFETY: as they were registered.
    let parker = unsafe { &*context.cast::<LibraryParker>() };
    // SAFETY: the state has room for all.
    unsafe { state.cast::<Bytes>().write(parker.read()) };
    let spare = SPARE.try_with(|spare| {
        let mut spare = spare.borrow_mut();
        let at = spare.iter().position(|(number, _)| *number == parker.number)?;
        Some(spare.swap_remove(at).1)
    });
    parker.write(&spare.ok().flatten().unwrap_or(parker.unused));
}

unsafe extern "C" fn enter(context: *mut c_void, state: *mut c_void) {
    // SAFETY: as above; `leave` has written the state.
    let (parker, its) = unsafe { (&*context.cast::<LibraryParker>(), state.cast::<Bytes>().read()) };
    let there = parker.read();
    if there != parker.unused {
        let _ = SPARE.try_with(|spare| spare.borrow_mut().push((parker.number, there)));
    }
    parker.write(&its);
}

/// A request that has ended has left a parker on which nobody waits; one that was abandoned has left none ([`abandon`]).
unsafe extern "C" fn begin(_: *mut c_void) {}

/// The parkers of the executable; none: it cannot be read, or has no symbols.
fn find() -> Option<Vec<LibraryParker>> {
    let file = Mapping::of_executable()?;
    let elf = Elf(file.bytes());
    let symbols = elf.thread_locals()?;
    let own = symbols.iter().find(|symbol| symbol.name == b"caudal_probe_v1")?.value;
    let mut found = Vec::new();
    for symbol in &symbols {
        let is_known = NAMES.iter().any(|parts| parts.iter().all(|part| contains(symbol.name, part)));
        if !is_known || symbol.size == 0 || symbol.size > BYTES_MAX || found.len() == FOUND_MAX {
            continue;
        }
        found.push(LibraryParker {
            number: found.len(),
            distance: symbol.value.wrapping_sub(own).cast_signed(),
            size: symbol.size,
            unused: elf.initial(symbol)?,
        });
    }
    Some(found)
}

fn contains(name: &[u8], part: &str) -> bool {
    name.windows(part.len()).any(|window| window == part.as_bytes())
}

/// The executable's file, mapped.
struct Mapping {
    start: *mut c_void,
    size: usize,
}

impl Mapping {
    fn of_executable() -> Option<Mapping> {
        let file = File::open("/proc/self/exe").ok()?;
        let size = usize::try_from(file.metadata().ok()?.len()).ok().filter(|&size| size > 0)?;
        // SAFETY: a fresh mapping, at an address of the kernel's choice, touches nothing that exists.
        let start = unsafe {
            libc::mmap(ptr::null_mut(), size, libc::PROT_READ, libc::MAP_PRIVATE, file.as_raw_fd(), 0)
        };
        (start != libc::MAP_FAILED).then_some(Mapping { start, size })
    }

    fn bytes(&self) -> &[u8] {
        // SAFETY: it is mapped as long as this lives; the kernel lets nobody write to the file of a program that runs.
        unsafe { std::slice::from_raw_parts(self.start.cast(), self.size) }
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: this value's own mapping, no longer in use.
        unsafe { libc::munmap(self.start, self.size) };
    }
}

/// An ELF file of 64 bits, little-endian.
struct Elf<'a>(&'a [u8]);

struct ThreadLocal<'a> {
    name: &'a [u8],
    value: usize,
    size: usize,
}

impl<'a> Elf<'a> {
    fn number(&self, at: usize, bytes: usize) -> Option<usize> {
        let mut number = [0; 8];
        number[..bytes].copy_from_slice(self.0.get(at..at.checked_add(bytes)?)?);
        usize::try_from(u64::from_le_bytes(number)).ok()
    }

    /// The headers of sections, or of segments: where each begins.
    fn headers(&self, [offset, size, count]: [usize; 3]) -> Option<impl Iterator<Item = usize> + use<'a>> {
        let (first, size, count) = (self.number(offset, 8)?, self.number(size, 2)?, self.number(count, 2)?);
        Some((0..count).filter_map(move |at| first.checked_add(at * size)))
    }

    fn section(&self, header: usize) -> Option<&'a [u8]> {
        let (offset, size) = (self.number(header + 0x18, 8)?, self.number(header + 0x20, 8)?);
        self.0.get(offset..offset.checked_add(size)?)
    }

    /// All that the table of symbols has.
    fn thread_locals(&self) -> Option<Vec<ThreadLocal<'a>>> {
        const SYMBOLS: usize = 2;
        const SYMBOL_BYTES: usize = 24;
        const THREAD_LOCAL: u8 = 6;
        let headers: Vec<usize> = self.headers([0x28, 0x3a, 0x3c])?.collect();
        let table = *headers.iter().find(|&&header| self.number(header + 4, 4) == Some(SYMBOLS))?;
        let texts = self.section(*headers.get(self.number(table + 0x28, 4)?)?)?;
        let symbols = self.section(table)?.chunks_exact(SYMBOL_BYTES);
        let is_defined = |symbol: &&[u8]| symbol[4] & 0xf == THREAD_LOCAL && symbol[6..8] != [0, 0];
        let read = |symbol: &'a [u8]| {
            let entry = Elf(symbol);
            let name = texts.get(entry.number(0, 4)?..)?;
            let end = name.iter().position(|&byte| byte == 0)?;
            Some(ThreadLocal { name: &name[..end], value: entry.number(8, 8)?, size: entry.number(16, 8)? })
        };
        Some(symbols.filter(is_defined).filter_map(read).collect())
    }

    /// The bytes of a thread-local in a new thread: a part of the file, and zeros behind that.
    fn initial(&self, symbol: &ThreadLocal<'_>) -> Option<Bytes> {
        const THREAD_LOCALS: usize = 7;
        let segment = self
            .headers([0x20, 0x36, 0x38])?
            .find(|&header| self.number(header, 4) == Some(THREAD_LOCALS))?;
        let (offset, size) = (self.number(segment + 8, 8)?, self.number(segment + 0x20, 8)?);
        let image = self.0.get(offset..offset.checked_add(size)?)?;
        let mut bytes = [0; BYTES_MAX];
        for (at, byte) in bytes[..symbol.size].iter_mut().enumerate() {
            *byte = image.get(symbol.value.checked_add(at)?).copied().unwrap_or(0);
        }
        Some(bytes)
    }
}
