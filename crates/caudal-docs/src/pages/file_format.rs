//! `file-format.md`: every key of the file that describes a system. Made from the schema of the file, and from tables here for keys that the
//! schema does not describe. Reads no files.

use super::policies::POINTS;
use super::schema::{NEEDED, Schema, Variant, keys_table};
use crate::markdown::{code, table};

const INTRO: &str = r#"# The file that describes a system

This page lists every key of the TOML files that Caudal reads and writes. It is for people who write or change such
a file; [how to write a system file](../guides/write-a-system-file.md) is the way in. The words are explained in
[the glossary](glossary.md).

A file has up to four tables: what arrives (`[workload]`), which systems meet it (`[system]`), what their actions cost
(`[costs]`), and what is measured (`[measure]`).

| file | tables | who reads it |
| --- | --- | --- |
| a system file, which you write | all four, or some | `caudal sim FILE` simulates it, `caudal check FILE` only reads it and says what it means |
| `policy.toml`, which a plan writes | all but `[workload]` | the runtime; `caudal sim` with `--workload` |
| a costs file, which `caudal calibrate` writes | `[costs]` | `--costs FILE` of `sim`, `plan` and `compare` |

This page is made from the JSON Schema of the file, which `caudal check --schema` prints for editors.

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
* **Lists sweep.** If a key takes one value and the file gives a list, each value of the list is simulated. Several
  lists give all combinations; the load varies fastest. A file may ask for at most 10,000 points.
* **Several systems**: write `[[system]]` once for each, with different `name`s.
* **Precedence**: the preset's numbers come first, `[costs]` overrides them, and keys in `[system]` (`system.costs`
  included) override both. A policy of another name replaces the preset's policy; a table without `policy`, or with the
  preset's own, changes parameters of the preset's policy.
* **Short forms**: `dispatch = "random"` is `{ policy = "random" }`, `arrivals = "poisson"` is
  `{ process = "poisson" }`.
* **Errors** name file, line, column and key, all of them at once, with exit code 2. Unknown keys are errors.
* **Defaults**: in the tables below, *needed* marks a key without which the file is refused. A key with an empty default
  may be left out; if one of several keys has to be there, the text says so.
"#;

type Row = (&'static str, &'static str, &'static str, &'static str);

/// Keys of `[workload]`: key, what it holds, default, meaning.
const WORKLOAD: [Row; 6] = [
    ("service", "name or table", NEEDED, "Service times, see below"),
    (
        "dag",
        "table",
        "",
        "What of a request can be done in parallel, see below; nothing if it is left out, all of it if it is `{}`",
    ),
    ("arrivals", "name or table", "\"poisson\"", "When requests arrive, see below"),
    (
        "load",
        "number above 0, or a list",
        "",
        "Offered work over the capacity of all `cores` of the machine, allocated or not; below 1 unless `overload`. \
         `caudal sim` needs `load` or `rate`, unless recorded arrivals are played as they are",
    ),
    ("rate", "rate, or a list", "", "Requests a second, instead of `load`"),
    (
        "overload",
        "true or false",
        "false",
        "Allows a load of 1 or more. Nothing is steady then, so latencies are `null` in results",
    ),
];

/// Keys of `[system]`.
const SYSTEM: [Row; 12] = [
    ("name", "string", "the preset's, or \"system\"", "What results call it; 1 to 64 printable characters"),
    ("preset", "name", "", "What the other keys start from: one of the [systems by name](systems.md)"),
    ("cores", "whole number", NEEDED, "Cores of the machine, 1 to 4096. Dedicated cores come on top"),
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
        "How many of the machine's cores the application holds, see below",
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

const ALLOCATED: &str = "
One more key says how many of the machine's cores the application holds. It stands beside `policy`, and its name depends
on the policy: `allocation = { policy = \"static\", cores = 12 }`, or `allocation = { policy = \"caladan\", start = 4 }`.
(`cores` of `idle-buffer` is something else: the idle cores to keep.)

";

/// The keys of `allocation` that the schema leaves to the reader of the file.
const ALLOCATED_KEYS: [Row; 2] = [
    (
        "cores",
        "whole number",
        "all cores",
        "Under `static`: the cores that the application holds all the time",
    ),
    (
        "start",
        "whole number",
        "all cores",
        "Under any other policy: the cores that the application holds when the run starts",
    ),
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
    text += "\n#### `percentiles = { … }`: percentiles alone\n\nCaudal makes a distribution that has the given percentiles: `service = { percentiles = { p50 = \"1.2ms\", p99 = \"9ms\" } }`. It has\none class, `all`.\n\n";
    text += &keys_table(&schema.definition("PercentileSpec"));
    text += "\n### `dag`\n\nWhat of a request can be done in parallel: a fork/join graph, in shares of its work. `{}` is one parallel\nloop, `{ loops = 4 }` four after each other, `{ serial = 0.1 }` a tenth of the work before and after one, `{ steps = [{ serial = 0.2 }, { fork = [[{ loop =\n0.3 }], [{ serial = 0.1 }, { loop = 0.4 }]] }] }` a part that one core does, and then two branches beside each other.\n\n";
    text += &keys_table(&schema.definition("DagSpec"));
    text += "\n#### `steps`\n\nA list of steps, which follow each other. Each is a table with one of these keys; the shares are relative to each other,\nthey need not sum to 1.\n\n";
    text += &keys_table(&schema.definition("StepSpec"));
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
    text += "\n### `contexts`\n\nHardware contexts (hardware threads) that share a core; each is a worker. Without `contexts`, a core has one.\n[Cores with hardware contexts](../background/contexts.md) describes the model.\n\n";
    text += &keys_table(&schema.definition("ContextsConfig"));
    text += "\n#### `adaptation`\n\nA table that says how many contexts are active at which rate; `caudal break-even` computes one.\n\n";
    text += &keys_table(&schema.definition("LoadAdaptationConfig"));
    text += "\nThe next sections list the parameters of the policies, by decision point. [Policies](policies.md) says what each policy\ndoes, and which combinations are refused.\n";
    for (point, _) in POINTS {
        text += &format!("\n### `{point}`\n");
        if point == "allocation" {
            text += ALLOCATED;
            text += &hand_written(&ALLOCATED_KEYS);
        }
        text += &variants(&schema.policies(point), "policy");
    }
    text += "\n### `classes`, `retune` and `lane` of `tail-control` and `clairvoyant`\n";
    for (definition, lead) in [
        ("ClassConfig", "`classes.NAME`: a table for the class NAME, with one of"),
        ("RetuneConfig", "`retune`: a table of"),
        ("LaneConfig", "`lane`: a table of"),
    ] {
        text += &format!("\n{lead}\n\n{}", keys_table(&schema.definition(definition)));
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
    fn every_key_of_the_schema_stands_on_the_page() {
        let schema = Schema::new();
        let page = body();
        let tables = schema.tables();
        assert!(tables.len() > 40, "{}", tables.len());
        for (definition, keys) in tables {
            for key in keys {
                let tag = format!("`{} = \"", key.name);
                // A key that chooses a table is the title of that table.
                let stands = page
                    .contains(&keys_table(std::slice::from_ref(&key)).lines().last().unwrap().to_owned())
                    || key.holds.starts_with('`') && page.contains(&tag);
                assert!(stands, "`{}` of {definition} is not on the page: {key:?}", key.name);
            }
        }
    }

    #[test]
    fn the_keys_of_allocation_that_no_schema_has_are_read() {
        for (policy, key) in [("static", "cores"), ("caladan", "start")] {
            let file = format!(
                "[workload]\nservice = \"exp-1us\"\nload = 0.1\n[system]\ncores = 4\nallocation = {{ policy = \"{policy}\", {key} = 2 }}\n"
            );
            caudal_config::File::parse(&file, "in.toml").unwrap();
            assert!(ALLOCATED_KEYS.iter().any(|row| row.0 == key));
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
