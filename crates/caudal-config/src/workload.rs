//! The `[workload]` table: what arrives, and how much of it. `file` reads it once; the simulator and the tuner take service times and
//! arrivals from it. It opens the files of service times and arrivals that the table names.

use std::path::{Path, PathBuf};

use caudal_workload::{ArrivalSpec, Arrivals, Dag, DagSpec, Graphs, Service, ServiceSpec, WorkloadError};

use crate::Rate;
use crate::de::{key_place, read, unknown_key};
use crate::finding::{Finding, Place, note};
use crate::options::Options;
use crate::tree::{Node, Value};

/// The requests that arrive at a system.
#[derive(Clone, Debug)]
pub struct Workload {
    /// Service times, as the file says them.
    pub service_spec: ServiceSpec,
    /// Arrivals, as the file says them.
    pub arrival_spec: ArrivalSpec,
    /// The parts of a request that can be done in parallel, as the file says; none if the file has no `dag`.
    pub dag_spec: Option<DagSpec>,
    /// Service times, compiled, with the graph of `dag_spec` in them.
    pub service: Service,
    /// Arrivals, compiled.
    pub arrivals: Arrivals,
    /// How much of it, swept; empty if the table names none, and the arrivals have no rate of their own.
    pub offered: Vec<Offered>,
    /// The files that service times and arrivals were read from, as they can be opened from here.
    pub files: Vec<PathBuf>,
    /// Whether loads of 1 and more are allowed.
    pub overload: bool,
    /// Where each of `offered` stands.
    pub(crate) offered_places: Vec<Place>,
}

impl Workload {
    /// The same arrivals with other service times.
    #[must_use]
    pub fn with_service(&self, service: Service) -> Workload {
        let dag = Graphs::clone(self.service.dag());
        Workload { service: service.with_dag(dag), ..self.clone() }
    }
}

/// How much work is offered.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Offered {
    /// Offered work over the capacity of the machine's `cores`, whatever is allocated.
    Load(f64),
    /// Requests per second.
    Rate(Rate),
    /// Recorded arrivals at their own rate.
    AsRecorded(Rate),
}

impl Offered {
    /// The load on a machine of `cores`: offered work over its capacity.
    pub fn load(self, service: &Service, cores: u32) -> f64 {
        self.load_of(service, f64::from(cores))
    }

    /// The load on a machine of this [capacity](crate::System::capacity), in cores.
    pub fn load_of(self, service: &Service, capacity: f64) -> f64 {
        match self {
            Offered::Load(load) => load,
            Offered::Rate(rate) | Offered::AsRecorded(rate) => {
                rate.per_s() * (service.mean_ps() / 1e12) / capacity
            }
        }
    }
}

/// Keys of `[workload]`.
pub(crate) const WORKLOAD_KEYS: [&str; 6] = ["service", "dag", "arrivals", "load", "rate", "overload"];
/// The highest load that is simulated.
pub const LOAD_MAX: f64 = 100.0;

/// Reads the table; files of service times and arrivals are looked for in `base_dir`, unless `options` brings them along.
pub(crate) fn workload(table: &Node, base_dir: &Path, options: &Options) -> Result<Workload, Vec<Finding>> {
    let mut findings: Vec<Finding> = table
        .entries()
        .iter()
        .filter(|entry| !WORKLOAD_KEYS.contains(&entry.key.as_str()))
        .map(|entry| unknown_key(entry, "workload", &WORKLOAD_KEYS))
        .collect();
    // These come first: if two findings have the same words, only the first one is reported.
    findings.extend(table.get("arrivals").into_iter().flat_map(of_workload));
    let service = match &options.service {
        Some(compiled) => Some(compiled.clone()),
        None => note(&mut findings, service(table, base_dir)),
    };
    let dag = note(&mut findings, dag(table));
    let arrivals = match &options.arrivals {
        Some(compiled) => Some(compiled.clone()),
        None => note(&mut findings, arrivals(table, base_dir)),
    };
    let overload = table.get("overload").map_or(Ok(false), |node| read(node, "workload.overload"));
    let overload = note(&mut findings, overload.map_err(|finding| vec![finding]));
    let by_the_clock = match (&service, &arrivals) {
        (Some((_, service)), Some((_, arrivals))) => are_by_the_clock(service, arrivals),
        _ => false,
    };
    let limit = LoadLimit { overload: overload.unwrap_or(true), by_the_clock };
    let offered = note(&mut findings, offered(table, limit));
    let (Some((service_spec, service)), Some(dag), Some((arrival_spec, arrivals)), Some(offered)) =
        (service, dag, arrivals, offered)
    else {
        return Err(findings);
    };
    if dag.is_some() && service.dag().recorded().is_some() {
        let message =
            "`service` reads recorded graphs, which say what of each request can be done in parallel";
        let finding = Finding::new(key_place(table, "dag"), "workload.dag", message);
        findings.push(
            finding.help("keep one: remove `dag`, or say `column = \"…\"` in `service` to read times alone"),
        );
        return Err(findings);
    }
    if arrivals.stretches() && service.dag().recorded().is_some() {
        let message = "`work` in the steps of arrivals changes service times, and recorded graphs have the work that was measured";
        let finding = Finding::new(key_place(table, "arrivals"), "workload.arrivals", message);
        findings
            .push(finding.help("remove `work`, or say `column = \"…\"` in `service` to read times alone"));
        return Err(findings);
    }
    let (dag_spec, service) = match dag {
        Some((spec, dag)) => (Some(spec), service.with_dag(dag)),
        None => (None, service),
    };
    let (mut offered_places, mut offered): (Vec<_>, Vec<_>) = offered.into_iter().unzip();
    if let Some(rate) = arrivals.natural_rate().and_then(Rate::per_second) {
        if let Some(&place) = offered_places.first() {
            let finding = Finding::new(
                place,
                "workload",
                "`load` and `rate` are not for recorded arrivals, which come at a rate of their own",
            );
            findings.push(finding.help("remove it, or say scale = true in `arrivals` to stretch their gaps"));
        }
        offered.push(Offered::AsRecorded(rate));
        offered_places.push(key_place(table, "arrivals"));
    }
    if !findings.is_empty() {
        return Err(findings);
    }
    let overload = overload.unwrap_or(false);
    let mut files: Vec<PathBuf> =
        service_spec.files().into_iter().chain(arrival_spec.file()).map(|file| base_dir.join(file)).collect();
    files.sort();
    files.dedup();
    Ok(Workload {
        service_spec,
        arrival_spec,
        dag_spec,
        service,
        arrivals,
        offered,
        files,
        overload,
        offered_places,
    })
}

fn service(table: &Node, base_dir: &Path) -> Result<(ServiceSpec, Service), Vec<Finding>> {
    let Some(node) = table.get("service") else {
        let finding = Finding::new(table.place, "workload.service", "`[workload]` needs `service`");
        return Err(vec![
            finding.help("write a name, a distribution or a file, as in service = \"exp-1us\""),
        ]);
    };
    let spec: ServiceSpec = read(node, "workload.service").map_err(|finding| vec![finding])?;
    let compiled = spec.compile(base_dir);
    compiled.map(|service| (spec, service)).map_err(|error| vec![locate(node, "workload.service", &error)])
}

fn dag(table: &Node) -> Result<Option<(DagSpec, Dag)>, Vec<Finding>> {
    let Some(node) = table.get("dag") else { return Ok(None) };
    if let Value::Text(file) = &node.value {
        let message =
            "`dag` is a table about all requests; a file of recorded graphs holds service times as well";
        let help = format!("write service = {{ file = {file:?} }} instead, without `dag`");
        return Err(vec![Finding::new(node.place, "workload.dag", message).help(help)]);
    }
    let spec: DagSpec = read(node, "workload.dag").map_err(|finding| vec![finding])?;
    let compiled = spec.compile();
    compiled.map(|dag| Some((spec, dag))).map_err(|error| vec![locate(node, "workload.dag", &error)])
}

fn arrivals(table: &Node, base_dir: &Path) -> Result<(ArrivalSpec, Arrivals), Vec<Finding>> {
    let missing = Node::text(Place::BUILT_IN, "poisson");
    let node = table.get("arrivals").unwrap_or(&missing);
    let spec: ArrivalSpec = read(node, "workload.arrivals").map_err(|finding| vec![finding])?;
    let compiled = spec.compile(base_dir);
    compiled.map(|arrivals| (spec, arrivals)).map_err(|error| vec![locate(node, "workload.arrivals", &error)])
}

/// Keys of `[workload]` that stand in `arrivals`.
fn of_workload(arrivals: &Node) -> impl Iterator<Item = Finding> {
    let misplaced =
        arrivals.entries().iter().filter(|entry| ["load", "rate", "overload"].contains(&entry.key.as_str()));
    misplaced.map(|entry| {
        let message = format!("`{}` is no key of `workload.arrivals`", entry.key);
        let finding = Finding::new(entry.key_place, format!("workload.arrivals.{}", entry.key), message);
        finding.help("it belongs to [workload]: write it beside `arrivals`")
    })
}

/// Points a workload's error at the key that it names.
fn locate(node: &Node, path: &str, error: &WorkloadError) -> Finding {
    let (mut at, mut key) = (node, path.to_owned());
    let named = match error {
        WorkloadError::Value { key, .. } | WorkloadError::Sum { key, .. } => key.as_str(),
        WorkloadError::Io { .. }
        | WorkloadError::Row { .. }
        | WorkloadError::File { .. }
        | WorkloadError::Ask(_) => "file",
        _ => "",
    };
    for step in named.split(['.', '[', ']']).filter(|step| !step.is_empty()) {
        let Some(inner) = at.at(&[step.to_owned()]) else { break };
        key = if step.parse::<usize>().is_ok() { format!("{key}[{step}]") } else { format!("{key}.{step}") };
        at = inner;
    }
    Finding::new(at.place, key, error.to_string())
}

/// `load` or `rate`, one value or a list.
fn offered(table: &Node, limit: LoadLimit) -> Result<Vec<(Place, Offered)>, Vec<Finding>> {
    let (key, list) = match (table.entry("load"), table.entry("rate")) {
        (Some(_), Some(rate)) => {
            let finding =
                Finding::new(rate.key_place, "workload.rate", "`load` and `rate` say the same thing twice");
            return Err(vec![finding.help("keep one of them")]);
        }
        (Some(entry), None) | (None, Some(entry)) => (entry.key.as_str(), &entry.node),
        (None, None) => return Ok(Vec::new()),
    };
    let path = format!("workload.{key}");
    let items = match &list.value {
        Value::List(items) if items.is_empty() => {
            let finding = Finding::new(list.place, path, "an empty list sweeps nothing");
            return Err(vec![finding.help("write at least one value")]);
        }
        Value::List(items) => items.as_slice(),
        _ => std::slice::from_ref(list),
    };
    let mut findings = Vec::new();
    let mut offered: Vec<(Place, Offered)> = Vec::new();
    for item in items {
        let value = match key {
            "load" => read(item, &path).map(Offered::Load),
            _ => read(item, &path).map(Offered::Rate),
        };
        match value {
            Ok(value) if offered.iter().any(|(_, other)| *other == value) => {
                let message = format!("{} stands twice in the list", item.inline());
                findings.push(Finding::new(item.place, &*path, message).help("remove one of them"));
            }
            Ok(value) => {
                if let Offered::Load(load) = value {
                    findings.extend(wrong_load(load, item.place, limit, &path));
                }
                offered.push((item.place, value));
            }
            Err(finding) => findings.push(finding),
        }
    }
    if findings.is_empty() { Ok(offered) } else { Err(findings) }
}

/// The loads that a workload allows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LoadLimit {
    /// Any load up to [`LOAD_MAX`].
    overload: bool,
    /// A load of exactly 1, too: requests that are all alike and come at equal distances need no idle time.
    by_the_clock: bool,
}

impl LoadLimit {
    pub(crate) fn of(workload: &Workload) -> LoadLimit {
        let by_the_clock = are_by_the_clock(&workload.service, &workload.arrivals);
        LoadLimit { overload: workload.overload, by_the_clock }
    }

    pub(crate) fn allows(self, load: f64) -> bool {
        // The product of a rate and a mean has a rounding error.
        self.overload || load < 1.0 || self.by_the_clock && load < 1.0 + 1e-9
    }
}

/// Do requests come at equal distances, and are all alike?
fn are_by_the_clock(service: &Service, arrivals: &Arrivals) -> bool {
    arrivals.dispersion(service.mean_ps()) == 0.0 && service.scv() == 0.0
}

/// The fault of a load, if it has one.
pub(crate) fn wrong_load(load: f64, place: Place, limit: LoadLimit, path: &str) -> Option<Finding> {
    // Without the rounding error of the product of a rate and a mean.
    let shown = (load * 1e9).round() / 1e9;
    if !(load > 0.0 && load <= LOAD_MAX) {
        let finding = Finding::new(place, path, format!("the load is {load}, which can not be simulated"));
        return Some(finding.help(format!("write a number above 0, such as 0.7; at most {LOAD_MAX}")));
    }
    (!limit.allows(load)).then(|| {
        let message = format!("at a load of {shown} the backlog grows without end");
        let help = "stay below 1, or say overload = true in [workload] if that is meant";
        Finding::new(place, path, message).help(help)
    })
}
