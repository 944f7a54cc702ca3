//! The summary that YCSB prints at the end of a run: a histogram of each operation, or percentiles. The recogniser of formats calls
//! [`holds_measurements`] for a text, and [`read_measurements`] if it is such a summary. Pure.

use std::path::Path;

use super::{Bins, Edges};
use crate::error::WorkloadError;
use crate::input::number::{Number, Style};
use crate::input::percentiles::{Moments, Percentiles, percentile_of};
use crate::input::unit::{Said, Unit};
use crate::input::{Columns, Data, Place, Read, Taken, text};

/// The width of a bucket: YCSB's histogram has one for each millisecond.
const BUCKET: Unit = Unit::Ms;

/// Is this what YCSB prints?
pub(in crate::input) fn holds_measurements<'a>(lines: impl Iterator<Item = &'a [u8]>) -> bool {
    let fields = |line: &[u8]| {
        fields(&text(line)).is_some_and(|(_, name, _)| name == "Operations" || name == "RunTime(ms)")
    };
    lines.take(400).any(fields)
}

/// `[READ], 99thPercentileLatency(us), 1234`
fn fields(line: &str) -> Option<(String, String, String)> {
    let (operation, rest) = line.trim().strip_prefix('[')?.split_once("],")?;
    let (name, value) = rest.split_once(',')?;
    Some((operation.to_owned(), name.trim().to_owned(), value.trim().to_owned()))
}

/// One operation.
#[derive(Default)]
struct Operation {
    name: String,
    count: f64,
    average: Option<(f64, Unit)>,
    points: Vec<(f64, u64)>,
    /// The millisecond of each bucket, and its count.
    buckets: Vec<(u64, u64)>,
    /// The millisecond from which on the last bucket reaches, and its count.
    overflow: Option<(u64, u64)>,
}

/// Reads a text for which [`holds_measurements`].
pub(in crate::input) fn read_measurements(
    bytes: &[u8],
    path: &Path,
    _: &Columns,
) -> Result<Read, WorkloadError> {
    let place = Place(path);
    let mut operations: Vec<Operation> = Vec::new();
    for line in text(bytes).lines() {
        let Some((operation, name, value)) = fields(line) else { continue };
        if !operations.iter().any(|known| known.name == operation) {
            operations.push(Operation { name: operation.clone(), ..Operation::default() });
        }
        let found = operations.iter_mut().find(|known| known.name == operation).expect("it was added");
        found.take(&name, &value);
    }
    operations.retain(|operation| operation.name != "OVERALL" && operation.name != "CLEANUP");
    let mut taken = Taken { format: "YCSB's measurements".to_owned(), ..Taken::default() };
    let mut notes = Vec::new();
    if operations.iter().any(|operation| !operation.buckets.is_empty()) {
        let mut bins = Bins::default();
        for operation in &operations {
            operation.add(&mut bins).map_err(|problem| place.whole(problem))?;
        }
        taken.values = bins.count();
        (taken.unit, taken.unit_by) = (Some(BUCKET), "as the writer has it");
        return Ok(Read { taken, data: Data::Histograms(bins.finish(&place, &mut notes)?), notes });
    }
    let percentiles =
        operations.into_iter().filter(|operation| operation.points.len() > 1).map(|operation| Percentiles {
            class: operation.name,
            points: operation.points,
            weight: operation.count.max(1.0),
            stated: Moments {
                mean_ps: operation
                    .average
                    .map(|(average, unit)| average * unit.ps() as f64)
                    .filter(|ps| *ps > 0.0),
                sd_ps: None,
            },
        });
    let percentiles: Vec<Percentiles> = percentiles.collect();
    if percentiles.is_empty() {
        return Err(place.whole(
            "holds no latencies of YCSB's; run it with `-p measurementtype=raw -p measurement.raw.output_file=FILE`, which \
             keeps every one",
        ));
    }
    Ok(Read { taken, data: Data::Percentiles(percentiles), notes })
}

impl Operation {
    fn take(&mut self, name: &str, value: &str) {
        let Ok(number) = Number::parse(value.as_bytes(), Style::POINT) else { return };
        if let Ok(bucket) = name.parse() {
            self.buckets.push((bucket, number.value() as u64));
        } else if let Some(from) = name.strip_prefix('>').and_then(|from| from.trim().parse().ok()) {
            self.overflow = Some((from, number.value() as u64));
        } else if name == "Operations" {
            self.count = number.value();
        } else if let Said::Unit(unit) = Unit::of_name(name) {
            let Some(ps) = number.ps(unit).and_then(|ps| u64::try_from(ps).ok()) else { return };
            if name.starts_with("AverageLatency") {
                self.average = Some((number.value(), unit));
            } else if let Some(percentile) = percentile_of(name) {
                self.points.push((percentile, ps));
            }
        }
    }

    fn add(&self, bins: &mut Bins) -> Result<(), String> {
        let ms = BUCKET.ps();
        let count: u64 = self.buckets.iter().chain(&self.overflow).map(|(_, count)| count).sum();
        for &(bucket, count) in &self.buckets {
            let edges = Edges {
                low_ps: bucket.saturating_mul(ms),
                high_ps: Some(bucket.saturating_add(1).saturating_mul(ms)),
            };
            bins.add(&self.name, edges, count).map_err(|problem| problem.to_string())?;
        }
        if let Some((from, count)) = self.overflow.filter(|(_, count)| *count > 0) {
            let edges = Edges { low_ps: from.saturating_add(1).saturating_mul(ms), high_ps: None };
            bins.add(&self.name, edges, count).map_err(|problem| problem.to_string())?;
        }
        if let Some((average, unit)) = self.average.filter(|_| count > 0) {
            bins.set_sum(&self.name, average * unit.ps() as f64 * count as f64);
        }
        Ok(())
    }
}
