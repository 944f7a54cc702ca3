//! What files may say, and how they are corrected.

use std::path::Path;

use caudal_workload::{ArrivalSpec, ServiceSpec, find_named, named};
use serde::{Deserialize, Serialize};

use crate::{service, spec, try_service};

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Workload {
    service: ServiceSpec,
    arrivals: ArrivalSpec,
}

#[test]
fn what_is_written_reads_back_the_same() {
    let services = [
        r#""exp-1us""#,
        r#"{ distribution = "constant", value = "1.5us" }"#,
        r#"{ distribution = "exponential", mean = "1us" }"#,
        r#"{ distribution = "bimodal", short = "1us", long = "2us", p_long = 0.25 }"#,
        r#"{ distribution = "log-normal", mean = "1us", sd = "2us" }"#,
        r#"{ distribution = "log-normal", mean = "1us", sigma = 1.5 }"#,
        r#"{ distribution = "gamma", mean = "1us", scv = 2.0 }"#,
        r#"{ distribution = "bounded-pareto", alpha = 1.5, min = "1us", max = "2us" }"#,
        r#"{ distribution = "hyper-exponential", mean = "1us", scv = 2.0 }"#,
        r#"{ distribution = "hyper-exponential", phases = [{ p = 1.0, mean = "1us" }] }"#,
        r#"{ distribution = "mixture", classes = [{ name = "a", weight = 1.0, service = "exp-1us" }] }"#,
        r#"{ file = "x.csv" }"#,
        r#"{ file = "x.csv", column = "c", unit = "us", replay = "rotate" }"#,
        r#"{ file = "x.csv", replay = true }"#,
        r#"{ file = "x.csv", weights = { a = 0.5, b = 0.5 } }"#,
    ];
    let arrivals = [
        r#"{ process = "poisson" }"#,
        r#""constant""#,
        r#"{ process = "log-normal", scv = 2.0 }"#,
        r#"{ process = "gamma", scv = 0.5 }"#,
        r#"{ process = "hyper-exponential", scv = 2.0 }"#,
        r#"{ process = "hyper-exponential", phases = [{ p = 0.5, mean = 1.0 }, { p = 0.5, mean = 3.0 }] }"#,
        r#"{ process = "on-off", on = "1us", off = "2us", off_rate = 0.5 }"#,
        r#"{ process = "steps", steps = [{ for = "1us", rate = 2.0 }] }"#,
        r#"{ process = "ramps", points = [{ at = "0", rate = 2.0 }, { at = "1us", rate = 3.0 }] }"#,
        r#"{ file = "t.csv", column = "c", unit = "ms", scale = true }"#,
    ];
    for service in services {
        for arrivals in arrivals {
            let first: Workload =
                toml::from_str(&format!("service = {service}\narrivals = {arrivals}")).unwrap();
            let written = toml::to_string(&first).unwrap();
            assert_eq!(first, toml::from_str(&written).unwrap(), "{written}");
            let json = serde_json::to_string(&first).unwrap();
            assert_eq!(first, serde_json::from_str(&json).unwrap(), "{json}");
        }
    }
}

#[test]
fn errors_of_a_file_point_at_the_key_and_say_what_would_be_right() {
    for (text, at, says) in [
        (
            r#"{ distribution = "exponential", mean = "1 fortnight" }"#,
            "\"1 fortnight\"",
            "ps, ns, us, ms or s",
        ),
        (r#"{ distribution = "exponential", mean = 3 }"#, "3", "no unit"),
        (r#"{ distribution = "exponential", maen = "1us" }"#, "maen", "unknown field"),
        (
            r#"{ distribution = "exponential", mean = "1us", sigma = 1 }"#,
            "",
            "`sigma` does not belong to \"exponential\", which takes `mean`",
        ),
        (r#"{ distribution = "exponentail", mean = "1us" }"#, "", "did you mean \"exponential\"?"),
        (
            r#"{ distribution = "log-normal", mean = "1us", scv = 1, sd = "1us" }"#,
            "",
            "exactly one of `scv`, `sd` or `sigma`",
        ),
        (r#"{ distribution = "gamma", mean = "1us", sigma = 1 }"#, "", "`sigma` does not belong"),
        (r#"{ distribution = "bimodal", short = "1us", long = "2us" }"#, "", "\"bimodal\" needs `p_long`"),
        (r#"{ distribution = "hyper-exponential" }"#, "", "`mean` and `scv`, or `phases`"),
        (r#"{ distribution = "constant", file = "x" }"#, "", "exclude each other"),
        (r#"{ mean = "1us" }"#, "", "needs `distribution` or `file`"),
        (r#"{ file = "x.csv", replay = true, weights = { a = 1.0 } }"#, "", "keep one"),
        (r#"{ file = "x.csv", replay = "twice" }"#, "\"twice\"", "true, false or \"rotate\""),
        (r#"{ file = "x.csv", unit = "min" }"#, "\"min\"", "unknown variant"),
        ("3", "3", "a workload's name, or a table"),
    ] {
        let document = format!("[workload]\nservice = {text}\n");
        #[derive(Debug, Deserialize)]
        #[allow(dead_code)]
        struct File {
            workload: Part,
        }
        #[derive(Debug, Deserialize)]
        #[allow(dead_code)]
        struct Part {
            service: ServiceSpec,
        }
        let error = toml::from_str::<File>(&document).unwrap_err();
        assert!(error.to_string().contains(says), "{text}: {error}");
        let span = error.span().unwrap_or_default();
        let shown = &document[span];
        assert!(
            if at.is_empty() { shown.starts_with('{') } else { shown == at },
            "{text}: points at {shown}"
        );
    }
}

#[test]
fn impossible_values_are_refused_at_their_key() {
    for (text, says) in [
        (r#"{ distribution = "constant", value = "0" }"#, "`value` = 0"),
        (r#"{ distribution = "constant", value = "2000000000s" }"#, ""),
        (r#"{ distribution = "exponential", mean = "3601s" }"#, "at most one hour"),
        (
            r#"{ distribution = "bimodal", short = "1us", long = "2us", p_long = 1.5 }"#,
            "`p_long` = 1.5: a probability",
        ),
        (r#"{ distribution = "bimodal", short = "1us", long = "2us", p_long = nan }"#, "`p_long` = NaN"),
        (r#"{ distribution = "bimodal", short = "1us", long = "0", p_long = 0.5 }"#, "`long` = 0"),
        (
            r#"{ distribution = "bimodal", short = "10us", long = "5us", p_long = 0.5 }"#,
            "`short` = \"10us\": short requests take no longer than long ones, which take 5us",
        ),
        (r#"{ distribution = "log-normal", mean = "1us", scv = 0 }"#, "`scv` = 0"),
        (r#"{ distribution = "log-normal", mean = "1us", scv = inf }"#, "`scv` = inf"),
        (r#"{ distribution = "log-normal", mean = "1us", sigma = -1 }"#, "`sigma` = -1"),
        (r#"{ distribution = "log-normal", mean = "1us", sd = "1s" }"#, "1000 times the mean"),
        (r#"{ distribution = "gamma", mean = "1us", scv = 1e-9 }"#, "`scv` = 0.000000001"),
        (r#"{ distribution = "bounded-pareto", alpha = 0, min = "1us", max = "2us" }"#, "`alpha` = 0"),
        (
            r#"{ distribution = "bounded-pareto", alpha = 1, min = "2us", max = "2us" }"#,
            "above `min`, which is 2us",
        ),
        (r#"{ distribution = "hyper-exponential", mean = "1us", scv = 0.5 }"#, "take \"gamma\""),
        (r#"{ distribution = "hyper-exponential", phases = [] }"#, "1 to 256"),
        (
            r#"{ distribution = "hyper-exponential", phases = [{ p = 0.5, mean = "1us" }, { p = 0.4, mean = "1us" }] }"#,
            "sum to 0.9",
        ),
        (
            r#"{ distribution = "hyper-exponential", phases = [{ p = 1.0, mean = "0" }] }"#,
            "`phases[0].mean` = 0",
        ),
        (
            r#"{ distribution = "mixture", classes = [{ name = "a", weight = 0.9, service = "exp-1us" }] }"#,
            "sum to 0.9; they must sum to 1",
        ),
        (
            r#"{ distribution = "mixture", classes = [{ name = "a", weight = 0.5, service = "exp-1us" }, { name = "a", weight = 0.5, service = "exp-1us" }] }"#,
            "`classes[1].name` = \"a\"",
        ),
        (
            r#"{ distribution = "mixture", classes = [{ name = "a", weight = 1.0, service = { distribution = "constant", value = "0" } }] }"#,
            "`classes[0].service.value` = 0",
        ),
        (r#""exp-2us""#, "did you mean `exp-1us`?"),
        (r#""Extreme_Bimodal""#, "did you mean `extreme-bimodal`?"),
        (r#""zzz""#, "there are exp-1us, extreme-bimodal"),
    ] {
        match toml::from_str::<toml::Table>(&format!("x = {text}")).is_ok().then(|| try_service_or_text(text))
        {
            Some(Err(error)) => assert!(error.contains(says), "{text}: {error}"),
            other => panic!("{text}: {other:?}"),
        }
    }
}

/// The error of either reading or compiling.
fn try_service_or_text(text: &str) -> Result<(), String> {
    #[derive(Deserialize)]
    struct Part {
        service: ServiceSpec,
    }
    let part: Part = toml::from_str(&format!("service = {text}")).map_err(|error| error.to_string())?;
    part.service.compile(Path::new(".")).map(|_| ()).map_err(|error| error.to_string())
}

#[test]
fn a_probability_of_zero_or_one_is_a_workload_of_one_kind() {
    let never = service(r#"{ distribution = "bimodal", short = "1us", long = "2us", p_long = 0 }"#);
    assert_eq!((never.mean_ps(), never.classes().len(), never.class_weight(1)), (1e6, 2, 0.0));
    assert!(never.class_mean_ps(1).is_nan());
    assert!(crate::draws(&never, 1, 1000).iter().all(|d| d.class == 0 && d.service_ps == 1_000_000));
    never.summary();
}

#[test]
fn a_class_of_a_mixture_may_be_any_workload() {
    let nested = service(
        r#"{ distribution = "mixture", classes = [
            { name = "kv", weight = 0.5, service = "extreme-bimodal" },
            { name = "db", weight = 0.5, service = "tpcc" }] }"#,
    );
    assert_eq!(nested.classes(), ["kv", "db"]);
    assert!((nested.class_mean_ps(0) - 2_997_500.0).abs() < 1e-6);
    assert!((nested.class_mean_ps(1) - 19_068_000.0).abs() < 1e-6);
}

#[test]
fn every_named_workload_compiles_is_defined_as_it_says_and_has_a_source() {
    let names: Vec<&str> = named().iter().map(|workload| workload.name).collect();
    let wanted = "exp-1us extreme-bimodal high-bimodal policies-bimodal tpcc rocksdb-0.5 rocksdb-50 rocksdb-1 rocksdb-1-short rocksdb-10 rocksdb-10-short stemming routing block-cache nearest-12 nearest-20 facebook-usr log-normal-10ms black-scholes short-tail long-tail bing-like finance-like";
    assert_eq!(names.join(" "), wanted);
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    for workload in named() {
        let by_name = try_service(&format!("{:?}", workload.name)).unwrap();
        assert_eq!(spec(workload.definition), workload.spec(), "{}", workload.name);
        let by_definition = workload.spec().compile(root).unwrap();
        assert_eq!(by_name.mean_ps(), by_definition.mean_ps(), "{}", workload.name);
        assert!(workload.source.ends_with('.') && workload.summary.ends_with('.'));
    }
    let mean_us = |name: &str| find_named(name).unwrap().compile().unwrap().mean_ps() / 1e6;
    assert_eq!(mean_us("high-bimodal"), 50.5);
    assert!((mean_us("policies-bimodal") - 1.0).abs() < 1e-12);
    assert_eq!(mean_us("facebook-usr"), 1.0);
}

#[cfg(feature = "schema")]
#[test]
fn the_schema_knows_every_key() {
    let service = serde_json::to_string(&schemars::schema_for!(ServiceSpec)).unwrap();
    for key in ["bounded-pareto", "p_long", "sigma", "weights", "replay", "rotate", "phases", "classes"] {
        assert!(service.contains(&format!("\"{key}\"")), "{key}: {service}");
    }
    let arrivals = serde_json::to_string(&schemars::schema_for!(ArrivalSpec)).unwrap();
    for key in [
        "poisson",
        "gamma",
        "hyper-exponential",
        "phases",
        "on-off",
        "off_rate",
        "steps",
        "for",
        "ramps",
        "points",
        "scale",
    ] {
        assert!(arrivals.contains(&format!("\"{key}\"")), "{key}: {arrivals}");
    }
}
