//! Tables of percentiles: a percentile a column, or a percentile a row. The finder of columns asks before it looks for values.

use super::finder::Finder;
use super::layout::{Filter, Layout, Role, Shape};
use super::names::{is_arrival, is_index, is_no_time, row_unit};
use super::presets::Preset;
use crate::error::WorkloadError;
use crate::input::percentiles::Statistic;
use crate::input::unit::{Unit, words};

/// Writers of tables of percentiles: what is in which unit there, and columns by which they are known.
const SUMMARIES: [(&str, Unit, &[&str]); 3] = [
    ("Locust", Unit::Ms, &["Request Count", "Median Response Time", "Average Response Time"]),
    ("Taurus", Unit::S, &["avg_ct", "avg_lt", "avg_rt", "perc_50.0"]),
    ("perf_analyzer", Unit::Us, &["Concurrency", "Inferences/Second", "Client Send", "p99 latency"]),
];

impl Finder<'_> {
    /// The layout of a table whose columns are percentiles.
    pub(super) fn percentiles(
        &self,
        preset: Option<&Preset>,
        filters: &[Filter],
    ) -> Result<Option<Layout>, WorkloadError> {
        let Some(header) = self.header().filter(|_| preset.is_none()) else { return Ok(None) };
        let mut columns: Vec<(usize, Statistic)> = Vec::new();
        for (at, name) in header.iter().enumerate() {
            // `Median Response Time` and `50%` say the same: the first one does.
            let statistic = Statistic::of(name);
            columns.extend(
                statistic.filter(|one| columns.iter().all(|(_, known)| known != one)).map(|one| (at, one)),
            );
        }
        let is_inner =
            |statistic: &Statistic| matches!(statistic, Statistic::Percentile(p) if *p > 0.0 && *p < 100.0);
        if columns.iter().filter(|(_, statistic)| is_inner(statistic)).count() < 2 {
            return Ok(None);
        }
        let writer = SUMMARIES
            .iter()
            .find(|(_, _, names)| names.iter().all(|name| header.iter().any(|found| found == name)));
        let first = columns.iter().find(|(_, statistic)| is_inner(statistic)).map_or(0, |(at, _)| *at);
        let unit = match (writer, self.wanted.unit) {
            (_, Some(unit)) => Some((unit, "as you said")),
            (Some((_, unit, _)), None) => Some((*unit, "as the writer has it")),
            (None, None) => self.unit(first, None, Some(header[first].as_str()))?,
        };
        let of_statistics = |at: usize| columns.iter().any(|(column, _)| *column == at);
        let class = match &self.wanted.class_column {
            Some(wanted) => Some(self.column(wanted)?),
            None => {
                let names: Vec<usize> = (0..header.len())
                    .filter(|&at| !self.is_mostly_numbers(at) && !of_statistics(at) && self.is_no_when(at))
                    .filter(|&at| words(&header[at]).iter().all(|word| word != "unit"))
                    .collect();
                let named = ["name", "class", "test", "label"];
                let by_name = |&&at: &&usize| named.contains(&header[at].to_lowercase().as_str());
                names.iter().find(by_name).or(names.first()).copied()
            }
        };
        let count = header.iter().position(|name| {
            let words = words(name);
            words.last().is_some_and(|last| last == "count") || name.eq_ignore_ascii_case("requests")
        });
        // Rows without names are of runs or of intervals, which have a number or a time; those of metrics have names that say so.
        let are_metrics = |at: &usize| {
            let of_metric = ["metric", "metrics", "measure", "measurement", "statistic"];
            of_metric.contains(&header[*at].to_lowercase().as_str())
                || self.sample.column(*at).any(|field| row_unit(field).is_some())
        };
        let asked = self.wanted.class_column.as_ref().is_some_and(|name| !name.is_empty());
        let rows_by = match class {
            Some(class) => Some(class).filter(are_metrics),
            None => (0..header.len()).find(|at| columns.iter().all(|(column, _)| column != at)),
        };
        let rows_by = rows_by.filter(|_| !asked);
        Ok(Some(Layout {
            value: first,
            value_name: None,
            rows_by,
            label: None,
            when: (0..header.len())
                .find(|&at| is_arrival(&header[at]) || !self.is_no_when(at))
                .or_else(|| (0..header.len()).find(|&at| Some(at) != class && !of_statistics(at))),
            status: None,
            means_of: None,
            names: header.clone(),
            class,
            class_name: class.map(|class| self.title(class)),
            class_names: &[],
            filters: filters.to_vec(),
            success: None,
            runs: None,
            unit,
            style: self.style(first)?,
            width: self.sample.width(),
            format: match writer {
                Some((writer, ..)) => format!("percentiles of {writer}"),
                None => "a table of percentiles".into(),
            },
            has_arrivals: None,
            note: None,
            shape: Shape::Percentiles { columns, count },
        }))
    }

    /// The column that says which percentile a row is: by its own name, by the names in it (`p50`, `p99`; `mean` and `count` may
    /// stand among them), or, if it has no name, as a table of pandas' quantiles has none, by shares that rise.
    pub(super) fn percentile_column(&self, preset: Option<&Preset>, class: Option<usize>) -> Option<usize> {
        if preset.is_some() || self.role == Role::Arrival || self.sample.width() < 2 {
            return None;
        }
        let named = ["percentile", "quantile", "percent", "percentage", "pct", "statistic"];
        let by_name = self.header().and_then(|header| {
            header.iter().position(|name| words(name).iter().any(|word| named.contains(&word.as_str())))
        });
        let are_statistics = |&at: &usize| {
            let names: Vec<String> = self.sample.column(at).map(crate::input::text).collect();
            let inner = |name: &&String| matches!(Statistic::of(name), Some(Statistic::Percentile(_)));
            names.iter().filter(inner).count() > names.len() / 3
                && names.iter().all(|name| Statistic::of(name).is_some() || is_no_time(name))
        };
        let are_shares = |&at: &usize| {
            let shares: Option<Vec<f64>> =
                self.sample.column(at).map(|field| crate::input::text(field).parse().ok()).collect();
            shares.is_some_and(|shares| {
                shares.iter().all(|share| (0.0..=1.0).contains(share))
                    && shares.iter().filter(|share| share.fract() > 0.0).count() > 1
                    // Of several classes, one after the other, each begins anew.
                    && shares.chunk_by(|a, b| a < b).all(|run| run.len() > 1 && run[0] == shares[0])
            })
        };
        let unnamed = self.header().and_then(|header| header.iter().position(|name| is_index(name)));
        by_name
            .or_else(|| class.filter(are_statistics))
            .or_else(|| unnamed.filter(|at| are_statistics(at) || are_shares(at)))
    }
}
