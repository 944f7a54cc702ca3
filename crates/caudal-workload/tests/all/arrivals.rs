//! Rates, spreads and shapes of arrival streams.

use std::path::Path;

use caudal_workload::{ArrivalSpec, Arrivals, Demand, OfferedAt};

fn spec(text: &str) -> ArrivalSpec {
    #[derive(serde::Deserialize)]
    struct Workload {
        arrivals: ArrivalSpec,
    }
    let workload: Workload =
        toml::from_str(&format!("arrivals = {text}")).unwrap_or_else(|e| panic!("{text}: {e}"));
    workload.arrivals
}

fn arrivals(text: &str) -> Arrivals {
    spec(text).compile(Path::new(".")).unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn times(arrivals: &Arrivals, seed: u64, gap_ps: f64, count: usize) -> Vec<u64> {
    let mut out = vec![0; count];
    assert_eq!(arrivals.sampler(seed, gap_ps).fill(&mut out), count);
    assert!(out.is_sorted(), "times never go back");
    out
}

const N: usize = 500_000;

#[test]
fn poisson_gaps_have_mean_and_spread_and_no_rounding_bias() {
    for gap_ps in [0.3, 1.7, 62_500.0, 31_250.123, 1e9] {
        let times = times(&arrivals(r#""poisson""#), 5, gap_ps, N);
        let n = N as f64;
        let mean = times[N - 1] as f64 / n;
        assert!((mean / gap_ps - 1.0).abs() < 5.0 / n.sqrt(), "gap {gap_ps}: {mean}");
        if gap_ps > 1e3 {
            let square: f64 = times.windows(2).map(|w| ((w[1] - w[0]) as f64 / gap_ps).powi(2)).sum();
            // Var(E²) = 24 − 4 = 20.
            assert!((square / n - 2.0).abs() < 5.0 * (20.0 / n).sqrt(), "gap {gap_ps}: {}", square / n);
        }
    }
}

#[test]
fn constant_gaps_stay_on_their_grid() {
    for gap_ps in [1000.0 / 3.0, 62_500.0, 0.1] {
        let times = times(&arrivals(r#"{ process = "constant" }"#), 1, gap_ps, N);
        for (index, &time) in times.iter().enumerate() {
            assert!(
                (time as f64 - (index + 1) as f64 * gap_ps).abs() <= 0.51,
                "gap {gap_ps}, arrival {index}"
            );
        }
    }
}

#[test]
fn log_normal_gaps_have_their_spread() {
    let gap_ps = 100_000.0;
    for (text, scv) in [
        (r#"{ process = "log-normal", scv = 2 }"#, 2.0),
        (r#"{ process = "log-normal", sigma = 0.6 }"#, 0.36f64.exp() - 1.0),
    ] {
        let times = times(&arrivals(text), 9, gap_ps, N);
        let n = N as f64;
        assert!((times[N - 1] as f64 / n / gap_ps - 1.0).abs() < 5.0 * (scv / n).sqrt(), "{text}");
        let square: f64 = times.windows(2).map(|w| ((w[1] - w[0]) as f64 / gap_ps).powi(2)).sum();
        assert!((square / n - 1.0 - scv).abs() < 0.1 * scv, "{text}: {}", square / n - 1.0);
    }
}

/// The sample's squared coefficient of variation of gaps, and their third moment about 0 in multiples of the mean's cube.
fn spread_of(times: &[u64], gap_ps: f64) -> (f64, f64) {
    let n = times.len() as f64 - 1.0;
    let moment = |k: i32| times.windows(2).map(|w| ((w[1] - w[0]) as f64 / gap_ps).powi(k)).sum::<f64>() / n;
    (moment(2) - 1.0, moment(3))
}

#[test]
fn gamma_and_hyper_exponential_gaps_have_their_mean_their_spread_and_their_shape() {
    let gap_ps = 100_000.0;
    // Of gamma, E[X³] is (1 + scv)(1 + 2 scv); of phases, 6 Σ p m³.
    let gamma = |scv: f64| (1.0 + scv) * (1.0 + 2.0 * scv);
    let p = 0.5 * (1.0 + (3.0_f64 / 5.0).sqrt());
    let balanced = 6.0 * (p * (0.5 / p).powi(3) + (1.0 - p) * (0.5 / (1.0 - p)).powi(3));
    // A mean of 0.75 · 1 + 0.25 · 5 = 2: phases of 0.5 and 2.5.
    let explicit_scv = 2.0 * (0.75 * 0.25 + 0.25 * 6.25) - 1.0;
    let explicit = 6.0 * (0.75 * 0.125 + 0.25 * 15.625);
    for (text, scv, third) in [
        (r#"{ process = "gamma", scv = 0.25 }"#, 0.25, gamma(0.25)),
        (r#"{ process = "gamma", scv = 1 }"#, 1.0, 6.0),
        (r#"{ process = "gamma", scv = 3 }"#, 3.0, gamma(3.0)),
        (r#"{ process = "hyper-exponential", scv = 1 }"#, 1.0, 6.0),
        (r#"{ process = "hyper-exponential", scv = 4 }"#, 4.0, balanced),
        (
            r#"{ process = "hyper-exponential", phases = [{ p = 0.75, mean = 1 }, { p = 0.25, mean = 5 }] }"#,
            explicit_scv,
            explicit,
        ),
    ] {
        let arrivals = arrivals(text);
        let times = times(&arrivals, 9, gap_ps, N);
        let n = N as f64;
        assert!((times[N - 1] as f64 / n / gap_ps - 1.0).abs() < 5.0 * (scv / n).sqrt(), "{text}");
        let (found, found_third) = spread_of(&times, gap_ps);
        assert!((found / scv - 1.0).abs() < 0.03, "{text}: {found}");
        assert!((found_third / third - 1.0).abs() < 0.1, "{text}: {found_third} not {third}");
        assert!((arrivals.dispersion(gap_ps) / scv - 1.0).abs() < 1e-12, "{text}: their spread");
        assert_eq!(
            (arrivals.peak_factor(), arrivals.cycle_ps()),
            (1.0, 0.0),
            "{text}: the rate is always the same"
        );
        assert!(arrivals.is_stationary(), "{text}");
    }
}

#[test]
fn on_off_keeps_the_rate_and_is_as_bursty_as_theory_says() {
    let arrivals = arrivals(r#"{ process = "on-off", on = "10us", off = "30us", off_rate = 0.2 }"#);
    assert!((arrivals.peak_factor() - 40.0 / 16.0).abs() < 1e-12);
    let gap_ps = 1e6;
    let count = 4 * N;
    let times = times(&arrivals, 3, gap_ps, count);
    // Index of dispersion of counts for long windows (Fischer, Meier-Hellstern 1993, section 2.3), in us.
    let (r1, r2) = (1.0 / 10.0, 1.0 / 30.0);
    let (l1, l2) = (2.5, 0.5);
    let dispersion: f64 =
        1.0 + 2.0 * (l1 - l2) * (l1 - l2) * r1 * r2 / ((r1 + r2) * (r1 + r2) * (l1 * r2 + l2 * r1));
    let span = times[count - 1] as f64;
    let expected = span / gap_ps;
    assert!((count as f64 - expected).abs() < 5.0 * (dispersion * expected).sqrt(), "{count} not {expected}");
    let window_ps = 2e9;
    let mut counts = vec![0u32; (span / window_ps) as usize];
    for &time in &times {
        if let Some(count) = counts.get_mut((time as f64 / window_ps) as usize) {
            *count += 1;
        }
    }
    let mean = counts.iter().map(|&c| f64::from(c)).sum::<f64>() / counts.len() as f64;
    let variance = counts.iter().map(|&c| (f64::from(c) - mean).powi(2)).sum::<f64>() / counts.len() as f64;
    assert!((variance / mean / dispersion - 1.0).abs() < 0.25, "{} not {dispersion}", variance / mean);
    assert!((arrivals.dispersion(gap_ps) / dispersion - 1.0).abs() < 1e-9 && arrivals.cycle_ps() == 40e6);
}

#[test]
fn a_silent_quiet_state_has_no_arrivals() {
    let arrivals = arrivals(r#"{ process = "on-off", on = "100us", off = "100us" }"#);
    let times = times(&arrivals, 3, 1e6, N);
    let longest = times.windows(2).map(|w| w[1] - w[0]).max().unwrap_or(0);
    assert!(longest > 100_000_000, "gaps as long as the silence: {longest}");
    assert!((times[N - 1] as f64 / N as f64 / 1e6 - 1.0).abs() < 0.1);
}

/// Share of the arrivals in every tenth of the cycle.
fn by_tenth(times: &[u64], cycle_ps: u64) -> Vec<f64> {
    let mut tenths = vec![0.0; 10];
    times
        .iter()
        .for_each(|time| tenths[((time % cycle_ps) * 10 / cycle_ps) as usize] += 1.0 / times.len() as f64);
    tenths
}

#[test]
fn a_stream_may_begin_in_the_middle_of_a_cycle() {
    let steps =
        arrivals(r#"{ process = "steps", steps = [{ for = "5us", rate = 1 }, { for = "5us", rate = 3 }] }"#);
    for (part, expected) in [(0.0, 0.25), (0.5, 0.75), (0.75, 0.5)] {
        let moved = steps.from_part_of_cycle(part);
        let times = times(&moved, 6, 1e5, N);
        // The first half of what is seen: of the quiet step, of the busy one, or of a half of both.
        let first: f64 = by_tenth(&times, 10_000_000)[..5].iter().sum();
        assert!((first - expected).abs() < 0.01, "from {part} on: {first}");
        assert_eq!(moved.offered_at(0), steps.offered_at((part * 1e7) as u64));
    }
}

#[test]
fn steps_and_ramps_put_arrivals_where_the_rate_is() {
    let steps = arrivals(
        r#"{ process = "steps", steps = [{ for = "3us", rate = 1 }, { for = "2us", rate = 0 }, { for = "5us", rate = 4 }] }"#,
    );
    assert!((steps.peak_factor() - 4.0 / 2.3).abs() < 1e-12);
    let ramps =
        arrivals(r#"{ process = "ramps", points = [{ at = "0", rate = 0 }, { at = "10us", rate = 2 }] }"#);
    let expected_steps = [1.0, 1.0, 1.0, 0.0, 0.0, 4.0, 4.0, 4.0, 4.0, 4.0].map(|rate| rate / 23.0);
    let expected_ramps: Vec<f64> = (0..10).map(|tenth| f64::from(2 * tenth + 1) / 100.0).collect();
    // Gaps shorter and far longer than the cycle.
    for gap_ps in [1e5, 5.5e8] {
        for (arrivals, expected) in [(&steps, &expected_steps[..]), (&ramps, &expected_ramps[..])] {
            let times = times(arrivals, 8, gap_ps, N);
            assert!((times[N - 1] as f64 / N as f64 / gap_ps - 1.0).abs() < 0.01, "the mean rate holds");
            for (share, expected) in by_tenth(&times, 10_000_000).iter().zip(expected) {
                let error = (expected * (1.0 - expected) / N as f64).sqrt();
                assert!((share - expected).abs() <= 5.0 * error + 1e-5, "{share} not {expected}");
            }
        }
    }
}

#[test]
fn streams_do_not_depend_on_batches_and_differ_from_the_services() {
    for text in [
        r#""poisson""#,
        r#"{ process = "log-normal", scv = 3 }"#,
        r#"{ process = "gamma", scv = 0.5 }"#,
        r#"{ process = "hyper-exponential", scv = 3 }"#,
        r#"{ process = "on-off", on = "1us", off = "2us" }"#,
        r#"{ process = "ramps", points = [{ at = "0", rate = 1 }, { at = "10us", rate = 2 }] }"#,
    ] {
        let arrivals = arrivals(text);
        let whole = times(&arrivals, 4, 1e5, 3000);
        let mut sampler = arrivals.sampler(4, 1e5);
        let mut parts = Vec::new();
        for size in [1, 255, 256, 300, 2188] {
            let mut part = vec![0; size];
            sampler.fill(&mut part);
            parts.extend(part);
        }
        assert_eq!(whole, parts, "{text}");
        assert_ne!(whole, times(&arrivals, 5, 1e5, 3000), "{text}");
    }
    let gaps = times(&arrivals(r#""poisson""#), 1, 1e6, 20_000);
    let demands = crate::draws(&crate::service(r#""exp-1us""#), 1, 20_000);
    let product: f64 = gaps
        .windows(2)
        .zip(&demands[1..])
        .map(|(w, d)| ((w[1] - w[0]) as f64 / 1e6 - 1.0) * (d.service_ps as f64 / 1e6 - 1.0))
        .sum();
    assert!((product / 20_000.0).abs() < 5.0 / 20_000f64.sqrt(), "gaps and services are uncorrelated");
}

#[test]
fn recorded_timestamps_keep_their_times_or_are_stretched() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("t.csv"), "timestamp_us\n100\n102\n102\n110\n").unwrap();
    let own = spec(r#"{ file = "t.csv" }"#).compile(dir.path()).unwrap();
    assert_eq!(own.count(), Some(4));
    assert!((own.natural_rate().unwrap() - 300_000.0).abs() < 1e-6);
    let mut out = [0; 3];
    let mut sampler = own.sampler(1, 1.0);
    assert_eq!((sampler.fill(&mut out), out), (3, [0, 2_000_000, 2_000_000]));
    assert_eq!((sampler.fill(&mut out), out[0]), (1, 10_000_000));
    assert_eq!(sampler.fill(&mut out), 0, "it has ended");
    let scaled = spec(r#"{ file = "t.csv", scale = true }"#).compile(dir.path()).unwrap();
    assert_eq!(scaled.natural_rate(), None);
    let mut out = [0; 4];
    assert_eq!(scaled.sampler(1, 1e6).fill(&mut out), 4);
    assert_eq!(out, [0, 600_000, 600_000, 3_000_000]);
}

#[test]
fn impossible_arrivals_are_refused_at_their_key() {
    for (text, expected) in [
        (r#"{ process = "on-off", on = "0", off = "1us" }"#, "`on` = 0"),
        (r#"{ process = "on-off", on = "1us", off = "1us", off_rate = 1 }"#, "`off_rate` = 1"),
        (r#"{ process = "on-off", on = "1ns", off = "1us" }"#, "at least 10ns"),
        (r#"{ process = "log-normal", scv = -1 }"#, "`scv` = -1"),
        (r#"{ process = "log-normal", sigma = nan }"#, "`sigma` = NaN"),
        (r#"{ process = "gamma", scv = 0 }"#, "`scv` = 0"),
        (r#"{ process = "gamma", scv = 1e-7 }"#, "take \"constant\""),
        (r#"{ process = "gamma", scv = nan }"#, "`scv` = NaN"),
        (r#"{ process = "hyper-exponential", scv = 0.5 }"#, "for less, take \"gamma\""),
        (r#"{ process = "hyper-exponential", phases = [] }"#, "1 to 256"),
        (r#"{ process = "hyper-exponential", phases = [{ p = 0.5, mean = 1 }] }"#, "phases"),
        (r#"{ process = "hyper-exponential", phases = [{ p = 1, mean = 0 }] }"#, "`phases[0].mean` = 0"),
        (r#"{ process = "hyper-exponential", phases = [{ p = 2, mean = 1 }] }"#, "`phases[0].p` = 2"),
        (r#"{ process = "steps", steps = [] }"#, "at least one step"),
        (r#"{ process = "steps", steps = [{ for = "1us", rate = 0 }] }"#, "a rate above 0"),
        (r#"{ process = "steps", steps = [{ for = "1us", rate = inf }] }"#, "`steps[0].rate` = inf"),
        (r#"{ process = "steps", steps = [{ for = "0", rate = 1 }] }"#, "`steps[0].for` = 0"),
        (r#"{ process = "steps", steps = [{ for = "1us", rate = 1, work = 0 }] }"#, "`steps[0].work` = 0"),
        (r#"{ process = "ramps", points = [{ at = "1us", rate = 1 }] }"#, "`points[0].at`"),
        (
            r#"{ process = "ramps", points = [{ at = "0", rate = 1 }, { at = "2us", rate = 1 }, { at = "1us", rate = 1 }] }"#,
            "`points[2].at` = 1us",
        ),
    ] {
        let error = spec(text).compile(Path::new(".")).unwrap_err().to_string();
        assert!(error.contains(expected), "{text}: {error}");
    }
}

#[test]
fn work_changes_with_the_steps_and_keeps_its_mean() {
    let plain = arrivals(r#"{ process = "steps", steps = [{ for = "3us", rate = 2, work = 7 }] }"#);
    assert!(!plain.stretches(), "the same for all is none");
    let arrivals = arrivals(
        r#"{ process = "steps", steps = [{ for = "3us", rate = 2, work = 1 }, { for = "1us", rate = 2, work = 5 }] }"#,
    );
    // Three of four requests have the work 1, one has 5: 2 on average.
    assert!(arrivals.stretches());
    assert_eq!(arrivals.offered_at(2_999_999), OfferedAt { rate: 1.0, work: 0.5 });
    assert_eq!(arrivals.offered_at(7_000_000), OfferedAt { rate: 1.0, work: 2.5 });
    assert!((arrivals.peak_factor() - 2.5).abs() < 1e-12);
    let mut sampler = arrivals.sampler(1, 10_000.0);
    let mut times = [0; 4_000];
    sampler.fill(&mut times);
    let mut demands = [Demand { service_ps: 1_000, ..Demand::default() }; 4_000];
    sampler.stretch(&times, &mut demands);
    for (time, demand) in times.iter().zip(&demands) {
        assert_eq!(demand.service_ps, if time % 4_000_000 < 3_000_000 { 500 } else { 2_500 });
    }
}
