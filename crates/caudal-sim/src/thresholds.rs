//! From a service to the bins that tail-control's table is made of.
//!
//! What the bins are, the paper leaves to the service provider: here they are as wide as each other on a logarithmic
//! scale, so that a heavy tail is told apart as well as the bulk; [`Binning::Paper`] has equal ones, all of whose work is
//! their maximum.
//!
//! Source: Li et al., PPoPP 2016, section 4.1.

use caudal_policy::Picos;
use caudal_policy::parallelism::ThresholdTable;
use caudal_policy::parallelism::thresholds::{Bin, Demand, DemandFault, Knowledge, Pileup};
use caudal_workload::Service;

/// Of a distribution without end, what lies beyond this quantile is left out.
const TOP: f64 = 1.0 - 1e-7;
/// Of it, what lies below this one is in the first bin.
const BOTTOM: f64 = 1e-7;

/// How work is shared out to bins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Binning {
    /// At most so many bins, equal on a logarithmic scale; each counts with its own mean.
    Log(u32),
    /// So many bins of equal width, all of whose requests count with the most work that is possible in it.
    Paper(u32),
}

impl Default for Binning {
    fn default() -> Self {
        Binning::Log(1000)
    }
}

/// Rows of a table that nobody asked for a size of.
pub const ROWS: u32 = 400;

/// The work of `service` in bins that hold any request; `serial` is the share of it that one core does alone, if its graphs
/// were not recorded: of those, each bin has the mean span.
pub fn bins(service: &Service, binning: Binning, serial: f64) -> Vec<Bin> {
    let (count, paper) = match binning {
        Binning::Log(count) => (count, false),
        Binning::Paper(count) => (count, true),
    };
    let low = service.quantile(BOTTOM).max(1);
    let high = service.max_ps().unwrap_or_else(|| service.quantile(TOP));
    let edge = |at: u32| match (at == count, paper) {
        (true, _) => high,
        (_, true) => (high as f64 * f64::from(at) / f64::from(count)) as u64,
        // The first bin begins below the shortest request.
        (_, false) => (low as f64 * (high as f64 / low as f64).powf(f64::from(at) / f64::from(count))) as u64,
    };
    let mut bins = Vec::with_capacity(count as usize);
    let all = service.excess(0);
    let mut before = (all.share, all.mean_ps);
    let mut from_ps = 0;
    let held = service.cdf(high);
    for at in 1..=count {
        let end_ps = edge(at);
        if end_ps <= from_ps {
            continue;
        }
        let left = service.excess(end_ps);
        let beyond = (left.share, left.mean_ps + left.share * end_ps as f64);
        let share = before.0 - beyond.0;
        if share <= 0.0 {
            continue;
        }
        // The longest that there is, where there are only some.
        let most_ps = service.quantile(service.cdf(end_ps)).clamp(from_ps + 1, end_ps) as f64;
        let mean_ps = ((before.1 - beyond.1) / share).clamp(from_ps as f64, most_ps);
        let mean_ps = if paper { most_ps } else { mean_ps.max(1.0) };
        let recorded = service.dag().recorded().map(|recorded| recorded.mean_span_ps(from_ps, end_ps));
        bins.push(Bin {
            share: share / held,
            mean_s: mean_ps / 1e12,
            most_s: most_ps / 1e12,
            span_s: recorded.unwrap_or(serial * mean_ps) / 1e12,
        });
        (before, from_ps) = (beyond, end_ps);
    }
    bins
}

/// The table of `service` at a mean gap of `mean_gap_ps`, for `target` on `cores`.
///
/// # Errors
/// [`DemandFault`]: most of all, a load that takes all cores.
pub fn table(
    service: &Service,
    (target, mean_gap_ps): (Picos, f64),
    cores: u32,
    knowledge: Knowledge,
) -> Result<ThresholdTable, DemandFault> {
    let bins = bins(service, Binning::default(), service.dag().span());
    let demand = Demand {
        target_s: target.0 as f64 / 1e12,
        rps: 1e12 / mean_gap_ps,
        cores: f64::from(cores),
        knowledge,
    };
    Ok(Pileup::new(&bins, demand)?.table(ROWS).into_iter().collect())
}
