//! Handlers of the stress run: a few steps each, drawn from the numbers of the requests.

use std::panic::{AssertUnwindSafe, catch_unwind, panic_any, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use caudal_policy::random::Draw;
use caudal_rt::sync::{mpsc, oneshot};
use caudal_rt::{Handle, check_cancelled, no_preempt, scope, sleep, spawn, yield_now};

use crate::common::probes;
use crate::submitters::Awaited;
use crate::world::{
    ACCEPTED, CANCELLED, CANCELLED_EARLY, Captured, PANICKED, PERMITS, Planned, Product, RETURNED, SCOPED,
    World, hear, is_of_a_scope,
};

/// Requests beget requests, but not for ever.
const DEPTH_MAX: u8 = 2;

/// A request: its captures, how many generations it is away from a submitter, and another one that it is to wait for.
pub(crate) struct Work {
    pub(crate) captured: Captured,
    pub(crate) depth: u8,
    pub(crate) adopted: Option<Awaited>,
}

impl Work {
    /// The handler.
    pub(crate) fn run(self) -> Product {
        self.run_after(|| ())
    }

    /// A handler that does something else first.
    fn run_after(mut self, first: impl FnOnce()) -> Product {
        let (world, number) = (Arc::clone(&self.captured.world), self.captured.number);
        let record = world.record(number);
        record.ran.fetch_add(1, Relaxed);
        let adopted = self.adopted.take();
        let ended = catch_unwind(AssertUnwindSafe(|| {
            first();
            steps(&world, number, self.depth, adopted);
        }));
        let left = match &ended {
            Ok(()) => RETURNED,
            Err(payload) if payload.is::<Planned>() || is_of_a_scope(&**payload) => PANICKED,
            Err(payload) => {
                let text = payload.downcast_ref::<String>().cloned();
                let text = text.or_else(|| payload.downcast_ref::<&str>().map(|text| (*text).to_owned()));
                world.expect(text.is_none(), || format!("request {number} has panicked: {text:?}"));
                CANCELLED
            }
        };
        let before = record.left.swap(left, Relaxed);
        world.expect(before == 0, || format!("the frame of request {number} was left twice"));
        match ended {
            Ok(()) => Product::new(&world, number),
            Err(payload) => resume_unwind(payload),
        }
    }
}

fn steps(world: &Arc<World>, number: u32, depth: u8, adopted: Option<Awaited>) {
    let mut draw = world.draw(number);
    // The first draws are the submitter's.
    let mut draw = Draw::new(draw.bits(), 1);
    if let Some(other) = adopted {
        other.wait();
    }
    for _ in 0..draw.below(3) + 1 {
        step(world, depth, &mut draw);
    }
}

fn step(world: &Arc<World>, depth: u8, draw: &mut Draw) {
    match draw.below(100) {
        0..22 => probes(draw.below(10)),
        // Never due, unless the case has flags raised.
        22..30 => (0..draw.below(3_000)).for_each(|_| caudal_probe::probe_flag()),
        30..34 => sleep(Duration::from_nanos(u64::from(draw.below(50_000)))),
        34..50 => lock(world, draw),
        50..56 => read_or_write(world, draw),
        56..62 => take_permits(world, draw),
        62..66 => wait_for_a_notice(world, draw),
        66..70 => look_for_cancellation(draw),
        70..74 => no_preempt(|| probes(draw.below(20))),
        74..78 => yield_now(),
        78 => panic_any(Planned),
        79..82 => resume_unwind(Box::new(Planned)),
        _ if depth == DEPTH_MAX => probes(1),
        82..90 => spawn_others(world, depth, draw),
        90..94 => borrow(world, depth, draw),
        94..97 => receive(world, depth, draw),
        _ => receive_once(world, depth),
    }
}

/// Raises one mutex's value, or those of two, in the order of the mutexes. Sometimes panics while it has them.
fn lock(world: &World, draw: &mut Draw) {
    let first = draw.below(4) as usize;
    let impatient = draw.below(4) == 0;
    let guard = match impatient {
        true => world.mutexes[first].lock_timeout(Duration::from_micros(20)).ok(),
        false => Some(world.mutexes[first].lock()),
    };
    let Some(mut guard) = guard else { return };
    if first < 3 && draw.below(3) == 0 {
        let mut inner = world.mutexes[first + 1].lock();
        raise(&mut inner, world, first + 1, draw);
    }
    raise(&mut guard, world, first, draw);
    if draw.below(50) == 0 {
        resume_unwind(Box::new(Planned));
    }
}

fn raise(value: &mut u64, world: &World, mutex: usize, draw: &mut Draw) {
    let before = *value;
    probes(draw.below(3));
    world.expect(*value == before, || format!("two requests had mutex {mutex} at once"));
    *value = before + 1;
    world.raised[mutex].fetch_add(1, Relaxed);
}

fn read_or_write(world: &World, draw: &mut Draw) {
    if draw.below(3) > 0 {
        let guard = world.lock.read();
        let before = *guard;
        probes(draw.below(3));
        world.expect(*guard == before, || "somebody wrote while another one read".to_owned());
        return;
    }
    let mut guard = world.lock.write();
    let before = *guard;
    probes(draw.below(3));
    *guard = before + 1;
    world.written.fetch_add(1, Relaxed);
}

fn take_permits(world: &World, draw: &mut Draw) {
    let count = draw.below(PERMITS) + 1;
    let permit = match draw.below(4) {
        0 => world.semaphore.acquire_timeout(count, Duration::from_micros(20)).ok(),
        _ => Some(world.semaphore.acquire_many(count)),
    };
    if permit.is_none() {
        return;
    }
    let taken = world.permits.fetch_add(count, Relaxed) + count;
    world.expect(taken <= PERMITS, || format!("{taken} permits of {PERMITS} were taken"));
    probes(draw.below(3));
    world.permits.fetch_sub(count, Relaxed);
}

fn wait_for_a_notice(world: &World, draw: &mut Draw) {
    if draw.below(2) == 0 {
        return world.condvar.notify_one();
    }
    let guard = world.mutexes[0].lock();
    drop(world.condvar.wait_timeout(guard, Duration::from_micros(20)));
}

fn look_for_cancellation(draw: &mut Draw) {
    for _ in 0..draw.below(40) {
        check_cancelled();
        probes(1);
    }
}

/// Children: of some the end is waited for, others are forgotten, or cancelled.
fn spawn_others(world: &Arc<World>, depth: u8, draw: &mut Draw) {
    let mut awaited = Vec::new();
    for _ in 0..draw.below(4) {
        let Some(number) = world.number() else { break };
        let work = Work { captured: Captured::new(world, number), depth: depth + 1, adopted: None };
        match spawn(world.class, move || work.run()) {
            Ok(handle) => awaited.push(Awaited::new(world, number, handle)),
            Err(why) => world.refused(why),
        }
    }
    for other in awaited {
        match draw.below(6) {
            0 => drop(other),
            1 => drop(other.cancel()),
            2 => other.cancel().wait(),
            _ => other.wait(),
        }
    }
}

/// Children that borrow from this frame.
fn borrow(world: &Arc<World>, depth: u8, draw: &mut Draw) {
    let frame = [draw.bits(); 8];
    scope(|s| {
        for _ in 0..draw.below(3) {
            let Some(number) = world.number() else { break };
            world.record(number).mark(SCOPED);
            let work = Work { captured: Captured::new(world, number), depth: depth + 1, adopted: None };
            let borrowed = &frame;
            let job = move || {
                let before = *borrowed;
                let product = work.run();
                (before == *borrowed).then_some(product)
            };
            let handle = match s.spawn(world.class, job) {
                Ok(handle) => handle,
                Err(why) => {
                    world.refused(why);
                    continue;
                }
            };
            world.record(number).mark(ACCEPTED);
            let fate = draw.below(5);
            if fate == 0 {
                continue;
            }
            if fate == 1 && handle.cancel() {
                world.record(number).mark(CANCELLED_EARLY);
            }
            let said = handle.wait();
            let untouched = !matches!(said, Ok(None));
            world.expect(untouched, || format!("what request {number} borrowed has changed"));
            hear(world, number, said.map(|product| product.unwrap_or_else(|| Product::new(world, number))));
        }
    });
}

/// A child that sends through a channel with room for one.
fn receive(world: &Arc<World>, depth: u8, draw: &mut Draw) {
    let Some(number) = world.number() else { return };
    let count = draw.below(5);
    let (sender, mut receiver) = mpsc::channel(1);
    let work = Work { captured: Captured::new(world, number), depth: depth + 1, adopted: None };
    // Nobody may be there to receive it.
    let send = move || {
        for value in 0..count {
            let _ = sender.send(value);
        }
    };
    let job = move || work.run_after(send);
    let handle = match spawn(world.class, job) {
        Ok(handle) => Awaited::new(world, number, handle),
        Err(why) => return world.refused(why),
    };
    let handle = if draw.below(4) == 0 { handle.cancel() } else { handle };
    let mut expected = 0;
    while let Ok(value) = receiver.recv() {
        world.expect(value == expected, || format!("{value} came through a channel instead of {expected}"));
        expected += 1;
    }
    handle.wait();
}

/// A child that answers before it ends.
fn receive_once(world: &Arc<World>, depth: u8) {
    let Some(number) = world.number() else { return };
    let (sender, receiver) = oneshot::channel();
    let work = Work { captured: Captured::new(world, number), depth: depth + 1, adopted: None };
    let answer = move || {
        let _ = sender.send(number);
    };
    let job = move || work.run_after(answer);
    let handle: Handle<Product> = match spawn(world.class, job) {
        Ok(handle) => handle,
        Err(why) => return world.refused(why),
    };
    let handle = Awaited::new(world, number, handle);
    if let Ok(value) = receiver.recv() {
        world.expect(value == number, || format!("{value} was the answer instead of {number}"));
    }
    handle.wait();
}
