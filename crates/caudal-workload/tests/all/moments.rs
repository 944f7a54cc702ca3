//! Moments, quantiles and draws against formulas that are written down here once more.

use crate::{draws, service};

const N: usize = 400_000;

/// Every distribution with its mean in ns and its squared coefficient of variation.
fn cases() -> Vec<(&'static str, f64, f64)> {
    // E[X^k] of the bounded Pareto by Simpson's rule over its density, in ns.
    let pareto = |alpha: f64, min: f64, max: f64, k: f64| {
        let density =
            |x: f64| alpha * min.powf(alpha) * x.powf(-alpha - 1.0) / (1.0 - (min / max).powf(alpha));
        let steps = 20_000;
        let ratio = (max / min).ln() / f64::from(steps);
        let term = |i: i32| {
            let x = min * (ratio * f64::from(i)).exp();
            x.powf(k) * density(x) * x
        };
        let weight = |i: i32| if i == 0 || i == steps { 1.0 } else { 2.0 + 2.0 * f64::from(i % 2) };
        (0..=steps).map(|i| weight(i) * term(i)).sum::<f64>() * ratio / 3.0
    };
    let bounded = |alpha| {
        let (m1, m2) = (pareto(alpha, 500.0, 50_000.0, 1.0), pareto(alpha, 500.0, 50_000.0, 2.0));
        (m1, m2 / (m1 * m1) - 1.0)
    };
    let bimodal_scv = |short: f64, long: f64, p: f64| {
        let mean = (1.0 - p) * short + p * long;
        ((1.0 - p) * short * short + p * long * long) / (mean * mean) - 1.0
    };
    vec![
        (r#"{ distribution = "constant", value = "1.5us" }"#, 1500.0, 0.0),
        (r#"{ distribution = "exponential", mean = "1us" }"#, 1000.0, 1.0),
        (
            r#"{ distribution = "bimodal", short = "0.5us", long = "5.5us", p_long = 0.1 }"#,
            1000.0,
            bimodal_scv(500.0, 5500.0, 0.1),
        ),
        (r#""extreme-bimodal""#, 2997.5, bimodal_scv(500.0, 500_000.0, 0.005)),
        (r#"{ distribution = "log-normal", mean = "10us", scv = 1.69 }"#, 10_000.0, 1.69),
        (r#"{ distribution = "log-normal", mean = "10us", sd = "13us" }"#, 10_000.0, 1.69),
        (r#"{ distribution = "log-normal", mean = "10us", sigma = 0.5 }"#, 10_000.0, 0.25f64.exp() - 1.0),
        (r#"{ distribution = "gamma", mean = "2us", scv = 0.25 }"#, 2000.0, 0.25),
        (r#"{ distribution = "gamma", mean = "2us", scv = 4 }"#, 2000.0, 4.0),
        (r#"{ distribution = "gamma", mean = "2us", sd = "1us" }"#, 2000.0, 0.25),
        (
            r#"{ distribution = "bounded-pareto", alpha = 1.5, min = "500ns", max = "50us" }"#,
            bounded(1.5).0,
            bounded(1.5).1,
        ),
        (
            r#"{ distribution = "bounded-pareto", alpha = 1.0, min = "500ns", max = "50us" }"#,
            bounded(1.0).0,
            bounded(1.0).1,
        ),
        (
            r#"{ distribution = "bounded-pareto", alpha = 2, min = "500ns", max = "50us" }"#,
            bounded(2.0).0,
            bounded(2.0).1,
        ),
        (r#"{ distribution = "hyper-exponential", mean = "1us", scv = 9 }"#, 1000.0, 9.0),
        (
            r#"{ distribution = "hyper-exponential", phases = [{ p = 0.9, mean = "1us" }, { p = 0.1, mean = "10us" }] }"#,
            1900.0,
            2.0 * (0.9 * 1.0 + 0.1 * 100.0) / (1.9 * 1.9) - 1.0,
        ),
        (
            r#"{ distribution = "mixture", classes = [
                { name = "get", weight = 0.75, service = { distribution = "constant", value = "1us" } },
                { name = "put", weight = 0.25, service = { distribution = "exponential", mean = "5us" } }] }"#,
            2000.0,
            (0.75 * 1.0 + 0.25 * 50.0) / 4.0 - 1.0,
        ),
    ]
}

#[test]
fn mean_and_scv_are_those_of_the_formulas() {
    for (text, mean_ns, scv) in cases() {
        let service = service(text);
        assert!((service.mean_ps() / (mean_ns * 1e3) - 1.0).abs() < 1e-9, "{text}: {}", service.mean_ps());
        assert!((service.scv() - scv).abs() < 1e-7 * scv.max(1.0), "{text}: {} not {scv}", service.scv());
    }
}

#[test]
fn draws_have_that_mean_and_that_distribution() {
    for (text, mean_ns, scv) in cases() {
        let service = service(text);
        let drawn = draws(&service, 42, N);
        let n = N as f64;
        let mean = drawn.iter().map(|d| d.service_ps as f64).sum::<f64>() / n;
        let error = mean_ns * 1e3 * (scv / n).sqrt();
        assert!(
            (mean - mean_ns * 1e3).abs() <= 5.0 * error + 1.0,
            "{text}: mean {mean}, expected {mean_ns} ns"
        );
        for p in [0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99, 0.999] {
            let quantile = service.quantile(p);
            if quantile < 1000 {
                continue; // Whole picoseconds are a grid there, which the formulas know nothing of.
            }
            let below = drawn.iter().filter(|d| d.service_ps <= quantile).count() as f64 / n;
            let expected = service.cdf(quantile);
            let error = (expected * (1.0 - expected) / n).sqrt();
            assert!(
                (below - expected).abs() <= 5.0 * error + 1e-6,
                "{text}: p{p}: {below}, expected {expected}"
            );
            assert!(expected >= p - 5e-6, "{text}: P(X ≤ quantile({p})) = {expected}");
        }
    }
}

#[test]
fn classes_have_their_share_and_their_own_moments() {
    let service = service(r#""tpcc""#);
    assert_eq!(service.classes(), ["payment", "order-status", "new-order", "delivery", "stock-level"]);
    let drawn = draws(&service, 3, N);
    for class in 0..service.classes().len() {
        let weight = service.class_weight(class);
        let share = drawn.iter().filter(|d| usize::from(d.class) == class).count() as f64 / N as f64;
        assert!((share - weight).abs() < 5.0 * (weight * (1.0 - weight) / N as f64).sqrt());
        let own = service.class_mean_ps(class);
        assert!(drawn.iter().filter(|d| usize::from(d.class) == class).all(|d| d.service_ps as f64 == own));
    }
    assert!((service.mean_ps() - 19_068_000.0).abs() < 1e-3);
}

#[test]
fn quantiles_are_those_of_the_formulas() {
    let exponential = service(r#""exp-1us""#);
    assert_eq!(exponential.quantile(0.5), 693_147);
    assert_eq!(exponential.quantile(0.99), 4_605_170);
    assert_eq!(exponential.max_ps(), None);
    let bimodal = service(r#""extreme-bimodal""#);
    assert_eq!(bimodal.quantile(0.995), 500_000, "exactly the share of the short ones");
    assert_eq!(bimodal.quantile(0.995_001), 500_000_000);
    assert_eq!(bimodal.max_ps(), Some(500_000_000));
    // Median exp(mu), and 97.72 % below exp(mu + 2 sigma).
    let log_normal = service(r#"{ distribution = "log-normal", mean = "10us", sigma = 1 }"#);
    assert!((log_normal.quantile(0.5) as f64 / (1e7 * (-0.5f64).exp()) - 1.0).abs() < 1e-6);
    assert!((log_normal.quantile(0.977_249_868_051_820_8) as f64 / (1e7 * 1.5f64.exp()) - 1.0).abs() < 1e-6);
    // An Erlang-2: P(X > x) = (1 + x/m) exp(-x/m).
    let erlang = service(r#"{ distribution = "gamma", mean = "2us", scv = 0.5 }"#);
    let x = erlang.quantile(0.9) as f64 / 1e6;
    assert!(((1.0 + x) * (-x).exp() - 0.1).abs() < 1e-6);
    let pareto = service(r#"{ distribution = "bounded-pareto", alpha = 1, min = "1us", max = "100us" }"#);
    assert_eq!((pareto.quantile(0.0), pareto.max_ps()), (1_000_000, Some(100_000_000)));
    // P(X > x) = (1/x − 1/100) / 0.99 = 1/2.
    assert!((pareto.quantile(0.5) as f64 / 1e6 - 1.0 / (0.99 / 2.0 + 0.01)).abs() < 1e-6);
}

#[test]
fn a_mixtures_quantile_inverts_its_distribution() {
    let service = service(
        r#"{ distribution = "mixture", classes = [
            { name = "a", weight = 0.7, service = { distribution = "gamma", mean = "1us", scv = 0.5 } },
            { name = "b", weight = 0.3, service = { distribution = "log-normal", mean = "50us", scv = 3 } }] }"#,
    );
    for p in [0.001, 0.3, 0.69, 0.71, 0.99, 0.9999] {
        assert!((service.cdf(service.quantile(p)) - p).abs() < 1e-5, "p{p}");
    }
}

#[test]
fn a_seed_gives_the_same_draws_in_batches_of_any_size() {
    for (text, _, _) in cases().into_iter().chain([(r#""rocksdb-0.5""#, 0.0, 0.0)]) {
        let service = service(text);
        let whole = draws(&service, 11, 10_000);
        let mut sampler = service.clone().sampler(11);
        let mut parts = Vec::new();
        for size in [1usize, 7, 64, 1000, 8928] {
            let mut part = vec![Default::default(); size];
            sampler.fill(&mut part);
            parts.extend(part);
        }
        assert_eq!(whole, parts, "{text}");
        if service.scv() > 0.0 {
            assert_ne!(whole, draws(&service, 12, 10_000), "{text}");
        }
    }
}

#[test]
fn draws_never_change_from_release_to_release() {
    let sum = |text: &str| {
        let fold = |hash: u64, d: &caudal_workload::Demand| {
            (hash ^ d.service_ps ^ u64::from(d.class) << 56).wrapping_mul(0x0000_0100_0000_01b3)
        };
        draws(&service(text), 1, 1000).iter().fold(0xcbf2_9ce4_8422_2325, fold)
    };
    let hashes = [r#""exp-1us""#, r#""extreme-bimodal""#, r#""rocksdb-0.5""#].map(sum);
    assert_eq!(hashes, [0xaf1e_2203_e1e6_d7f3, 0x1c6c_bdd3_e290_20e5, 0x23b2_126f_0be2_6c6d], "{hashes:x?}");
}

#[test]
fn a_demand_is_16_bytes_and_never_zero() {
    assert_eq!(size_of::<caudal_workload::Demand>(), 16);
    let tiny = service(r#"{ distribution = "exponential", mean = "1ps" }"#);
    assert!(draws(&tiny, 1, 10_000).iter().all(|d| d.service_ps >= 1));
    let wild = service(r#"{ distribution = "log-normal", mean = "3600s", scv = 1e6 }"#);
    assert!(draws(&wild, 1, 100_000).iter().all(|d| d.service_ps <= caudal_workload::LONGEST_DRAW_PS));
}
