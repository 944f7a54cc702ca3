//! Every probe yields: locks, channels and scopes in the orders that this makes. A process of its own, for the mode is the process's.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use caudal_rt::sync::{Condvar, Mutex, RwLock, Semaphore, mpsc};
use caudal_rt::{probe, scope, sleep};

mod common;
use common::runtime;

/// All in one request, so that the requests of a run meet at each of them.
struct Everything {
    mutex: Mutex<u64>,
    lock: RwLock<u64>,
    semaphore: Semaphore,
    condvar: Condvar,
    inside: AtomicU64,
}

impl Everything {
    fn round(&self, number: u64, sender: &mpsc::Sender<u64>) {
        let mut guard = self.mutex.lock();
        let before = *guard;
        probe();
        probe();
        *guard = before + 1;
        drop(guard);
        self.condvar.notify_all();

        if number.is_multiple_of(3) {
            let mut guard = self.lock.write();
            let before = *guard;
            probe();
            *guard = before + 1;
        } else {
            let guard = self.lock.read();
            let before = *guard;
            probe();
            assert_eq!(*guard, before);
        }
        let permit = self.semaphore.acquire_many(2);
        assert!(self.inside.fetch_add(1, Ordering::Relaxed) < 1, "3 permits: one at a time takes 2");
        probe();
        self.inside.fetch_sub(1, Ordering::Relaxed);
        drop(permit);
        sender.send(number).unwrap();
        let guard = self.mutex.lock();
        drop(self.condvar.wait_timeout(guard, Duration::from_micros(5)));
    }
}

#[test]
fn everything_at_once() {
    caudal_probe::set_every(true);
    for (workers, two_level) in [(1, true), (1, false), (2, true), (2, false)] {
        let runtime = runtime(workers, two_level, |b| b);
        let class = runtime.class("x").unwrap();
        let everything = Arc::new(Everything {
            mutex: Mutex::new(0),
            lock: RwLock::new(0),
            semaphore: Semaphore::new(3),
            condvar: Condvar::new(),
            inside: AtomicU64::new(0),
        });
        let (sender, mut receiver) = mpsc::channel(2);
        let handles: Vec<_> = (0..30)
            .map(|_| {
                let (everything, sender) = (Arc::clone(&everything), sender.clone());
                let work = move || (0..30).for_each(|number| everything.round(number, &sender));
                runtime.submit(class, work).unwrap()
            })
            .collect();
        drop(sender);
        let receive = move || {
            let mut sum = 0;
            while let Ok(value) = receiver.recv() {
                probe();
                sum += value;
            }
            sum
        };
        let sum = runtime.submit(class, receive).unwrap();
        common::all(handles);
        assert_eq!(sum.wait().unwrap(), 30 * (0..30).sum::<u64>());
        assert_eq!((*everything.mutex.lock(), *everything.lock.read()), (900, 300));
        let borrows = move || {
            let count = AtomicU64::new(0);
            scope(|s| {
                for _ in 0..20 {
                    let work = || {
                        probe();
                        sleep(Duration::from_micros(10));
                        count.fetch_add(1, Ordering::Relaxed);
                    };
                    drop(s.spawn(class, work).unwrap());
                    probe();
                }
            });
            count.into_inner()
        };
        assert_eq!(runtime.submit(class, borrows).unwrap().wait().unwrap(), 20);
    }
}
