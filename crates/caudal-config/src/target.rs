//! Latency targets: `get p99.9 < 50us`, `p99.9 slowdown < 10`, `mean < 5us`, `miss 25ms < 1%`.

use std::fmt;

use caudal_policy::Picos;
use serde::Serialize;

/// What a service's owner asks of its latency.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LatencyTarget {
    /// Requests of this class only; `None`: all.
    pub class: Option<String>,
    /// The statistic that is held against the limit.
    pub statistic: Statistic,
    /// What is measured, and what the statistic must stay below.
    pub limit: Limit,
}

/// A statistic of the latency of some requests, without a limit: `get p99.9`, `p99 slowdown`, `mean`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LatencyStatistic {
    /// Requests of this class only; `None`: all.
    pub class: Option<String>,
    /// Which one.
    pub statistic: Statistic,
    /// Of the slowdown, not of the latency.
    pub slowdown: bool,
}

/// A statistic of a distribution.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Statistic {
    /// The mean.
    Mean,
    /// A percentile, above 0 and below 100.
    Percentile(f64),
    /// The miss ratio: the share of requests with a longer latency than this.
    Miss(Picos),
}

/// What must stay below what.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Limit {
    /// Sojourn time at the server.
    Latency(Picos),
    /// Sojourn time over uninstrumented service time; above 1.
    Slowdown(f64),
    /// A share of the requests, above 0 and below 1.
    Share(f64),
}

impl Limit {
    /// The limit as a number: ns of latency, a slowdown, or a share.
    pub fn value(self) -> f64 {
        match self {
            Limit::Latency(limit) => limit.as_nanos_f64(),
            Limit::Slowdown(limit) | Limit::Share(limit) => limit,
        }
    }
}

/// Why a target could not be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("target `{target}`: {problem}")]
pub struct TargetError {
    /// The target as it was written.
    pub target: String,
    /// Byte range of the guilty part in `target`.
    pub span: (usize, usize),
    /// What is wrong, and what would be right.
    pub problem: String,
}

const FORM: &str = "write [class] statistic [slowdown] < limit, as in \"get p99.9 < 50us\", \"p99 slowdown < 10\" or \"miss 25ms < 1%\"";

impl LatencyTarget {
    /// Reads a target. The class is any name that is not `mean`, `p…`, `miss` or `all` (which is no class).
    ///
    /// # Errors
    /// [`TargetError`] names the part that is wrong and says what would be right.
    pub fn parse(text: &str) -> Result<LatencyTarget, TargetError> {
        let error = |part: &str, problem: String| {
            // `part` is a slice of `text`; where it is empty, the whole is meant.
            let start = (part.as_ptr() as usize).saturating_sub(text.as_ptr() as usize).min(text.len());
            let span = if part.is_empty() { (0, text.len()) } else { (start, start + part.len()) };
            TargetError { target: text.to_owned(), span, problem }
        };
        let Some((left, right)) = text.split_once('<') else {
            return Err(error("", format!("there is no `<`; {FORM}")));
        };
        if let Some(word) =
            left.split_whitespace().find(|word| miss(left).is_none() && word.starts_with("miss"))
        {
            let problem =
                "a miss ratio is asked for with the latency that counts as a miss, as in \"miss 25ms < 1%\"";
            return Err(error(word, problem.to_owned()));
        }
        if let Some((class, limit)) = miss(left) {
            let late = Picos::parse(limit).map_err(|problem| error(limit, problem.to_string()))?;
            let right = right.trim();
            let share = share(right).map_err(|problem| error(right, problem))?;
            return Ok(LatencyTarget { class, statistic: Statistic::Miss(late), limit: Limit::Share(share) });
        }
        let LatencyStatistic { class, statistic, slowdown: is_slowdown } = LatencyStatistic::read(left)
            .map_err(|(part, problem)| match part {
                "" if left.trim().is_empty() => {
                    error("", format!("no statistic stands before the `<`; {FORM}"))
                }
                part => error(part, problem),
            })?;
        let right = right.trim();
        let limit = if is_slowdown { slowdown(right) } else { latency(right) };
        Ok(LatencyTarget { class, statistic, limit: limit.map_err(|problem| error(right, problem))? })
    }
}

/// The class and the latency of `[class] miss 25ms`, if `text` is that.
fn miss(text: &str) -> Option<(Option<String>, &str)> {
    let words: Vec<&str> = text.split_whitespace().collect();
    match words[..] {
        ["miss", limit] | ["all", "miss", limit] => Some((None, limit)),
        [class, "miss", limit] => Some((Some(class.to_owned()), limit)),
        _ => None,
    }
}

fn share(text: &str) -> Result<f64, String> {
    let help = "write a share of the requests above 0 and below 100 %, as in \"1%\"";
    let Some(number) = text.strip_suffix('%') else { return Err(format!("`{text}` is no share; {help}")) };
    let digits = number.trim();
    let is_number = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    match digits.parse::<f64>() {
        Ok(percent) if is_number && percent > 0.0 && percent < 100.0 => Ok(percent / 100.0),
        _ => Err(format!("`{text}` is no share; {help}")),
    }
}

const STATISTIC_FORM: &str =
    "write [class] statistic [slowdown], as in \"p99\", \"get p99.9\" or \"p99 slowdown\"";

impl LatencyStatistic {
    /// Reads a statistic, as [`LatencyTarget::parse`] does before the `<`.
    ///
    /// # Errors
    /// [`TargetError`] names the part that is wrong and says what would be right.
    pub fn parse(text: &str) -> Result<LatencyStatistic, TargetError> {
        LatencyStatistic::read(text).map_err(|(part, problem)| {
            let start = (part.as_ptr() as usize).saturating_sub(text.as_ptr() as usize).min(text.len());
            let span = if part.is_empty() { (0, text.len()) } else { (start, start + part.len()) };
            TargetError { target: text.to_owned(), span, problem }
        })
    }

    /// On an error, the part of `text` that is wrong, which is empty where all of it is.
    fn read(text: &str) -> Result<LatencyStatistic, (&str, String)> {
        let mut words: Vec<&str> = text.split_whitespace().collect();
        let slowdown = match words.last() {
            Some(&"slowdown") => words.pop().is_some(),
            Some(&"latency") => words.pop().is_none(),
            _ => false,
        };
        let (class, word) = match words[..] {
            [word] => (None, word),
            ["all", word] => (None, word),
            [class, word] => (Some(class.to_owned()), word),
            [] => return Err(("", format!("there is no statistic; {STATISTIC_FORM}"))),
            [_, _, surplus, ..] => {
                return Err((surplus, format!("`{surplus}` is one word too many; {FORM}")));
            }
        };
        let statistic = Statistic::parse(word).map_err(|problem| (word, problem))?;
        Ok(LatencyStatistic { class, statistic, slowdown })
    }
}

impl fmt::Display for LatencyStatistic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(class) = &self.class {
            write!(f, "{class} ")?;
        }
        match self.statistic {
            Statistic::Mean => f.write_str("mean")?,
            Statistic::Percentile(percentile) => write!(f, "p{percentile}")?,
            Statistic::Miss(late) => write!(f, "miss {late}")?,
        }
        f.write_str(if self.slowdown { " slowdown" } else { "" })
    }
}

impl Statistic {
    fn parse(word: &str) -> Result<Statistic, String> {
        if word == "mean" {
            return Ok(Statistic::Mean);
        }
        let help =
            "write mean, a percentile such as p50, p99 or p99.9, or a miss ratio such as \"miss 25ms < 1%\"";
        let Some(digits) = word.strip_prefix('p') else {
            return Err(format!("`{word}` is no statistic; {help}"));
        };
        if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit() || b == b'.') {
            return Err(format!("`{word}` is no percentile; {help}"));
        }
        match digits.parse::<f64>() {
            Ok(percentile) if percentile > 0.0 && percentile < 100.0 => Ok(Statistic::Percentile(percentile)),
            _ => Err(format!("`{word}` is no percentile: it must lie between p0 and p100; {help}")),
        }
    }
}

fn latency(text: &str) -> Result<Limit, String> {
    match Picos::parse(text) {
        Ok(Picos::ZERO) => Err("no latency is below 0; write a time such as 50us".to_owned()),
        Ok(limit) => Ok(Limit::Latency(limit)),
        Err(error) if text.parse::<f64>().is_ok() => {
            Err(format!("{error}; a slowdown is asked for as in \"p99 slowdown < {text}\""))
        }
        Err(error) => Err(error.to_string()),
    }
}

fn slowdown(text: &str) -> Result<Limit, String> {
    let is_number = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    match text.parse::<f64>() {
        Ok(limit) if is_number && limit > 1.0 => Ok(Limit::Slowdown(limit)),
        Ok(_) if is_number => {
            Err(format!("no slowdown is below {text}: it is at least 1; write one above, such as 10"))
        }
        _ => Err(format!("`{text}` is no slowdown; write a number without unit, such as 10")),
    }
}

impl fmt::Display for LatencyTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (class, statistic) = (self.class.clone(), self.statistic);
        let slowdown = matches!(self.limit, Limit::Slowdown(_));
        write!(f, "{} < ", LatencyStatistic { class, statistic, slowdown })?;
        match self.limit {
            Limit::Latency(limit) => write!(f, "{limit}"),
            Limit::Slowdown(limit) => write!(f, "{limit}"),
            Limit::Share(limit) => write!(f, "{}%", percent(limit)),
        }
    }
}

/// The shortest number of percent that is read as `share`, without what a multiplication by 100 leaves behind.
fn percent(share: f64) -> f64 {
    let exact = share * 100.0;
    let rounded = (0..17).filter_map(|digits| format!("{exact:.digits$e}").parse().ok());
    let near = [exact, exact.next_up(), exact.next_down()];
    rounded.chain(near).find(|percent: &f64| percent / 100.0 == share).unwrap_or(exact)
}

impl std::str::FromStr for LatencyTarget {
    type Err = TargetError;
    fn from_str(text: &str) -> Result<LatencyTarget, TargetError> {
        LatencyTarget::parse(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_it_writes() {
        for text in [
            "get p99.9 < 50us",
            "p99.9 slowdown < 10",
            "short p99 < 20us",
            "mean < 5us",
            "get mean slowdown < 2.5",
            "miss 25ms < 1%",
            "get miss 50us < 0.1%",
            "get miss 50us < 0.07777777777777778%",
            "miss 1ms < 33.3%",
        ] {
            assert_eq!(LatencyTarget::parse(text).unwrap().to_string(), text);
        }
        let all = LatencyTarget::parse("all p99<1ms").unwrap();
        assert_eq!((all.class, all.limit), (None, Limit::Latency(Picos::from_micros(1000))));
        assert_eq!(LatencyTarget::parse("get p99 latency < 1us").unwrap().to_string(), "get p99 < 1us");
    }

    #[test]
    fn says_what_would_be_right() {
        for (text, part, says) in [
            ("miss 25ms < 1", "1", "as in \"1%\""),
            ("miss 25 < 1%", "25", "\"25us\""),
            ("miss 25ms < 0%", "0%", "above 0"),
            ("miss < 1%", "miss", "as in \"miss 25ms"),
            ("missed 25ms < 1%", "missed", "as in \"miss 25ms"),
            ("get misses < 1%", "misses", "as in \"miss 25ms"),
            ("p99 50us", "p99 50us", "there is no `<`"),
            ("p99 < 50", "50", "\"50us\""),
            ("p99 < 0us", "0us", "below 0"),
            ("p100 < 5us", "p100", "between p0 and p100"),
            ("p0 < 5us", "p0", "between p0 and p100"),
            ("get q99 < 5us", "q99", "no statistic"),
            ("p < 5us", "p", "p99.9"),
            ("< 5us", "< 5us", "no statistic stands"),
            ("get put p99 < 5us", "p99", "too many"),
            ("p99 slowdown < 1", "1", "at least 1"),
            ("p99 slowdown < 10us", "10us", "without unit"),
            ("p99 slowdown < inf", "inf", "without unit"),
            ("p99 < ", "p99 < ", "not a time"),
            ("", "", "there is no `<`"),
        ] {
            let error = LatencyTarget::parse(text).expect_err(text);
            assert!(error.problem.contains(says), "{text}: {error}");
            assert_eq!(&text[error.span.0..error.span.1], part, "{text}");
        }
    }
}
