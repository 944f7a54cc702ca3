//! Thieves in columns of 32-bit numbers, and the two loops over them.
//!
//! The loops are plain, for the compiler to turn into vectors: of four numbers where it may assume nothing of the
//! processor, of eight where AVX2 was found when the columns were made.

/// In place of a slot or a tick: no thief. So large that it never comes first.
pub(super) const NOBODY: i32 = 1 << 30;

/// By worker, of `LANES`; what the columns mean says [`super`].
#[repr(align(64))]
pub(super) struct Columns<const LANES: usize> {
    /// The slot in which its walk began.
    pub(super) began: [i32; LANES],
    pub(super) tick: [i32; LANES],
    /// The place where its walk starts, and the steps from there to its own pool.
    pub(super) start: [i32; LANES],
    pub(super) own: [i32; LANES],
    /// The slot of its alarm.
    pub(super) alarm: [i32; LANES],
    is_wide: bool,
}

/// A pool that has got tasks, and the moment of that.
#[derive(Clone, Copy)]
pub(super) struct Found {
    pub(super) place: i32,
    pub(super) pools: i32,
    pub(super) slot: i32,
    /// Ticks below this one are over in this slot.
    pub(super) acts: i32,
    /// Are earlier alarms worth nothing?
    pub(super) anew: bool,
}

impl<const LANES: usize> Columns<LANES> {
    /// Nobody.
    pub(super) fn new() -> Columns<LANES> {
        let nobody = [NOBODY; LANES];
        #[cfg(target_arch = "x86_64")]
        let is_wide = std::arch::is_x86_feature_detected!("avx2");
        #[cfg(not(target_arch = "x86_64"))]
        let is_wide = false;
        Columns { began: nobody, tick: nobody, start: [0; LANES], own: [0; LANES], alarm: nobody, is_wide }
    }

    /// Every thief gets its alarm at the pool, or at the end of its walk if it has been there, unless it has one
    /// before. Returns the first alarm, see [`Columns::first`].
    #[inline(always)]
    pub(super) fn set_alarms(&mut self, found: Found) -> (i32, i32) {
        #[cfg(target_arch = "x86_64")]
        if self.is_wide {
            // SAFETY: `is_wide` is only set where the processor has AVX2.
            return unsafe { self.set_alarms_wide(found) };
        }
        self.set_alarms_plain(found)
    }

    /// Slot and tick of the first alarm; [`NOBODY`] and beyond if there are no thieves.
    #[inline(always)]
    pub(super) fn first(&self) -> (i32, i32) {
        #[cfg(target_arch = "x86_64")]
        if self.is_wide {
            // SAFETY: as in `set_alarms`.
            return unsafe { self.first_wide() };
        }
        self.first_plain()
    }

    /// Does any thief come to the pool, from now on and before `tick` of `slot`? But for the one with that tick.
    #[inline(always)]
    pub(super) fn any_before(&self, found: Found, slot: i32, tick: i32) -> bool {
        #[cfg(target_arch = "x86_64")]
        if self.is_wide {
            // SAFETY: as in `set_alarms`.
            return unsafe { self.any_before_wide(found, slot, tick) };
        }
        self.any_before_plain(found, slot, tick)
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn any_before_wide(&self, found: Found, slot: i32, tick: i32) -> bool {
        self.any_before_plain(found, slot, tick)
    }

    #[inline(always)]
    fn any_before_plain(&self, found: Found, slot: i32, tick: i32) -> bool {
        let mut any = 0;
        for lane in 0..LANES {
            let at = self.slot_at(lane, found);
            let is_ahead = at >= found.slot + i32::from(self.tick[lane] < found.acts);
            let is_before = at + i32::from(self.tick[lane] > tick) <= slot;
            any |= i32::from(is_ahead & is_before & (self.tick[lane] != tick));
        }
        any != 0
    }

    /// The slot in which the thief in `lane` comes to the pool, in its current walk.
    #[inline(always)]
    fn slot_at(&self, lane: usize, Found { place, pools, .. }: Found) -> i32 {
        let there = place - self.start[lane];
        let there = there + (pools & (there >> 31));
        self.began[lane] + there + i32::from(there < self.own[lane])
    }

    /// The thieves whose walks of `walk` slots end before `acts` of `slot`.
    #[inline(always)]
    pub(super) fn over(&self, slot: i32, acts: i32, walk: i32) -> u64 {
        #[cfg(target_arch = "x86_64")]
        if self.is_wide {
            // SAFETY: as in `set_alarms`.
            return unsafe { self.over_wide(slot, acts, walk) };
        }
        self.over_plain(slot, acts, walk)
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn over_wide(&self, slot: i32, acts: i32, walk: i32) -> u64 {
        self.over_plain(slot, acts, walk)
    }

    #[inline(always)]
    fn over_plain(&self, slot: i32, acts: i32, walk: i32) -> u64 {
        let mut words = [0_u32; 2];
        for lane in 0..LANES {
            let next = slot + i32::from(self.tick[lane] < acts);
            let is_over = self.began[lane] + walk < next;
            // A constant for each lane: no shifts are left of this.
            words[lane / 32] |= if is_over { 1 << (lane % 32) } else { 0 };
        }
        u64::from(words[0]) | u64::from(words[1]) << 32
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn set_alarms_wide(&mut self, found: Found) -> (i32, i32) {
        self.set_alarms_plain(found)
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn first_wide(&self) -> (i32, i32) {
        self.first_plain()
    }

    #[inline(always)]
    fn set_alarms_plain(&mut self, found: Found) -> (i32, i32) {
        let Found { pools, slot, acts, anew, .. } = found;
        let none = if anew { i32::MAX } else { 0 };
        for lane in 0..LANES {
            let at = self.slot_at(lane, found);
            let next = slot + i32::from(self.tick[lane] < acts);
            let at = if at < next { self.began[lane] + pools - 1 } else { at };
            self.alarm[lane] = at.min(self.alarm[lane] | none);
        }
        self.first_plain()
    }

    #[inline(always)]
    fn first_plain(&self) -> (i32, i32) {
        let slot = self.alarm.iter().fold(i32::MAX, |least, &alarm| least.min(alarm));
        let ticks = self.tick.iter().zip(&self.alarm);
        let tick =
            ticks.fold(NOBODY, |least, (&tick, &at)| least.min(if at == slot { tick } else { NOBODY }));
        (slot, tick)
    }
}
