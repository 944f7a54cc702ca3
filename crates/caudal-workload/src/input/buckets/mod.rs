//! Histograms: counts of values within bounds, as tools print them. Every reader of buckets fills a [`Bins`] while it reads a file, and calls
//! [`Bins::finish`] in the end, which makes values of the buckets. Pure.
//!
//! A file does not say where in its bucket a value lies. Values are spread evenly there. If the file has the sum of all values, they are
//! spread so that their mean is right. An interval tells the user how much remains unknown ([`Finding::Coarse`](crate::Finding)).

mod prometheus;
mod ranges;
mod redis;
mod ycsb;

pub(super) use prometheus::{from_query, holds_exposition, read_exposition};
pub(super) use ranges::{holds_ranges, read_ranges};
pub(super) use redis::{holds_latency_stats, holds_replies, read_latency_stats, read_replies};
pub(super) use ycsb::{holds_measurements, read_measurements};

use super::{Histogram, Place};
use crate::LONGEST_PS;
use crate::error::{Answer, Ask, AskKey, RowProblem, WorkloadError};
use crate::input::Bucket;

/// The bounds of a bucket: values are at least `low_ps`, and below `high_ps` if there is an upper bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Edges {
    pub(super) low_ps: u64,
    pub(super) high_ps: Option<u64>,
}

/// Histograms that are being read, one a class.
#[derive(Debug, Default)]
pub(super) struct Bins {
    classes: Vec<Class>,
}

#[derive(Debug, Default)]
struct Class {
    name: String,
    bins: Vec<(Edges, u64)>,
    /// The last upper bound of a cumulative histogram, and the number of values up to it.
    up_to: (u64, u64),
    sum_ps: Option<f64>,
}

/// The upper bound of the last bucket as a multiple of its lower bound, if the file has no upper bound.
const ENDLESS: u64 = 2;

impl Bins {
    pub(super) fn is_empty(&self) -> bool {
        self.classes.is_empty()
    }

    /// Values of all classes.
    pub(super) fn count(&self) -> u64 {
        self.classes.iter().flat_map(|class| &class.bins).map(|(_, count)| count).sum()
    }

    /// The sum of all values, if they lie in the middle of their buckets.
    pub(super) fn middle_sum_ps(&self) -> f64 {
        let middle = |edges: &Edges| {
            edges.low_ps as f64 / 2.0
                + edges.high_ps.unwrap_or(ENDLESS.saturating_mul(edges.low_ps)) as f64 / 2.0
        };
        let bins = self.classes.iter().flat_map(|class| &class.bins);
        bins.map(|(edges, count)| *count as f64 * middle(edges)).sum()
    }

    fn class(&mut self, name: &str) -> Result<&mut Class, RowProblem> {
        let at = match self.classes.iter().position(|class| class.name == name) {
            Some(at) => at,
            None => {
                super::new_class(name, self.classes.len())?;
                self.classes.push(Class { name: name.to_owned(), ..Class::default() });
                self.classes.len() - 1
            }
        };
        Ok(&mut self.classes[at])
    }

    /// Adds a bucket.
    pub(super) fn add(&mut self, class: &str, edges: Edges, count: u64) -> Result<(), RowProblem> {
        if let Some(high_ps) = edges.high_ps.filter(|&high_ps| high_ps <= edges.low_ps) {
            return Err(RowProblem::Format(format!(
                "its upper bound ({}) is not above its lower one ({})",
                crate::format::time(high_ps as f64),
                crate::format::time(edges.low_ps as f64)
            )));
        }
        self.class(class)?.bins.push((edges, count));
        Ok(())
    }

    /// Adds a row of a cumulative histogram: the number of values up to `upper_ps`, or of all values if that is none.
    pub(super) fn add_up_to(
        &mut self,
        class: &str,
        upper_ps: Option<u64>,
        count: u64,
    ) -> Result<(), RowProblem> {
        let found = self.class(class)?;
        let (last_ps, last) = found.up_to;
        let more = count.checked_sub(last).ok_or_else(|| {
            RowProblem::Format(format!(
                "{count} values up to here are fewer than the {last} up to the bound before; are these counts cumulative?"
            ))
        })?;
        if upper_ps.is_some_and(|upper_ps| upper_ps <= last_ps && !found.bins.is_empty()) {
            return Err(RowProblem::Format("the bounds must increase".to_owned()));
        }
        // A value at a bound belongs to the bucket below the bound.
        let low_ps = if found.bins.is_empty() { 0 } else { last_ps + 1 };
        found.bins.push((Edges { low_ps, high_ps: upper_ps.map(|upper_ps| upper_ps + 1) }, more));
        found.up_to = (upper_ps.unwrap_or(last_ps), count);
        Ok(())
    }

    /// Keeps the sum of a class's values, which the file says.
    pub(super) fn set_sum(&mut self, class: &str, sum_ps: f64) {
        if let Ok(class) = self.class(class) {
            class.sum_ps = Some(sum_ps).filter(|sum_ps| sum_ps.is_finite() && *sum_ps > 0.0);
        }
    }

    /// The histograms; classes without values are left out.
    pub(super) fn finish(
        self,
        place: &Place<'_>,
        notes: &mut Vec<String>,
    ) -> Result<Vec<Histogram>, WorkloadError> {
        let several = self.classes.len() > 1;
        let mut histograms = Vec::new();
        for class in self.classes {
            histograms.extend(class.finish(place, several, notes)?);
        }
        if histograms.is_empty() {
            return Err(place.whole("holds no recorded values"));
        }
        Ok(histograms)
    }
}

impl Class {
    fn finish(
        mut self,
        place: &Place<'_>,
        several: bool,
        notes: &mut Vec<String>,
    ) -> Result<Option<Histogram>, WorkloadError> {
        self.bins.retain(|(_, count)| *count > 0);
        self.bins.sort_by_key(|(edges, _)| edges.low_ps);
        let of = if several { format!(" of `{}`", self.name) } else { String::new() };
        let mut edges: Vec<(u64, u64)> = Vec::new();
        for (bin, _) in &self.bins {
            let low_ps = bin.low_ps.max(1);
            if edges.last().is_some_and(|&(_, before)| before >= low_ps) {
                return Err(place.whole(format!(
                    "the buckets{of} overlap at {}; is it a histogram, and one only?",
                    crate::format::time(low_ps as f64)
                )));
            }
            let high_ps = bin.high_ps.map_or_else(|| ENDLESS.saturating_mul(low_ps), |high_ps| high_ps - 1);
            edges.push((low_ps, high_ps.clamp(low_ps, LONGEST_PS.max(low_ps))));
        }
        let counts: Vec<u64> = self.bins.iter().map(|(_, count)| *count).collect();
        let Some((last, count)) = self.bins.last().copied() else { return Ok(None) };
        if last.high_ps.is_none() {
            self.stretch_last(&mut edges, &counts);
            let (low_ps, high_ps) = edges[edges.len() - 1];
            let by = if self.sum_ps.is_some() { "by the sum of all" } else { "a guess" };
            notes.push(format!(
                "{count} values{of} take {} or longer, and nothing says how long: they are taken as up to {} ({by}); \
                 measure with more buckets",
                crate::format::time(low_ps as f64),
                crate::format::time(high_ps as f64)
            ));
        }
        let spread = spread(&edges, &counts, self.sum_ps);
        if self.sum_ps.is_some() && spread.is_none() {
            notes.push(format!("the sum{of} does not fit its buckets, and is passed over"));
        }
        let buckets = edges.iter().zip(&counts).map(|(&(low_ps, high_ps), &count)| {
            let (low_ps, high_ps) = within(low_ps, high_ps, spread.unwrap_or(0.5));
            Bucket { low_ps, high_ps, count }
        });
        let buckets = buckets.collect();
        Ok(Some(Histogram {
            class: self.name,
            buckets,
            edges,
            sum_ps: self.sum_ps.filter(|_| spread.is_some()),
        }))
    }

    /// Moves the upper bound of the last bucket so that the values have the sum that the file says.
    fn stretch_last(&self, edges: &mut [(u64, u64)], counts: &[u64]) {
        let Some(sum_ps) = self.sum_ps else { return };
        let (last, others) = (edges.len() - 1, &edges[..edges.len() - 1]);
        let before: f64 = others
            .iter()
            .zip(counts)
            .map(|((low, high), count)| *count as f64 * (*low as f64 + *high as f64) / 2.0)
            .sum();
        let mean_ps = (sum_ps - before) / counts[last] as f64;
        let low_ps = edges[last].0;
        let high_ps = (2.0 * mean_ps - low_ps as f64).min(LONGEST_PS as f64);
        edges[last].1 = (high_ps.max(low_ps as f64 * 1.01) as u64).max(low_ps);
    }
}

/// The mean place of values in their buckets, from 0 at the lower bound to 1 at the upper one, if they sum up to `sum_ps`.
fn spread(edges: &[(u64, u64)], counts: &[u64], sum_ps: Option<f64>) -> Option<f64> {
    let of = |value: &dyn Fn(&(u64, u64)) -> f64| -> f64 {
        edges.iter().zip(counts).map(|(edges, count)| *count as f64 * value(edges)).sum()
    };
    let low = of(&|edges| edges.0 as f64);
    let width = of(&|edges| (edges.1 - edges.0) as f64);
    let at = (sum_ps? - low) / width;
    (0.0..=1.0).contains(&at).then_some(at)
}

/// The part of a bucket in which evenly spread values have their mean at the place `at`, 0 to 1.
fn within(low_ps: u64, high_ps: u64, at: f64) -> (u64, u64) {
    let width = (high_ps - low_ps) as f64;
    if at <= 0.5 {
        (low_ps, low_ps + (2.0 * at * width).round() as u64)
    } else {
        (high_ps - (2.0 * (1.0 - at) * width).round() as u64, high_ps)
    }
}

/// The error that asks the user which of several histograms to take.
pub(super) fn which_one(place: &Place<'_>, names: &[(String, u64)]) -> WorkloadError {
    let answer = |(name, count): &(String, u64)| Answer {
        key: AskKey::Column,
        value: name.clone(),
        means: format!("{count} values"),
    };
    WorkloadError::Ask(Box::new(Ask {
        path: place.0.to_owned(),
        problem: format!("holds {} histograms", names.len()),
        key: AskKey::Column,
        answers: names.iter().take(12).map(answer).collect(),
    }))
}
