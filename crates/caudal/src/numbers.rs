//! Parsers of the numbers on the command line (cores, loads, seeds, shares); an error says what is wrong with a number and what would be
//! right. clap calls them while it parses the arguments of `plan`, `sim`, `global` and the other commands. Pure functions.

use std::str::FromStr;

use caudal_config::CORES_MAX;

fn whole<N: FromStr>(text: &str, as_in: &str) -> Result<N, String> {
    text.parse().map_err(|_| format!("write a whole number, not negative, such as {as_in}"))
}

/// Cores of a machine that can be simulated.
pub(crate) fn cores(text: &str) -> Result<u32, String> {
    let cores = text.parse().ok().filter(|cores| (1..=CORES_MAX).contains(cores));
    cores.ok_or_else(|| format!("write a whole number from 1 to {CORES_MAX}, such as 16"))
}

/// Cores, or workers, where another place says how many there can be.
pub(crate) fn count(text: &str) -> Result<u32, String> {
    whole(text, "16")
}

pub(crate) fn seed(text: &str) -> Result<u64, String> {
    whole(text, "7")
}

pub(crate) fn threads(text: &str) -> Result<usize, String> {
    whole(text, "2")
}

/// A share of the machine.
pub(crate) fn load(text: &str) -> Result<f64, String> {
    let load = text.parse().ok().filter(|load: &f64| *load > 0.0 && load.is_finite());
    load.ok_or_else(|| "write a share of the machine above 0 and below 1, such as 0.7".to_string())
}

/// A part of something, as `10%` or `0.1`.
pub(crate) fn share(text: &str) -> Result<f64, String> {
    let (number, unit) = text.strip_suffix('%').map_or((text, 1.0), |percent| (percent.trim_end(), 100.0));
    let share =
        number.parse().ok().map(|number: f64| number / unit).filter(|share| (0.0..=1.0).contains(share));
    share.ok_or_else(|| "write a share from 0 to 1, such as 0.1 or 10%".to_owned())
}

/// How much longer something takes than without.
pub(crate) fn factor(text: &str) -> Result<f64, String> {
    let factor = text.parse().ok().filter(|factor: &f64| *factor >= 1.0 && factor.is_finite());
    factor.ok_or_else(|| "write a factor from 1 on, such as 1.05".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_are_none_are_told_what_would_be_right() {
        for text in ["-1", "1.5", "abc", ""] {
            assert!(count(text).is_err_and(|why| why.contains("such as 16")), "{text}");
            assert!(seed(text).is_err_and(|why| why.contains("such as 7")), "{text}");
        }
        for text in ["-1", "0", "4097", "1000000000", "1.5", "abc"] {
            assert!(cores(text).is_err_and(|why| why.contains("from 1 to 4096")), "{text}");
        }
        for text in ["-1", "0", "nan", "inf", "abc"] {
            assert!(load(text).is_err_and(|why| why.contains("such as 0.7")), "{text}");
        }
        for text in ["-1", "1.5", "150%", "nan", "abc"] {
            assert!(share(text).is_err_and(|why| why.contains("such as 0.1")), "{text}");
        }
        assert_eq!((share("10%"), share("0.1"), share("100 %")), (Ok(0.1), Ok(0.1), Ok(1.0)));
        assert_eq!((cores("4096"), count("16"), load("0.7")), (Ok(4096), Ok(16), Ok(0.7)));
    }
}
