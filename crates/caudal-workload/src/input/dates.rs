//! Dates with a time of day, and numbers that can only be epochs. The readers of arrivals, of spans and of beginnings and ends parse
//! their fields by it. Pure.

use jiff::Timestamp;
use jiff::civil::DateTime;

use super::unit::Unit;

/// Does this begin with a date?
pub(super) fn is_date(field: &str) -> bool {
    let digits = field.bytes().take_while(u8::is_ascii_digit).count();
    digits == 4 && field.as_bytes().get(4).is_some_and(|&byte| byte == b'-' || byte == b'/')
}

/// The instant of a date with a time of day, in ps since 1970; one without a zone counts as UTC.
pub(super) fn date_ps(field: &str) -> Option<i128> {
    let mut text = field.trim().replace('/', "-");
    // A comma before the decimals is as good as a point.
    if let Some(comma) = text.find(',') {
        text.replace_range(comma..=comma, ".");
    }
    // Nine digits of a second are as many as a time has here.
    if let Some(point) = text.find('.') {
        let digits = text[point + 1..].bytes().take_while(u8::is_ascii_digit).count();
        if digits > 9 {
            text.replace_range(point + 10..point + 1 + digits, "");
        }
    }
    let text = text.strip_suffix(" UTC").unwrap_or(&text);
    let instant = text.parse::<Timestamp>().ok().or_else(|| {
        let civil: DateTime = text.parse().ok()?;
        jiff::tz::Offset::UTC.to_timestamp(civil).ok()
    })?;
    Some(instant.as_nanosecond() * 1000)
}

/// The unit in which this is a time between 2001 and 2100.
pub(super) fn epoch_unit(field: &str) -> Option<Unit> {
    let value: f64 = field.parse().ok()?;
    let is_epoch =
        |unit: &Unit| (978_307_200.0..4_102_444_800.0).contains(&(value * unit.ps() as f64 / 1e12));
    [Unit::S, Unit::Ms, Unit::Us, Unit::Ns].into_iter().find(is_epoch)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_instants() {
        let at = |text| date_ps(text).unwrap_or_else(|| panic!("{text}"));
        let plain = at("2023-11-16 18:01:51.0828250");
        assert_eq!(plain, 1_700_157_711_082_825_000_000);
        for same in [
            "2023-11-16T18:01:51.082825",
            "2023-11-16T18:01:51.082825Z",
            "2023-11-16T19:01:51.082825+01:00",
            "2023-11-16 18:01:51,082825",
            "2023/11/16 18:01:51.082825",
            "2023-11-16 18:01:51.082825000000",
            "2023-11-16 18:01:51.082825 UTC",
        ] {
            assert_eq!(at(same), plain, "{same}");
        }
        assert_eq!(date_ps("2023-13-16 18:01:51"), None);
    }

    #[test]
    fn epochs_are_known_by_their_size() {
        assert_eq!(epoch_unit("1700000000.01"), Some(Unit::S));
        assert_eq!(epoch_unit("1700000000000"), Some(Unit::Ms));
        assert_eq!(epoch_unit("1700000000000000"), Some(Unit::Us));
        assert_eq!(epoch_unit("1700000000000000000"), Some(Unit::Ns));
        assert_eq!(epoch_unit("12.5"), None);
    }
}
