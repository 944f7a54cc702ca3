//! Slowdowns of many requests at a time.
//! The simulator calls it for a batch of completions.

use crate::{SLOWDOWN_ONE, whole};

/// Requests that one step of the loop takes.
const STEP: usize = 8;

/// Writes the slowdowns of requests that took `sojourn_ps`, `service_ps` of it in service, to `out`: in units of
/// 1/[`SLOWDOWN_ONE`], rounded down. A request with a sojourn time below 2^53 ps (2.5 hours) gets a quotient that is
/// off by at most one part in 2^52.
///
/// # Panics
/// If the slices are not of one length.
pub fn slowdowns(sojourn_ps: &[u64], service_ps: &[u64], out: &mut [u64]) {
    assert!(sojourn_ps.len() == service_ps.len() && sojourn_ps.len() == out.len());
    let (sojourns, last_sojourns) = sojourn_ps.as_chunks();
    let (services, last_services) = service_ps.as_chunks();
    let (outs, last_outs) = out.as_chunks_mut();
    for ((sojourns, services), outs) in sojourns.iter().zip(services).zip(outs) {
        step(sojourns, services, outs);
    }
    for ((&sojourn, &service), out) in last_sojourns.iter().zip(last_services).zip(last_outs) {
        *out = slowdown(sojourn, service);
    }
}

/// Without conversions, for which vectors have no instruction ([`whole`]).
#[inline(always)]
fn step(sojourns_ps: &[u64; STEP], services_ps: &[u64; STEP], out: &mut [u64; STEP]) {
    let (mut any, mut high) = ([0; STEP], [0.0; STEP]);
    for i in 0..STEP {
        let (sojourn, service) = (whole::to_float(sojourns_ps[i]), whole::to_float(services_ps[i]));
        let quotient = sojourn * SLOWDOWN_ONE as f64 / service;
        out[i] = whole::floor(quotient);
        any[i] = sojourns_ps[i] | services_ps[i];
        high[i] = quotient;
    }
    if any.into_iter().fold(0, |any, next| any | next) >= whole::LIMIT
        || high.into_iter().any(|high| high >= whole::LIMIT as f64)
    {
        for i in 0..STEP {
            out[i] = slowdown(sojourns_ps[i], services_ps[i]);
        }
    }
}

/// The slowdown of one request, as [`slowdowns`] of many.
#[inline]
pub fn slowdown(sojourn_ps: u64, service_ps: u64) -> u64 {
    // Through i64, which is one instruction on x86-64 where u64 is many.
    (sojourn_ps as i64 as f64 * SLOWDOWN_ONE as f64 / service_ps as i64 as f64) as i64 as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_at_a_time_are_the_same_as_one() {
        let mut state = 1_u64;
        let mut random = || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            state >> 11
        };
        for (bits, ratio_bits) in [(20, 3), (20, 30), (1, 50), (50, 2), (53, 3), (3, 58)] {
            let service_ps: Vec<u64> = (0..1_003).map(|_| 1 + random() % (1 << bits)).collect();
            let longer = |&ps: &u64| ps + if ps % 4 == 0 { 0 } else { random() % (1 << ratio_bits) };
            let sojourn_ps: Vec<u64> = service_ps.iter().map(longer).collect();
            let mut out = vec![0; service_ps.len()];
            slowdowns(&sojourn_ps, &service_ps, &mut out);
            let single =
                sojourn_ps.iter().zip(&service_ps).map(|(&sojourn, &service)| slowdown(sojourn, service));
            assert!(single.eq(out.iter().copied()), "{bits} bits, {ratio_bits} more");
            assert!(out.iter().all(|&slowdown| slowdown >= SLOWDOWN_ONE));
        }
    }
}
