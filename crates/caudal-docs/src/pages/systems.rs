//! `systems.md`: the systems that have a name, and where their numbers come from. Made from the presets of `caudal-config`. Pure.

use caudal_config::{EngineLoop, Preset, presets, write_policy};

use crate::markdown::{code, table};

const INTRO: &str = "\
# Systems by name

This page is for people who want to simulate a published system, or to know what a name in a plan's table stands for.
The policies that it combines are in [policies](policies.md).

`preset = \"NAME\"` in `[system]` of [a file](file-format.md) starts from one of these; other keys change it. `caudal systems NAME` prints
one as a file. A *deployable* system can win a plan; the others are reference lines, which nobody can build.
*Dedicated* cores (a dispatcher, an IOKernel) serve no requests; a plan counts them in the machine's total.
Numbers marked **ours** are in no paper.

The canonical costs are those of McClure et al., NSDI 2022, section 4.1 (`[costs]` in the
[file format](file-format.md)); below are the numbers that a system's behaviour rests on.
";

pub(super) fn body() -> String {
    let rows: Vec<Vec<String>> = presets()
        .map(|preset| {
            let deployable = if preset.deployable() { "yes" } else { "no" };
            let aliases: Vec<String> = preset.aliases.iter().map(|alias| code(alias)).collect();
            vec![
                format!("[`{0}`](#{0})", preset.name),
                aliases.join(", "),
                deployable.to_owned(),
                preset.dedicated_cores.to_string(),
                preset.summary.to_owned(),
            ]
        })
        .collect();
    let mut text =
        format!("{INTRO}\n{}", table(&["system", "also", "deployable", "dedicated", "what it is"], &rows));
    for preset in presets() {
        text += &one(preset);
    }
    text
}

fn one(preset: &Preset) -> String {
    let mut text = format!("\n## {}\n\n{}.\n", preset.name, preset.summary);
    if let Some(why) = preset.reference_only {
        text += &format!("A reference line: {why}.\n");
    }
    text += &format!("Simulated by {}.\n", EngineLoop::of(&preset.system(16)));
    if !preset.numbers.is_empty() {
        let rows: Vec<Vec<String>> = preset
            .numbers
            .iter()
            .map(|number| {
                let ours = if number.ours { "**ours**: " } else { "" };
                vec![code(number.key), code(number.value), format!("{ours}{}", number.source)]
            })
            .collect();
        text += &format!("\n{}", table(&["key", "value", "where it comes from"], &rows));
    }
    let policy = write_policy(&preset.system(16), &preset.costs(), "");
    let system = policy.split("\n[costs]").next().unwrap_or_default().trim();
    text + &format!("\nOn 16 cores:\n\n```toml\n{system}\n```\n")
}
