//! The fields of a table that are no times: intervals, counts, shares, bounds without an end. `content` parses each such field by it, and
//! `finder` asks what a field looks like. Pure.

use crate::error::RowProblem;
use crate::input::number::looks_like_one;
use crate::input::{shorten, text};

/// An end of an interval, and whether it belongs to it.
#[derive(Clone, Copy)]
pub(super) struct Bound<'a> {
    pub(super) field: &'a [u8],
    pub(super) belongs: bool,
}

/// An interval as mathematics and pandas write it, `(0.5, 1.0]`: its ends.
pub(super) fn interval(field: &[u8]) -> Option<[Bound<'_>; 2]> {
    let [open @ (b'(' | b'['), inner @ .., close @ (b')' | b']')] = field.trim_ascii() else { return None };
    let comma = inner.iter().position(|&byte| byte == b',')?;
    let (low, high) = (inner[..comma].trim_ascii(), inner[comma + 1..].trim_ascii());
    let is_bound =
        |field: &[u8]| looks_like_one(field) || is_endless(field.strip_prefix(b"-").unwrap_or(field));
    let bounds =
        [Bound { field: low, belongs: *open == b'[' }, Bound { field: high, belongs: *close == b']' }];
    bounds.iter().all(|bound| is_bound(bound.field)).then_some(bounds)
}

pub(super) fn is_endless(field: &[u8]) -> bool {
    let field = field.strip_prefix(b"+").unwrap_or(field);
    field.is_empty()
        || [&b"inf"[..], b"infinity", b"...", b"max"].iter().any(|end| field.eq_ignore_ascii_case(end))
}

/// A whole number of values.
pub(super) fn count(field: &[u8]) -> Result<u64, RowProblem> {
    let shown = || shorten(&text(field));
    let number = share(field)?;
    if number.fract() != 0.0 || number > 1e15 {
        return Err(RowProblem::Format(format!(
            "`{}` is no number of values; write a whole number",
            shown()
        )));
    }
    Ok(number as u64)
}

/// How often a value occurs, as a number from 0 on.
pub(super) fn share(field: &[u8]) -> Result<f64, RowProblem> {
    let shown = text(field);
    let found = shown.trim().parse::<f64>().ok().filter(|share| (0.0..=1e15).contains(share));
    found.ok_or_else(|| {
        RowProblem::Format(format!(
            "`{}` is not how often a value occurs: write a count or a share, from 0 on",
            shorten(&shown)
        ))
    })
}
