//! A value whose formatting takes long is printed, or is what a `thread_local!` begins with: what happens to a quantum that is over
//! meanwhile? The recorder stands for a runtime.
//!
//! `prints CASE`, of `print`, `eprint`, `write`, `panic`, `thread_local`, `thread_local_panic`: prints whether yields came inside of the
//! formatting, and elsewhere.

use std::fmt::{Display, Formatter};
use std::io::Write;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};

unsafe extern "C" {
    static mut caudal_probe_every_v1: u8;
    safe fn caudal_critical_depth_v1() -> u32;
    fn caudal_probe_record_start_v1(buffer: *mut u64, capacity: usize, quantum: u64) -> i32;
    safe fn caudal_probe_record_stop_v1() -> usize;
}

/// When each yield was; 0: it has not been.
static YIELDS: [AtomicU64; 1 << 16] = [const { AtomicU64::new(0) }; 1 << 16];
static INSIDE: AtomicUsize = AtomicUsize::new(0);

fn yields() -> usize {
    YIELDS.iter().take_while(|time| time.load(Relaxed) != 0).count()
}

/// Many probes.
#[inline(never)]
fn work() {
    for step in 0..20_000 {
        std::hint::black_box(step);
    }
}

struct Slow {
    panics: bool,
}

impl Display for Slow {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        let before = yields();
        work();
        INSIDE.fetch_add(yields() - before, Relaxed);
        assert!(!self.panics);
        f.write_str("slow")
    }
}

thread_local! {
    static MADE: String = Slow { panics: false }.to_string();
    static FAILS: String = Slow { panics: true }.to_string();
}

fn main() {
    let case = std::env::args().nth(1).expect("a case");
    let slow = Slow { panics: case == "panic" };
    // SAFETY: there is one thread; the times are written by it alone.
    unsafe {
        caudal_probe_every_v1 = 1;
        assert_eq!(caudal_probe_record_start_v1(YIELDS.as_ptr().cast_mut().cast(), YIELDS.len(), 1), 0);
    }
    match case.as_str() {
        "print" => println!("{slow}"),
        "eprint" => eprintln!("{slow}"),
        "write" => writeln!(std::io::stdout(), "{slow}").unwrap(),
        "panic" => {
            std::panic::set_hook(Box::new(|_| ()));
            assert!(std::panic::catch_unwind(|| println!("{slow}")).is_err());
        }
        "thread_local" => assert_eq!(MADE.with(String::len) + MADE.with(String::len), 8),
        "thread_local_panic" => {
            std::panic::set_hook(Box::new(|_| ()));
            assert!(std::panic::catch_unwind(|| FAILS.with(String::len)).is_err());
        }
        _ => panic!("no such case"),
    }
    assert_eq!(caudal_critical_depth_v1(), 0);
    work();
    let all = caudal_probe_record_stop_v1();
    println!("inside: {}, elsewhere: {}", INSIDE.load(Relaxed) > 0, all > INSIDE.load(Relaxed));
}
