//! Objects that say when they began and ended, but not how long they took: the difference is added to each. The reader of JSON does so
//! before it looks for times, and `lines` for each line. Pure.

use serde_json::Value;

use super::keys::time_keys;
use super::values::plain;
use crate::input::between;
use crate::input::dates::epoch_unit;
use crate::input::number::Style;
use crate::input::unit::Unit;

/// Adds what lies between beginning and end to objects that have both and do not say what they take.
pub(super) fn with_differences(json: &mut Value) {
    if let Value::Array(items) = json
        && items.len() > 1
        && items.iter().all(Value::is_object)
        && time_keys(items).is_empty()
        && let Some((start, end)) = ends_of(&items[0])
    {
        let name = format!("duration ({end} - {start})");
        for item in items.iter_mut() {
            let time = difference(&item[&start], &item[&end]);
            if let (Some(map), Some(time)) = (item.as_object_mut(), time) {
                map.insert(name.clone(), Value::String(time));
            }
        }
    }
    match json {
        Value::Array(items) => items.iter_mut().for_each(with_differences),
        Value::Object(map) => map.values_mut().for_each(with_differences),
        _ => {}
    }
}

/// The keys of an object's beginning and end.
pub(super) fn ends_of(object: &Value) -> Option<(String, String)> {
    let keys: Vec<&str> = object.as_object()?.keys().map(String::as_str).collect();
    let (start, end) = between::pair(&keys)?;
    difference(&object[keys[start]], &object[keys[end]])?;
    Some((keys[start].to_owned(), keys[end].to_owned()))
}

/// The time between dates, or between times since 1970, whose unit shows.
pub(super) fn difference(start: &Value, end: &Value) -> Option<String> {
    let (start, end) = (plain(start), plain(end));
    let number = between::between(start.as_bytes(), end.as_bytes(), Style::POINT).ok()?;
    let unit = number.unit.or_else(|| epoch_unit(&start))?;
    // A float of seconds since 1970 has no more than six good decimals.
    let ps = number.ps(unit)?;
    let ns =
        if unit == Unit::S && number.unit.is_none() { (ps + 500_000) / 1_000_000 * 1000 } else { ps / 1000 };
    Some(format!("{ns} ns"))
}
