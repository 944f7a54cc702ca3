//! Recognises a distribution that is written as a table: in each row a value, and the share of requests with up to this value, with more,
//! or with exactly it. `columns.rs` calls [`of`] once for each table, with the sample of its first rows, and [`named`] if [`of`] found none;
//! `finish.rs` makes the distribution of all rows by the [`Points`] that were found. Pure.

use super::sample::Sample;

use super::separator::Separator;
use crate::input::text;
use crate::input::unit::words;

/// The meaning of the share in a row of a distribution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Points {
    /// The share of requests with at most the row's value: it rises to 1, or to 100.
    UpTo,
    /// The share of requests with more than the row's value: it falls to 0.
    Beyond,
    /// The share of requests with exactly the row's value: all together are 1, or 100.
    Of,
}

const UP_TO: [&str; 8] = ["cdf", "ecdf", "cumulative", "cum", "cumfreq", "cumprob", "cumsum", "cumulated"];
const BEYOND: [&str; 7] = ["ccdf", "tail", "survival", "complementary", "exceedance", "sf", "eccdf"];
const OF: [&str; 14] = [
    "fraction",
    "fractions",
    "pdf",
    "pmf",
    "density",
    "percent",
    "percentage",
    "pct",
    "share",
    "probability",
    "prob",
    "p",
    "proportion",
    "frequency",
];

/// The relative error that is allowed in the sum of shares, or in the last one: shares in files are rounded.
const ROUNDED: f64 = 0.02;

/// The column of shares in a table, by its name and its first rows, and their meaning; none if the table is no distribution.
pub(super) fn of(sample: &Sample) -> Option<(usize, Points)> {
    let width = sample.width();
    let Some(header) = &sample.header else {
        // Without names, only two columns that both rise, one of them from near 0 to 1, are a distribution.
        let both = (width == 2).then(|| [numbers(sample, 0), numbers(sample, 1)])?;
        let [Some(first), Some(second)] = both else { return None };
        let is_cdf = |shares: &[f64], values: &[f64]| {
            shares.len() > 4
                && rises(shares)
                && values.windows(2).all(|two| two[0] < two[1])
                && shares.iter().any(|share| share.fract() > 0.0)
                && shares[0] < 0.5
                && shares.last().is_some_and(|last| (last - 1.0).abs() <= 1e-6)
        };
        return match (is_cdf(&first, &second), is_cdf(&second, &first)) {
            (true, false) => Some((0, Points::UpTo)),
            (false, true) => Some((1, Points::UpTo)),
            _ => None,
        };
    };
    if width < 2 {
        return None;
    }
    let named = |known: &[&str]| -> Vec<usize> {
        let has = |name: &String| {
            let words = words(name);
            words.iter().any(|word| known.contains(&word.as_str()))
                && words.iter().all(|word| word != "count")
        };
        (0..header.len()).filter(|&at| has(&header[at])).collect()
    };
    let column = |known: &[&str], fits: &dyn Fn(&[f64]) -> bool| {
        named(known).into_iter().find(|&at| numbers(sample, at).is_some_and(|shares| fits(&shares)))
    };
    // A table may hold several classes, one after the other: the shares of each begin anew.
    let each = |shares: &[f64], follows: fn(&f64, &f64) -> bool, end: f64| {
        let runs: Vec<&[f64]> = shares.chunk_by(follows).collect();
        let is_whole = |run: &&[f64]| run.len() > 1 && (run[run.len() - 1] / scale(shares) - end).abs() < 0.1;
        are_shares(shares) && runs[..runs.len() - 1].iter().all(is_whole)
    };
    if let Some(at) = column(&BEYOND, &|shares| each(shares, |a, b| a >= b, 0.0)) {
        return Some((at, Points::Beyond));
    }
    if let Some(at) = column(&UP_TO, &|shares| each(shares, |a, b| a <= b, 1.0)) {
        return Some((at, Points::UpTo));
    }
    // `fraction` may be the share of a value, or of all up to it: what they sum up to tells.
    let ends_whole = |shares: &[f64]| near(shares.last().copied().unwrap_or(0.0), scale(shares));
    let is_up_to = |shares: &[f64]| {
        shares.len() > 2
            && rises(shares)
            && ends_whole(shares)
            && shares.iter().sum::<f64>() > 1.2 * scale(shares)
            && shares.windows(2).any(|two| two[0] < two[1])
    };
    let is_of = |shares: &[f64]| {
        let sum: f64 = shares.iter().sum();
        // Of a long table only the beginning is seen.
        let is_part = shares.len() >= super::sample::ROWS - 1 && sum <= 1.0 + ROUNDED;
        shares.len() > 2 && !rises(shares) && ([1.0, 100.0].iter().any(|all| near(sum, *all)) || is_part)
    };
    // `percent` may also be the name of percentiles, which another file reads.
    let fractions: Vec<&str> =
        OF.iter().copied().filter(|word| !["percent", "percentage", "pct"].contains(word)).collect();
    if let Some(at) = column(&fractions, &|shares| is_up_to(shares)) {
        return Some((at, Points::UpTo));
    }
    column(&OF, &|shares| is_of(shares)).map(|at| (at, Points::Of))
}

/// The column that is named like a distribution (`cdf` and the like). If [`of`] found none, the table is refused with an error that names
/// the column.
pub(super) fn named(sample: &Sample) -> Option<usize> {
    let only = ["cdf", "ecdf", "ccdf", "eccdf"];
    let header = sample.header.as_ref()?;
    header.iter().position(|name| words(name).iter().any(|word| only.contains(&word.as_str())))
}

/// The whole of which these are shares: 1 or 100.
pub(super) fn scale(shares: &[f64]) -> f64 {
    if shares.iter().all(|share| *share <= 1.0 + 1e-6) { 1.0 } else { 100.0 }
}

/// A share, perhaps with `%`, and with a decimal comma where that may be.
fn value(field: &[u8], may_have_comma: bool) -> Option<f64> {
    let text = text(field);
    let text = text.trim_end_matches('%').trim();
    let text = if may_have_comma { text.replacen(',', ".", 1) } else { text.to_owned() };
    text.parse().ok()
}

fn near(found: f64, wanted: f64) -> bool {
    (found / wanted - 1.0).abs() <= ROUNDED
}

fn are_shares(shares: &[f64]) -> bool {
    let most = shares.iter().copied().fold(0.0, f64::max);
    let has_fractions = shares.iter().any(|share| share.fract() > 0.0);
    shares.len() > 2 && (most <= 1.0 + 1e-6 || most <= 100.0 + 1e-3 && (has_fractions || most == 100.0))
}

fn rises(shares: &[f64]) -> bool {
    shares.windows(2).all(|two| two[0] <= two[1])
}

fn numbers(sample: &Sample, at: usize) -> Option<Vec<f64>> {
    let number = |field: &[u8]| value(field, sample.separator != Separator::Byte(b','));
    let numbers: Option<Vec<f64>> = sample.column(at).map(number).collect();
    numbers.filter(|numbers| numbers.iter().all(|number| *number >= 0.0))
}
