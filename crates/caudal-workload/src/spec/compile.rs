//! Compilation of a spec into a [`Service`]: every number is checked here. The configuration calls it for each workload that it reads,
//! `caudal workload show` for what it shows. It opens the files that a spec names.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use caudal_policy::time::Picos;

use super::named::find_named;
use super::{
    ClassSpec, DistributionSpec, FileSpec, HyperPhases, LogSpread, PercentileSpec, Phase, Replay,
    ServiceSpec, Spread,
};
use crate::LONGEST_PS;
use crate::demand::Demand;
use crate::error::WorkloadError;
use crate::input::{
    self, Bucket, Counted, Data, Histogram, Moments, Percentiles, Place, Read, Source, Statistic, Taken,
    Trace,
};
use crate::service::{
    BoundedPareto, Buckets, Finding, Fit, Gamma, Leaf, LogNormal, Sequence, Service, Shape, Values,
    are_sorted, correlation, examine, fitted,
};

/// How far probabilities may sum from 1.
const SUM_TOLERANCE: f64 = 1e-9;
/// Parts into which a histogram's shares are rounded.
const COUNTS: f64 = 1e12;
/// The most that times are multiplied by.
const MAX_SCALE: f64 = 1e3;
/// The uncertainty of the mean, as a part of it, from which on a note says that buckets are too coarse.
const COARSE: f64 = 0.02;
/// The widest spread that is taken: an SCV of 10^6.
pub(crate) const MAX_SCV: f64 = 1e6;

impl ServiceSpec {
    /// Checks it, reads its file if it has one, and compiles it. `base_dir` is where relative files are
    /// looked for: the directory of the file that holds the spec.
    ///
    /// # Errors
    /// [`WorkloadError`] names the key, or the file's line and column, and says what would be right.
    pub fn compile(&self, base_dir: &Path) -> Result<Service, WorkloadError> {
        match self {
            ServiceSpec::Named(name) => find_named(name)?.compile(),
            ServiceSpec::Distribution(spec) => spec.compile(base_dir),
            ServiceSpec::Percentiles(spec) => spec.compile(),
            ServiceSpec::File(spec) => {
                let path = input_path(base_dir, &spec.file);
                spec.compile_read(input::read_service(Source::open(&path)?, &path, &spec.columns)?, &path)
            }
        }
    }
}

/// Where a file that is named in `base_dir` is; `-` is standard input, wherever it is named.
pub(crate) fn input_path(base_dir: &Path, file: &Path) -> PathBuf {
    if file == Path::new("-") { file.to_owned() } else { base_dir.join(file) }
}

impl PercentileSpec {
    fn compile(&self) -> Result<Service, WorkloadError> {
        let (mut points, mut stated) = (Vec::new(), Moments::default());
        for (name, time) in &self.percentiles {
            let key = format!("percentiles.{name}");
            let statistic = Statistic::of(name).ok_or_else(|| {
                WorkloadError::value(
                    &key,
                    time,
                    "a percentile is called p50, p99.9, max, and so on; `mean` and `sd` may stand beside",
                )
            })?;
            let ps = positive_time(&key, *time)?;
            match statistic {
                Statistic::Percentile(percentile) => points.push((percentile, ps)),
                moment => stated.set(moment, ps),
            }
        }
        let wrong = |problem| WorkloadError::value("percentiles", "{ … }", problem);
        let Fit { shape, kept, notes } = fitted(&points, stated).map_err(wrong)?;
        let taken = Taken {
            format: "percentiles".to_owned(),
            counted: Counted::Percentiles,
            values: points.len() as u64,
            ..Taken::default()
        };
        let leaves = vec![Leaf { class: 0, weight: 1.0, shape }];
        Ok(Service::new(vec!["all".to_owned()], leaves)
            .with_findings(findings_of_fit("all", &points, kept, notes))
            .with_taken(taken))
    }
}

/// The findings about a distribution that was made of percentiles.
fn findings_of_fit(
    class: &str,
    points: &[(f64, u64)],
    kept: Vec<String>,
    notes: Vec<String>,
) -> Vec<Finding> {
    let of = if class == "all" { String::new() } else { format!("{class}: ") };
    let fitted = Finding::Fitted { class: class.to_owned(), percentiles: percentiles(points), stated: kept };
    let notes = notes.into_iter().map(|note| Finding::Note(format!("{of}{note}")));
    std::iter::once(fitted).chain(notes).collect()
}

/// Percentiles, ascending.
fn percentiles(points: &[(f64, u64)]) -> Vec<f64> {
    let mut percentiles: Vec<f64> = points.iter().map(|(percentile, _)| *percentile).collect();
    percentiles.sort_by(f64::total_cmp);
    percentiles
}

impl DistributionSpec {
    fn compile(&self, base_dir: &Path) -> Result<Service, WorkloadError> {
        let shape = match self {
            DistributionSpec::Bimodal { short, long, p_long } => return bimodal(*short, *long, *p_long),
            DistributionSpec::Mixture { classes } => return mixture(classes, base_dir),
            DistributionSpec::HyperExponential { phases } => return hyper_exponential(phases),
            DistributionSpec::Constant { value } => Shape::Constant(positive_time("value", *value)?),
            DistributionSpec::Exponential { mean } => {
                Shape::Exponential { mean_ps: positive_time("mean", *mean)? as f64 }
            }
            DistributionSpec::LogNormal { mean, spread } => log_normal(*mean, *spread)?,
            DistributionSpec::BoundedPareto { alpha, min, max } => bounded_pareto(*alpha, *min, *max)?,
            DistributionSpec::Gamma { mean, spread } => gamma(*mean, *spread)?,
        };
        Ok(Service::new(vec!["all".to_owned()], vec![Leaf { class: 0, weight: 1.0, shape }]))
    }
}

fn bimodal(short: Picos, long: Picos, p_long: f64) -> Result<Service, WorkloadError> {
    let p_long = probability("p_long", p_long)?;
    let (short_ps, long_ps) = (positive_time("short", short)?, positive_time("long", long)?);
    if short_ps > long_ps {
        let expected = format!("short requests take no longer than long ones, which take {long}");
        return Err(WorkloadError::value("short", format!("\"{short}\""), expected));
    }
    let leaves = vec![
        Leaf { class: 0, weight: 1.0 - p_long, shape: Shape::Constant(short_ps) },
        Leaf { class: 1, weight: p_long, shape: Shape::Constant(long_ps) },
    ];
    Ok(Service::new(vec!["short".to_owned(), "long".to_owned()], leaves))
}

fn mixture(classes: &[ClassSpec], base_dir: &Path) -> Result<Service, WorkloadError> {
    count("classes", classes.len())?;
    let mut names: Vec<String> = Vec::new();
    let (mut leaves, mut findings) = (Vec::new(), Vec::new());
    for (index, class) in classes.iter().enumerate() {
        let place = format!("classes[{index}]");
        if !input::is_class_name(&class.name) || names.contains(&class.name) {
            let expected = "a class's name has 1 to 64 printable characters and stands once in a mixture";
            return Err(WorkloadError::value(format!("{place}.name"), format!("{:?}", class.name), expected));
        }
        let weight = probability("weight", class.weight).map_err(|error| error.under(&place))?;
        let service =
            class.service.compile(base_dir).map_err(|error| error.under(&format!("{place}.service")))?;
        if service.is_replay() {
            let expected = "a mixture draws its classes independently, which leaves no order to keep";
            return Err(WorkloadError::value(format!("{place}.service.replay"), "true", expected));
        }
        if service.dag().recorded().is_some() {
            let expected = "the requests of a mixture are alike but for their service times; give a file of recorded graphs \
                            by itself, with the classes in its column `class`";
            let file = class.service.files().first().map_or(String::new(), |file| format!("{file:?}"));
            return Err(WorkloadError::value(format!("{place}.service.file"), file, expected));
        }
        leaves.extend(service.leaves().iter().map(|leaf| Leaf {
            class: names.len() as u8,
            weight: weight * leaf.weight,
            shape: leaf.shape.clone(),
        }));
        findings.extend_from_slice(service.findings());
        names.push(class.name.clone());
    }
    sums_to_one("classes", classes.iter().map(|class| class.weight))?;
    Ok(Service::new(names, leaves).with_findings(findings))
}

fn hyper_exponential(phases: &HyperPhases) -> Result<Service, WorkloadError> {
    let (weights, means): (Vec<f64>, Vec<f64>) = match phases {
        HyperPhases::Balanced { mean, scv } => {
            let mean_ps = positive_time("mean", *mean)? as f64;
            balanced_phases(*scv)?.map(|p| (p, mean_ps / (2.0 * p))).into_iter().unzip()
        }
        HyperPhases::Phases { phases } => explicit_phases(phases)?,
    };
    let leaf = |(weight, mean_ps)| Leaf { class: 0, weight, shape: Shape::Exponential { mean_ps } };
    Ok(Service::new(vec!["all".to_owned()], weights.into_iter().zip(means).map(leaf).collect()))
}

/// The probabilities p of two phases with balanced means, of which each makes half of the time: their means are 1/(2 p) of that of
/// all.
pub(crate) fn balanced_phases(scv: f64) -> Result<[f64; 2], WorkloadError> {
    if !(1.0..=MAX_SCV).contains(&scv) {
        let expected = "a hyper-exponential's squared coefficient of variation lies between 1 and 10^6; \
                        for less, take \"gamma\"";
        return Err(WorkloadError::value("scv", scv, expected));
    }
    let p = (1.0 + ((scv - 1.0) / (scv + 1.0)).sqrt()) / 2.0;
    Ok([p, 1.0 - p])
}

fn explicit_phases(phases: &[Phase]) -> Result<(Vec<f64>, Vec<f64>), WorkloadError> {
    count("phases", phases.len())?;
    let mut means = Vec::new();
    for (index, phase) in phases.iter().enumerate() {
        let under = |error: WorkloadError| error.under(&format!("phases[{index}]"));
        probability("p", phase.p).map_err(under)?;
        means.push(positive_time("mean", phase.mean).map_err(under)? as f64);
    }
    sums_to_one("phases", phases.iter().map(|phase| phase.p))?;
    Ok((phases.iter().map(|phase| phase.p).collect(), means))
}

fn log_normal(mean: Picos, spread: LogSpread) -> Result<Shape, WorkloadError> {
    let mean_ps = positive_time("mean", mean)? as f64;
    let sigma_of = |spread| Ok::<f64, WorkloadError>(scv(mean_ps, spread)?.ln_1p().sqrt());
    let sigma = match spread {
        LogSpread::Scv(scv) => sigma_of(Spread::Scv(scv))?,
        LogSpread::Sd(sd) => sigma_of(Spread::Sd(sd))?,
        LogSpread::Sigma(sigma) => check_spread("sigma", sigma, MAX_SCV.ln_1p().sqrt() + 1e-4)?,
    };
    Ok(Shape::LogNormal(LogNormal::from_mean(mean_ps, sigma)))
}

fn gamma(mean: Picos, spread: Spread) -> Result<Shape, WorkloadError> {
    let mean_ps = positive_time("mean", mean)? as f64;
    let refused =
        |value| WorkloadError::value("scv", value, "no gamma distribution has it; choose 1e-6 to 1e6");
    let scv = scv(mean_ps, spread)?;
    // Below this the sampler's shape parameter is so large that a constant is what is meant.
    if scv < 1e-6 {
        return Err(refused(scv));
    }
    Gamma::from_mean(mean_ps, scv).map(Shape::Gamma).ok_or_else(|| refused(scv))
}

fn bounded_pareto(alpha: f64, min: Picos, max: Picos) -> Result<Shape, WorkloadError> {
    let (min_ps, max_ps) = (positive_time("min", min)?, positive_time("max", max)?);
    if !(alpha > 0.0 && alpha <= 100.0) {
        return Err(WorkloadError::value(
            "alpha",
            alpha,
            "α of a bounded Pareto lies above 0 and at most at 100",
        ));
    }
    if min_ps >= max_ps {
        return Err(WorkloadError::value("max", max, format!("`max` must lie above `min`, which is {min}")));
    }
    Ok(Shape::BoundedPareto(BoundedPareto::new(alpha, min_ps as f64, max_ps as f64)))
}

/// The squared coefficient of variation that a spread means.
fn scv(mean_ps: f64, spread: Spread) -> Result<f64, WorkloadError> {
    match spread {
        Spread::Scv(scv) => check_spread("scv", scv, MAX_SCV),
        Spread::Sd(sd) => {
            let scv = (positive_time("sd", sd)? as f64 / mean_ps).powi(2);
            if scv > MAX_SCV {
                return Err(WorkloadError::value(
                    "sd",
                    sd,
                    "a standard deviation is at most 1000 times the mean",
                ));
            }
            Ok(scv)
        }
    }
}

/// A spread above 0 and at most `max`.
pub(crate) fn check_spread(key: &str, value: f64, max: f64) -> Result<f64, WorkloadError> {
    if value > 0.0 && value <= max {
        return Ok(value);
    }
    let expected = format!("must lie above 0 and at most at {max:.4}; for no spread take \"constant\"");
    Err(WorkloadError::value(key, value, expected))
}

/// A time above 0 and at most [`LONGEST_PS`], in ps.
pub(crate) fn positive_time(key: &str, time: Picos) -> Result<u64, WorkloadError> {
    match time.0 {
        0 => Err(WorkloadError::value(key, time, "a time must be longer than 0, such as \"1us\"")),
        1..=LONGEST_PS => Ok(time.0),
        _ => Err(WorkloadError::value(key, time, "a time must be at most one hour")),
    }
}

pub(crate) fn probability(key: &str, p: f64) -> Result<f64, WorkloadError> {
    if (0.0..=1.0).contains(&p) {
        return Ok(p);
    }
    Err(WorkloadError::value(key, p, "a probability lies between 0 and 1"))
}

pub(crate) fn sums_to_one(key: &str, probabilities: impl Iterator<Item = f64>) -> Result<(), WorkloadError> {
    let sum: f64 = probabilities.sum();
    if (sum - 1.0).abs() <= SUM_TOLERANCE {
        Ok(())
    } else {
        Err(WorkloadError::Sum { key: key.to_owned(), sum })
    }
}

pub(crate) fn count(key: &str, n: usize) -> Result<(), WorkloadError> {
    if (1..=256).contains(&n) {
        return Ok(());
    }
    Err(WorkloadError::value(key, format!("[{n} entries]"), "needs 1 to 256 entries"))
}

impl FileSpec {
    /// Compiles the contents of a file that is in memory; `path` is for errors.
    pub(crate) fn compile_bytes(&self, bytes: &[u8], path: &Path) -> Result<Service, WorkloadError> {
        self.compile_read(input::read_service(Source::of_bytes(bytes), path, &self.columns)?, path)
    }

    fn compile_read(&self, read: Read, path: &Path) -> Result<Service, WorkloadError> {
        let Read { taken, data, notes } = read;
        let mut findings: Vec<Finding> = notes.into_iter().map(Finding::Note).collect();
        if let (Some(column), Replay::Off) = (&taken.arrival_column, self.replay) {
            findings.push(Finding::Note(format!(
                "column `{column}` says when requests arrived, which the service times do not need; `caudal plan --recorded` plays \
                 the requests as they came"
            )));
        }
        let service = match data {
            Data::Trace(trace) => self.compile_trace(trace, path, &mut findings)?,
            Data::Weighted(trace, weights) => self.compile_weighted(&trace, &weights, path, &mut findings)?,
            Data::Histograms(histograms) => self.compile_histograms(histograms, path, &mut findings)?,
            Data::Percentiles(classes) => self.compile_percentiles(classes, path, &mut findings)?,
            Data::Graphs(graphs) => self.compile_graphs(graphs, path, &mut findings)?,
        };
        Ok(service.with_findings(findings).with_taken(taken))
    }

    fn compile_trace(
        &self,
        trace: Trace,
        path: &Path,
        findings: &mut Vec<Finding>,
    ) -> Result<Service, WorkloadError> {
        let names = trace.classes.clone();
        let mut by_class: Vec<Vec<u64>> = by_class(&trace);
        let counts: Vec<f64> = by_class.iter().map(|values| values.len() as f64).collect();
        let shares = self.shares(&names, &counts, path)?;
        let factors = self.factors(&names, path)?;
        let mut leaves = Vec::new();
        for (class, (values, weight)) in by_class.iter_mut().zip(shares).enumerate() {
            input::check_stop()?;
            values.sort_unstable();
            let number = class as u8;
            let rows = (0..trace.ps.len()).filter(|&index| trace.class_of(index) == number);
            findings.extend(examine(&names[class], values, rows.map(|index| trace.row(index))));
            let mut values = std::mem::take(values);
            if factors[class] != 1.0 {
                values.iter_mut().for_each(|ps| *ps = scaled(*ps, factors[class]));
            }
            leaves.push(Leaf {
                class: number,
                weight,
                shape: Shape::Values(Arc::new(Values::of_sorted(values))),
            });
        }
        input::check_stop()?;
        let service = Service::new(names, leaves);
        if self.replay == Replay::Off {
            findings.extend(correlation(&trace.ps));
            return Ok(service);
        }
        findings.extend(are_sorted(&trace.ps).then_some(Finding::Sorted));
        let demand = |index: usize| {
            let class = trace.class_of(index);
            Demand { service_ps: scaled(trace.ps[index], factors[usize::from(class)]), class }
        };
        let sequence = Sequence((0..trace.ps.len()).map(demand).collect());
        Ok(service.with_replay(self.replay, sequence))
    }

    /// Refuses to keep the order of what has none.
    fn has_no_order(&self, path: &Path) -> Result<(), WorkloadError> {
        if self.replay == Replay::Off {
            return Ok(());
        }
        Err(Place(path)
            .whole("a histogram has no order to keep; drop `replay`, or give the values one by one"))
    }

    /// A histogram in columns: values, and how often each occurs.
    fn compile_weighted(
        &self,
        trace: &Trace,
        weights: &[f64],
        path: &Path,
        findings: &mut Vec<Finding>,
    ) -> Result<Service, WorkloadError> {
        let place = Place(path);
        self.has_no_order(path)?;
        let factors = self.factors(&trace.classes, path)?;
        let mut by_class: Vec<BTreeMap<u64, f64>> = vec![BTreeMap::new(); trace.classes.len()];
        for (index, weight) in weights.iter().enumerate() {
            let class = usize::from(trace.class_of(index));
            *by_class[class].entry(scaled(trace.ps[index], factors[class])).or_default() += weight;
        }
        let sums: Vec<f64> = by_class.iter().map(|values| values.values().sum()).collect();
        if let Some(at) = sums.iter().position(|&sum| sum <= 0.0) {
            return Err(
                place.whole(format!("no value of `{}` occurs: all its counts are 0", trace.classes[at]))
            );
        }
        let shares = self.shares(&trace.classes, &sums, path)?;
        // Whole numbers are counts of values, others shares of nobody knows how many.
        let are_counts =
            weights.iter().all(|weight| weight.fract() == 0.0) && sums.iter().any(|&sum| sum > 1.0);
        let leaf = |(class, (values, sum)): (usize, (&BTreeMap<u64, f64>, &f64))| {
            let bucket = |(&ps, &weight): (&u64, &f64)| {
                let count = match are_counts {
                    true => weight as u64,
                    false => ((weight / sum * COUNTS).round() as u64).max(u64::from(weight > 0.0)),
                };
                Bucket { low_ps: ps, high_ps: ps, count }
            };
            let buckets: Vec<Bucket> = values.iter().map(bucket).collect();
            let table = if are_counts { Buckets::new(buckets) } else { Buckets::of_shares(buckets) };
            Leaf { class: class as u8, weight: shares[class], shape: Shape::Buckets(Arc::new(table)) }
        };
        let leaves = by_class.iter().zip(&sums).enumerate().map(leaf).collect();
        if are_counts {
            let few = trace.classes.iter().zip(&sums);
            findings.extend(few.filter_map(|(class, sum)| Finding::few(class, *sum as usize)));
        }
        findings.push(Finding::Note(format!(
            "a histogram of {} values: each occurs as often as its column of counts says, none in between",
            weights.len()
        )));
        Ok(Service::new(trace.classes.clone(), leaves))
    }

    fn compile_histograms(
        &self,
        histograms: Vec<Histogram>,
        path: &Path,
        findings: &mut Vec<Finding>,
    ) -> Result<Service, WorkloadError> {
        self.has_no_order(path)?;
        if self.scale.is_some() {
            return Err(Place(path).whole(
                "the buckets of a histogram are not scaled; drop `scale`, or give the values as CSV",
            ));
        }
        let names: Vec<String> = histograms.iter().map(|histogram| histogram.class.clone()).collect();
        let count = |histogram: &Histogram| histogram.buckets.iter().map(|bucket| bucket.count).sum::<u64>();
        let counts: Vec<f64> = histograms.iter().map(|histogram| count(histogram) as f64).collect();
        let shares = self.shares(&names, &counts, path)?;
        let mut leaves = Vec::new();
        for (class, (histogram, weight)) in histograms.into_iter().zip(shares).enumerate() {
            findings.extend(Finding::few(&histogram.class, counts[class] as usize));
            findings.extend(coarse(&histogram));
            let table = Buckets::within(histogram.buckets, histogram.edges);
            leaves.push(Leaf { class: class as u8, weight, shape: Shape::Buckets(Arc::new(table)) });
        }
        Ok(Service::new(names, leaves))
    }

    fn compile_percentiles(
        &self,
        classes: Vec<Percentiles>,
        path: &Path,
        findings: &mut Vec<Finding>,
    ) -> Result<Service, WorkloadError> {
        self.has_no_order(path)?;
        if self.scale.is_some() {
            return Err(Place(path).whole("percentiles are not scaled; drop `scale`, and write other ones"));
        }
        let names: Vec<String> = classes.iter().map(|class| class.class.clone()).collect();
        let weights: Vec<f64> = classes.iter().map(|class| class.weight).collect();
        let shares = self.shares(&names, &weights, path)?;
        let mut leaves = Vec::new();
        for (number, (class, weight)) in classes.into_iter().zip(shares).enumerate() {
            let problem = |problem| Place(path).whole(format!("`{}`: {problem}", class.class));
            let Fit { shape, kept, notes } = fitted(&class.points, class.stated).map_err(problem)?;
            findings.extend(findings_of_fit(&class.class, &class.points, kept, notes));
            leaves.push(Leaf { class: number as u8, weight, shape });
        }
        Ok(Service::new(names, leaves))
    }

    /// The factor of the times of each class.
    fn factors(&self, classes: &[String], path: &Path) -> Result<Vec<f64>, WorkloadError> {
        let Some(scale) = &self.scale else { return Ok(vec![1.0; classes.len()]) };
        if let Some(unknown) = scale.keys().find(|name| !classes.contains(name)) {
            let problem = format!(
                "`scale` names a class `{unknown}` that is not in the file; its classes are {}",
                classes.join(", ")
            );
            return Err(Place(path).whole(problem));
        }
        for (class, &factor) in scale {
            if !(factor > 0.0 && factor <= MAX_SCALE) {
                let key = format!("scale.{class}");
                return Err(WorkloadError::value(
                    &key,
                    factor.to_string(),
                    "a factor is above 0, and at most 1000",
                ));
            }
        }
        Ok(classes.iter().map(|class| scale.get(class).copied().unwrap_or(1.0)).collect())
    }

    /// The share of each class: the file's own, or what `weights` says.
    pub(super) fn shares(
        &self,
        classes: &[String],
        counts: &[f64],
        path: &Path,
    ) -> Result<Vec<f64>, WorkloadError> {
        let Some(weights) = &self.weights else {
            let total: f64 = counts.iter().sum();
            return Ok(counts.iter().map(|count| count / total).collect());
        };
        check_weights(weights, classes).map_err(|problem| Place(path).whole(problem))?;
        for (class, &weight) in weights {
            probability(&format!("weights.{class}"), weight)?;
        }
        sums_to_one("weights", weights.values().copied())?;
        Ok(classes.iter().map(|class| weights[class]).collect())
    }
}

/// The values of each class.
fn by_class(trace: &Trace) -> Vec<Vec<u64>> {
    if trace.classes.len() == 1 {
        return vec![trace.ps.clone()];
    }
    let mut counts = vec![0; trace.classes.len()];
    trace.class.iter().for_each(|&class| counts[usize::from(class)] += 1);
    let mut by_class: Vec<Vec<u64>> = counts.into_iter().map(Vec::with_capacity).collect();
    for (&class, &ps) in trace.class.iter().zip(&trace.ps) {
        by_class[usize::from(class)].push(ps);
    }
    by_class
}

/// Buckets so wide that the mean is not known.
fn coarse(histogram: &Histogram) -> Option<Finding> {
    let counts = || histogram.buckets.iter().map(|bucket| bucket.count as f64);
    let total: f64 = counts().sum();
    let mean = |of: &dyn Fn(&(u64, u64)) -> u64| {
        histogram.edges.iter().zip(counts()).map(|(edges, count)| count * of(edges) as f64).sum::<f64>()
            / total
    };
    let (low_ps, high_ps) = (mean(&|edges| edges.0), mean(&|edges| edges.1));
    let is_wide = high_ps - low_ps > COARSE * (low_ps + high_ps) / 2.0;
    let mean_ps = histogram.sum_ps.map(|sum_ps| sum_ps / total);
    is_wide.then(|| Finding::Coarse { class: histogram.class.clone(), low_ps, high_ps, mean_ps })
}

/// At least 1 ps, and at most the longest time that there is.
fn scaled(ps: u64, factor: f64) -> u64 {
    if factor == 1.0 { ps } else { ((ps as f64 * factor).round() as u64).clamp(1, LONGEST_PS) }
}

/// Every class has a weight and every weight a class.
fn check_weights(weights: &BTreeMap<String, f64>, classes: &[String]) -> Result<(), String> {
    let there = classes.iter().take(12).map(|class| format!("`{class}`")).collect::<Vec<_>>().join(", ");
    if let Some(unknown) = weights.keys().find(|name| !classes.contains(name)) {
        return Err(format!(
            "`weights` names a class `{unknown}` that is not in the file; its classes are {there}"
        ));
    }
    if let Some(missing) = classes.iter().find(|class| !weights.contains_key(*class)) {
        return Err(format!("`weights` says nothing about class `{missing}`; give all of {there}"));
    }
    Ok(())
}
