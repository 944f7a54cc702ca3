//! Whole numbers from floats, by vectors.
//!
//! A conversion is one instruction for one number, a few more for what does not fit, and vectors have none. For a
//! number that is not too large, an addition does: in [2^52, 2^53) an `f64` *is* a whole number.

/// Numbers below this can be taken.
pub(crate) const LIMIT: f64 = (1_u64 << 51) as f64;

const TWO_52: f64 = (1_u64 << 52) as f64;

/// `number`, rounded down; it must be at least 0 and below [`LIMIT`].
#[inline(always)]
pub(crate) fn floor(number: f64) -> u64 {
    let nearest = number + TWO_52;
    let above = u64::from(nearest - TWO_52 > number);
    nearest.to_bits().wrapping_sub(TWO_52.to_bits()).wrapping_sub(above)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_down() {
        for whole in [0, 1, 2, 3, 255, 1 << 20, (1 << 51) - 2, (1 << 51) - 1] {
            let next = (whole as f64 + 1.0).next_down().min(LIMIT.next_down());
            for number in [whole as f64, (whole as f64).next_up(), whole as f64 + 0.5, next] {
                assert_eq!(floor(number), whole, "{number}");
            }
        }
    }
}
