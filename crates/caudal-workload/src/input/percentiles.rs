//! Percentiles alone: `p50 = 1.2 ms, p99 = 9 ms`, as tools sum up what they measured, and the names under which they do. Readers that
//! find percentiles instead of values fill a [`Percentiles`]; the spec of a service may name them directly. Pure.
//!
//! Readers of every format fill [`Percentiles`]; the service's fit makes a distribution of them. The mean and the standard
//! deviation that may stand beside percentiles are kept to where it can be.
//!
//! Two percentiles are those of one log-normal distribution. More are joined on the same scale: the logarithm of the time is a
//! polygon over the standard normal quantile, and goes on beyond the last one as steeply as before it. Nothing is known there,
//! which every output says.

use super::number::{Number, Style};
use super::unit::{Said, Unit, words};

/// Percentiles of one class.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Percentiles {
    pub(crate) class: String,
    /// Percentile, 0 to 100, and the time up to which so many requests take, in ps.
    pub(crate) points: Vec<(f64, u64)>,
    /// How much of the requests are of this class, in any measure.
    pub(crate) weight: f64,
    /// The mean and the deviation that the file states beside them.
    pub(crate) stated: Moments,
}

/// The moments that may be stated beside percentiles, in ps.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Moments {
    pub(crate) mean_ps: Option<f64>,
    /// The standard deviation.
    pub(crate) sd_ps: Option<f64>,
}

/// A statistic, which sums up many times in one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Statistic {
    /// A percentile, 0 to 100.
    Percentile(f64),
    Mean,
    /// The standard deviation.
    Deviation,
}

impl Moments {
    /// Keeps what a statistic says; percentiles are kept elsewhere. 0 is what tools write that do not know.
    pub(crate) fn set(&mut self, statistic: Statistic, ps: u64) {
        let known = Some(ps as f64).filter(|ps| *ps > 0.0);
        match statistic {
            Statistic::Percentile(_) => {}
            Statistic::Mean => self.mean_ps = self.mean_ps.or(known),
            Statistic::Deviation => self.sd_ps = self.sd_ps.or(known),
        }
    }
}

impl Statistic {
    /// The one that a name is of: `p99.9`, `mean`, `Average Response Time`, `latency_stddev_us`.
    pub(crate) fn of(name: &str) -> Option<Statistic> {
        const MEAN: [&str; 3] = ["mean", "avg", "average"];
        const DEVIATION: [&str; 9] = [
            "std",
            "stddev",
            "stdev",
            "sd",
            "stdv",
            "deviation",
            "sigma",
            "standarddeviation",
            "stddeviation",
        ];
        const OTHERS: [&str; 13] = [
            "rt",
            "latency",
            "latencies",
            "lat",
            "response",
            "time",
            "times",
            "service",
            "duration",
            "dev",
            "standard",
            "of",
            "the",
        ];
        if let Some(percentile) = percentile_of(name) {
            return Some(Statistic::Percentile(percentile));
        }
        const MEDIAN: [&str; 2] = ["median", "med"];
        let words = words(name);
        let is = |known: &[&str]| words.iter().any(|word| known.contains(&word.as_str()));
        let alone = words.iter().all(|word| {
            let word = word.as_str();
            [&MEAN[..], &DEVIATION, &MEDIAN, &OTHERS].iter().any(|known| known.contains(&word))
                || Unit::of_word(word).is_some()
        });
        match (is(&MEAN), is(&DEVIATION), is(&MEDIAN)) {
            _ if !alone => None,
            (true, false, false) => Some(Statistic::Mean),
            (false, true, false) => Some(Statistic::Deviation),
            (false, false, true) => Some(Statistic::Percentile(50.0)),
            _ => None,
        }
    }
}

/// The percentile, 0 to 100, that a name is of: `p99.9`, `99.9%`, `99th`, `p999`, `99thPercentileLatency(us)`, `median`,
/// `max`.
pub(crate) fn percentile_of(name: &str) -> Option<f64> {
    let name = name.trim().to_lowercase();
    let word = name.split(|letter: char| !letter.is_ascii_alphabetic()).find(|word| !word.is_empty());
    match word.unwrap_or("") {
        "median" | "med" => return Some(50.0),
        "max" | "maximum" | "maxlatency" | "slowest" => return Some(100.0),
        "min" | "minimum" | "minlatency" | "fastest" => return Some(0.0),
        _ => {}
    }
    for (at, _) in name.match_indices(|letter: char| letter.is_ascii_digit()) {
        let before = name[..at].chars().next_back();
        // A part of a number: `p99_9`, but not `perc_99`.
        let goes_on = |rest: &str| rest.ends_with(|letter: char| letter.is_ascii_digit());
        let is_joint = before.is_some_and(|before| before == '.' || before == '_');
        if goes_on(&name[..at]) || is_joint && goes_on(&name[..at - 1]) || before == Some('.') {
            continue;
        }
        let digits = &name[at..];
        let is_part = |(index, letter): (usize, char)| {
            let next_is_digit =
                digits[index + letter.len_utf8()..].starts_with(|next: char| next.is_ascii_digit());
            letter.is_ascii_digit() || matches!(letter, '.' | '_' | ',') && next_is_digit
        };
        let end = digits.char_indices().find(|&part| !is_part(part)).map_or(digits.len(), |(index, _)| index);
        let rest = digits[end..].trim_start();
        // `p99`, and `p(99)` of k6.
        let bare = name[..at].strip_suffix('(').unwrap_or(&name[..at]);
        let behind_p = bare.strip_suffix('p').is_some_and(|rest| !rest.ends_with(char::is_alphabetic))
            || name[..at].trim_end_matches('_').ends_with("perc")
            || name[..at].ends_with("pct")
            || name[..at].trim_end().ends_with("percentile");
        let named = rest.starts_with('%')
            || rest.starts_with("pct")
            || ["th", "st", "nd", "rd"].iter().any(|end| rest.starts_with(end))
            || rest.starts_with("percentile");
        if !behind_p && !named {
            continue;
        }
        let number: f64 = digits[..end].replace(['_', ','], ".").parse().ok()?;
        // p999 is the 99.9th, and p995 the 99.5th.
        let is_beyond =
            end > 2 && digits.starts_with("99") && digits[..end].bytes().all(|byte| byte.is_ascii_digit());
        let number = if is_beyond { number / 10f64.powi(end as i32 - 2) } else { number };
        return (0.0..=100.0).contains(&number).then_some(number);
    }
    None
}

/// The unit that the name of a percentile says, if it says one.
pub(super) fn unit_of_name(name: &str) -> Option<Unit> {
    match Unit::of_name(name) {
        Said::Unit(unit) => Some(unit),
        _ => None,
    }
}

/// Reads what a user writes: `p50 = 1.2 ms, p99 = 9 ms`, and `mean = 1.9 ms` beside it.
///
/// # Errors
/// What is wrong with it, in words.
pub(crate) fn parse_percentiles(text: &str) -> Option<Result<Vec<(Statistic, u64)>, String>> {
    let parts: Vec<&str> = text.split([',', ';']).map(str::trim).filter(|part| !part.is_empty()).collect();
    let named = |part: &&str| {
        let (name, value) = part.split_once(['=', ':'])?;
        Some((Statistic::of(name)?, value.trim().to_owned()))
    };
    let points: Vec<(Statistic, String)> = parts.iter().map(named).collect::<Option<_>>()?;
    let point = |(statistic, value): (Statistic, String)| {
        let wrong = || format!("`{value}` is no time; write it with its unit, as in p99 = 9 ms");
        let number = Number::parse(value.as_bytes(), Style::POINT).map_err(|_| wrong())?;
        number.unit.ok_or_else(wrong)?;
        let ps = number.ps(Unit::Ns).and_then(|ps| u64::try_from(ps).ok()).ok_or_else(wrong)?;
        Ok((statistic, ps))
    };
    (!points.is_empty()).then(|| points.into_iter().map(point).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_have_many_names() {
        for (name, percentile) in [
            ("p50", 50.0),
            ("p99.9", 99.9),
            ("P99", 99.0),
            ("p999", 99.9),
            ("p99_9", 99.9),
            ("perc_99.0", 99.0),
            ("publishLatency99pct", 99.0),
            ("p50_latency_ms", 50.0),
            ("99.9%", 99.9),
            (" 99.000%", 99.0),
            ("99thPercentileLatency(us)", 99.0),
            ("95th percentile", 95.0),
            ("median", 50.0),
            ("max", 100.0),
            ("MaxLatency(us)", 100.0),
            ("100%", 100.0),
        ] {
            assert_eq!(percentile_of(name), Some(percentile), "{name}");
        }
        for name in ["service", "latency_us", "p", "http2", "step99", "2026", "requests"] {
            assert_eq!(percentile_of(name), None, "{name}");
        }
    }

    #[test]
    fn moments_have_many_names() {
        for name in
            ["mean", "Average Response Time", "avg", "latency_mean_us", "Average(ms)", "averageLatency"]
        {
            assert_eq!(Statistic::of(name), Some(Statistic::Mean), "{name}");
        }
        for name in ["std", "stddev", "Std Dev", "latency stdev", "stdDev_ms", "standard deviation"] {
            assert_eq!(Statistic::of(name), Some(Statistic::Deviation), "{name}");
        }
        for name in ["mean bytes", "Average Content Size", "count", "total", "avg_rps", "p", "means"] {
            assert_eq!(Statistic::of(name), None, "{name}");
        }
        assert_eq!(percentile_of("p(95)"), Some(95.0));
    }

    #[test]
    fn users_write_percentiles_with_units() {
        let points = parse_percentiles("p50 = 1.2 ms, p99 = 9ms").unwrap().unwrap();
        let percentile = Statistic::Percentile;
        assert_eq!(points, [(percentile(50.0), 1_200_000_000), (percentile(99.0), 9_000_000_000)]);
        let points = parse_percentiles("p50 = 1.2 ms, mean = 2ms, sd = 1 ms").unwrap().unwrap();
        assert_eq!(points[1..], [(Statistic::Mean, 2_000_000_000), (Statistic::Deviation, 1_000_000_000)]);
        assert!(parse_percentiles("p50 = 1.2, p99 = 9ms").unwrap().unwrap_err().contains("with its unit"));
        assert!(parse_percentiles("exp-1us").is_none());
        assert!(parse_percentiles("a=b.csv").is_none());
    }
}
