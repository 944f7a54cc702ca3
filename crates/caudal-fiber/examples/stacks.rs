//! Costs of stacks on this machine: how many there may be, taking one that is warm, mapping a new one.
//!
//! ```text
//! cargo run --release -p caudal-fiber --example stacks
//! ```

use std::hint::black_box;
use std::time::Instant;

use caudal_fiber::stack::{GuardKind, StackBudget, StackConfig, StackPool};

const WARM: u32 = 10_000_000;
const NEW: u32 = 10_000;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    for guards in [GuardKind::detect()?, GuardKind::Protect] {
        let budget = StackBudget::with_guards(StackConfig::default(), guards)?;
        println!("guards by {guards:?}: {}", budget.limit());
        let mut pool = StackPool::sharing(&budget);
        let start = Instant::now();
        let stacks: Vec<_> = (0..NEW).map_while(|_| pool.take()).collect();
        let each_us = start.elapsed().as_secs_f64() * 1e6 / stacks.len() as f64;
        stacks.into_iter().for_each(|stack| pool.give(stack));
        let start = Instant::now();
        for _ in 0..WARM {
            let stack = black_box(pool.take().expect("idle ones"));
            pool.give(stack);
        }
        let pair_ns = start.elapsed().as_secs_f64() * 1e9 / f64::from(WARM);
        println!("  a new stack {each_us:.2} us, taking and giving a warm one {pair_ns:.2} ns");
    }
    Ok(())
}
