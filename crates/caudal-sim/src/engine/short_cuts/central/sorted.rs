//! The starts of requests, from the times at which cores become free, kept in order in the registers of the processor. `cores` calls it
//! for each batch where the cores are few. It has unsafe code: functions compiled for AVX2, called after a check of the processor.
//!
//! A request takes the core that is free first; what it makes of that core's time goes back to its place. In a list
//! that is in order, all of this is the same comparison in every place at once:
//!
//! ```text
//!   before:  f0 ≤ f1 ≤ f2 ≤ f3 …           f0 goes, x comes (x ≥ f0):
//!   after:   min(x, f1)  min(max(f1, x), f2)  min(max(f2, x), f3) …
//! ```
//!
//! Vectors compare floats better than integers, and positive floats are in the same order as the integers that have
//! their bits. So a time is an integer, and compared as the float of its bits.

// Elsewhere there are no vectors, and nobody asks.
#![cfg_attr(not(target_arch = "x86_64"), allow(dead_code, unused_variables))]

/// Most requests at a time.
pub(super) const BATCH: usize = 256;
/// Most cores.
pub(super) const MOST: usize = 32;

/// Added to all times: the bits are then those of usual floats, none of which is slow, infinite or no number.
const BIAS: u64 = 1 << 62;
/// Times in here, from the first arrival of a batch on, end here.
pub(super) const SPAN_PS: u64 = 1 << 60;

/// When a core is done with its last request, and whether that was a long one.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Free {
    pub(super) at_ps: u64,
    pub(super) was_long: bool,
}

/// Requests as they are needed here, and what is found out about them; room for a batch.
pub(super) struct Columns {
    /// Twice the arrival, from the base on, and [`BIAS`].
    arrival: [u64; BATCH],
    /// Twice the work, and 1 if it is long.
    work: [u64; BATCH],
    /// As `arrival`.
    start: [u64; BATCH],
    /// When the core was free, and in the last bit whether the request before was long.
    free: [u64; BATCH],
}

impl Columns {
    pub(super) const EMPTY: Columns =
        Columns { arrival: [0; BATCH], work: [0; BATCH], start: [0; BATCH], free: [0; BATCH] };
}

/// A batch.
pub(super) struct Batch<'a> {
    pub(super) arrival_ps: &'a [u64],
    pub(super) work_ps: &'a [u64],
    pub(super) start_ps: &'a mut [u64],
    /// Change of the number of cores whose last request is a long one.
    pub(super) change: &'a mut [i8],
    /// Requests with more work than this are long.
    pub(super) long_ps: u64,
}

/// Can this processor do it?
pub(super) fn is_possible() -> bool {
    #[cfg(target_arch = "x86_64")]
    return std::arch::is_x86_feature_detected!("avx2");
    #[cfg(not(target_arch = "x86_64"))]
    false
}

/// Starts all requests of a batch on `cores`, which are in order and stay so. No time may lie [`SPAN_PS`] or more
/// behind the first arrival.
///
/// # Panics
/// Where it is not possible, or there are more than [`MOST`] cores.
pub(super) fn start(batch: &mut Batch<'_>, cores: &mut [Free], columns: &mut Columns) {
    assert!(is_possible() && cores.len() <= MOST);
    #[cfg(target_arch = "x86_64")]
    // SAFETY: the processor has AVX2, which was just asserted.
    unsafe {
        match cores.len() {
            ..=8 => vectors::start::<2>(batch, cores, columns),
            9..=16 => vectors::start::<4>(batch, cores, columns),
            _ => vectors::start::<8>(batch, cores, columns),
        }
    }
}

#[cfg(target_arch = "x86_64")]
mod vectors {
    use std::arch::x86_64::*;

    use super::{BATCH, BIAS, Batch, Columns, Free};

    #[target_feature(enable = "avx2")]
    pub(super) fn start<const VECTORS: usize>(
        batch: &mut Batch<'_>,
        cores: &mut [Free],
        columns: &mut Columns,
    ) {
        let base_ps = batch.arrival_ps[0];
        let count = batch.arrival_ps.len();
        let requests = batch.arrival_ps.iter().zip(batch.work_ps);
        for ((arrival, work), (&arrival_ps, &work_ps)) in
            columns.arrival.iter_mut().zip(&mut columns.work).zip(requests)
        {
            *arrival = BIAS + ((arrival_ps - base_ps) << 1);
            *work = (work_ps << 1) + u64::from(work_ps > batch.long_ps);
        }
        go_through::<VECTORS>(columns, count, base_ps, cores);
        let found = columns.start.iter().zip(&columns.free).zip(&columns.work);
        let out = batch.start_ps.iter_mut().zip(&mut *batch.change);
        for (((&start, &free), &work), (start_ps, change)) in found.zip(out) {
            *start_ps = ((start - BIAS) >> 1) + base_ps;
            *change = (work & 1) as i8 - (free & 1) as i8;
        }
    }

    /// The first `count` requests.
    #[target_feature(enable = "avx2")]
    fn go_through<const VECTORS: usize>(
        columns: &mut Columns,
        count: usize,
        base_ps: u64,
        cores: &mut [Free],
    ) {
        let never = _mm256_set1_pd(f64::INFINITY);
        let bits =
            |core: Option<&Free>| core.map_or(f64::INFINITY, |core| f64::from_bits(core.bits(base_ps)));
        let mut first = one(bits(cores.first()).to_bits());
        let mut others: [__m256d; VECTORS] = std::array::from_fn(|v| {
            let other = |i: usize| bits(cores.get(4 * v + i + 1));
            _mm256_setr_pd(other(0), other(1), other(2), other(3))
        });
        let without_long = one(!1);
        // It is no more; said again, because the compiler then sees that no index is out of bounds.
        for i in 0..count.min(BATCH) {
            columns.free[i] = number(first);
            let free = _mm_and_si128(first, without_long);
            let start = _mm_castpd_si128(_mm_max_pd(_mm_castsi128_pd(free), float(columns.arrival[i])));
            columns.start[i] = number(start);
            let next = _mm_add_epi64(start, one(columns.work[i]));
            first = _mm_castpd_si128(_mm_min_pd(_mm_castsi128_pd(next), _mm256_castpd256_pd128(others[0])));
            let next = _mm256_broadcastsd_pd(_mm_castsi128_pd(next));
            for v in 0..VECTORS {
                let after = if v + 1 < VECTORS { others[v + 1] } else { never };
                // Each place's neighbour to the right.
                let right = _mm256_permute2f128_pd::<0x21>(others[v], after);
                let right = _mm256_shuffle_pd::<0b0101>(others[v], right);
                others[v] = _mm256_min_pd(_mm256_max_pd(others[v], next), right);
            }
        }
        let others = others.iter().flat_map(|&vector| places(vector));
        for (core, bits) in cores.iter_mut().zip(std::iter::once(number(first)).chain(others)) {
            *core = Free::from_bits(bits, base_ps);
        }
    }

    #[target_feature(enable = "avx2")]
    #[inline]
    fn one(bits: u64) -> __m128i {
        _mm_cvtsi64_si128(bits as i64)
    }

    #[target_feature(enable = "avx2")]
    #[inline]
    fn float(bits: u64) -> __m128d {
        _mm_castsi128_pd(one(bits))
    }

    #[target_feature(enable = "avx2")]
    #[inline]
    fn number(first: __m128i) -> u64 {
        _mm_cvtsi128_si64(first) as u64
    }

    #[target_feature(enable = "avx2")]
    #[inline]
    fn places(vector: __m256d) -> [u64; 4] {
        let (low, high) = (_mm256_castpd256_pd128(vector), _mm256_extractf128_pd::<1>(vector));
        let bits = |half: __m128d| number(_mm_castpd_si128(half));
        [bits(low), bits(_mm_unpackhi_pd(low, low)), bits(high), bits(_mm_unpackhi_pd(high, high))]
    }
}

impl Free {
    /// As an element of the list. What was free before the base is so at the base as well.
    fn bits(self, base_ps: u64) -> u64 {
        BIAS + ((self.at_ps.saturating_sub(base_ps)) << 1) + u64::from(self.was_long)
    }

    fn from_bits(bits: u64, base_ps: u64) -> Free {
        Free { at_ps: ((bits - BIAS) >> 1) + base_ps, was_long: bits & 1 == 1 }
    }
}
