//! A `[system]` table with one value for every key: preset, `[costs]` and keys put together. `file` calls [`resolve`] for each point of a
//! sweep, after lists have become single values; the tuner makes and changes such plans without a file. Pure functions.

use caudal_policy::allocation::AllocationConfig;

use crate::coherence::{self, Incoherence, SystemHost};
use crate::de::{read, read_all, read_strictly, unknown_key};
use crate::error::ConfigError;
use crate::finding::{Finding, Place, SourceText, note};
use crate::presets::{Preset, find_preset, nearest_preset, presets};
use crate::suggest::suggest;
use crate::tree::{Node, Value, built_in, set_override};
use crate::{CORES_MAX, ContextsConfig, Costs, System};

/// A system, the costs of its actions, and the preset and swept keys that it was made from.
#[derive(Clone, Debug)]
pub struct SystemPlan {
    /// The system.
    pub system: System,
    /// Costs of its actions: preset, then `[costs]`, then `costs` of the system.
    pub costs: Costs,
    /// The preset that it was made from, if any.
    pub preset: Option<&'static Preset>,
    /// The keys that are swept, with their values here: `discipline.quantum`, `costs.preemption`.
    pub varied: Vec<(String, serde_json::Value)>,
}

impl SystemPlan {
    /// A preset as it is, on a machine of `cores`.
    pub fn of_preset(preset: &'static Preset, cores: u32) -> SystemPlan {
        SystemPlan {
            system: preset.system(cores),
            costs: preset.costs(),
            preset: Some(preset),
            varied: Vec::new(),
        }
    }

    /// The same with the costs in `settings`, as [`costs_as_overrides`](crate::costs_as_overrides) reads them from a file.
    /// A reference system keeps its own costs, because an ideal does not depend on the machine.
    ///
    /// # Errors
    /// If a setting is none of `[costs]`, or its value is wrong. This does not check whether the system has such costs:
    /// [`coherence::check`] does.
    pub fn with_costs(self, settings: &[String]) -> Result<SystemPlan, ConfigError> {
        if settings.is_empty() || self.reference_only().is_some() {
            return Ok(self);
        }
        let mut root = Node::table(Place::BUILT_IN);
        root.set("costs", Place::BUILT_IN, built_in(&self.costs));
        let set = settings.iter().enumerate();
        let mut findings: Vec<Finding> =
            set.filter_map(|(source, text)| set_override(&mut root, text, source).err()).collect();
        let foreign = root.entries().iter().filter(|entry| entry.key != "costs");
        findings.extend(foreign.map(|entry| {
            let message = format!("`{}` is no cost", entry.key);
            Finding::new(entry.key_place, &entry.key, message)
                .help("set a key of [costs], as in costs.hop=80ns")
        }));
        match root.get("costs").map(|table| read_all::<Costs>(table, "costs")) {
            Some(Ok(costs)) if findings.is_empty() => return Ok(SystemPlan { costs, ..self }),
            Some(Err(wrong)) => findings.extend(wrong),
            _ => {}
        }
        let sources: Vec<SourceText> = settings.iter().map(|text| SourceText::new("--costs", text)).collect();
        Err(ConfigError::invalid(findings, &sources))
    }

    /// The reason why it can not be deployed; `None` if it can be, and may win a plan.
    pub fn reference_only(&self) -> Option<&'static str> {
        coherence::unbuildable(&self.system).or_else(|| self.preset.and_then(|preset| preset.reference_only))
    }

    /// Cores that serve no requests, on top of the system's own.
    pub fn dedicated_cores(&self) -> u32 {
        match self.preset {
            Some(preset) => preset.dedicated_cores,
            None => u32::from(self.costs.dispatcher.0 > 0 || self.costs.dispatcher_quantum.0 > 0),
        }
    }
}

/// Keys of `[system]`.
pub(crate) const SYSTEM_KEYS: [&str; 12] = [
    "name",
    "preset",
    "cores",
    "contexts",
    "pools",
    "dispatch",
    "rebalance",
    "discipline",
    "allocation",
    "parallelism",
    "variant",
    "costs",
];
/// Keys of `[system]` that hold a policy.
const POLICIES: [&str; 5] = ["dispatch", "rebalance", "discipline", "allocation", "parallelism"];

/// A system as a table; reading it gives the system back.
pub(crate) fn to_node(system: &System) -> Node {
    let mut node = Node::table(Place::BUILT_IN);
    let mut allocation = built_in(&system.allocation);
    if system.cores_allocated != system.cores {
        allocation.set(held_key(&system.allocation), Place::BUILT_IN, number(system.cores_allocated));
    }
    let mut set = |key, value| node.set(key, Place::BUILT_IN, value);
    set("name", Node::text(Place::BUILT_IN, &system.name));
    set("cores", number(system.cores));
    if let Some(contexts) = &system.contexts {
        set("contexts", built_in(contexts));
    }
    // A list is no TOML document of its own, and neither is a bare string: wrap it.
    let wrapped = built_in(&std::collections::BTreeMap::from([("pools", &system.pools)]));
    set("pools", wrapped.get("pools").cloned().unwrap_or_else(|| Node::text(Place::BUILT_IN, "per-core")));
    set("dispatch", built_in(&system.dispatch));
    set("rebalance", built_in(&system.rebalance));
    set("discipline", built_in(&system.discipline));
    set("allocation", allocation);
    set("parallelism", built_in(&system.parallelism));
    let variant = built_in(&std::collections::BTreeMap::from([("variant", system.variant)]));
    set("variant", variant.get("variant").cloned().unwrap_or_else(|| Node::text(Place::BUILT_IN, "paper")));
    node
}

fn number(value: u32) -> Node {
    Node { place: Place::BUILT_IN, value: Value::Integer(i64::from(value)) }
}

/// The key of `allocation` that says how many cores are held: all the time, or at the start.
fn held_key(allocation: &AllocationConfig) -> &'static str {
    if *allocation == AllocationConfig::Static { "cores" } else { "start" }
}

/// The parts that a plan is made from.
pub(crate) struct SystemParts<'a> {
    /// `[system]`, each key with one value.
    pub(crate) system: &'a Node,
    /// `[costs]`.
    pub(crate) costs: Option<&'a Node>,
    /// The name of a system without name and preset.
    pub(crate) default_name: &'a str,
    pub(crate) host: SystemHost,
}

/// Puts the parts together and checks the result.
pub(crate) fn resolve(parts: &SystemParts<'_>) -> Result<SystemPlan, Vec<Finding>> {
    let mut findings: Vec<Finding> = unknown_keys(parts.system);
    findings.extend(name_for_preset(parts.system));
    let preset = note(&mut findings, preset(parts.system)).flatten();
    let cores = note(&mut findings, cores(parts.system));
    let base = match preset {
        Some(preset) => to_node(&preset.system(cores.unwrap_or(1))),
        None => {
            let mut base = Node::table(Place::BUILT_IN);
            base.set("name", Place::BUILT_IN, Node::text(Place::BUILT_IN, parts.default_name));
            base
        }
    };
    let merged = Merged {
        system: overlaid_system(base, parts.system),
        costs: overlaid_costs(preset, [parts.costs, parts.system.get("costs")]),
    };
    let system = note(&mut findings, read_system(&merged.system, cores.unwrap_or(1)));
    let costs = note(&mut findings, read_all::<Costs>(&merged.costs, "costs"));
    let (Some(system), Some(costs), Some(_), true) = (system, costs, cores, findings.is_empty()) else {
        return Err(findings);
    };
    let broken = coherence::check(&system, &costs, parts.host);
    if broken.is_empty() {
        return Ok(SystemPlan { system, costs, preset, varied: Vec::new() });
    }
    Err(broken.iter().map(|incoherence| merged.locate(incoherence, parts)).collect())
}

fn unknown_keys(system: &Node) -> Vec<Finding> {
    let unknown = system.entries().iter().filter(|entry| !SYSTEM_KEYS.contains(&entry.key.as_str()));
    unknown
        .map(|entry| {
            let finding = unknown_key(entry, "system", &SYSTEM_KEYS);
            match home(&entry.key) {
                Some(home) => finding.help(format!("it belongs to {home}")),
                None => finding,
            }
        })
        .collect()
}

/// A finding for a system whose `name` is that of a preset, while it has no `preset`: its author probably meant `preset`.
fn name_for_preset(system: &Node) -> Option<Finding> {
    let node = system.get("name")?;
    let name = node.as_text()?;
    let says_more = ["preset", "pools", "dispatch", "rebalance", "discipline", "allocation"]
        .iter()
        .any(|key| system.get(key).is_some());
    find_preset(name).filter(|_| !says_more)?;
    let finding = Finding::new(
        node.place,
        "system.name",
        format!(
            "`name` gives the system the name \"{name}\", and takes nothing from the preset of that name"
        ),
    );
    Some(finding.help(format!("write preset = \"{name}\" to take that system, or give yours another name")))
}

/// The table in which a key belongs that people often write in `[system]` itself; none for other keys.
fn home(key: &str) -> Option<&'static str> {
    Some(match key {
        "quantum" | "fresh" | "lone" | "started_max" => {
            "`discipline`, as in discipline = { policy = \"processor-sharing\", quantum = \"2us\" }"
        }
        "k" | "bound" | "ties" => "`dispatch`, as in dispatch = { policy = \"jbsq\", bound = 3 }",
        "threshold" | "amount" => {
            "`rebalance`, as in rebalance = { policy = \"work-shedding\", threshold = \"2us\" }"
        }
        "low" | "high" | "interval" => {
            "`allocation`, as in allocation = { policy = \"delay-range\", low = \"0.5us\", high = \"1us\" }"
        }
        "load" | "rate" | "service" | "arrivals" => "the table [workload]",
        "seed" | "percentiles" | "stop" => "the table [measure]",
        "preemption" | "steal" | "steal_check" | "dispatcher" | "overrun" => "the table [costs]",
        _ => return None,
    })
}

fn preset(system: &Node) -> Result<Option<&'static Preset>, Vec<Finding>> {
    let Some(node) = system.get("preset") else { return Ok(None) };
    let name: String = read(node, "system.preset").map_err(|finding| vec![finding])?;
    if let Some(preset) = find_preset(&name) {
        return Ok(Some(preset));
    }
    let finding = Finding::new(node.place, "system.preset", format!("no preset is called \"{name}\""));
    let all: Vec<&str> = presets().map(|preset| preset.name).collect();
    Err(vec![match nearest_preset(&name) {
        Some(near) => finding.help(format!("did you mean `{near}`?")),
        None => finding.help(suggest(&name, &all)),
    }])
}

fn cores(system: &Node) -> Result<u32, Vec<Finding>> {
    let Some(node) = system.get("cores") else {
        let finding = Finding::new(system.place, "system.cores", "`[system]` needs `cores`");
        return Err(vec![finding.help("write the cores of the machine, as in cores = 16")]);
    };
    let help = format!("write a whole number from 1 to {CORES_MAX}");
    match read::<u32>(node, "system.cores") {
        Ok(cores) if (1..=CORES_MAX).contains(&cores) => Ok(cores),
        Ok(cores) => {
            let message = format!("`cores` is {cores}, and the machine can not have that many");
            Err(vec![Finding::new(node.place, "system.cores", message).help(help)])
        }
        Err(finding) => Err(vec![finding.help(help)]),
    }
}

/// The preset's system with the keys of the file laid over it.
fn overlaid_system(mut base: Node, system: &Node) -> Node {
    base.place = system.place;
    for entry in system.entries() {
        let key = entry.key.as_str();
        match key {
            "preset" | "costs" => {}
            _ if POLICIES.contains(&key) => {
                let node = overlaid_policy(base.get(key), &entry.node);
                base.set(key, entry.key_place, node);
            }
            _ => base.set(key, entry.key_place, entry.node.clone()),
        }
    }
    base
}

/// The policy of the file laid over that of the preset: a policy with another name replaces it; the same name, or none, changes its
/// parameters.
fn overlaid_policy(base: Option<&Node>, given: &Node) -> Node {
    let mut table = given.clone();
    if let Some(name) = given.as_text() {
        table = Node::table(given.place);
        table.set("policy", given.place, Node::text(given.place, name));
    }
    let name = |node: &Node| node.get("policy").and_then(Node::as_text).map(str::to_owned);
    match base {
        Some(base) if table.is_table() && (table.get("policy").is_none() || name(&table) == name(base)) => {
            let mut merged = base.clone();
            merged.place = table.place;
            for entry in table.entries() {
                merged.set(&entry.key, entry.key_place, entry.node.clone());
            }
            merged
        }
        _ => table,
    }
}

fn overlaid_costs(preset: Option<&'static Preset>, tables: [Option<&Node>; 2]) -> Node {
    let mut merged = preset.map_or_else(|| Node::table(Place::BUILT_IN), |preset| built_in(&preset.costs()));
    for table in tables.into_iter().flatten() {
        if !table.is_table() {
            return table.clone();
        }
        merged.place = table.place;
        for entry in table.entries() {
            merged.set(&entry.key, entry.key_place, entry.node.clone());
        }
    }
    merged
}

fn read_system(node: &Node, cores: u32) -> Result<System, Vec<Finding>> {
    let mut findings = Vec::new();
    let mut system = System { pools: crate::Pools::PerCore, ..System::single_queue(cores) };
    if let Some(name) = note(&mut findings, name(node)) {
        system.name = name;
    }
    macro_rules! take {
        ($field:ident, $read:ident) => {
            if let Some(node) = node.get(stringify!($field)) {
                match $read(node, concat!("system.", stringify!($field))) {
                    Ok(value) => system.$field = value,
                    Err(finding) => findings.push(finding),
                }
            }
        };
    }
    take!(pools, read);
    take!(dispatch, read_strictly);
    take!(rebalance, read_strictly);
    take!(discipline, read_strictly);
    take!(parallelism, read_strictly);
    take!(variant, read);
    if let Some(node) = node.get("contexts") {
        match read_strictly::<ContextsConfig>(node, "system.contexts") {
            Ok(contexts) => system.contexts = Some(contexts),
            Err(finding) => findings.push(finding),
        }
    }
    match node.get("allocation").map(|node| allocation(node, cores)) {
        Some(Ok((allocation, held))) => (system.allocation, system.cores_allocated) = (allocation, held),
        Some(Err(finding)) => findings.push(finding),
        None => {}
    }
    if findings.is_empty() { Ok(system) } else { Err(findings) }
}

fn name(node: &Node) -> Result<String, Vec<Finding>> {
    let Some(node) = node.get("name") else { return Ok("system".to_owned()) };
    let name: String = read(node, "system.name").map_err(|finding| vec![finding])?;
    if (1..=64).contains(&name.chars().count()) && !name.contains(char::is_control) {
        return Ok(name);
    }
    let characters = name.chars().count();
    let message = match characters {
        1..=64 => "the name of the system has characters that can not be printed".to_owned(),
        _ => format!("the name of the system has {characters} characters"),
    };
    let finding = Finding::new(node.place, "system.name", message);
    Err(vec![finding.help("write 1 to 64 printable characters")])
}

/// The allocation policy, and the cores that are held: all the time under static allocation, else at the start.
fn allocation(node: &Node, cores: u32) -> Result<(AllocationConfig, u32), Finding> {
    let mut table = node.clone();
    if table.is_table() && table.get("policy").is_none() {
        table.set("policy", node.place, Node::text(node.place, "static"));
    }
    let is_static = table.get("policy").and_then(Node::as_text) == Some("static");
    let key = if is_static { "cores" } else { "start" };
    let held = match table.remove(key) {
        Some(held) => read(&held, &format!("system.allocation.{key}"))?,
        None => cores,
    };
    let config = read_strictly(&table, "system.allocation").map_err(|finding| match is_static {
        true => finding.help("\"static\" takes `cores`, the number of cores that are held"),
        false => finding,
    })?;
    Ok((config, held))
}

/// System and costs as trees, to find out which key breaks a rule.
struct Merged {
    system: Node,
    costs: Node,
}

impl Merged {
    fn locate(&self, incoherence: &Incoherence, parts: &SystemParts<'_>) -> Finding {
        let rule = incoherence.rule;
        let written: Vec<(&str, Place)> = rule
            .keys
            .iter()
            .filter_map(|key| self.place(key).filter(|place| place.is_written()).map(|place| (*key, place)))
            .collect();
        let mends = |key| self.mends(key, incoherence, parts.host);
        let guilty = written.iter().find(|(key, _)| mends(key) == Some(true));
        // If the guilty key is a table that needs all of its keys, take the key inside it that the rule names: the table can not be read without.
        let within = |table: &str| {
            let inside = |key: &str| key.strip_prefix(table).is_some_and(|rest| rest.starts_with('.'));
            written.iter().find(|(key, _)| inside(key) && mends(key).is_none())
        };
        let guilty = guilty.map(|found| within(found.0).unwrap_or(found));
        let (key, place) = match guilty.or(written.first()) {
            Some(&found) => found,
            None => {
                let preset = parts.system.get("preset").map(|preset| ("system.preset", preset.place));
                preset.unwrap_or((rule.keys[0], parts.system.place))
            }
        };
        Finding::new(place, key, format!("{}: {}", rule.refused, rule.why)).help(incoherence.instead())
    }

    fn place(&self, key: &str) -> Option<Place> {
        let mut steps = key.split('.').map(str::to_owned);
        let root = if steps.next()? == "costs" { &self.costs } else { &self.system };
        root.at(&steps.collect::<Vec<_>>()).map(|node| node.place)
    }

    /// Is the rule kept when `key` is left out? `None` if the rest can not be read.
    fn mends(&self, key: &str, incoherence: &Incoherence, host: SystemHost) -> Option<bool> {
        let Merged { mut system, mut costs } =
            Merged { system: self.system.clone(), costs: self.costs.clone() };
        let steps: Vec<String> = key.split('.').skip(1).map(str::to_owned).collect();
        let (last, tables) = steps.split_last()?;
        let root = if key.starts_with("costs.") { &mut costs } else { &mut system };
        if root.at_mut(tables).and_then(|table| table.remove(last)).is_none() {
            return Some(false);
        }
        let cores = system.get("cores").and_then(|node| read(node, "").ok())?;
        let (system, costs) = (read_system(&system, cores).ok()?, read::<Costs>(&costs, "").ok()?);
        let broken = coherence::check(&system, &costs, host);
        Some(broken.iter().all(|broken| broken.rule.name != incoherence.rule.name))
    }
}
