//! Pools: limits, reuse, colours, guards, memory given back.

use std::collections::{BTreeSet, HashSet};
use std::thread;

use super::limit::{LimitedBy, StackBudget};
use super::*;

fn small(limit: Option<usize>) -> StackConfig {
    StackConfig { size: 64 << 10, limit, ..StackConfig::default() }
}

fn touch(address: usize) {
    // SAFETY: callers give addresses within usable ranges of stacks that they hold.
    unsafe { (address as *mut u8).write_volatile(1) }
}

/// Pages of a range that have memory.
fn resident(range: &Range<usize>) -> usize {
    let start = range.start / PAGE * PAGE;
    let pages = (range.end - start).div_ceil(PAGE);
    let mut there = vec![0u8; pages];
    // SAFETY: the call writes a byte for each page of the range.
    let status = unsafe { libc::mincore(start as *mut _, pages * PAGE, there.as_mut_ptr()) };
    assert_eq!(status, 0, "{}", std::io::Error::last_os_error());
    there.iter().filter(|page| *page & 1 == 1).count()
}

#[test]
fn the_stack_given_back_last_is_taken_first() {
    let mut pool = StackPool::new(small(None)).unwrap();
    let [a, b, c] = std::array::from_fn(|_| pool.take().unwrap());
    let tops = [b.top(), a.top(), c.top()];
    [b, a, c].into_iter().for_each(|stack| pool.give(stack));
    let again: Vec<_> = (0..3).map(|_| pool.take().unwrap()).collect();
    assert_eq!(again.iter().map(CoroutineStack::top).collect::<Vec<_>>(), [tops[2], tops[1], tops[0]]);
    again.into_iter().for_each(|stack| pool.give(stack));
    assert_eq!((pool.idle(), pool.refusals()), (pool.mapped(), 0));
}

#[test]
fn stacks_do_not_overlap_and_can_be_used_to_the_ends() {
    let mut pool = StackPool::new(small(None)).unwrap();
    let mut stacks: Vec<_> = (0..100).map(|_| pool.take().unwrap()).collect();
    stacks.sort_by_key(CoroutineStack::top);
    assert!(stacks.windows(2).all(|pair| pair[0].top() <= pair[1].guard().start));
    for stack in &stacks {
        assert_eq!(stack.guard().len(), 64 << 10);
        assert!((64 << 10) - PAGE < stack.usable().len() && stack.usable().len() <= 64 << 10);
        touch(stack.usable().start);
        touch(stack.top() - 1);
    }
    stacks.into_iter().for_each(|stack| pool.give(stack));
}

#[test]
fn tops_are_coloured() {
    let mut pool = StackPool::new(small(None)).unwrap();
    let stacks: Vec<_> = (0..2 * COLOURS).map(|_| pool.take().unwrap()).collect();
    let colours: Vec<usize> = stacks.iter().map(|stack| stack.top() % PAGE).collect();
    assert!(colours.iter().all(|colour| colour % LINE == 0));
    for window in colours.windows(COLOURS) {
        assert_eq!(
            window.iter().collect::<BTreeSet<_>>().len(),
            COLOURS,
            "each colour once in {COLOURS} stacks"
        );
    }
    let apart = colours.windows(2).map(|pair| pair[0].abs_diff(pair[1])).min();
    assert!(apart >= Some(1024), "stacks used one after the other share no line of their busiest kilobyte");
    stacks.into_iter().for_each(|stack| pool.give(stack));
}

#[test]
fn a_guard_is_known_by_its_addresses() {
    for guards in [GuardKind::detect().unwrap(), GuardKind::Protect] {
        let mut pool = StackPool::sharing(&StackBudget::with_guards(small(None), guards).unwrap());
        let stacks: Vec<_> = (0..40).map(|_| pool.take().unwrap()).collect();
        for stack in &stacks {
            let info = StackInfo { guard: stack.guard(), usable: stack.usable() };
            for address in [stack.guard().start, stack.guard().start + 40_000, stack.guard().end - 1] {
                assert_eq!(contains_guard(address).as_ref(), Some(&info));
            }
            for address in [stack.guard().end, stack.top() - 1] {
                assert_eq!(contains_guard(address), None);
            }
        }
        let guards: Vec<_> = stacks.iter().map(CoroutineStack::guard).collect();
        stacks.into_iter().for_each(|stack| pool.give(stack));
        drop(pool);
        // Other tests may map there at once, but not 40 guards at the same places.
        assert!(
            !guards.iter().all(|guard| contains_guard(guard.start).is_some()),
            "unmapped slabs are forgotten"
        );
    }
    assert_eq!((contains_guard(0), contains_guard(usize::MAX)), (None, None));
}

#[test]
fn guards_fault() {
    // The kernel reads the byte for a pipe, and says EFAULT where a load would be a fault.
    let mut pipe = [0; 2];
    // SAFETY: the call writes two descriptors.
    assert_eq!(unsafe { libc::pipe(pipe.as_mut_ptr()) }, 0);
    // SAFETY: the kernel checks the address.
    let readable = |address: usize| unsafe { libc::write(pipe[1], address as *const _, 1) } == 1;
    for guards in [GuardKind::detect().unwrap(), GuardKind::Protect] {
        let mut pool = StackPool::sharing(&StackBudget::with_guards(small(None), guards).unwrap());
        let stack = pool.take().unwrap();
        assert!(readable(stack.usable().start) && readable(stack.top() - 1));
        assert!(stack.guard().step_by(PAGE).all(|page| !readable(page)), "{guards:?}");
        pool.give(stack);
        pool.trim(0);
    }
}

#[test]
fn memory_is_given_back_but_for_the_top_page() {
    let mut pool = StackPool::new(small(None)).unwrap();
    let mut stacks: Vec<_> = (0..8).map(|_| pool.take().unwrap()).collect();
    stacks.iter().for_each(|stack| stack.usable().step_by(PAGE).for_each(touch));
    let ranges: Vec<_> = stacks.iter().map(CoroutineStack::usable).collect();
    assert!(ranges.iter().all(|range| resident(range) == 16));
    // One stays out, so that no slab is unmapped, and two stay warm.
    let out = stacks.remove(0);
    stacks.into_iter().for_each(|stack| pool.give(stack));
    let untouched = pool.idle() - 7;
    assert_eq!(pool.trim(2), 5, "what was never touched needs no call");
    assert!(ranges[1..6].iter().all(|range| resident(range) == 1), "the top page stays");
    assert!(ranges[6..].iter().chain(&ranges[..1]).all(|range| resident(range) == 16));
    assert_eq!((pool.trim(2), pool.idle()), (0, untouched + 7), "once is enough");
    let again = pool.take().unwrap();
    touch(again.usable().start);
    pool.give(again);
    pool.give(out);
    let mapped = pool.mapped();
    pool.trim(0);
    assert!(mapped > 0);
    assert_eq!((pool.mapped(), pool.idle(), pool.budget().mapped()), (0, 0, 0), "idle slabs are unmapped");
    let anew = pool.take().unwrap();
    touch(anew.usable().start);
    pool.give(anew);
}

#[test]
fn the_limit_is_shared_and_named() {
    let budget = StackBudget::new(small(Some(20))).unwrap();
    assert_eq!(budget.limit(), StackLimit { stacks: 20, by: LimitedBy::Configuration });
    let (mut a, mut b) = (StackPool::sharing(&budget), StackPool::sharing(&budget));
    let mut taken = vec![a.take().unwrap()];
    let others: Vec<_> = std::iter::from_fn(|| b.take()).collect();
    taken.extend(std::iter::from_fn(|| a.take()));
    assert_eq!((taken.len() + others.len(), budget.mapped()), (20, 20));
    assert!(a.take().is_none() && a.refusals() == 2);
    let why = a.refusal().expect("it has just refused").to_string();
    assert!(why.contains("at most 20 stacks: configured so"), "{why}");
    a.give(taken.pop().unwrap());
    assert!(b.take().is_none(), "the other's idle stack is not to be had");
    a.trim(0);
    taken.push(if a.idle() > 0 { a.take().unwrap() } else { b.take().expect("a slab of one was unmapped") });
    taken
        .into_iter()
        .chain(others)
        .for_each(|stack| if a.owns(&stack) { a.give(stack) } else { b.give(stack) });
    drop((a, b));
    assert_eq!(budget.mapped(), 0, "pools put back what they mapped");
}

#[test]
fn limits_of_this_machine() {
    let budget = StackBudget::with_guards(StackConfig::default(), GuardKind::Protect).unwrap();
    let limit = budget.limit();
    assert!(limit.stacks > 0 && !limit.to_string().is_empty());
    if let LimitedBy::MapCount { max } = limit.by {
        assert!(limit.stacks < max / 2 && limit.to_string().contains("sysctl"), "{limit}");
    }
    let none = StackBudget::new(small(Some(0))).unwrap_err();
    assert!(none.to_string().starts_with("no stack can be had: at most 0 stacks: configured so"), "{none}");
}

#[test]
fn sizes_out_of_range_are_refused() {
    let of = |size, guard| StackPool::new(StackConfig { size, guard, limit: None });
    assert!(matches!(of(1 << 13, 1 << 16), Err(StackError::Size(8192))));
    assert!(matches!(of(1 << 31, 1 << 16), Err(StackError::Size(_))));
    assert!(matches!(of(1 << 16, 0), Err(StackError::Guard(0))));
    let mut odd = of(100_001, 5000).unwrap();
    let stack = odd.take().unwrap();
    assert!(stack.guard().len() == 8192 && stack.usable().len() > 100_001 - PAGE);
    odd.give(stack);
}

#[test]
#[should_panic(expected = "the pool that it was taken from")]
fn a_stack_of_another_pool_is_refused() {
    let [mut a, mut b] = [(); 2].map(|()| StackPool::new(small(None)).unwrap());
    b.give(a.take().unwrap());
}

#[test]
fn pools_and_stacks_go_from_thread_to_thread() {
    let mut pool = StackPool::new(small(None)).unwrap();
    let stack = pool.take().unwrap();
    let (pool, stack) = thread::spawn(move || (pool, stack)).join().unwrap();
    assert!(pool.owns(&stack));
}

#[test]
fn a_stack_outlives_its_pool() {
    let mut pool = StackPool::new(small(None)).unwrap();
    let stack = pool.take().unwrap();
    drop(pool);
    stack.usable().step_by(PAGE).for_each(touch);
    assert_eq!(contains_guard(stack.guard().start).unwrap().usable, stack.usable());
}

/// More than `mprotect` guards would allow by default.
#[test]
fn forty_thousand_stacks() {
    const STACKS: usize = 40_000;
    let mut pool = StackPool::new(StackConfig::default()).unwrap();
    let limit = pool.budget().limit();
    if limit.stacks < STACKS {
        // By itself a fact about this machine, which must then be the reason.
        let stacks: Vec<_> = std::iter::from_fn(|| pool.take()).collect();
        assert_eq!(stacks.len(), limit.stacks);
        stacks.into_iter().for_each(|stack| pool.give(stack));
        return;
    }
    let stacks: Vec<_> = (0..STACKS).map(|_| pool.take().unwrap()).collect();
    stacks.iter().for_each(|stack| touch(stack.top() - 1));
    assert_eq!(stacks.iter().map(CoroutineStack::top).collect::<HashSet<_>>().len(), STACKS);
    assert!(stacks.iter().step_by(1000).all(|stack| resident(&stack.usable()) == 1), "one page each");
    stacks.into_iter().for_each(|stack| pool.give(stack));
}

#[test]
fn workers_map_and_unmap_while_others_look() {
    let budget = StackBudget::new(small(Some(400))).unwrap();
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..20 {
                    let mut pool = StackPool::sharing(&budget);
                    let stacks: Vec<_> = (0..60).map_while(|_| pool.take()).collect();
                    for stack in &stacks {
                        let found = contains_guard(stack.guard().start + 1).expect("this thread holds it");
                        assert_eq!(found.usable, stack.usable());
                    }
                    stacks.into_iter().for_each(|stack| pool.give(stack));
                    pool.trim(0);
                }
            });
        }
    });
    assert_eq!(budget.mapped(), 0);
}

#[test]
fn memory_may_be_given_back_some_at_a_time() {
    let mut pool = StackPool::new(small(None)).unwrap();
    let stacks: Vec<_> = (0..8).map(|_| pool.take().unwrap()).collect();
    stacks.iter().for_each(|stack| stack.usable().step_by(PAGE).for_each(touch));
    let ranges: Vec<_> = stacks.iter().map(CoroutineStack::usable).collect();
    let out = pool.take().unwrap();
    stacks.into_iter().for_each(|stack| pool.give(stack));
    let trimmed = || ranges.iter().filter(|range| resident(range) == 1).count();
    assert!(!pool.trim_some(2, 4));
    assert_eq!(trimmed(), 4, "the coldest");
    assert!(pool.trim_some(2, 4) && pool.trim_some(2, 4), "nothing is left after the second time");
    assert_eq!(trimmed(), 6);
    pool.give(out);
    assert!(pool.trim_some(0, 8));
    assert_eq!(pool.mapped(), 0, "nothing is in use");
}

#[test]
fn a_pool_that_is_prepared_has_a_stack_whoever_comes_first() {
    let budget = StackBudget::new(small(Some(3))).unwrap();
    let [mut a, mut b] = [(); 2].map(|()| StackPool::sharing(&budget));
    b.prepare().unwrap();
    b.prepare().unwrap();
    assert_eq!(b.mapped(), 1);
    let taken: Vec<_> = std::iter::from_fn(|| a.take()).collect();
    assert!(taken.len() == 2 && budget.is_used_up());
    let own = b.take().unwrap();
    b.give(own);
    taken.into_iter().for_each(|stack| a.give(stack));
}
