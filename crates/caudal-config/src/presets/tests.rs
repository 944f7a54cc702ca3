use std::collections::BTreeSet;

use super::{find_preset, nearest_preset, presets};
use crate::coherence::{SystemHost, check, unbuildable};
use crate::plan::to_node;
use crate::tree::{Node, Value, built_in};

#[test]
fn all_are_coherent_on_machines_of_any_size() {
    for preset in presets() {
        // Contexts count as workers, of which there are as many as cores at most.
        let most = if preset.system(1).contexts.is_some() { 512 } else { 4096 };
        for cores in [2, 3, 16, 32, most] {
            let broken = check(&preset.system(cores), &preset.costs(), SystemHost::Simulator);
            assert!(broken.is_empty(), "{} on {cores} cores: {}", preset.name, broken[0]);
        }
    }
}

#[test]
fn names_and_aliases_are_unique_and_found() {
    let mut seen = BTreeSet::new();
    for preset in presets() {
        for name in std::iter::once(&preset.name).chain(preset.aliases) {
            assert!(seen.insert(*name), "{name} stands twice");
            assert_eq!(find_preset(name).map(|found| found.name), Some(preset.name));
        }
        assert_eq!(preset.system(16).name, preset.name);
    }
    assert_eq!(nearest_preset("shinjuko"), Some("shinjuku"));
    assert_eq!(nearest_preset("xyz"), None);
}

#[test]
fn the_systems_of_the_papers_are_there() {
    for name in [
        "ix",
        "arachne",
        "shenango",
        "caladan",
        "caladan-delay-range",
        "caladan-utilization-range",
        "fred",
        "go",
        "shinjuku",
        "tiny-quanta",
        "nanopu",
        "ideal",
        "sqd-sita",
        "isqd-sita",
        "smt",
        "hsmt",
        "esmt",
        "corezilla",
    ] {
        assert!(find_preset(name).is_some(), "{name}");
    }
}

/// The numbers that a preset documents are those of its system.
#[test]
fn numbers_are_those_of_the_system() {
    for preset in presets() {
        let (system, costs) = (to_node(&preset.system(16)), built_in(&preset.costs()));
        for number in preset.numbers {
            let steps: Vec<String> = number.key.split('.').skip(1).map(str::to_owned).collect();
            let root = if number.key.starts_with("costs.") { &costs } else { &system };
            let found = root.at(&steps).unwrap_or_else(|| panic!("{}: no {}", preset.name, number.key));
            let text = match &found.value {
                Value::Text(text) => text.clone(),
                _ => Node::inline(found),
            };
            assert_eq!(text, number.value, "{}: {}", preset.name, number.key);
            assert!(!number.source.is_empty());
        }
    }
}

/// Every time and share that is no default of the crate has a source.
#[test]
fn costs_that_differ_from_the_canonical_ones_are_explained() {
    for preset in presets().filter(|preset| preset.reference_only.is_none()) {
        let (costs, canonical) = (built_in(&preset.costs()), built_in(&crate::Costs::default()));
        let used: BTreeSet<&str> = preset.numbers.iter().map(|number| number.key).collect();
        for entry in costs.entries().iter().filter(|entry| canonical.get(&entry.key) != Some(&entry.node)) {
            // Costs of moving tasks are all one measured number in Caudal's own presets.
            let moves = ["steal_check", "steal", "shed", "enqueue", "hand_over", "core_allocation"];
            let unused = preset.name.starts_with("caudal-")
                && (moves.contains(&entry.key.as_str())
                    || (entry.key == "preemption" && !used.contains("system.discipline.quantum")));
            assert!(
                unused || used.contains(&*format!("costs.{}", entry.key)),
                "{}: {}",
                preset.name,
                entry.key
            );
        }
    }
}

#[test]
fn only_buildable_systems_are_deployable() {
    for preset in presets() {
        assert!(preset.deployable() || preset.reference_only.is_some());
        assert!(!preset.deployable() || unbuildable(&preset.system(16)).is_none(), "{}", preset.name);
    }
    let dedicated = |name: &str| find_preset(name).map(|preset| preset.dedicated_cores);
    assert_eq!((dedicated("tiny-quanta"), dedicated("caudal-stealing")), (Some(1), Some(0)));
}
