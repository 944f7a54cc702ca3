//! Latency targets: `get p99.9 < 50us`, `p99.9 slowdown < 10`, `get wait p99 < 20us`, `mean < 5us`, `miss 25ms < 1%`, and in other words
//! `99.9 % of gets < 50us`. The command parses `--target` by it, and the reader of a file the same words; the tuner judges simulated
//! results by it. Pure.

use std::fmt;

use caudal_policy::Picos;
use serde::Serialize;

/// A bound that a service's owner sets for its latency.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LatencyTarget {
    /// Requests of this class only; `None`: all.
    pub class: Option<String>,
    /// The statistic that is compared with the limit.
    pub statistic: Statistic,
    /// The quantity that is measured, and the limit that its statistic must stay below.
    pub limit: Limit,
}

/// A statistic of the latency of some requests, without a limit: `get p99.9`, `p99 slowdown`, `wait p99`, `mean`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LatencyStatistic {
    /// Requests of this class only; `None`: all.
    pub class: Option<String>,
    /// The statistic.
    pub statistic: Statistic,
    /// The quantity that it is a statistic of.
    pub metric: Metric,
}

/// A quantity that is measured of every request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Metric {
    /// Sojourn time at the server.
    #[default]
    Latency,
    /// Sojourn time over uninstrumented service time.
    Slowdown,
    /// Sojourn time less uninstrumented service time: all time in which the request is not served, including overheads and probes.
    /// For a request that forks, the time that it takes longer than alone on all cores.
    Wait,
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

/// The limit of a target, with the quantity that must stay below it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Limit {
    /// Sojourn time at the server.
    Latency(Picos),
    /// Sojourn time over uninstrumented service time; above 1.
    Slowdown(f64),
    /// Sojourn time less uninstrumented service time.
    Wait(Picos),
    /// A share of the requests, above 0 and below 1.
    Share(f64),
}

impl Limit {
    /// The limit as a number: ns of latency or of waiting, a slowdown, or a share.
    pub fn value(self) -> f64 {
        match self {
            Limit::Latency(limit) | Limit::Wait(limit) => limit.as_nanos_f64(),
            Limit::Slowdown(limit) | Limit::Share(limit) => limit,
        }
    }

    /// The quantity that it bounds: latency for a share, because that is a share of requests with a longer latency.
    pub fn metric(self) -> Metric {
        match self {
            Limit::Latency(_) | Limit::Share(_) => Metric::Latency,
            Limit::Slowdown(_) => Metric::Slowdown,
            Limit::Wait(_) => Metric::Wait,
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
    /// The fault of that part, and a form that is allowed.
    pub problem: String,
}

const FORM: &str = "write [class] [wait] statistic [slowdown] < limit, as in \"get p99.9 < 50us\", \"get wait p99 < 20us\", \"p99 slowdown < 10\", \
                    \"miss 25ms < 1%\" or \"99.9 % of gets < 50us\"";

impl LatencyTarget {
    /// Reads a target. The class is any name that is not `mean`, `p…`, `miss`, `wait` or `all` (which is no class).
    ///
    /// # Errors
    /// [`TargetError`] names the part that is wrong and says what would be right.
    pub fn parse(text: &str) -> Result<LatencyTarget, TargetError> {
        let error = |part: &str, problem: String| {
            // `part` is a slice of `text`; if it is empty, all of `text` is wrong.
            let start = (part.as_ptr() as usize).saturating_sub(text.as_ptr() as usize).min(text.len());
            let span = if part.is_empty() { (0, text.len()) } else { (start, start + part.len()) };
            TargetError { target: text.to_owned(), span, problem }
        };
        let Some((left, right)) = text.split_once('<') else {
            return Err(error("", format!("there is no `<`; {FORM}")));
        };
        if let Some(of) = share_of(left).map_err(|(part, problem)| error(part, problem))? {
            let right = right.trim();
            let limit = of.limit(right).map_err(|problem| error(right, problem))?;
            return Ok(LatencyTarget { class: of.class, statistic: of.statistic, limit });
        }
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
        let found = LatencyStatistic::read(left).map_err(|(part, problem)| match part {
            "" if left.trim().is_empty() => error("", format!("no statistic stands before the `<`; {FORM}")),
            part => error(part, problem),
        })?;
        let right = right.trim();
        let limit = found.limit(right).map_err(|problem| error(right, problem))?;
        Ok(LatencyTarget { class: found.class, statistic: found.statistic, limit })
    }

    /// The same target, with its class replaced by the name that the class has among `classes`: one of the two may be in the plural.
    #[must_use]
    pub fn among(self, classes: &[String]) -> LatencyTarget {
        LatencyTarget { class: self.class.map(|class| named(class, classes)), ..self }
    }
}

/// The name among `classes` that `class` means: the same name, or else the only one that differs just by an `s` at the end.
fn named(class: String, classes: &[String]) -> String {
    if classes.contains(&class) {
        return class;
    }
    let same = |other: &&String| {
        other.strip_suffix('s') == Some(class.as_str()) || class.strip_suffix('s') == Some(other.as_str())
    };
    let mut near = classes.iter().filter(same);
    match (near.next(), near.next()) {
        (Some(only), None) => only.clone(),
        _ => class,
    }
}

/// The percentile that a share of the requests stands for, as in `90 % of gets wait`; none if `text` does not have this form.
fn share_of(text: &str) -> Result<Option<LatencyStatistic>, (&str, String)> {
    let Some((number, rest)) = text.split_once('%') else { return Ok(None) };
    let number = number.trim();
    // `p0.5%` is a percentile.
    if number.is_empty() || number.split_whitespace().count() != 1 || number.starts_with('p') {
        return Ok(None);
    }
    let help = "write the share of the requests that stay below the limit, as in \"99.9 % < 1ms\" or \"90 % of gets wait < 1ms\"";
    let is_number = number.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    let percent = match number.parse::<f64>() {
        Ok(percent) if is_number && percent > 0.0 && percent < 100.0 => percent,
        _ => return Err((number, format!("`{number} %` is no share; {help}"))),
    };
    if percent < 1.0 {
        let meant = percent_of(percent);
        return Err((
            number,
            format!(
                "{number} % of the requests is hardly any, so the others could take as long as they like; write \"{meant} %\" if the \
                 fraction {number} of them is meant, or \"p{number}%\" if really {number} % are"
            ),
        ));
    }
    let mut words: Vec<&str> = rest.split_whitespace().collect();
    let metric =
        metric_word(words.last().copied()).inspect(|_| words.truncate(words.len() - 1)).unwrap_or_default();
    let class = match words[..] {
        [] | ["of", "all" | "requests"] | ["of", "all", "requests"] => None,
        ["of", class] | ["of", class, "requests"] => Some(class.to_owned()),
        _ => return Err((rest.trim(), format!("`{}` is no class of requests; {help}", rest.trim()))),
    };
    Ok(Some(LatencyStatistic { class, statistic: Statistic::Percentile(percent), metric }))
}

/// The quantity that a word names.
fn metric_word(word: Option<&str>) -> Option<Metric> {
    match word? {
        "latency" => Some(Metric::Latency),
        "slowdown" => Some(Metric::Slowdown),
        "wait" => Some(Metric::Wait),
        _ => None,
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

const STATISTIC_FORM: &str = "write [class] [wait] statistic [slowdown], as in \"p99\", \"get p99.9\", \"get wait p99\" or \"p99 slowdown\"";

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

    /// Reads a statistic. An error has the part of `text` that is wrong, which is empty if all of it is.
    fn read(text: &str) -> Result<LatencyStatistic, (&str, String)> {
        let mut words: Vec<&str> = text.split_whitespace().collect();
        let behind = metric_word(words.last().copied()).inspect(|_| words.truncate(words.len() - 1));
        // `wait` may stand before the statistic or after it. If there is a `wait` after it, the first one is a class of that name.
        let before = match (behind, &mut words) {
            (None, words) if words.len() > 1 && words[words.len() - 2] == "wait" => {
                words.remove(words.len() - 2);
                Some(Metric::Wait)
            }
            _ => None,
        };
        let metric = behind.or(before).unwrap_or_default();
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
        Ok(LatencyStatistic { class, statistic, metric })
    }

    /// Reads the limit, which stands behind the `<` of a target on this statistic.
    fn limit(&self, text: &str) -> Result<Limit, String> {
        match self.metric {
            Metric::Latency => latency(text).map(Limit::Latency),
            Metric::Wait => latency(text).map(Limit::Wait),
            Metric::Slowdown => slowdown(text),
        }
    }

    /// See [`LatencyTarget::among`].
    #[must_use]
    pub fn among(self, classes: &[String]) -> LatencyStatistic {
        LatencyStatistic { class: self.class.map(|class| named(class, classes)), ..self }
    }
}

impl fmt::Display for LatencyStatistic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(class) = &self.class {
            write!(f, "{class} ")?;
        }
        if self.metric == Metric::Wait {
            f.write_str("wait ")?;
        }
        match self.statistic {
            Statistic::Mean => f.write_str("mean")?,
            // With `%`, so that it is read as a percentile and not as a fraction.
            Statistic::Percentile(percentile) if percentile < 1.0 => write!(f, "p{percentile}%")?,
            Statistic::Percentile(percentile) => write!(f, "p{percentile}")?,
            Statistic::Miss(late) => write!(f, "miss {late}")?,
        }
        let class_is_wait = self.class.as_deref() == Some("wait");
        f.write_str(match self.metric {
            Metric::Slowdown => " slowdown",
            Metric::Latency if class_is_wait && !matches!(self.statistic, Statistic::Miss(_)) => " latency",
            Metric::Latency | Metric::Wait => "",
        })
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
        let (digits, literally) = match digits.strip_suffix('%') {
            Some(digits) => (digits, true),
            None => (digits, false),
        };
        if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit() || b == b'.') {
            return Err(format!("`{word}` is no percentile; {help}"));
        }
        match digits.parse::<f64>() {
            Ok(fraction) if fraction > 0.0 && fraction < 1.0 && !literally => {
                let meant = percent_of(fraction);
                Err(format!(
                    "`{word}` is what {fraction} % of the requests stay below, hardly any of them; write p{meant} if the fraction \
                     {fraction} of them is meant ({meant} %), or {word}% if it is really {fraction} %"
                ))
            }
            Ok(percentile) if percentile > 0.0 && percentile < 100.0 => Ok(Statistic::Percentile(percentile)),
            _ => Err(format!("`{word}` is no percentile: it must lie between p0 and p100; {help}")),
        }
    }
}

fn latency(text: &str) -> Result<Picos, String> {
    match Picos::parse(text) {
        Ok(Picos::ZERO) => Err(format!(
            "the limit is `{text}`, and no latency is below 0; write a time above 0, such as 50us"
        )),
        Ok(limit) => Ok(limit),
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
        Ok(_) if is_number => Err(format!(
            "the limit is {text}, and no slowdown is below 1; write a number above 1, such as 10"
        )),
        _ => Err(format!("`{text}` is no slowdown; write a number without unit, such as 10")),
    }
}

impl fmt::Display for LatencyTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (class, statistic) = (self.class.clone(), self.statistic);
        write!(f, "{} < ", LatencyStatistic { class, statistic, metric: self.limit.metric() })?;
        match self.limit {
            Limit::Latency(limit) | Limit::Wait(limit) => write!(f, "{limit}"),
            Limit::Slowdown(limit) => write!(f, "{limit}"),
            Limit::Share(limit) => write!(f, "{}%", percent_of(limit)),
        }
    }
}

/// The shortest number of percent that is read as `share`, without the rounding error of a multiplication by 100.
fn percent_of(share: f64) -> f64 {
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
            "wait p99 < 20us",
            "get wait p99.9 < 20us",
            "get wait mean < 1ms",
            // A class that is called `wait`, and what it waits.
            "wait p99 latency < 20us",
            "wait p99 slowdown < 2",
            "wait wait p99 < 20us",
            "wait miss 1ms < 1%",
            "p0.5% < 5us",
        ] {
            assert_eq!(LatencyTarget::parse(text).unwrap().to_string(), text);
        }
        let all = LatencyTarget::parse("all p99<1ms").unwrap();
        assert_eq!((all.class, all.limit), (None, Limit::Latency(Picos::from_micros(1000))));
        assert_eq!(LatencyTarget::parse("get p99 latency < 1us").unwrap().to_string(), "get p99 < 1us");
        assert_eq!(LatencyTarget::parse("get p99 wait < 1us").unwrap().to_string(), "get wait p99 < 1us");
    }

    #[test]
    fn a_share_of_the_requests_is_a_percentile() {
        for (share, percentile) in [
            ("99.9 % < 1ms", "p99.9 < 1ms"),
            ("90% of gets wait < 1ms", "gets wait p90 < 1ms"),
            ("90 % of gets wait < 1ms", "gets wait p90 < 1ms"),
            ("99 % of get requests < 1ms", "get p99 < 1ms"),
            ("99 % of all requests < 1ms", "p99 < 1ms"),
            ("99 % of requests slowdown < 10", "p99 slowdown < 10"),
            ("50 % latency < 1ms", "p50 < 1ms"),
        ] {
            assert_eq!(LatencyTarget::parse(share).unwrap().to_string(), percentile, "{share}");
        }
    }

    #[test]
    fn classes_may_be_in_the_plural_where_that_is_one_of_them() {
        let named = |class: &str, classes: &[&str]| {
            let classes: Vec<String> = classes.iter().map(ToString::to_string).collect();
            LatencyTarget::parse(&format!("90 % of {class} < 1ms")).unwrap().among(&classes).class.unwrap()
        };
        assert_eq!(named("gets", &["get", "scan"]), "get");
        assert_eq!(named("scan", &["gets", "scans"]), "scans");
        assert_eq!(named("gets", &["gets", "get"]), "gets", "of two, the one that is called so");
        assert_eq!(named("as", &["a", "ass"]), "as", "either could be meant");
        assert_eq!(named("puts", &["get"]), "puts");
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
            (
                "p0.999 < 5us",
                "p0.999",
                "write p99.9 if the fraction 0.999 of them is meant (99.9 %), or p0.999%",
            ),
            ("get p0.5 < 5us", "p0.5", "write p50 if"),
            ("p0.99 slowdown < 5", "p0.99", "write p99 if"),
            ("p0.07 < 5us", "p0.07", "write p7 if"),
            ("0.999 % < 5us", "0.999", "write \"99.9 %\" if the fraction 0.999"),
            ("0 % < 5us", "0", "no share"),
            ("100 % < 5us", "100", "no share"),
            ("-1 % < 5us", "-1", "no share"),
            ("99 % gets < 5us", "gets", "no class of requests"),
            ("99 % of gets p99 < 5us", "of gets p99", "no class of requests"),
            ("99 % < 5", "5", "\"5us\""),
            ("wait p99 < 5", "5", "\"5us\""),
            ("wait < 5us", "wait < 5us", "there is no statistic"),
            ("< 5us", "< 5us", "no statistic stands"),
            ("get put p99 < 5us", "p99", "too many"),
            ("p99 slowdown < 1", "1", "below 1"),
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
