//! A whole file that describes systems: reading it, and the points that it asks for. The command and the runtime call [`File::read`]
//! first, and simulate each of [`File::points`]. It reads the file and the files of workloads that the file names.

#[cfg(feature = "host")]
use std::io::Read as _;
use std::path::Path;
use std::sync::Arc;

use caudal_policy::allocation::AllocationConfig;

use crate::coherence::SystemHost;
use crate::de::{key_place, unknown_key};
#[cfg(feature = "host")]
use crate::error::BYTES_MAX;
use crate::error::ConfigError;
use crate::finding::{Finding, Place, SourceText, note};
use crate::measure::{or_default, too_few};
use crate::options::Options;
use crate::plan::{SystemParts, SystemPlan, resolve};
use crate::sweep::{Axis, axes, combination, combinations, fixed};
use crate::tree::{self, Entry, Node, Value};
use crate::workload::{LoadLimit, Workload, workload, wrong_load};
use crate::{Costs, Measure, Offered, POINTS_MAX, System, write};

/// Tables of a file.
pub(crate) const FILE_KEYS: [&str; 4] = ["workload", "system", "costs", "measure"];

/// A file that describes one system or several, all checked.
#[derive(Debug)]
pub struct File {
    /// The requests that arrive; a policy file has none.
    pub workload: Option<Arc<Workload>>,
    /// The `[measure]` table.
    pub measure: Arc<Measure>,
    /// Every system of the file, with every combination of its swept keys, in order.
    pub systems: Vec<SystemPlan>,
    /// The file with the overrides in it, as TOML. Comments and layout are those of the writer here: two
    /// files that say the same in the same order have the same text.
    pub effective: String,
    sources: Vec<SourceText>,
}

/// One simulation that a file asks for.
#[derive(Clone, Debug)]
pub struct Point {
    /// Its name within the file, stable as long as the file says the same: `tiny-quanta/load=0.5`.
    pub key: String,
    /// The requests that arrive.
    pub workload: Arc<Workload>,
    /// How much of it, as the file says it.
    pub offered: Offered,
    /// Offered work over the capacity of the machine's cores.
    pub load: f64,
    /// The system.
    pub system: System,
    /// Costs of the system's actions.
    pub costs: Costs,
    /// The `[measure]` table.
    pub measure: Arc<Measure>,
    /// The system's plan: preset, dedicated cores, whether anyone could deploy it.
    pub plan: Arc<SystemPlan>,
    /// Every key that is swept, with its value at this point.
    pub varied: Vec<(String, serde_json::Value)>,
}

impl Point {
    /// The mean time between two arrivals, in ps: the load is offered work over what the machine can do.
    pub fn mean_gap_ps(&self) -> f64 {
        self.workload.service.mean_ps() / (self.load * self.system.capacity())
    }
}

impl File {
    /// Reads a file for the simulator.
    ///
    /// # Errors
    /// If it can not be read, or says anything that is wrong; the error names every place.
    #[cfg(feature = "host")]
    pub fn read(path: impl AsRef<Path>) -> Result<File, ConfigError> {
        File::read_with(path, &Options::default())
    }

    /// As [`File::read`], with overrides or for the runtime.
    ///
    /// # Errors
    /// As [`File::read`].
    #[cfg(feature = "host")]
    pub fn read_with(path: impl AsRef<Path>, options: &Options) -> Result<File, ConfigError> {
        let path = path.as_ref();
        let io = |source| ConfigError::Io { path: path.to_owned(), source };
        let file = std::fs::File::open(path).map_err(io)?;
        let mut bytes = Vec::new();
        file.take(BYTES_MAX + 1).read_to_end(&mut bytes).map_err(io)?;
        if bytes.len() as u64 > BYTES_MAX {
            let bytes = std::fs::metadata(path).map_or(bytes.len() as u64, |about| about.len());
            return Err(ConfigError::TooLarge { path: path.to_owned(), bytes });
        }
        match String::from_utf8(bytes) {
            Ok(text) => File::parse_with(&text, path, options),
            Err(error) => Err(not_utf8(error.as_bytes(), error.utf8_error().valid_up_to(), path)),
        }
    }

    /// Reads `text`; `path` is what messages call it, and where files that it names are looked for.
    ///
    /// # Errors
    /// If it says anything that is wrong; the error names every place.
    pub fn parse(text: &str, path: impl AsRef<Path>) -> Result<File, ConfigError> {
        File::parse_with(text, path, &Options::default())
    }

    /// As [`File::parse`], with overrides or for the runtime.
    ///
    /// # Errors
    /// As [`File::parse`].
    pub fn parse_with(text: &str, path: impl AsRef<Path>, options: &Options) -> Result<File, ConfigError> {
        let path = path.as_ref();
        let sources = tree::sources(&path.display().to_string(), text, &options.overrides);
        let base_dir = path.parent().unwrap_or(Path::new(""));
        match build(text, base_dir, options) {
            Ok((effective, (workload, measure, systems))) => {
                let workload = workload.map(Arc::new);
                Ok(File { workload, measure: Arc::new(measure), systems, effective, sources })
            }
            Err(findings) => Err(ConfigError::invalid(findings, &sources)),
        }
    }

    /// Every simulation that the file asks for: system by system in the order of the file, each swept key
    /// of its `[system]` and then of `[costs]`, and the load fastest.
    ///
    /// # Errors
    /// If there is no `[workload]`, or it names no load.
    pub fn points(&self) -> Result<Vec<Point>, ConfigError> {
        let lacking = |message: &str, help: &str| {
            let whole = Place { source: 0, start: 0, end: 0 };
            ConfigError::invalid(vec![Finding::new(whole, "workload", message).help(help)], &self.sources)
        };
        let Some(workload) = &self.workload else {
            let help = "add it, as in service = \"exp-1us\" and load = 0.5";
            return Err(lacking("a simulation needs the table [workload]", help));
        };
        if workload.offered.is_empty() {
            let help = "add load = 0.5, a list of loads, or rate = \"4.5M/s\"";
            return Err(lacking("`[workload]` says neither `load` nor `rate`", help));
        }
        let mut points = Vec::new();
        for plan in &self.systems {
            let plan = Arc::new(plan.clone());
            points.extend(workload.offered.iter().map(|&offered| self.point(&plan, workload, offered)));
        }
        Ok(points)
    }

    fn point(&self, plan: &Arc<SystemPlan>, workload: &Arc<Workload>, offered: Offered) -> Point {
        let load = offered.load_of(&workload.service, plan.system.capacity());
        let mut varied = plan.varied.clone();
        let mut key = plan_key(plan);
        match offered {
            Offered::Load(load) => {
                key += &format!("/load={load}");
                varied.push(("load".to_owned(), load.into()));
            }
            Offered::Rate(rate) => {
                key += &format!("/rate={rate}");
                varied.push(("rate".to_owned(), rate.to_string().into()));
            }
            Offered::AsRecorded(_) => {}
        }
        if workload.offered.len() == 1 {
            varied.truncate(plan.varied.len());
        }
        Point {
            key,
            workload: Arc::clone(workload),
            offered,
            load,
            system: plan.system.clone(),
            costs: plan.costs,
            measure: Arc::clone(&self.measure),
            plan: Arc::clone(plan),
            varied,
        }
    }
}

/// The part of a point's key that its system makes.
fn plan_key(plan: &SystemPlan) -> String {
    let mut key = plan.system.name.clone();
    for (name, value) in &plan.varied {
        let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        if name != "preset" || value != plan.system.name {
            key += &format!("/{name}={value}");
        }
    }
    key
}

#[cfg(feature = "host")]
fn not_utf8(bytes: &[u8], valid: usize, path: &Path) -> ConfigError {
    let text = String::from_utf8_lossy(&bytes[..valid]).into_owned();
    let place = Place { source: 0, start: text.len(), end: text.len() };
    let sources = tree::sources(&path.display().to_string(), &text, &[]);
    let finding = Finding::new(place, "", "this is no UTF-8 text").help("a TOML file is; save it as UTF-8");
    ConfigError::invalid(vec![finding], &sources)
}

type Built = (Option<Workload>, Measure, Vec<SystemPlan>);

/// The file with the overrides in it, and what it means.
fn build(text: &str, base_dir: &Path, options: &Options) -> Result<(String, Built), Vec<Finding>> {
    let mut root = tree::parse(text, 0)?;
    let mut findings = Vec::new();
    for (i, text) in options.overrides.iter().enumerate() {
        findings.extend(tree::set_override(&mut root, text, i + 1).err());
    }
    let (known, unknown): (Vec<&Entry>, Vec<&Entry>) =
        root.entries().iter().partition(|entry| FILE_KEYS.contains(&entry.key.as_str()));
    findings.extend(unknown.into_iter().map(|entry| unknown_key(entry, "", &FILE_KEYS)));
    let wrong: Vec<Finding> =
        known.into_iter().filter_map(|entry| wrong_shape(&entry.key, &entry.node)).collect();
    // A system that seems to be missing may be misspelt.
    let unreadable = !wrong.is_empty() || (!findings.is_empty() && root.get("system").is_none());
    findings.extend(wrong);
    if unreadable {
        return Err(findings);
    }
    let workload = root.get("workload").map(|table| workload(table, base_dir, options)).transpose();
    let workload = note(&mut findings, workload);
    let measure = note(&mut findings, or_default(root.get("measure")));
    let offered = workload.iter().flatten().map(|workload| workload.offered.len()).sum::<usize>().max(1);
    let systems = note(&mut findings, systems(&root, options.host, offered));
    if let (Some(Some(workload)), Some(systems)) = (&workload, &systems) {
        findings.extend(wrong_rates(workload, systems));
        findings.extend(unknown_classes(workload, root.get("system")));
    }
    if let (Some(Some(workload)), Some(measure)) = (&workload, &measure) {
        findings.extend(nothing_to_measure(workload, measure, root.get("workload")));
    }
    match (workload, measure, systems) {
        (Some(workload), Some(measure), Some(systems)) if findings.is_empty() => {
            Ok((write::file(&root), (workload, measure, systems)))
        }
        _ => Err(findings),
    }
}

fn wrong_shape(key: &str, node: &Node) -> Option<Finding> {
    match &node.value {
        Value::Table(_) => None,
        Value::List(items) if key == "system" && !items.is_empty() && items.iter().all(Node::is_table) => {
            None
        }
        _ => {
            let message = format!("`{key}` is {}, but must be a table", node.kind());
            Some(Finding::new(node.place, key, message).help(format!("write [{key}] on a line of its own")))
        }
    }
}

/// Recorded arrivals of which a warm-up leaves nothing.
fn nothing_to_measure(workload: &Workload, measure: &Measure, table: Option<&Node>) -> Option<Finding> {
    let (message, help) = too_few(&workload.arrivals, measure.warm_up)?;
    let place = table.map_or(Place::BUILT_IN, |table| key_place(table, "arrivals"));
    Some(Finding::new(place, "workload.arrivals", message).help(help))
}

/// Classes of which the workload has no requests.
fn unknown_classes(workload: &Workload, systems: Option<&Node>) -> Vec<Finding> {
    let tables = match systems.map(|node| &node.value) {
        Some(Value::List(tables)) => tables.as_slice(),
        _ => systems.map_or(&[][..], std::slice::from_ref),
    };
    let path = ["parallelism".to_owned(), "classes".to_owned()];
    let named = tables.iter().filter_map(|table| table.at(&path)).filter(|node| node.is_table());
    let known = workload.service.classes();
    let unknown = named.flat_map(Node::entries).filter(|entry| !known.contains(&entry.key));
    let finding = |entry: &Entry| {
        let message = format!("the workload has no class `{}`", entry.key);
        let help = format!("it has {}", known.join(", "));
        Finding::new(entry.key_place, format!("system.parallelism.classes.{}", entry.key), message).help(help)
    };
    unknown.map(finding).collect()
}

/// Rates that overload a machine, or the cores of it that are held all the time, in a file that does not ask for overload.
fn wrong_rates(workload: &Workload, systems: &[SystemPlan]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for plan in systems {
        for (&offered, &place) in workload.offered.iter().zip(&workload.offered_places) {
            let load = offered.load_of(&workload.service, plan.system.capacity());
            let (key, of_machine) = match offered {
                // These have been looked at where they are read.
                Offered::Load(_) => ("workload.load", None),
                _ => ("workload.rate", wrong_load(load, place, LoadLimit::of(workload), "workload.rate")),
            };
            findings
                .extend(of_machine.or_else(|| overloads_held(workload, &plan.system, load, (key, place))));
        }
    }
    findings
}

/// A load that the machine could carry, but not the cores of it that are allocated.
fn overloads_held(
    workload: &Workload,
    system: &System,
    load: f64,
    (key, place): (&str, Place),
) -> Option<Finding> {
    let System { cores, cores_allocated: held, .. } = *system;
    let of_held = load * f64::from(cores) / f64::from(held);
    if system.allocation != AllocationConfig::Static
        || held >= cores
        || LoadLimit::of(workload).allows(of_held)
    {
        return None;
    }
    let message = format!(
        "a load of {load:.3} of {cores} cores is {of_held:.3} of the {held} that `system.allocation.cores` holds: \
         the backlog grows without end"
    );
    let most = f64::from(held) / f64::from(cores);
    let help = format!(
        "stay below {most:.3} with {held} cores, hold more of them, or say overload = true in [workload] if that is meant"
    );
    Some(Finding::new(place, key, message).help(help))
}

/// All systems of a file with all combinations of what they sweep.
fn systems(root: &Node, host: SystemHost, offered: usize) -> Result<Vec<SystemPlan>, Vec<Finding>> {
    let tables: &[Node] = match root.get("system") {
        Some(Node { value: Value::List(tables), .. }) => tables,
        Some(table) => std::slice::from_ref(table),
        None => {
            let finding = Finding::new(root.place, "system", "there is no table [system]");
            return Err(vec![finding.help("add it, as in preset = \"tiny-quanta\" and cores = 16")]);
        }
    };
    let costs = root.get("costs");
    let cost_axes = costs.map_or(Ok(Vec::new()), |costs| axes(costs, "costs"))?;
    let mut findings = Vec::new();
    let (mut plans, mut points) = (Vec::new(), 0_usize);
    for (i, table) in tables.iter().enumerate() {
        let Some(mut own_axes) = note(&mut findings, axes(table, "")) else { continue };
        let own = own_axes.len();
        own_axes.extend(cost_axes.iter().cloned());
        points = points.saturating_add(combinations(&own_axes).saturating_mul(offered));
        if points > POINTS_MAX {
            let place = own_axes.last().map_or(table.place, |axis| axis.place);
            let finding =
                Finding::new(place, "", format!("the lists of this file make more than {POINTS_MAX} points"));
            findings.push(finding.help("shorten them, or split the file"));
            break;
        }
        let default_name = if i == 0 { "system".to_owned() } else { format!("system-{}", i + 1) };
        let swept = Swept { table, costs, axes: &own_axes, own, default_name: &default_name, host };
        swept.expand(&mut plans, &mut findings);
    }
    findings.extend(same_names(&plans));
    if findings.is_empty() { Ok(plans.into_iter().map(|(_, plan)| plan).collect()) } else { Err(findings) }
}

/// A `[system]` table with all that it sweeps.
struct Swept<'a> {
    table: &'a Node,
    costs: Option<&'a Node>,
    /// Swept keys: the first `own` ones of the table, then those of `[costs]`.
    axes: &'a [Axis],
    own: usize,
    default_name: &'a str,
    host: SystemHost,
}

impl Swept<'_> {
    fn expand(&self, plans: &mut Vec<(Place, SystemPlan)>, findings: &mut Vec<Finding>) {
        let (own_axes, cost_axes) = self.axes.split_at(self.own);
        for n in 0..combinations(self.axes) {
            let picks = combination(self.axes, n);
            let (own_picks, cost_picks) = picks.split_at(self.own);
            let system = fixed(self.table, own_axes, own_picks);
            let costs = self.costs.map(|costs| fixed(costs, cost_axes, cost_picks));
            let parts = SystemParts {
                system: &system,
                costs: costs.as_ref(),
                default_name: self.default_name,
                host: self.host,
            };
            match resolve(&parts) {
                Ok(mut plan) => {
                    let value = |(axis, pick): (&Axis, usize)| (axis.key.clone(), axis.values[pick].json());
                    plan.varied = self.axes.iter().zip(picks).map(value).collect();
                    plans.push((self.table.place, plan));
                }
                Err(more) => findings.extend(more),
            }
            // The same list may be wrong in thousands of combinations.
            if findings.len() > 100 {
                return;
            }
        }
    }
}

/// Results are told apart by the names of systems and by what varies.
fn same_names(plans: &[(Place, SystemPlan)]) -> Vec<Finding> {
    let mut keys = std::collections::BTreeSet::new();
    let twice = plans.iter().filter(|(_, plan)| !keys.insert(plan_key(plan)));
    twice
        .map(|(place, plan)| {
            let message = format!("two systems are called \"{}\"", plan.system.name);
            Finding::new(*place, "system.name", message).help("give each a `name` of its own")
        })
        .collect()
}
