//! What pandas, Polars and R write of a table or of one column: rows, percentiles and buckets are what they are.

use caudal_workload::{Service, Unit};

use crate::reading::{in_unit, mean_us, try_read};

#[test]
fn tables_of_r_have_a_column_without_a_name() {
    let table = "\"op\" \"elapsed_s\"\n\"1\" \"get\" 3e-05\n\"2\" \"put\" 5e-05\n\"3\" \"get\" 3e-05\n\"4\" \"put\" 5e-05\n";
    let service = try_read(table).unwrap();
    assert_eq!((mean_us(&service), service.classes().len()), (40.0, 2));
}

#[test]
fn what_pandas_writes_of_a_column_is_read() {
    let stated = |service: &Service| {
        assert!((service.mean_ps() / 27.608e6 - 1.0).abs() < 0.006, "{}", service.mean_ps());
        assert!((service.mean_ps() * service.scv().sqrt() / 27.27e6 - 1.0).abs() < 0.006);
        assert!((service.quantile(0.5) as f64 / 19.858e6 - 1.0).abs() < 1e-3);
    };
    let csv = ",latency_us\ncount,4000.0\nmean,27.608\nstd,27.27\nmin,1.175\n25%,11.639\n50%,19.858\n75%,34.277\nmax,403.957\n";
    stated(&try_read(csv).unwrap());
    let printed = "count    4000.000000\nmean       27.608113\nstd        27.272632\nmin         1.175000\n25%        11.639250\n\
        50%        19.858500\n75%        34.276750\nmax       403.957000\nName: latency_us, dtype: float64\n";
    stated(&try_read(printed).unwrap());
    let frame = "        latency_us\ncount  4000.000000\nmean     27.608113\nstd      27.272632\nmin       1.175000\n25%      11.639250\n\
        50%      19.858500\n75%      34.276750\nmax     403.957000\n";
    stated(&try_read(frame).unwrap());
    let durations = "count                         4000\nmean     0 days 00:00:00.000027608\nstd      0 days 00:00:00.000027272\n\
        min      0 days 00:00:00.000001175\n25%      0 days 00:00:00.000011639\n50%      0 days 00:00:00.000019858\n\
        75%      0 days 00:00:00.000034276\nmax      0 days 00:00:00.000403957\nName: latency, dtype: object\n";
    stated(&try_read(durations).unwrap());
    let groups = "op,count,mean,std,min,25%,50%,75%,max\nget,3580.0,27.608,27.27,1.175,11.639,19.858,34.277,403.957\n\
        put,420.0,27.608,27.27,1.175,11.639,19.858,34.277,403.957\n";
    let groups = in_unit(groups, Unit::Us);
    stated(&groups);
    assert!((groups.class_weight(0) - 0.895).abs() < 1e-9, "{}", groups.class_weight(0));
}

#[test]
fn quantiles_of_pandas_are_percentiles() {
    for text in [
        ",latency_us\n0.5,19.8585\n0.9,55.5877\n0.99,131.3\n",
        "0.50     19.858500\n0.90     55.587700\n0.99    131.300000\nName: latency_us, dtype: float64\n",
        "op,,latency_us\nget,0.5,19.8585\nget,0.9,55.5877\nget,0.99,131.3\nput,0.5,19.8585\nput,0.9,55.5877\nput,0.99,131.3\n",
    ] {
        let service = try_read(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert!(service.is_fitted(), "{text}");
        for (share, us) in [(0.5, 19.8585), (0.9, 55.5877), (0.99, 131.3)] {
            let found = service.quantile(share) as f64 / 1e6;
            assert!((found / us - 1.0).abs() < 1e-3, "{text}: {share} {found}");
        }
    }
    // An index is none.
    assert!(!try_read(",latency_us\n0,19.8585\n1,55.5877\n2,131.3\n").unwrap().is_fitted());
}

#[test]
fn intervals_of_pandas_are_buckets() {
    for text in [
        "latency_us,count\n\"(20, 50]\",1490\n\"(10, 20]\",1254\n\"(0, 10]\",761\n\"(50, 100]\",495\n",
        ",latency_us\n\"(20.0, 50.0]\",1490\n\"(10.0, 20.0]\",1254\n\"(-0.001, 10.0]\",761\n\"(50.0, 100.0]\",495\n",
        "latency_us\n(20, 50]     1490\n(10, 20]     1254\n(0, 10]       761\n(50, 100]     495\nName: count, dtype: int64\n",
        "latency_us;count\n[20, 50);1490\n[10, 20);1254\n[0, 10);761\n[50, 100);495\n",
    ] {
        let service = try_read(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(service.class_samples(0), Some(4000), "{text}");
        let (low, high) = service.quantile_bounds(0.6);
        assert!(low.abs_diff(20_000_000) <= 1 && high.abs_diff(50_000_000) <= 1, "{text}: {low} {high}");
    }
    let cut = "0       26.482\n1       38.756\n         ...  \n3998    10.358\n3999     4.929\nName: latency_us, Length: 4000, dtype: float64\n";
    let error = try_read(cut).unwrap_err().to_string();
    assert!(error.contains("rows left out in the middle of its 4000") && error.contains("to_csv"), "{error}");
    assert_eq!(mean_us(&try_read("0    26.0\n1    38.0\nName: latency_us, dtype: float64\n").unwrap()), 32.0);
}

/// `to_json(orient="split")` has the rows' numbers in a list of their own.
#[test]
fn rows_of_pandas_that_are_split_are_rows() {
    let split = r#"{"columns": ["op", "elapsed_us"], "index": [0, 1, 2, 3], "data": [["get", 5.5], ["get", 6.5], ["get", 7.5], ["get", 8.5]]}"#;
    assert_eq!(mean_us(&try_read(split).unwrap()), 7.0);
}

/// pandas' own way to write JSON has a column a key, and the rows below them.
#[test]
fn columns_and_rows_of_pandas_are_rows() {
    let columns =
        r#"{"op": {"0": "get", "1": "get", "2": "put"}, "elapsed_us": {"0": 5.5, "1": 6.5, "2": 9}}"#;
    let index = r#"{"0": {"op": "get", "elapsed_us": 5.5}, "1": {"op": "get", "elapsed_us": 6.5}, "2": {"op": "put", "elapsed_us": 9}}"#;
    for text in [columns, index] {
        let service = try_read(text).unwrap();
        assert_eq!(mean_us(&service), 7.0, "{text}");
        assert_eq!(service.classes(), ["get", "put"], "{text}");
    }
    // Percentiles have numbers as keys, too.
    let percentiles = r#"{"percentiles_us": {"50": 5, "90": 8, "99": 12}}"#;
    assert!(try_read(percentiles).unwrap().quantile(0.5).abs_diff(5_000_000) < 10);
}

/// `describe()` of Polars says how many there are in the same column as how long they take.
#[test]
fn describe_of_polars_is_read_as_percentiles() {
    let rows = [
        ("count", "2000.0"),
        ("null_count", "0.0"),
        ("mean", "37.5"),
        ("std", "70.1"),
        ("min", "1.5"),
        ("50%", "13.3"),
        ("90%", "49.1"),
        ("99%", "179.5"),
        ("max", "900.5"),
    ];
    let rows: String = rows.iter().map(|(name, us)| format!("│ {name:<10} ┆ {us:<10} │\n")).collect();
    let text = format!(
        "shape: (9, 2)\n┌────────────┬────────────┐\n│ statistic  ┆ latency_us │\n│ ---        ┆ ---        │\n│ str        ┆ f64        │\n╞════════════╪════════════╡\n{rows}└────────────┴────────────┘\n"
    );
    let service = try_read(&text).unwrap();
    assert!(
        (mean_us(&service) - 37.5).abs() < 1.0 && service.quantile(0.5).abs_diff(13_300_000) < 100_000,
        "{}",
        mean_us(&service)
    );
}
