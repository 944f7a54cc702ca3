//! What a session allocates for a request: nothing for a get, once its output has room. In a process of its own, whose allocator counts.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use caudal_kv::datagram;
use caudal_kv::service::{Config, Service};
use caudal_kv::session::{Session, Then};

const NOW: u32 = 1_700_000_000;

/// The system's allocator, with a count for each thread.
struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
}

fn count() {
    // A thread that ends may allocate when its count is gone.
    let _ = ALLOCATIONS.try_with(|count| count.set(count.get() + 1));
}

// SAFETY: everything is the system's allocator's; the count has no destructor and allocates nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: as the caller promises.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, bytes: usize) -> *mut u8 {
        count();
        // SAFETY: as the caller promises.
        unsafe { System.realloc(pointer, layout, bytes) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

fn allocations(work: impl FnOnce()) -> usize {
    let before = ALLOCATIONS.get();
    work();
    ALLOCATIONS.get() - before
}

#[test]
fn requests_that_store_nothing_allocate_nothing() {
    let service = Service::new(Config::default(), NOW);
    let (mut session, mut output) = (Session::new(), Vec::with_capacity(64 << 10));
    let mut serve = |input: &[u8]| {
        output.clear();
        let served = session.serve(&service, input, NOW, &mut output);
        assert_eq!((served.consumed, served.then), (input.len(), Then::Read { needed: 1 }));
    };
    let large = [&b"set large 0 0 30000\r\n"[..], &[b'v'; 30_000], b"\r\n"].concat();
    serve(&large);
    let stored = allocations(|| serve(b"set a 0 0 5\r\n12345\r\n"));
    assert!(stored > 0, "an item takes memory, and the count counts");
    for input in [
        &b"get a\r\n"[..],
        b"gets a large b a\r\nget large\r\n",
        b"gat 0 a\r\nincr a 1\r\ntouch a 0\r\ndelete b\r\nversion\r\nnonsense\r\n",
        b"scan 10\r\n",
    ] {
        assert_eq!(allocations(|| serve(input)), 0, "{}", input.escape_ascii());
    }
    let framed = [&[0, 1, 0, 0, 0, 1, 0, 0][..], b"get a large\r\n"].concat();
    output.clear();
    assert_eq!(allocations(|| datagram::serve(&service, &framed, NOW, 1_400, &mut output)), 0);
    assert!(output.len() > 30_000);
}
