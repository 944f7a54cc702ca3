//! The columns of 32-bit numbers in which `few` keeps its thieves, and the loops over them. `few` calls them whenever the first thief is
//! to be found anew. They call functions compiled for AVX2, after a check of the processor.
//!
//! The loops are plain, for the compiler to turn into vectors: of four numbers where it may assume nothing of the
//! processor, of eight where AVX2 was found when the columns were made.

/// In place of a slot: no thief. So large that it never comes first.
pub(in crate::engine) const NOBODY: i32 = 1 << 30;

/// Bits of a tick.
pub(in crate::engine) const TICK_BITS: u32 = 25;
/// In place of a tick: no thief.
pub(in crate::engine) const NO_TICK: i32 = -1;
/// No walk is that long.
const NEVER_SOON: u32 = !0;

/// By worker, of `LANES`; what the columns mean says [`super`].
#[repr(align(64))]
pub(in crate::engine) struct Columns<const LANES: usize> {
    /// The slot in which its walk began.
    pub(in crate::engine) began: [i32; LANES],
    pub(in crate::engine) tick: [i32; LANES],
    /// The place where its walk starts, and the steps from there to its own pool.
    pub(in crate::engine) start: [i32; LANES],
    pub(in crate::engine) own: [i32; LANES],
    is_wide: bool,
}

/// A moment, and how many pools there are.
#[derive(Clone, Copy)]
pub(in crate::engine) struct Moment {
    pub(in crate::engine) pools: i32,
    pub(in crate::engine) slot: i32,
    /// Ticks below this one are over in this slot.
    pub(in crate::engine) acts: i32,
}

/// How soon the end of a check is: slots from the current one on, then the tick.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::engine) struct Soon(u32);

impl Soon {
    /// Slots from the current one on, and the tick; `None` if there is no thief.
    #[inline(always)]
    pub(in crate::engine) fn ahead(self) -> Option<(u32, u32)> {
        (self.0 != NEVER_SOON).then_some((self.0 >> TICK_BITS, self.0 & ((1 << TICK_BITS) - 1)))
    }
}

/// A method that is compiled a second time, for processors with AVX2.
macro_rules! vectors {
    ($(#[$doc:meta])* $name:ident, $wide:ident, $plain:ident, ($($arg:ident: $of:ty),*) -> $out:ty) => {
        $(#[$doc])*
        #[inline(always)]
        pub(in crate::engine) fn $name(&self, $($arg: $of),*) -> $out {
            #[cfg(target_arch = "x86_64")]
            if self.is_wide {
                // SAFETY: `is_wide` is only set where the processor has AVX2.
                return unsafe { self.$wide($($arg),*) };
            }
            self.$plain($($arg),*)
        }

        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = "avx2")]
        fn $wide(&self, $($arg: $of),*) -> $out {
            self.$plain($($arg),*)
        }
    };
}

impl<const LANES: usize> Columns<LANES> {
    /// Nobody.
    pub(in crate::engine) fn new() -> Columns<LANES> {
        #[cfg(target_arch = "x86_64")]
        let is_wide = std::arch::is_x86_feature_detected!("avx2");
        #[cfg(not(target_arch = "x86_64"))]
        let is_wide = false;
        let zeros = [0; LANES];
        Columns { began: [NOBODY; LANES], tick: [NO_TICK; LANES], start: zeros, own: zeros, is_wide }
    }

    vectors! {
        /// The first end of a check of one of `pools`, a set of places, or of a walk.
        first, first_wide, first_plain, (pools: u64, now: Moment) -> Soon
    }

    vectors! {
        /// Does any thief come to `place`, from now on and before `tick` of `slot`? But for the one with that tick.
        any_before, any_before_wide, any_before_plain, (place: i32, now: Moment, slot: i32, tick: i32) -> bool
    }

    vectors! {
        /// The thieves whose walks are over.
        over, over_wide, over_plain, (now: Moment) -> u64
    }

    #[inline(always)]
    fn first_plain(&self, pools: u64, now: Moment) -> Soon {
        let walk = now.pools as u32 - 1;
        let mut first = NEVER_SOON;
        for lane in 0..LANES {
            let next = self.next_check(lane, now);
            let from = next - i32::from(next <= self.own[lane]);
            let steps = if LANES <= 32 {
                first_in_32(pools as u32, now.pools, self.start[lane], from)
            } else {
                first_in_64(pools, now.pools, self.start[lane], from)
            };
            let checks = (steps + i32::from(steps < self.own[lane])) as u32;
            let ahead = checks.min(walk) as i32 - (now.slot - self.began[lane]);
            // Of somebody who is no thief the tick is all ones, and so is this.
            first = first.min((ahead as u32) << TICK_BITS | self.tick[lane] as u32);
        }
        Soon(first)
    }

    /// The check of its walk that the thief in `lane` ends next.
    #[inline(always)]
    fn next_check(&self, lane: usize, now: Moment) -> i32 {
        now.slot + i32::from(self.tick[lane] < now.acts) - self.began[lane]
    }

    #[inline(always)]
    fn any_before_plain(&self, place: i32, now: Moment, slot: i32, tick: i32) -> bool {
        let mut any = 0;
        for lane in 0..LANES {
            let there = place - self.start[lane];
            let there = there + (now.pools & (there >> 31));
            let at = self.began[lane] + there + i32::from(there < self.own[lane]);
            let is_ahead = at >= now.slot + i32::from(self.tick[lane] < now.acts);
            let is_before = at + i32::from(self.tick[lane] > tick) <= slot;
            any |= i32::from(is_ahead & is_before & (self.tick[lane] != tick));
        }
        any != 0
    }

    #[inline(always)]
    fn over_plain(&self, now: Moment) -> u64 {
        let mut words = [0_u32; 2];
        for lane in 0..LANES {
            let is_over = self.next_check(lane, now) >= now.pools;
            // A constant for each lane: no shifts are left of this.
            words[lane / 32] |= if is_over { 1 << (lane % 32) } else { 0 };
        }
        u64::from(words[0]) | u64::from(words[1]) << 32
    }
}

/// Steps from `start` on to the first of `places`, but at least `from`, which is no more than a walk has. If there
/// is none, or the last check of a walk is the first, a number that is negative or not below `pools` - 1.
#[inline(always)]
fn first_in_32(places: u32, pools: i32, start: i32, from: i32) -> i32 {
    // Behind the last place they come again; nobody gets there in one walk.
    let ahead = places.wrapping_shr(start as u32) | places.wrapping_shl((pools - start) as u32);
    let ahead = ahead & (!0_u32).wrapping_shl(from as u32);
    exponent(ahead & ahead.wrapping_neg())
}

/// As [`first_in_32`].
#[inline(always)]
fn first_in_64(places: u64, pools: i32, start: i32, from: i32) -> i32 {
    let ahead = places.wrapping_shr(start as u32) | places.wrapping_shl((pools - start) as u32);
    let ahead = ahead & (!0_u64).wrapping_shl(from as u32);
    let least = ahead & ahead.wrapping_neg();
    let (low, high) = (least as u32, (least >> 32) as u32);
    if low != 0 { exponent(low) & 31 } else { exponent(high) + 32 }
}

/// log2 of a power of two; below -32 of 0, above 32 of 2^31. Vectors have no better way than by what a float keeps.
#[inline(always)]
fn exponent(power: u32) -> i32 {
    ((power as i32 as f32).to_bits() >> 23) as i32 - 127
}
