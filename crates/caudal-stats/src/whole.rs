//! Whole numbers to floats and back, by vectors.
//! Hot loops of samplers and histograms call it.
//!
//! A conversion is one instruction for one number, a few more for what does not fit, and vectors have none.
//! For numbers below [`LIMIT`], an addition does: in [2^52, 2^53) an `f64` *is* a whole number, which its last
//! 52 bits hold.

/// Numbers below this can be taken: 2^52.
pub const LIMIT: u64 = 1 << 52;
/// [`LIMIT`] as a float.
const TWO_52: f64 = LIMIT as f64;
/// Its bits: those that every `f64` in [2^52, 2^53) begins with.
const ONES: u64 = TWO_52.to_bits();

/// `number`, exactly. It must be below [`LIMIT`]; of any other, something comes.
#[inline(always)]
pub fn to_float(number: u64) -> f64 {
    f64::from_bits(number | ONES) - TWO_52
}

/// `number`, rounded down. It must be at least 0 and below [`LIMIT`]; of any other, something comes.
#[inline(always)]
pub fn floor(number: f64) -> u64 {
    // To the nearest, and from there down.
    let nearest = number + TWO_52;
    let above = u64::from(nearest - TWO_52 > number);
    nearest.to_bits().wrapping_sub(ONES).wrapping_sub(above)
}

#[cfg(test)]
mod tests {
    use super::*;

    const WHOLE: [u64; 10] = [0, 1, 2, 3, 255, 1 << 20, (1 << 51) - 2, (1 << 51) - 1, 1 << 51, LIMIT - 1];

    #[test]
    fn rounds_down() {
        for whole in WHOLE {
            let next = (whole as f64 + 1.0).next_down();
            for number in [whole as f64, (whole as f64).next_up().min(next), whole as f64 + 0.5, next] {
                assert_eq!(floor(number), whole, "{number}");
            }
        }
    }

    #[test]
    fn is_the_same_number() {
        for whole in WHOLE {
            assert_eq!(to_float(whole).to_bits(), (whole as f64).to_bits(), "{whole}");
        }
    }
}
