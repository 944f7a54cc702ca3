//! A scheduler of some thirty lines: three coroutines take turns until each has done its work.
//!
//! ```text
//! cargo run -p caudal-fiber --example turns
//! ```

use std::cell::Cell;
use std::collections::VecDeque;

use caudal_fiber::coroutine::{Control, Coroutine};
use caudal_fiber::stack::{StackConfig, StackError, StackPool};

/// Words through which a coroutine and its scheduler talk.
struct Work {
    name: char,
    steps: u32,
    is_done: Cell<bool>,
}

unsafe extern "C" fn body(control: *const Control<Work>) -> ! {
    // SAFETY: the control lives as long as the coroutine.
    let control = unsafe { &*control };
    control.begin();
    for step in 1..=control.own.steps {
        println!("{} does step {step}", control.own.name);
        // SAFETY: this is the coroutine itself, and it does not unwind.
        unsafe { control.give_back() };
    }
    control.own.is_done.set(true);
    loop {
        // SAFETY: as above.
        unsafe { control.give_back() };
    }
}

fn main() -> Result<(), StackError> {
    let mut stacks = StackPool::new(StackConfig::default())?;
    let mut ready = VecDeque::new();
    for (name, steps) in [('a', 2), ('b', 3), ('c', 1)] {
        let stack = stacks.take().expect("three stacks");
        // SAFETY: `body` gives its thread back by its control alone, and never returns or unwinds.
        ready.push_back(unsafe {
            Coroutine::new(stack, body, Work { name, steps, is_done: Cell::new(false) })
        });
    }
    while let Some(mut coroutine) = ready.pop_front() {
        coroutine.resume();
        if coroutine.own().is_done.get() {
            // SAFETY: the body has done its work, and has nothing on its stack.
            stacks.give(unsafe { coroutine.into_stack() });
        } else {
            ready.push_back(coroutine);
        }
    }
    Ok(())
}
