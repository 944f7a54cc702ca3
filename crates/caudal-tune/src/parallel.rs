//! Work on several items at a time, on the threads of a search, with results in the order of the items. The steps of a plan, races
//! between lanes and profiles of contexts call it. It starts threads and waits for them.

use std::sync::Mutex;

/// Does `work` on each item, on several threads; a few items share the threads. The order in which items are
/// taken does not matter: each is worked on by itself.
pub(crate) fn each<T: Send>(threads: usize, items: &mut [T], work: impl Fn(&mut T, usize) + Sync) {
    let workers = threads.clamp(1, items.len().max(1));
    let inner = (threads / workers).max(1);
    let queue = Mutex::new(items.iter_mut());
    let one = || {
        loop {
            let item = queue.lock().expect("no thread panics with it").next();
            let Some(item) = item else { return };
            work(item, inner);
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..workers {
            scope.spawn(one);
        }
        one();
    });
}
