//! The probes that handlers in Rust call by hand. A probe that is not due is a compare and a jump that is not taken.
//!
//! The assembly counts as reading all memory (and, in budget mode, changing it), because the block can also be reached
//! through [`block()`](crate::block()). Locals whose address nobody has stay in registers.

use core::{arch::asm, mem::offset_of};

use crate::{
    Block,
    block::{ASKED, block_offset, flag_offset},
    rdtsc, sys,
};

/// A probe in clock mode; see [`probe_clock`].
#[inline(always)]
pub fn probe() {
    probe_clock();
}

/// Yields when the clock has reached the deadline: a reading of the clock, a compare and a jump.
#[inline(always)]
pub fn probe_clock() {
    // SAFETY: reads this thread's block through fs. The cold path keeps to the C convention.
    unsafe {
        asm!(
            "cmp qword ptr fs:[{offset} + {deadline}], {now}",
            "jbe {due}",
            offset = in(reg) block_offset(),
            now = in(reg) rdtsc(),
            deadline = const offset_of!(Block, deadline),
            due = label { sys::caudal_probe_call_clock_v1() },
            options(nostack, readonly),
        );
    }
}

/// Takes `COST` units from the budget; when it is spent, reads the clock, and yields when that has reached the
/// deadline. A unit is what the caller makes it, about a cycle at best; all probes of a thread must mean the same.
#[inline(always)]
pub fn probe_budget<const COST: i32>() {
    const { assert!(COST >= 0, "a probe's cost is not negative") }
    // SAFETY: changes this thread's block through fs. The cold path keeps to the C convention.
    unsafe {
        asm!(
            "sub qword ptr fs:[{offset} + {budget}], {cost}",
            "js {due}",
            offset = in(reg) block_offset(),
            cost = const COST,
            budget = const offset_of!(Block, budget),
            due = label { sys::caudal_probe_call_budget_v1() },
            options(nostack),
        );
    }
}

/// As [`probe_budget`], with a number of units that is known only when it runs; at least 0.
#[inline(always)]
pub fn probe_spend(units: i64) {
    debug_assert!(units >= 0, "a probe's cost is not negative");
    // SAFETY: as in `probe_budget`.
    unsafe {
        asm!(
            "sub qword ptr fs:[{offset} + {budget}], {units}",
            "js {due}",
            offset = in(reg) block_offset(),
            units = in(reg) units,
            budget = const offset_of!(Block, budget),
            due = label { sys::caudal_probe_call_budget_v1() },
            options(nostack),
        );
    }
}

/// Yields when another thread has set this one's flag: a compare with memory and a jump.
#[inline(always)]
pub fn probe_flag() {
    // SAFETY: reads this thread's flag through fs. The cold path keeps to the C convention.
    unsafe {
        asm!(
            "cmp byte ptr fs:[{offset} + {asked}], 0",
            "jne {due}",
            offset = in(reg) flag_offset(),
            asked = const ASKED,
            due = label { sys::caudal_probe_call_flag_v1() },
            options(nostack, readonly),
        );
    }
}
