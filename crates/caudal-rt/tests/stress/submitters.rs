//! Threads that submit: what they do with a handle is drawn from the request's number.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use caudal_policy::random::Draw;
use caudal_rt::{Handle, Runtime, SubmitError};

use crate::handlers::Work;
use crate::world::{ACCEPTED, CANCELLED_EARLY, Captured, HAS_DEADLINE, Product, World, hear};

/// A request that has been accepted, and whose end can be waited for.
pub(crate) struct Awaited {
    world: Arc<World>,
    number: u32,
    handle: Handle<Product>,
}

impl Awaited {
    pub(crate) fn new(world: &Arc<World>, number: u32, handle: Handle<Product>) -> Awaited {
        world.record(number).mark(ACCEPTED);
        Awaited { world: Arc::clone(world), number, handle }
    }

    pub(crate) fn wait(self) {
        let said = self.handle.wait();
        hear(&self.world, self.number, said);
    }

    /// As [`Awaited::wait`], as a future.
    fn block_on(self) {
        hear(&self.world, self.number, futures_executor::block_on(self.handle));
    }

    pub(crate) fn cancel(self) -> Awaited {
        if self.handle.cancel() {
            self.world.record(self.number).mark(CANCELLED_EARLY);
        }
        self
    }

    /// Lets some time pass in which it may start.
    fn when_it_has_started(&self) {
        for _ in 0..2_000 {
            if self.handle.is_done() || self.world.record(self.number).ran.load(Relaxed) != 0 {
                return;
            }
            std::hint::spin_loop();
        }
        std::thread::yield_now();
    }
}

/// Requests that are not gone, at most; threads that submit wait then.
const ALIVE_MAX: u32 = 2_000;
/// Handles that a thread keeps.
const KEPT_MAX: usize = 200;

/// Submits until there have been enough, or the runtime has stopped.
pub(crate) fn submit_all(runtime: &Runtime, world: &Arc<World>, thread: u64) {
    let mut fates = Draw::new(world.seed, u64::MAX - thread);
    let (mut kept, mut adopted) = (VecDeque::new(), None);
    while let Some(number) = world.number() {
        while world.alive() > ALIVE_MAX {
            // Whoever waits for something that nobody is going to do goes on.
            kept.pop_front().map_or_else(|| std::thread::sleep(Duration::from_micros(50)), Awaited::wait);
        }
        let handle = match submit(runtime, world, number, adopted.take()) {
            Ok(handle) => Awaited::new(world, number, handle),
            Err(why) => {
                world.refused(why);
                if why == SubmitError::Stopped {
                    break;
                }
                continue;
            }
        };
        match fates.below(100) {
            0..30 => kept.push_back(handle),
            30..55 => drop(handle),
            55..65 => adopted = Some(handle),
            65..73 => drop(handle.cancel()),
            73..80 => handle.cancel().wait(),
            80..85 => {
                handle.when_it_has_started();
                handle.cancel().wait();
            }
            85..90 => {
                handle.when_it_has_started();
                drop(handle.cancel());
            }
            90..93 => handle.wait(),
            93..95 => handle.block_on(),
            _ => let_one_go(&mut kept, &mut fates),
        }
        if kept.len() > KEPT_MAX {
            let_one_go(&mut kept, &mut fates);
        }
    }
    kept.into_iter().for_each(Awaited::wait);
}

/// One of the kept, waited for, forgotten or cancelled at last.
fn let_one_go(kept: &mut VecDeque<Awaited>, fates: &mut Draw) {
    if kept.is_empty() {
        return;
    }
    let at = fates.below(kept.len() as u32) as usize;
    let Some(one) = kept.remove(at) else { return };
    match fates.below(4) {
        0 => drop(one),
        1 => one.cancel().wait(),
        _ => one.wait(),
    }
}

fn submit(
    runtime: &Runtime,
    world: &Arc<World>,
    number: u32,
    adopted: Option<Awaited>,
) -> Result<Handle<Product>, SubmitError> {
    let mut draw = Draw::new(world.draw(number).bits(), 0);
    let work = Work { captured: Captured::new(world, number), depth: 0, adopted };
    let mut request = runtime.request(world.class);
    if draw.below(8) == 0 {
        world.record(number).mark(HAS_DEADLINE);
        request = request.deadline(Duration::from_nanos(u64::from(draw.below(200_000))));
    }
    if draw.below(8) == 0 {
        request = request.quantum(Duration::from_nanos(500 + u64::from(draw.below(5_000))));
    }
    if draw.below(2) == 0 {
        // SAFETY: handlers keep nothing across probes that belongs to a thread: the locks are those of the crate.
        request = unsafe { request.migratable() };
    }
    match draw.below(4) {
        // Too large for the cell.
        0 => {
            let ballast = [number; 64];
            request.submit(move || {
                std::hint::black_box(&ballast);
                work.run()
            })
        }
        1 => request.try_submit(move || work.run()).map_err(|refused| refused.why),
        _ => request.submit(move || work.run()),
    }
}
