//! `file-format.md`: every key of the file that describes a system.

use super::policies::POINTS;
use super::schema::{Schema, Variant, keys_table};
use crate::markdown::{code, table};

const INTRO: &str = r#"# The file

One TOML file describes what is simulated: what arrives, which systems meet it, what their actions cost, and
what is measured. `caudal sim FILE` simulates it, `caudal check FILE` only reads it, a plan's `policy.toml` is
one without `[workload]`. `caudal check --schema` prints the JSON Schema that this page is made from.

```toml
[workload]
service  = { distribution = "bimodal", short = "0.5us", long = "500us", p_long = 0.005 }
arrivals = { process = "poisson" }
load     = [0.3, 0.5, 0.7]

[system]
cores      = 16
pools      = "per-core"
dispatch   = { policy = "jsq", ties = "msq" }
discipline = { policy = "processor-sharing", quantum = ["1us", "2us"] }

[costs]
preemption = "40ns"

[measure]
percentiles = [50, 99, 99.9]
stop = { confidence = 0.95, relative_error = 0.05, max_requests = 100_000_000 }
seed = 1
```

* **Times** are strings with a unit: `"2us"`, `"0.5 us"`, `"1_500ns"`; the units are ps, ns, us (or µs), ms, s. Only
  0 may stand without one. **Rates** are strings in requests a second: `"4.5M/s"`, `"3k/s"`, `"1200/s"`.
* **Lists sweep.** Where one value belongs, a list asks for each of them, and several lists for all
  combinations; the load varies fastest. At most 10,000 points.
* **Several systems**: write `[[system]]` once for each, with different `name`s.
* **Precedence**: the preset's numbers, then `[costs]`, then keys in `[system]` (`system.costs` included). A
  policy of another name replaces the preset's; without `policy`, or with the same, it changes parameters.
* **Short forms**: `dispatch = "random"` is `{ policy = "random" }`, `arrivals = "poisson"` is
  `{ process = "poisson" }`.
* **Errors** name file, line, column and key, all of them at once, with exit code 2. Unknown keys are errors.
"#;

type Row = (&'static str, &'static str, &'static str, &'static str);

/// Keys of `[workload]`: key, what it holds, default, meaning.
const WORKLOAD: [Row; 6] = [
    ("service", "name, distribution or file", "", "Service times, see below; needed"),
    (
        "dag",
        "table",
        "",
        "What of a request can be done in parallel, see below; nothing if it is left out, all of it if it is `{}`",
    ),
    ("arrivals", "process or file", "\"poisson\"", "When requests arrive, see below"),
    (
        "load",
        "number above 0, or a list",
        "",
        "Offered work over the capacity of all `cores` of the machine, allocated or not; below 1 unless `overload`",
    ),
    ("rate", "rate, or a list", "", "Requests a second, instead of `load`"),
    (
        "overload",
        "true or false",
        "false",
        "Says that a load of 1 or more is meant; its latency is then `null`",
    ),
];

/// Keys of `[system]`.
const SYSTEM: [Row; 12] = [
    ("name", "string", "the preset's, or \"system\"", "What results call it; 1 to 64 printable characters"),
    ("preset", "name", "", "What the other keys start from: one of the [systems by name](systems.md)"),
    ("cores", "whole number", "", "Cores of the machine, 1 to 4096; needed. Dedicated cores come on top"),
    (
        "contexts",
        "table",
        "",
        "Hardware contexts of each core, see below; a load of 1 is then what all cores do with all of them active",
    ),
    (
        "pools",
        "\"per-core\", a number, or a list of sizes",
        "\"per-core\"",
        "How workers share queues: `1` is one queue for all, `4` four pools of equal size, `[13, 2, 1]` pools of so many cores",
    ),
    ("dispatch", "policy", "\"random\"", "Which pool a new request goes to"),
    ("rebalance", "policy", "\"none\"", "Whether tasks move between pools"),
    ("discipline", "policy", "\"fcfs\"", "Which task of a pool runs, and for how long"),
    (
        "allocation",
        "policy",
        "\"static\"",
        "How many cores are held. `cores` under `static`, `start` under any other policy: those held at the start; default all",
    ),
    (
        "parallelism",
        "policy",
        "\"serial\"",
        "Who may take the tasks of a request that forks; but for `serial` it needs `pools = 1`",
    ),
    (
        "variant",
        "\"paper\" or \"authors-simulator\"",
        "\"paper\"",
        "Whose reading of McClure et al., NSDI 2022, where their text and their simulator differ",
    ),
    ("costs", "table", "", "As `[costs]`, for this system only"),
];

pub(super) fn body() -> String {
    let schema = Schema::new();
    let mut text = INTRO.to_owned();
    text += &format!("\n## `[workload]`\n\n{}", hand_written(&WORKLOAD));
    text += "\n### `service`\n\nThe name of a [workload](workloads.md), or one of these:\n";
    text += &variants(&schema.variants("DistributionSpec", "distribution"), "distribution");
    text += &parts(
        &schema,
        &[("ClassSpec", "`classes` of a mixture"), ("Phase", "`phases` of a hyper-exponential")],
    );
    text += "\n#### `file = \"…\"`: measured service times\n\nWhat the file is follows from its content: CSV (a value a line, or columns such as `class,service_ns`), or what tools write;\n[measure your service](../guides/measure-your-service.md) lists them. It may be packed by gzip or zstd, and `-` is standard input. A\ncolumn `count` or `share` makes a row a value of a histogram: `service_ms,share`; with `low_us,high_us,count` values lie between two\nbounds, and `le` counts those up to it. What a file does not say (a unit, a column) and its values do not show is refused with the\npossible readings.\n\nA CSV file with the columns `request,task,work_ns,after` holds *recorded graphs*, a task a line: `after` names the tasks of\nthe same request that must be done first, separated by blanks. A column `class` names the request's class, `leaves` the\nequal parts of a task that is a parallel loop. A request's service time is the work of its tasks, and it can be done in\nparallel as far as they say, so such a file goes without `dag`.\n\n";
    text += &keys_table(&schema.definition("FileSpec"));
    text += "\n### `dag`\n\nWhat of a request can be done in parallel: a fork/join graph, in shares of its work. `{}` is one parallel\nloop, `{ loops = 4 }` four after each other, `{ serial = 0.1 }` a tenth of the work before and after one, `{ steps = [{ serial = 0.2 }, { fork = [[{ loop =\n0.3 }], [{ serial = 0.1 }, { loop = 0.4 }]] }] }` a part that one core does, and then two branches beside each other.\n\n";
    text += &keys_table(&schema.definition("DagSpec"));
    text += "\n#### `grain`\n\n";
    text += &keys_table(&schema.definition("Grain"));
    text += "\n### `arrivals`\n";
    let (files, processes): (Vec<Variant>, Vec<Variant>) =
        schema.variants("ArrivalSpec", "process").into_iter().partition(|variant| variant.name.is_empty());
    text += &variants(&processes, "process");
    text += &parts(
        &schema,
        &[
            ("GapPhase", "`phases` of hyper-exponential gaps"),
            ("Step", "`steps`"),
            ("RampPoint", "`points` of ramps"),
        ],
    );
    for file in files {
        text += &format!(
            "\n#### `file = \"…\"`: recorded arrivals\n\n{}\n\n{}",
            file.doc,
            keys_table(&file.keys)
        );
    }
    text += &format!("\n## `[system]`\n\n{}", hand_written(&SYSTEM));
    text += "\nWhat the policies do stands in [policies](policies.md), with the combinations that are refused. Their\nparameters:\n";
    for (point, _) in POINTS {
        text += &format!("\n### `{point}`\n");
        text += &variants(&schema.policies(point), "policy");
    }
    for (definition, what) in [("Grow", "grow"), ("Shrink", "shrink")] {
        text += &format!("\n### `{what}` of `allocation = {{ policy = \"triggers\" }}`\n");
        text += &variants(&schema.variants(definition, "when"), "when");
    }
    text += &format!(
        "\n## `[costs]`\n\nWhat scheduling costs. Every key is a time but `probe_factor` and `stalls`. \
         `caudal calibrate` measures those of a machine; `--costs` of `sim`, `plan` and `compare` takes them.\n\n{}",
        keys_table(&schema.definition("Costs"))
    );
    text += &format!(
        "\n### `stalls`\n\nOn each core stalls come at random times, with lengths drawn from a measured distribution; while one \
         lasts, what the core does stands still. A\ndispatcher has a core of its own: requests that it has are placed that much \
         later, quanta that it has already promised are not.\n\n{}",
        keys_table(&schema.definition("Stalls"))
    );
    text += &format!("\n## `[measure]`\n\n{}", keys_table(&schema.definition("Measure")));
    text += &format!("\n### `stop`\n\n{}", keys_table(&schema.definition("Stop")));
    text
}

fn hand_written(rows: &[Row]) -> String {
    let row = |(key, holds, default, doc): &Row| {
        vec![code(key), (*holds).to_owned(), (*default).to_owned(), (*doc).to_owned()]
    };
    table(&["key", "holds", "default", "meaning"], &rows.iter().map(row).collect::<Vec<_>>())
}

/// The tables that stand in lists.
fn parts(schema: &Schema, parts: &[(&str, &str)]) -> String {
    let one = |(definition, what): &(&str, &str)| {
        format!("\n{what}: each a table of\n\n{}", keys_table(&schema.definition(definition)))
    };
    parts.iter().map(one).collect()
}

fn variants(variants: &[Variant], tag: &str) -> String {
    let mut text = String::new();
    for variant in variants {
        text += &format!("\n#### `{tag} = \"{}\"`\n\n{}\n", variant.name, variant.doc);
        if !variant.keys.is_empty() {
            text += &format!("\n{}", keys_table(&variant.keys));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pages::schema::Key;
    use std::collections::BTreeSet;

    #[test]
    fn the_tables_that_are_written_by_hand_have_the_keys_of_the_schema() {
        let schema = Schema::new();
        for (of, rows) in [("workload", &WORKLOAD[..]), ("system", &SYSTEM[..])] {
            let here: BTreeSet<&str> = rows.iter().map(|row| row.0).collect();
            let names = schema.names(of);
            assert_eq!(here, names.iter().map(String::as_str).collect(), "{of}");
        }
    }

    /// A value of the kind that a key holds.
    fn any(key: &Key) -> String {
        let value = match key.holds.as_str() {
            "time" => "\"1us\"",
            "number" => "0.5",
            "true or false" => "true",
            holds if holds.starts_with("list of") => "[]",
            holds if holds.contains("\"us\"") => "\"us\"",
            "string" => "\"x\"",
            "table" => "{ x = 0.5 }",
            _ => "true",
        };
        format!("{} = {value}", key.name)
    }

    #[test]
    fn each_distribution_and_process_takes_the_keys_that_its_table_has_and_no_others() {
        let schema = Schema::new();
        for (key, definition, tag) in
            [("service", "DistributionSpec", "distribution"), ("arrivals", "ArrivalSpec", "process")]
        {
            let mut tables = schema.variants(definition, tag);
            let mut keys: Vec<Key> = tables.iter().flat_map(|table| table.keys.clone()).collect();
            keys.extend(schema.definition(if key == "service" { "FileSpec" } else { "" }));
            keys.retain(|key| key.name != "file");
            tables.retain(|table| !table.name.is_empty());
            for (table, other) in tables.iter().flat_map(|table| keys.iter().map(move |other| (table, other)))
            {
                let file = format!(
                    "[workload]\nservice = \"exp-1us\"\n{key} = {{ {tag} = \"{}\", {} }}\n[system]\ncores = 1\n",
                    table.name,
                    any(other)
                );
                let file =
                    if key == "service" { file.replacen("service = \"exp-1us\"\n", "", 1) } else { file };
                let read = caudal_config::File::parse(&file, "in.toml").map(drop);
                let said = read.map_or_else(|error| error.to_string(), |()| String::new());
                let refused =
                    said.contains(&format!("`{}` does not belong to \"{}\"", other.name, table.name));
                let taken = table.keys.iter().any(|key| key.name == other.name);
                assert_eq!(refused, !taken, "{} of {}: {said}", other.name, table.name);
            }
        }
    }

    #[test]
    fn every_generated_key_says_what_it_means() {
        let schema = Schema::new();
        let mut keys = schema.definition("Costs");
        keys.extend(schema.definition("Measure"));
        for (definition, tag) in [("DistributionSpec", "distribution"), ("ArrivalSpec", "process")] {
            keys.extend(schema.variants(definition, tag).into_iter().flat_map(|variant| variant.keys));
        }
        keys.extend(
            POINTS.iter().flat_map(|(point, _)| schema.policies(point)).flat_map(|policy| policy.keys),
        );
        assert!(keys.len() > 25, "{keys:?}");
        for key in keys {
            assert!(!key.doc.is_empty() && !key.holds.is_empty(), "{key:?}");
        }
    }
}
