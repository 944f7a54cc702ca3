//! Numbers as files write them: exact, with a decimal comma or a decimal point, with or without a unit of their own. Each reader of a
//! format parses its fields by it. Pure.
//!
//! `15.044`, `15,044`, `1,234.5`, `1'234.5`, `5e-06`, `1.2ms`, `384 ns`. A number is kept as an integer and a power of ten until its
//! unit is known, so that no digit of it is lost: an epoch in seconds with six decimals has more digits than an `f64`.

use super::shorten;
use super::unit::Unit;
use crate::error::RowProblem;

/// How a file writes its numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Style {
    /// The mark before the decimals: a point or a comma.
    pub(crate) decimal: u8,
    /// The mark between thousands, if there may be one.
    pub(crate) group: Option<u8>,
}

impl Style {
    /// `1234.5`
    pub(crate) const POINT: Style = Style { decimal: b'.', group: None };
    /// `1,234.5`
    pub(crate) const POINT_GROUPED: Style = Style { decimal: b'.', group: Some(b',') };
    /// `1234,5` and `1.234,5`
    pub(crate) const COMMA: Style = Style { decimal: b',', group: Some(b'.') };
}

/// `mantissa` × 10^`exponent`, and the unit that was written behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Number {
    mantissa: u128,
    exponent: i32,
    pub(crate) unit: Option<Unit>,
}

/// More digits than this are read as zeros: they are beyond a picosecond in a century.
const DIGITS_MAX: u32 = 30;

impl Number {
    /// Reads one field without blanks around it.
    pub(crate) fn parse(field: &[u8], style: Style) -> Result<Number, RowProblem> {
        let text = || shorten(&super::text(field));
        if field.is_empty() {
            return Err(RowProblem::Empty);
        }
        let (negative, rest) = match field {
            [b'-', rest @ ..] => (true, rest),
            [b'+', rest @ ..] => (false, rest),
            rest => (false, rest),
        };
        let Some((mut number, used)) = digits(rest, style) else {
            if let Some(duration) = duration(rest) {
                return if negative { Err(RowProblem::Negative(text())) } else { Ok(duration) };
            }
            let word = super::text(rest).to_ascii_lowercase();
            return Err(match ["nan", "inf", "infinity"].contains(&word.as_str()) {
                true => RowProblem::NotFinite(text()),
                false => RowProblem::NotANumber(text()),
            });
        };
        let behind = rest[used..].trim_ascii_start();
        if !behind.is_empty() {
            let unit = Unit::of_word(&super::text(behind));
            if let Some(duration) = unit.is_none().then(|| duration(rest)).flatten() {
                number = duration;
            }
            let unit = unit.or(number.unit);
            number.unit = Some(unit.ok_or_else(|| RowProblem::NotANumber(text()))?);
        }
        if negative && number.mantissa > 0 { Err(RowProblem::Negative(text())) } else { Ok(number) }
    }

    /// In picoseconds, rounded to the nearest, if it is in `unit` (or in a unit of its own); `None` beyond 2^127.
    pub(crate) fn ps(&self, unit: Unit) -> Option<u128> {
        let mantissa = self.mantissa.checked_mul(u128::from(self.unit.unwrap_or(unit).ps()))?;
        if self.exponent >= 0 {
            if mantissa == 0 {
                return Some(0);
            }
            let power = 10u128.checked_pow(self.exponent.unsigned_abs())?;
            return mantissa.checked_mul(power).filter(|ps| *ps <= u128::MAX / 2);
        }
        // A power of ten that does not fit divides anything to nothing.
        let Some(power) = 10u128.checked_pow(self.exponent.unsigned_abs()) else { return Some(0) };
        let (whole, rest) = (mantissa / power, mantissa % power);
        Some(whole + u128::from(rest >= power - rest && rest > 0))
    }

    /// A whole number.
    pub(crate) fn whole(value: u64) -> Number {
        Number { mantissa: u128::from(value), exponent: 0, unit: None }
    }

    /// A number of picoseconds.
    pub(crate) fn of_ps(ps: u64) -> Number {
        Number { mantissa: u128::from(ps), exponent: -12, unit: Some(Unit::S) }
    }

    /// The difference of two numbers of the same unit; none if it is below 0.
    pub(crate) fn minus(self, other: Number) -> Option<Number> {
        let exponent = self.exponent.min(other.exponent);
        let scaled = |number: Number| {
            let power = 10u128.checked_pow(u32::try_from(number.exponent - exponent).ok()?)?;
            number.mantissa.checked_mul(power)
        };
        let mantissa = scaled(self)?.checked_sub(scaled(other)?)?;
        (self.unit == other.unit).then_some(Number { mantissa, exponent, unit: self.unit })
    }

    /// One more in its last digit: `0.048` after `0.047`.
    pub(crate) fn next(self) -> Number {
        Number { mantissa: self.mantissa + 1, ..self }
    }

    /// The same number, of this unit.
    pub(crate) fn in_unit(self, unit: Unit) -> Number {
        Number { unit: Some(unit), ..self }
    }

    /// As a float, whatever its unit.
    pub(crate) fn value(&self) -> f64 {
        self.mantissa as f64 * 10f64.powi(self.exponent)
    }

    /// Digits behind the point.
    pub(crate) fn decimals(&self) -> u32 {
        self.exponent.min(0).unsigned_abs()
    }

    /// Is it no whole number?
    pub(crate) fn has_fraction(&self) -> bool {
        let power = 10u128.checked_pow(self.exponent.min(0).unsigned_abs());
        self.mantissa > 0 && power.is_none_or(|power| !self.mantissa.is_multiple_of(power))
    }

    /// Is it exactly 0?
    #[inline]
    pub(crate) fn is_zero(&self) -> bool {
        self.mantissa == 0
    }

    /// One of its last digit, in picoseconds: a microsecond of `0.012 ms`.
    pub(crate) fn step_ps(&self, unit: Unit) -> u64 {
        self.unit.unwrap_or(unit).ps() / 10u64.checked_pow(self.decimals()).unwrap_or(u64::MAX)
    }

    /// Is it a multiple of 1000?
    pub(crate) fn is_thousands(&self) -> bool {
        !self.has_fraction() && self.value() % 1000.0 == 0.0
    }
}

/// A duration in several units, the largest first: `2min 15.123s`, `1h2m3s`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NumberParts {
    /// The sum of all parts, in seconds.
    pub(crate) number: Number,
    /// How many bytes it takes.
    pub(crate) bytes: usize,
    /// How many units it is written in.
    pub(crate) units: u32,
}

/// The duration at the beginning of `text` that is written in units of falling size, of which the first is minutes, hours or days. A single
/// `5m` is one as well: whether it means minutes is for the caller to know.
pub(crate) fn parts(text: &str) -> Option<NumberParts> {
    /// Seconds in a unit, as a number and a power of ten.
    fn unit(word: &str) -> Option<(u128, i32)> {
        match word.to_lowercase().as_str() {
            "d" | "day" | "days" => Some((86_400, 0)),
            "h" | "hr" | "hrs" | "hour" | "hours" => Some((3_600, 0)),
            "m" | "min" | "mins" | "minute" | "minutes" => Some((60, 0)),
            word => Unit::of_word(word).map(|unit| (1, unit.ps().ilog10() as i32 - 12)),
        }
    }
    let mut found: Vec<(u128, i32)> = Vec::new();
    let (mut bytes, mut before) = (0, None);
    loop {
        let rest = &text[bytes..];
        let rest = if found.is_empty() { rest } else { rest.strip_prefix(' ').unwrap_or(rest) };
        let at = text.len() - rest.len();
        let Some((number, used)) = digits(rest.as_bytes(), Style::POINT) else { break };
        let behind = &rest[used..];
        let blank = usize::from(behind.starts_with(' '));
        let word = behind[blank..].split(|letter: char| !letter.is_alphabetic()).next().unwrap_or("");
        let Some((seconds, power)) = unit(word) else { break };
        // The largest unit is minutes at least, and each is smaller than the one before.
        let size = (power, seconds);
        if before.map_or(seconds == 1, |before| size >= before) {
            break;
        }
        before = Some(size);
        found.push((number.mantissa.checked_mul(seconds)?, number.exponent.checked_add(power)?));
        bytes = at + used + blank + word.len();
    }
    let finest = found.iter().map(|(_, exponent)| *exponent).min()?;
    let mut mantissa = 0u128;
    for &(part, exponent) in &found {
        let power = 10u128.checked_pow(exponent.abs_diff(finest))?;
        mantissa = mantissa.checked_add(part.checked_mul(power)?)?;
    }
    let number = Number { mantissa, exponent: finest, unit: Some(Unit::S) };
    Some(NumberParts { number, bytes, units: found.len() as u32 })
}

/// A duration as node prints it, with its pattern behind it: `1:15.123 (m:ss.mmm)`; and how many bytes it takes.
pub(crate) fn with_pattern(text: &str) -> Option<(Number, usize)> {
    // Looked for at every number of a line, so not through all of it.
    let end =
        text.bytes().take(24).position(|byte| !(byte.is_ascii_digit() || matches!(byte, b':' | b'.')))?;
    let (clock, rest) = text.split_at(end);
    let rest = rest.strip_prefix(" (")?;
    let pattern =
        ["m:ss.mmm", "h:mm:ss.mmm", "h:mm:ss"].into_iter().find(|pattern| rest.starts_with(pattern))?;
    rest[pattern.len()..].strip_prefix(')')?;
    let fields: Vec<&str> = clock.split(':').collect();
    let (hours, minutes, seconds) = match (pattern, fields.as_slice()) {
        ("m:ss.mmm", &[minutes, seconds]) => ("0", minutes, seconds),
        ("h:mm:ss" | "h:mm:ss.mmm", &[hours, minutes, seconds]) => (hours, minutes, seconds),
        _ => return None,
    };
    Some((of_parts(0, hours, minutes, seconds)?, clock.len() + pattern.len() + " ()".len()))
}

/// `00:00:01.250`, `0 days 00:00:00.000031` (pandas), `PT0.5S` (ISO 8601), `1m2.5s` (Go), `1min 15s`: seconds, in whatever parts.
#[cold]
fn duration(field: &[u8]) -> Option<Number> {
    let text = std::str::from_utf8(field).ok()?;
    if let Some(parts) = parts(text).filter(|parts| parts.bytes == text.len() && parts.units > 1) {
        return Some(parts.number);
    }
    let (days, text) = match text.split_once(" day") {
        Some((days, rest)) => (days.parse().ok()?, rest.trim_start_matches('s').trim_start()),
        None => (0u64, text),
    };
    // `P1DT2H`, of which pandas writes `P0DT0H0M0.03S`.
    let (days, text) = match text.strip_prefix('P').and_then(|rest| rest.split_once("DT")) {
        Some((iso_days, rest)) if days == 0 => {
            (iso_days.parse().ok()?, std::borrow::Cow::from(format!("PT{rest}")))
        }
        _ => (days, text.into()),
    };
    let (hours, minutes, seconds) = match text.strip_prefix("PT") {
        Some(mut rest) if !rest.is_empty() => {
            let mut part = |end: char| -> Option<&str> {
                let Some((part, behind)) = rest.split_once(end) else { return Some("0") };
                rest = behind;
                Some(part).filter(|part| !part.is_empty())
            };
            let parts = (part('H')?, part('M')?, part('S')?);
            if !rest.is_empty() {
                return None;
            }
            parts
        }
        Some(_) => return None,
        None => {
            let mut parts = text.split(':');
            let parts = (parts.next()?, parts.next()?, parts.next().filter(|_| parts.next().is_none())?);
            let are_two_digits =
                |part: &str| part.len() >= 2 && part.as_bytes()[..2].iter().all(u8::is_ascii_digit);
            if !are_two_digits(parts.1) || !are_two_digits(parts.2) {
                return None;
            }
            parts
        }
    };
    of_parts(days, hours, minutes, seconds)
}

/// Seconds, of which there may be a part.
fn of_parts(days: u64, hours: &str, minutes: &str, seconds: &str) -> Option<Number> {
    let whole: u64 = hours.parse::<u64>().ok()?.checked_mul(60)?.checked_add(minutes.parse().ok()?)?;
    let whole = days.checked_mul(24 * 3600)?.checked_add(whole.checked_mul(60)?)?;
    let (seconds, used) =
        digits(seconds.as_bytes(), Style::POINT).filter(|(_, used)| *used == seconds.len())?;
    let power = 10u128.checked_pow(seconds.decimals())?;
    let mantissa = u128::from(whole).checked_mul(power)?.checked_add(seconds.mantissa)?;
    (used > 0 && seconds.exponent <= 0).then_some(Number {
        mantissa,
        exponent: seconds.exponent,
        unit: Some(Unit::S),
    })
}

/// The number at the beginning of `text`, and how many bytes it takes.
#[inline]
fn digits(text: &[u8], style: Style) -> Option<(Number, usize)> {
    // Up to 19 digits fit into 64 bits, which is what nearly all numbers have.
    let (mut low, mut kept): (u64, u32) = (0, 0);
    let mut wide: Option<u128> = None;
    let (mut exponent, mut seen, mut fraction, mut at) = (0i32, false, false, 0);
    while let Some(&byte) = text.get(at) {
        if byte.is_ascii_digit() {
            seen = true;
            let digit = byte - b'0';
            if kept < 19 {
                low = low * 10 + u64::from(digit);
                kept += u32::from(low > 0);
                exponent -= i32::from(fraction);
            } else if kept < DIGITS_MAX {
                wide = Some(wide.unwrap_or(u128::from(low)) * 10 + u128::from(digit));
                kept += 1;
                exponent -= i32::from(fraction);
            } else {
                exponent += i32::from(!fraction);
            }
        } else if byte == style.decimal && !fraction {
            fraction = true;
        } else {
            let between = if seen && !fraction { group(&text[at..], style) } else { 0 };
            if between == 0 {
                break;
            }
            at += between - 1;
        }
        at += 1;
    }
    if !seen {
        return None;
    }
    if let Some((power, used)) = power_of_ten(&text[at..]) {
        exponent = exponent.saturating_add(power);
        at += used;
    }
    Some((Number { mantissa: wide.unwrap_or(u128::from(low)), exponent, unit: None }, at))
}

/// How many bytes separate thousands here; 0 if this does not. Apostrophes do in Switzerland, and a blank that keeps a line together
/// does in France: neither means anything else within a number.
#[cold]
fn group(text: &[u8], style: Style) -> usize {
    const OTHERS: [&str; 4] = ["'", "\u{2019}", "\u{a0}", "\u{202f}"];
    let other = || OTHERS.iter().find(|mark| text.starts_with(mark.as_bytes())).map_or(0, |mark| mark.len());
    let length = if style.group == text.first().copied() { 1 } else { other() };
    if length > 0 && is_group(&text[length..]) { length } else { 0 }
}

/// Do exactly three digits follow?
fn is_group(rest: &[u8]) -> bool {
    rest.len() >= 3
        && rest[..3].iter().all(u8::is_ascii_digit)
        && !rest.get(3).is_some_and(u8::is_ascii_digit)
}

/// `e-06`, and how long it is.
fn power_of_ten(rest: &[u8]) -> Option<(i32, usize)> {
    let [b'e' | b'E', digits @ ..] = rest else { return None };
    let (sign, digits, before) = match digits {
        [b'-', digits @ ..] => (-1, digits, 2),
        [b'+', digits @ ..] => (1, digits, 2),
        digits => (1, digits, 1),
    };
    let count = digits.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let power = std::str::from_utf8(&digits[..count]).ok()?.parse::<i32>();
    // Absurd powers make absurd numbers, which are refused as such.
    (count > 0).then(|| (sign * power.unwrap_or(10_000).min(10_000), before + count))
}

/// Is this a number, well written or not, and no name? `1OOO` is a number with a mistake.
pub(crate) fn looks_like_one(field: &[u8]) -> bool {
    // `PT0.031S` is a duration of ISO 8601.
    let begins_as_one = matches!(
        field,
        [b'0'..=b'9', ..]
            | [b'-' | b'+' | b'.', b'0'..=b'9', ..]
            | [b'P', b'T' | b'0'..=b'9', b'0'..=b'9' | b'D', ..]
    );
    begins_as_one || std::str::from_utf8(field).is_ok_and(|text| text.parse::<f64>().is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ps(text: &str, style: Style, unit: Unit) -> Option<u128> {
        Number::parse(text.as_bytes(), style).ok()?.ps(unit)
    }

    #[test]
    fn numbers_keep_all_their_digits() {
        let point = |text| ps(text, Style::POINT, Unit::Us);
        assert_eq!(point("15.044"), Some(15_044_000));
        assert_eq!(point("5e-06"), Some(5));
        assert_eq!(point("1e3"), Some(1_000_000_000));
        assert_eq!(point("+.5"), Some(500_000));
        assert_eq!(point("0.0000005"), Some(1), "half a picosecond is rounded up");
        assert_eq!(point("1.2ms"), Some(1_200_000_000), "its own unit holds");
        assert_eq!(point("384 ns"), Some(384_000));
        assert_eq!(point("1.31072µs"), Some(1_310_720));
        for (text, seconds_ps) in [
            ("00:00:01.250", 1_250_000_000_000),
            ("0 days 00:00:00.000030904", 30_904_000),
            ("1 day, 00:00:01", 0),
            ("1 days 00:00:01", 86_401_000_000_000_000),
            ("PT0.000031S", 31_000_000),
            ("PT1H2M0.5S", 3_720_500_000_000_000),
            ("PT2M", 120_000_000_000_000),
            ("P0DT0H0M0.034S", 34_000_000_000),
            ("P1DT1S", 86_401_000_000_000_000),
            ("1m2.5s", 62_500_000_000_000),
            ("1h0m0.25s", 3_600_250_000_000_000),
            ("1h2s", 3_602_000_000_000_000),
            ("1m 12s", 72_000_000_000_000),
            ("34min 58.123s", 2_098_123_000_000_000),
            ("1 hour 2 minutes", 3_720_000_000_000_000),
            ("2min 5ms", 120_005_000_000_000),
        ] {
            assert_eq!(point(text), Some(seconds_ps).filter(|ps| *ps > 0), "{text}");
        }
        for text in [
            "PT",
            "PT5",
            "PTS",
            "12:30",
            "1:2:3",
            "ms",
            "1mxs",
            "m2s",
            "5m",
            "12s 1m",
            "1m 12",
            "10:20:30:40",
            "127.0.0.1:8080",
            "00:00:xx",
        ] {
            assert_eq!(point(text), None, "{text}");
        }
        assert_eq!(
            ps("1700000000.123456789", Style::POINT, Unit::S),
            Some(1_700_000_000_123_456_789_000),
            "more digits than a float has"
        );
        assert_eq!(ps("1700000000000000000.5", Style::POINT, Unit::Ns), Some(1_700_000_000_000_000_000_500));
        assert_eq!(point("1e99999999999"), None);
        assert_eq!(point("1e-99999999999"), Some(0));
        for wrong in ["", "x", "-5", "1,5", "1.2.3", "12 apples", "NaN", "-inf", "1OOO", "-", "."] {
            assert_eq!(point(wrong), None, "{wrong}");
        }
        assert_eq!(point("-0"), Some(0));
    }

    #[test]
    fn commas_are_decimal_or_separate_thousands() {
        assert_eq!(ps("15,044", Style::COMMA, Unit::Us), Some(15_044_000));
        assert_eq!(ps("1.234,5", Style::COMMA, Unit::Us), Some(1_234_500_000));
        assert_eq!(ps("15,044", Style::POINT_GROUPED, Unit::Us), Some(15_044_000_000));
        assert_eq!(ps("1,234,567.5", Style::POINT_GROUPED, Unit::Ns), Some(1_234_567_500));
        assert_eq!(ps("1,23", Style::POINT_GROUPED, Unit::Us), None, "no group of three");
        for text in ["1'234.5", "1\u{2019}234.5", "1\u{202f}234.5", "1\u{a0}234.5"] {
            assert_eq!(ps(text, Style::POINT, Unit::Us), Some(1_234_500_000), "{text}");
        }
        assert_eq!(ps("1'234'567,5", Style::COMMA, Unit::Ns), Some(1_234_567_500));
        for text in ["1'23", "'123", "1'2345", "1.5'123", "1''234"] {
            assert_eq!(ps(text, Style::POINT, Unit::Us), None, "{text}");
        }
    }

    #[test]
    fn fractions_and_thousands_are_told() {
        let number = |text: &str| Number::parse(text.as_bytes(), Style::POINT).unwrap();
        assert!(number("15.044").has_fraction() && !number("15.000").has_fraction());
        assert!(number("15000").is_thousands() && !number("15001").is_thousands());
        assert!(number("5e-6").has_fraction() && !number("0").has_fraction());
        assert!(number("2e4").is_thousands());
    }
}
