//! Units of times, and where a file says them.

use serde::{Deserialize, Serialize};

use super::number::Number;
use super::{Place, shorten};
use crate::LONGEST_PS;
use crate::error::{Answer, Ask, AskKey, WorkloadError};

/// Unit of the bare numbers in a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Unit {
    /// Picoseconds.
    Ps,
    /// Nanoseconds; what whole numbers without any hint are taken for.
    #[default]
    Ns,
    /// Microseconds.
    Us,
    /// Milliseconds.
    Ms,
    /// Seconds.
    S,
}

/// What a name says about the unit of what it names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Said {
    /// This one.
    Unit(Unit),
    /// One that is not known here, such as minutes or cycles, or two at once.
    Unknown,
    /// None.
    Nothing,
}

impl Unit {
    /// All of them, the shortest first.
    pub const ALL: [Unit; 5] = [Unit::Ps, Unit::Ns, Unit::Us, Unit::Ms, Unit::S];

    /// Picoseconds in one of it.
    pub fn ps(self) -> u64 {
        match self {
            Unit::Ps => 1,
            Unit::Ns => 1_000,
            Unit::Us => 1_000_000,
            Unit::Ms => 1_000_000_000,
            Unit::S => 1_000_000_000_000,
        }
    }

    /// How files write it.
    pub fn name(self) -> &'static str {
        match self {
            Unit::Ps => "ps",
            Unit::Ns => "ns",
            Unit::Us => "us",
            Unit::Ms => "ms",
            Unit::S => "s",
        }
    }

    /// The unit that this is a name of: `us`, `µs`, `usec`, `microseconds`.
    pub fn of_word(word: &str) -> Option<Unit> {
        match word.trim().to_lowercase().replace(['µ', 'μ'], "u").as_str() {
            "ps" | "psec" | "psecs" | "picos" | "picosecond" | "picoseconds" => Some(Unit::Ps),
            "ns" | "nsec" | "nsecs" | "nano" | "nanos" | "nanosecond" | "nanoseconds" => Some(Unit::Ns),
            "us" | "usec" | "usecs" | "micro" | "micros" | "microsec" | "microsecs" | "microsecond"
            | "microseconds" => Some(Unit::Us),
            "ms" | "msec" | "msecs" | "milli" | "millis" | "millisec" | "millisecs" | "millisecond"
            | "milliseconds" => Some(Unit::Ms),
            "s" | "sec" | "secs" | "second" | "seconds" => Some(Unit::S),
            _ => None,
        }
    }

    /// What the name of a column, of a metric or of a map says: `service_us`, `latencyMs`, `Latency (µs)`,
    /// `rpc_duration_seconds`.
    pub(crate) fn of_name(name: &str) -> Said {
        const OTHERS: [&str; 17] = [
            "min", "mins", "minute", "minutes", "h", "hr", "hrs", "hour", "hours", "day", "days", "cycle",
            "cycles", "tick", "ticks", "tsc", "jiffies",
        ];
        // A rate: `r/s`, `ops/sec`.
        let lower = name.trim_end().to_lowercase();
        if ["/s", "/sec", "/second"].iter().any(|rate| lower.ends_with(rate)) {
            return Said::Unknown;
        }
        let words = words(name);
        let mut said = Said::Nothing;
        for (index, word) in words.iter().enumerate() {
            // `min_latency` is the least of them, `service_min` is in minutes.
            if word == "min" && index + 1 < words.len() {
                continue;
            }
            let this = match Unit::of_word(word) {
                Some(unit) => Said::Unit(unit),
                None if OTHERS.contains(&word.as_str()) => Said::Unknown,
                None => continue,
            };
            said = if said == Said::Nothing || said == this { this } else { Said::Unknown };
        }
        // `service_xs` wants to say one.
        let last = words.last().filter(|_| words.len() > 1 && said == Said::Nothing);
        let short = last.is_some_and(|last| last.ends_with('s') && last.chars().count() == 2);
        if short { Said::Unknown } else { said }
    }
}

/// The words of a name, in small letters: `responseTimeMs`, `response_time_ms` and `Response time [ms]` have three.
pub(crate) fn words(name: &str) -> Vec<String> {
    let mut words = Vec::new();
    for chunk in name.split(|letter: char| !letter.is_alphanumeric()).filter(|chunk| !chunk.is_empty()) {
        // `RTTms`, `p99us`: capitals or digits, and a unit in small letters.
        let head = chunk.trim_end_matches(|letter: char| letter.is_lowercase());
        let tail = &chunk[head.len()..];
        let is_short = head.ends_with(|last: char| last.is_numeric()) || !head.contains(char::is_lowercase);
        let is_unit = !head.is_empty() && is_short && Unit::of_word(tail).is_some();
        let (rest, unit) = if is_unit { (head, Some(tail)) } else { (chunk, None) };
        let mut word = String::new();
        let mut before: Option<char> = None;
        for letter in rest.chars() {
            let starts = before.is_some_and(|before| before.is_lowercase() && letter.is_uppercase());
            if starts {
                words.push(std::mem::take(&mut word).to_lowercase());
            }
            word.push(letter);
            before = Some(letter);
        }
        words.push(word.to_lowercase());
        words.extend(unit.map(str::to_lowercase));
    }
    words
}

/// Are these numbers nanoseconds? What numbers of which nothing says the unit show of it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Plausible {
    values: u64,
    sum: f64,
    fractions: u64,
    thousands: u64,
    /// Numbers that have a unit of their own, among which the others stand.
    with_unit: u64,
    /// Are they called latencies, or the like?
    is_latency: bool,
    first: Vec<String>,
}

/// Fewer values than this may be whole thousands by chance.
const THOUSANDS: u64 = 5;
/// A mean below so many nanoseconds is that of no request.
const SHORTEST_NS: f64 = 10.0;
/// And below so many of nothing that a tool calls a latency, a response time or a duration: these include calls and clocks.
const SHORTEST_LATENCY_NS: f64 = 1000.0;

/// May a mean be this long? Nothing takes less than a nanosecond, and nothing here more than an hour.
pub(crate) fn is_possible(mean_ps: f64) -> bool {
    mean_ps == 0.0 || (Unit::Ns.ps() as f64..=LONGEST_PS as f64).contains(&mean_ps)
}

impl Plausible {
    /// Takes a number into account.
    #[inline]
    pub(crate) fn see(&mut self, number: &Number, field: &[u8]) {
        if self.first.len() < 3 {
            self.first.push(shorten(&super::text(field)));
        }
        let value = number.value();
        self.values += 1;
        self.sum += value;
        self.fractions += u64::from(number.has_fraction());
        self.thousands += u64::from(number.is_thousands());
    }

    /// Takes into account that a number has a unit of its own.
    #[inline]
    pub(crate) fn see_unit(&mut self) {
        self.with_unit += 1;
    }

    /// What a histogram of so many values shows.
    pub(crate) fn of_histogram(sum: f64, values: u64, has_fractions: bool, first: Vec<String>) -> Plausible {
        Plausible { values, sum, fractions: u64::from(has_fractions), first, ..Plausible::default() }
    }

    /// Numbers under this name.
    pub(crate) fn called(name: &str) -> Plausible {
        const LATENCIES: [&str; 10] = [
            "latency",
            "latencies",
            "lat",
            "elapsed",
            "rtt",
            "duration",
            "durations",
            "response",
            "took",
            "taken",
        ];
        let is_latency = words(name).iter().any(|word| LATENCIES.contains(&word.as_str()));
        Plausible { is_latency, ..Plausible::default() }
    }

    /// The same numbers, which stand for so many values with this sum.
    pub(crate) fn with_mean_of(self, sum: f64, values: u64) -> Plausible {
        if self.values == 0 { self } else { Plausible { sum, values, thousands: 0, ..self } }
    }

    /// Was no number seen?
    pub(crate) fn is_untouched(&self) -> bool {
        self.values == 0
    }

    /// Why they are no nanoseconds, if so.
    fn doubt(&self) -> Option<&'static str> {
        let mean = self.sum / self.values.max(1) as f64;
        if self.values == 0 {
            None
        } else if self.with_unit > 0 {
            Some("stand among others that have one")
        } else if self.fractions > 0 {
            Some("have fractions, which nanoseconds have not")
        } else if mean < SHORTEST_NS {
            Some("would be a few nanoseconds, which no request takes")
        } else if self.is_latency && mean < SHORTEST_LATENCY_NS {
            Some("would be less than a microsecond, which hardly any latency is")
        } else if self.values >= THOUSANDS && self.thousands == self.values {
            Some("are all whole thousands")
        } else {
            None
        }
    }

    /// As [`Plausible::check`], of times of arrivals, which may be as small and as round as they like.
    ///
    /// # Errors
    /// The question for the unit, if the numbers have fractions.
    pub(crate) fn check_arrivals(&self, place: &Place<'_>) -> Result<(), WorkloadError> {
        if self.fractions > 0 { self.check(place).map(|_| ()) } else { Ok(()) }
    }

    /// What is to be said of numbers that were taken as nanoseconds because nothing says their unit; nothing, if there are none.
    ///
    /// # Errors
    /// The question for the unit, if the numbers are hardly nanoseconds.
    pub(crate) fn check(&self, place: &Place<'_>) -> Result<Option<String>, WorkloadError> {
        let Some(doubt) = self.doubt() else {
            let mean = self.sum / self.values.max(1) as f64;
            let in_unit = |unit: Unit| crate::show::time(mean * unit.ps() as f64);
            return Ok((self.values > 0).then(|| {
                format!(
                    "the times ({}, …) were read as ns, since nothing says their unit and they are whole numbers: then the mean is \
                     {}. If they are microseconds (a mean of {}), say `--unit us`",
                    self.first.join(", "),
                    in_unit(Unit::Ns),
                    in_unit(Unit::Us)
                )
            }));
        };
        Err(self.ask(place, doubt))
    }

    /// The question for the unit, and why it is asked.
    pub(crate) fn ask(&self, place: &Place<'_>, doubt: &str) -> WorkloadError {
        WorkloadError::Ask(Box::new(Ask {
            path: place.0.to_owned(),
            problem: format!(
                "nothing says the unit of its times, and they ({}, …) {doubt}",
                self.first.join(", ")
            ),
            key: AskKey::Unit,
            answers: self.answers(),
        }))
    }

    /// The units that are possible, the likeliest first, with what the mean is then.
    fn answers(&self) -> Vec<Answer> {
        let mean = self.sum / self.values.max(1) as f64;
        let units = [Unit::Us, Unit::Ms, Unit::S, Unit::Ns];
        let possible = units.into_iter().filter(|unit| is_possible(mean * unit.ps() as f64));
        let answer = |unit: Unit| Answer {
            key: AskKey::Unit,
            value: unit.name().to_owned(),
            means: format!("the mean is {}", crate::show::time(mean * unit.ps() as f64)),
        };
        possible.map(answer).collect()
    }

    /// The question for what one of something takes.
    pub(crate) fn ask_of_size(place: &Place<'_>, name: &str) -> WorkloadError {
        let answer = |unit: Unit| Answer {
            key: AskKey::Unit,
            value: unit.name().to_owned(),
            means: format!("each takes 1 {}", unit.name()),
        };
        WorkloadError::Ask(Box::new(Ask {
            path: place.0.to_owned(),
            problem: format!("column `{}` counts something and is no time", shorten(name)),
            key: AskKey::Unit,
            answers: [Unit::Ns, Unit::Us, Unit::Ms].map(answer).into(),
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_columns_say_their_unit() {
        for (name, unit) in [
            ("service_us", Unit::Us),
            ("latencyUs", Unit::Us),
            ("latencyMicros", Unit::Us),
            ("responseTimeMS", Unit::Ms),
            ("RTTms", Unit::Ms),
            ("Latency (µs)", Unit::Us),
            ("Latency [μs]", Unit::Us),
            ("rpc_duration_seconds", Unit::S),
            ("rpc_duration_seconds_bucket", Unit::S),
            ("time-in-millis", Unit::Ms),
            ("usecs", Unit::Us),
            ("lat_nsec", Unit::Ns),
            ("us_per_request", Unit::Us),
            ("service_s", Unit::S),
            ("s", Unit::S),
        ] {
            assert_eq!(Unit::of_name(name), Said::Unit(unit), "{name}");
        }
        for name in
            ["elapsed", "response_time", "latency", "times", "service", "class", "p99", "status", "gets"]
        {
            assert_eq!(Unit::of_name(name), Said::Nothing, "{name}");
        }
        for name in ["service_minutes", "cpu_cycles", "service_xs", "us_or_ms"] {
            assert_eq!(Unit::of_name(name), Said::Unknown, "{name}");
        }
    }

    #[test]
    fn names_fall_into_words() {
        assert_eq!(words("responseTimeMs"), ["response", "time", "ms"]);
        assert_eq!(words("Response time [ms]"), ["response", "time", "ms"]);
        assert_eq!(words("DNS+dialup"), ["dns", "dialup"]);
        assert_eq!(words("p99us"), ["p99", "us"]);
    }
}
