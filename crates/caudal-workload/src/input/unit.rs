//! The units of times, and how names of columns, metrics and maps mention them. Every reader asks for the unit that a name says, before
//! it converts values. Pure.

use serde::{Deserialize, Serialize};

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

/// The unit that a name mentions, if any.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Said {
    /// The name mentions this unit.
    Unit(Unit),
    /// One that is not known here, such as minutes or cycles, or two at once.
    Unknown,
    /// The name mentions no unit.
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

    /// The name of the unit in files.
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

    /// The unit in the name of a column, of a metric or of a map: `service_us`, `latencyMs`, `Latency (µs)`,
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
