//! The bins of a service's work, of which tail-control's table is made. The tuner's thresholds ask for them, and `built_in` does where
//! thresholds are computed anew while a system runs. Pure.
//!
//! The paper leaves the choice of bins to the service provider. Here all bins have the same width on a logarithmic
//! scale, so that a heavy tail is told apart as well as the bulk; [`Binning::Paper`] has equal ones, all of whose work is
//! their maximum.
//!
//! Source: Li et al., PPoPP 2016, section 4.1.

use caudal_policy::Picos;
use caudal_policy::parallelism::thresholds::classes::{Class, ClassPileup};
use caudal_policy::parallelism::thresholds::{Bin, Demand, DemandFault, Knowledge, Pileup};
use caudal_policy::parallelism::{ClassTables, ThresholdTable};
use caudal_workload::{Excess, Service};

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

/// The load and the targets that tables are for.
#[derive(Clone, Debug)]
pub struct TableDemand {
    /// Target latencies by class of the service; one for all, if all have the same.
    pub targets: Vec<Picos>,
    /// Mean time between arrivals, in ps.
    pub mean_gap_ps: f64,
    /// The factor by which the service's times are multiplied.
    pub work: f64,
    /// Cores.
    pub cores: u32,
    /// When large requests are known to be.
    pub knowledge: Knowledge,
}

/// The work of `service` in bins that hold any request; `serial` is the share of it that one core does alone, if its graphs
/// were not recorded: of those, each bin has the mean span.
pub fn bins(service: &Service, binning: Binning, serial: f64) -> Vec<Bin> {
    let edges = edges_ps(service, binning);
    let cut = Cut { service, paper: is_paper(binning), serial, held: service.cdf(edges[edges.len() - 1]) };
    let left = |ps| service.excess(ps);
    let longest = |end_ps| service.quantile(service.cdf(end_ps));
    cut.bins(&edges, left, longest)
}

/// The same of each class, in bins that all of them share; shares are those of all requests.
pub fn class_bins(service: &Service, binning: Binning, serial: f64) -> Vec<Vec<Bin>> {
    let edges = edges_ps(service, binning);
    let held = service.cdf(edges[edges.len() - 1]);
    let of_class = |class: usize| {
        let weight = service.class_weight(class);
        if weight <= 0.0 {
            return Vec::new();
        }
        let cut = Cut { service, paper: is_paper(binning), serial, held: held / weight };
        // All end at the same edges, so that a threshold stands for the same work everywhere.
        cut.bins(&edges, |ps| service.class_excess(class, ps), |end_ps| end_ps)
    };
    (0..service.classes().len()).map(of_class).collect()
}

fn is_paper(binning: Binning) -> bool {
    matches!(binning, Binning::Paper(_))
}

/// Ends of bins, in ps, rising.
fn edges_ps(service: &Service, binning: Binning) -> Vec<u64> {
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
    let mut edges: Vec<u64> = (1..=count).map(edge).collect();
    edges.dedup();
    edges
}

/// How a distribution is cut into bins.
struct Cut<'a> {
    service: &'a Service,
    /// Do all requests of a bin count with its most work?
    paper: bool,
    /// Share of a request's work that one core does alone.
    serial: f64,
    /// Share of the requests that any bin holds.
    held: f64,
}

impl Cut<'_> {
    fn bins(&self, edges: &[u64], left: impl Fn(u64) -> Excess, longest: impl Fn(u64) -> u64) -> Vec<Bin> {
        let mut bins = Vec::with_capacity(edges.len());
        let all = left(0);
        let mut before = (all.share, all.mean_ps);
        let mut from_ps = 0;
        for &end_ps in edges.iter().filter(|&&end_ps| end_ps > 0) {
            let left = left(end_ps);
            let beyond = (left.share, left.mean_ps + left.share * end_ps as f64);
            let share = before.0 - beyond.0;
            if share <= 0.0 {
                continue;
            }
            // The longest that there is, where there are only some.
            let most_ps = longest(end_ps).clamp(from_ps + 1, end_ps) as f64;
            let mean_ps = ((before.1 - beyond.1) / share).clamp(from_ps as f64, most_ps);
            let mean_ps = if self.paper { most_ps } else { mean_ps.max(1.0) };
            // Of recorded graphs, that of all requests with such work.
            let recorded = self.service.dag().recorded().map(|all| all.mean_span_ps(from_ps, end_ps));
            bins.push(Bin {
                share: share / self.held,
                mean_s: mean_ps / 1e12,
                most_s: most_ps / 1e12,
                span_s: recorded.unwrap_or(self.serial * mean_ps) / 1e12,
            });
            (before, from_ps) = (beyond, end_ps);
        }
        bins
    }
}

/// The tables of `service`.
///
/// # Errors
/// [`DemandFault`]: most of all, a load that takes all cores.
pub fn tables(service: &Service, wanted: &TableDemand) -> Result<ClassTables, DemandFault> {
    let seconds = |target: Picos| target.0 as f64 / 1e12;
    let demand = Demand {
        target_s: wanted.targets.first().map_or(0.0, |&target| seconds(target)),
        rps: 1e12 / wanted.mean_gap_ps,
        cores: f64::from(wanted.cores),
        knowledge: wanted.knowledge,
    };
    let stretched = |bin: Bin| Bin {
        mean_s: bin.mean_s * wanted.work,
        most_s: bin.most_s * wanted.work,
        span_s: bin.span_s * wanted.work,
        ..bin
    };
    let serial = service.dag().span();
    if wanted.targets.len() == 1 {
        let bins: Vec<Bin> = bins(service, Binning::default(), serial).into_iter().map(stretched).collect();
        let table: ThresholdTable = Pileup::new(&bins, demand)?.table(ROWS).into_iter().collect();
        return Ok(table.into());
    }
    let bins = class_bins(service, Binning::default(), serial);
    let class = |(bins, &target): (Vec<Bin>, &Picos)| Class {
        bins: bins.into_iter().map(stretched).collect(),
        target_s: seconds(target),
    };
    let classes: Vec<Class> = bins.into_iter().zip(&wanted.targets).map(class).collect();
    let rows = ClassPileup::new(&classes, demand)?.table(ROWS);
    Ok(ClassTables::of_rows(&rows, classes.len()))
}
