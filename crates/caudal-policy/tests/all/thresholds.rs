//! The thresholds of tail-control against a literal transcription of section 4.1 of the paper, and small cases by hand.

use caudal_policy::parallelism::thresholds::classes::{Class, ClassPileup};
use caudal_policy::parallelism::thresholds::{Bin, Demand, DemandFault, Knowledge, Pileup, Threshold};
use caudal_policy::random::Draw;

/// Two estimates within this part of each other are equal.
const ALIKE: f64 = 1e-9;

fn sum(bins: &[Bin], counts: impl Fn(&Bin) -> bool, of: impl Fn(&Bin) -> f64) -> f64 {
    bins.iter().filter(|bin| counts(bin)).map(of).sum()
}

/// What the formulas have of a threshold `l`, whatever the number of active requests.
struct Split {
    l: f64,
    first: f64,
    w: f64,
    p_l: f64,
    w_s: f64,
    span_s: f64,
    w_e: f64,
    w_f: f64,
}

impl Split {
    fn literally(bins: &[Bin], demand: &Demand, l: f64) -> Split {
        let w = sum(bins, |_| true, |bin| bin.share * bin.mean_s);
        let p_l = sum(bins, |bin| bin.most_s > l, |bin| bin.share);
        let p_s = sum(bins, |bin| bin.most_s <= l, |bin| bin.share);
        let w_s = sum(bins, |bin| bin.most_s <= l, |bin| bin.share * bin.mean_s) / p_s;
        let span_s = sum(bins, |bin| bin.most_s <= l, |bin| bin.share * bin.span_s) / p_s;
        // Of a large request's work, the first part runs in parallel, unless it is known to be large.
        let first = if demand.knowledge == Knowledge::Clairvoyant { 0.0 } else { l };
        let w_e = sum(bins, |bin| bin.most_s <= l, |bin| bin.share * bin.mean_s) + p_l * first;
        let w_f = match p_l > 0.0 {
            true => sum(bins, |bin| bin.most_s > l, |bin| bin.share * (bin.mean_s - first)) / p_l,
            false => 0.0,
        };
        Split { l, first, w, p_l, w_s, span_s, w_e, w_f }
    }

    /// Misses and the rate at which requests leave more than come, each formula as the paper has it.
    fn estimate(&self, demand: &Demand, q_t: f64) -> (f64, f64) {
        let Demand { target_s: target, rps, cores: m, .. } = *demand;
        let Split { l, first, w, p_l, w_s, span_s, w_e, w_f } = *self;
        let u = w * rps;
        let t = f64::max((w_f + first + (q_t - 1.0) * w) / (m - u), first / m + w_f);
        let miss_l = p_l * (rps * t + q_t - 1.0) + 1.0;
        let m_s = if w_f > 0.0 { m - miss_l * w_f / t } else { m };
        let drain = m_s / w_e - rps;
        if m_s <= 0.0 || drain <= m / w_e * ALIKE {
            return (f64::INFINITY, drain);
        }
        let run = f64::max(w_s / m_s, span_s);
        // The longest that is done in parallel before it has all of l, whether anybody knew or not.
        let x = ((target - run) * m_s - l) / w_e;
        let y_1 = f64::max(q_t - 1.0 - x, 0.0);
        let y_2 = y_1 / drain * rps;
        ((y_1 + y_2) * (1.0 - p_l) + miss_l, drain)
    }
}

/// Figure 3.
fn literal_table(bins: &[Bin], demand: &Demand, q_max: u32) -> Vec<u32> {
    let splits: Vec<Split> = bins.iter().map(|bin| Split::literally(bins, demand, bin.most_s)).collect();
    let threshold = |q_t: u32| {
        let all: Vec<(f64, f64)> =
            splits.iter().map(|split| split.estimate(demand, f64::from(q_t))).collect();
        let least = all.iter().map(|of| of.0).fold(f64::INFINITY, f64::min);
        let best = match least.is_finite() {
            true => all.iter().rposition(|of| of.0 <= least + least * ALIKE),
            false => {
                let fastest = all.iter().map(|of| of.1).fold(f64::NEG_INFINITY, f64::max);
                all.iter().rposition(|of| of.1 >= fastest - demand.rps * ALIKE)
            }
        };
        best.expect("a bin") as u32
    };
    (1..=q_max).map(threshold).collect()
}

fn unit(draw: &mut Draw) -> f64 {
    (draw.bits() >> 11) as f64 / (1_u64 << 53) as f64
}

/// A distribution of up to 40 bins, heavy or light, and a setting that is not in overload.
fn random_case(seed: u64) -> (Vec<Bin>, Demand) {
    let mut draw = Draw::new(seed, 0);
    let count = 1 + (40.0 * unit(&mut draw)) as usize;
    let heavy = 1.0 + 3.0 * unit(&mut draw);
    random_bins(draw, count, heavy)
}

/// So many bins, each up to `heavy - 0.9` times longer than the one before.
fn random_bins(mut draw: Draw, count: usize, heavy: f64) -> (Vec<Bin>, Demand) {
    let spans = 0.3 * unit(&mut draw);
    let mut most_s = 1e-3;
    let mut bins: Vec<Bin> = (0..count)
        .map(|_| {
            let less_s = most_s;
            most_s *= 1.0 + (heavy - 0.9) * unit(&mut draw);
            let mean_s = less_s + (most_s - less_s) * unit(&mut draw).max(1e-3);
            Bin { share: unit(&mut draw) + 1e-6, mean_s, most_s, span_s: spans * mean_s * unit(&mut draw) }
        })
        .collect();
    let shares: f64 = bins.iter().map(|bin| bin.share).sum();
    bins.iter_mut().for_each(|bin| bin.share /= shares);
    let mean_s: f64 = bins.iter().map(|bin| bin.share * bin.mean_s).sum();
    let cores = 1.0 + (32.0 * unit(&mut draw)).floor();
    let knowledge = if draw.bits().is_multiple_of(2) { Knowledge::Processed } else { Knowledge::Clairvoyant };
    let rps = cores / mean_s * (0.05 + 0.94 * unit(&mut draw));
    (bins, Demand { target_s: mean_s * 5.0 * unit(&mut draw) + 1e-6, rps, cores, knowledge })
}

fn bins_of(table: &[Threshold]) -> Vec<u32> {
    table.iter().map(|of| of.bin).collect()
}

#[test]
fn tables_are_those_of_the_formulas() {
    let mut differ = Vec::new();
    for seed in 0..1_000 {
        let (bins, demand) = random_case(seed);
        let table = Pileup::new(&bins, demand).expect("no overload").table(60);
        if bins_of(&table) != literal_table(&bins, &demand, 60) {
            differ.push(seed);
        }
    }
    assert!(differ.is_empty(), "{differ:?}");
}

/// Thousands of bins to a factor of some 1,000 in work, as tables are made of in earnest.
#[test]
fn tables_of_many_bins_are_those_of_the_formulas() {
    for (seed, count, active) in
        [(1, 1_000, 200), (2, 1_000, 200), (3, 1_000, 200), (4, 1_000, 200), (5, 20_000, 400)]
    {
        let heavy = 0.9 + 14.0 / count as f64;
        let (bins, demand) = random_bins(Draw::new(seed, 1), count, heavy);
        let table = bins_of(&Pileup::new(&bins, demand).expect("no overload").table(active));
        let literal = literal_table(&bins, &demand, active);
        assert!(table == literal, "{count} bins of seed {seed}: {:?}", differences(&table, &literal));
    }
}

/// Where they differ: active requests, and both bins.
fn differences(table: &[u32], literal: &[u32]) -> Vec<(usize, u32, u32)> {
    let rows = table.iter().zip(literal).enumerate();
    rows.filter(|(_, (own, other))| own != other).map(|(at, (own, other))| (at + 1, *own, *other)).collect()
}

/// Nine requests of 1 s and one of 11 s each 10 s, on 4 cores: w = 2 s, U = 2.
fn two_sizes(knowledge: Knowledge) -> (Vec<Bin>, Demand) {
    let bin = |share, work_s| Bin { share, mean_s: work_s, most_s: work_s, span_s: 0.0 };
    (vec![bin(0.9, 1.0), bin(0.1, 11.0)], Demand { target_s: 3.0, rps: 1.0, cores: 4.0, knowledge })
}

#[test]
fn misses_are_those_worked_out_by_hand() {
    let (bins, demand) = two_sizes(Knowledge::Processed);
    let mut pileup = Pileup::new(&bins, demand).expect("no overload");
    // l = 1: p_l = 0.1, w_f = 10, w_s = 1, w_e = 1. q_t = 1: T = max(11 / 2, 10.25) = 10.25, miss_l = 2.025,
    // m_s = 4 - 20.25 / 10.25 = 2.0244, x = 3 * 2.0244 - 2 = 4.07: no small request is late.
    // l = 11: nobody is large but the one that began it. T = 5.5, miss_l = 1, m_s = 4, w_e = 2, w_s = 2,
    // x = (12 - 2 - 11) / 2 < 0: y_1 = 0.5, rate 2 - 1, so 0.5 * 2 = 1 small one is late.
    let alone = pileup.misses(1).to_vec();
    assert!((alone[0] - 2.025).abs() < 1e-12 && (alone[1] - 2.0).abs() < 1e-12, "{alone:?}");
    assert_eq!(pileup.threshold(1).limit_s, 11.0);
    // q_t = 11: l = 1: T = (11 + 20) / 2 = 15.5, miss_l = 0.1 * 25.5 + 1 = 3.55, m_s = 4 - 35.5 / 15.5 = 1.7097,
    // x = 5.129 - 2 = 3.129, y_1 = 6.871, 6.871 * 1.7097 / 0.7097 * 0.9 = 14.897 small ones.
    // l = 11: miss_l = 1, x = -0.5, y_1 = 10.5, twice that small ones.
    let many = pileup.misses(11).to_vec();
    assert!((many[0] - 18.447).abs() < 1e-3 && (many[1] - 22.0).abs() < 1e-12, "{many:?}");
    assert_eq!(pileup.threshold(11).limit_s, 1.0);
}

#[test]
fn who_knows_beforehand_does_nothing_of_a_large_request_in_parallel() {
    let (bins, demand) = two_sizes(Knowledge::Clairvoyant);
    let mut pileup = Pileup::new(&bins, demand).expect("no overload");
    // l = 1: w_f = 11, w_e = 0.9. T = max(11 / 2, 11) = 11, miss_l = 2.1, m_s = 4 - 23.1 / 11 = 1.9.
    let alone = pileup.misses(1).to_vec();
    assert!((alone[0] - 2.1).abs() < 1e-12, "{alone:?}");
}

/// Giving up nobody is not free: the largest request takes all cores. So the table falls with the active requests, as that of
/// who does not know beforehand, and gives up more of them: nothing of them has been done in parallel.
#[test]
fn who_knows_beforehand_gives_up_large_requests_too() {
    let (bins, demand) = two_sizes(Knowledge::Clairvoyant);
    let table = Pileup::new(&bins, demand).expect("no overload").table(40);
    assert!(table.iter().any(|of| of.bin == 0), "{table:?}");
}

#[test]
fn a_target_below_the_span_is_missed_by_all_small_ones() {
    let (mut bins, demand) = two_sizes(Knowledge::Processed);
    let before = Pileup::new(&bins, demand).expect("no overload").threshold(3).misses;
    bins.iter_mut().for_each(|bin| bin.span_s = 0.2);
    let with_span = Pileup::new(&bins, demand).expect("no overload").threshold(3).misses;
    assert_eq!(before, with_span, "a short span is hidden behind the work");
    bins.iter_mut().for_each(|bin| bin.span_s = 2.9);
    assert!(Pileup::new(&bins, demand).expect("no overload").threshold(3).misses > before);
}

#[test]
fn what_can_not_be_asked_is_refused() {
    let (bins, demand) = two_sizes(Knowledge::Processed);
    let fault = |bins: &[Bin], demand| Pileup::new(bins, demand).expect_err("a fault");
    assert_eq!(fault(&bins, Demand { rps: 2.0, ..demand }), DemandFault::Overload(4.0));
    assert_eq!(fault(&bins, Demand { target_s: 0.0, ..demand }), DemandFault::NotPositive);
    assert_eq!(fault(&[], demand), DemandFault::Bins);
    assert_eq!(fault(&[bins[1], bins[0]], demand), DemandFault::Bins, "works rise");
    assert_eq!(fault(&bins[..1], demand), DemandFault::Bins, "shares sum to 1");
    assert_eq!(fault(&[Bin { mean_s: 1.5, ..bins[0] }, bins[1]], demand), DemandFault::Bins);
}

fn one_class(bins: &[Bin], demand: &Demand) -> ClassPileup {
    let class = Class { bins: bins.to_vec(), target_s: demand.target_s };
    ClassPileup::new(&[class], *demand).expect("no overload")
}

#[test]
fn one_class_has_the_table_of_all_requests() {
    for seed in 0..300 {
        let (bins, demand) = random_case(seed);
        // So short that nobody who is given up makes it.
        let demand = Demand { target_s: demand.target_s.min(bins[0].most_s / demand.cores / 2.0), ..demand };
        let table = Pileup::new(&bins, demand).expect("no overload").table(60);
        for (row, of_class) in table.iter().zip(one_class(&bins, &demand).table(60)) {
            assert_eq!(row.limit_s, of_class.limits_s[0], "seed {seed}, {} active", row.active);
            let alike = (row.misses / of_class.misses - 1.0).abs() < 1e-6;
            assert!(alike || row.misses == of_class.misses, "{row:?} {of_class:?}");
        }
    }
}

/// Requests cut into two classes by chance have the thresholds of the whole, if their targets are the same.
#[test]
fn classes_that_are_alike_are_no_worse_off_than_as_one() {
    for seed in 0..100 {
        let (bins, demand) = random_case(seed);
        let part = |share: f64| Class {
            bins: bins.iter().map(|bin| Bin { share: share * bin.share, ..*bin }).collect(),
            target_s: demand.target_s,
        };
        let mut two = ClassPileup::new(&[part(0.3), part(0.7)], demand).expect("no overload");
        for (row, of_two) in one_class(&bins, &demand).table(40).into_iter().zip(two.table(40)) {
            let few = of_two.misses <= row.misses * (1.0 + 1e-6);
            assert!(few || !row.misses.is_finite(), "seed {seed}: {row:?} {of_two:?}");
        }
    }
}

/// Nine short requests of 1 s with a target of 3 s, and one of 11 s with a target of 100 s.
#[test]
fn a_class_that_has_time_is_given_up_without_a_miss() {
    let (bins, demand) = two_sizes(Knowledge::Processed);
    let class = |bin: Bin, target_s| Class { bins: vec![bin], target_s };
    let thresholds = |long_s: f64, active: u32| {
        let classes = [class(bins[0], 3.0), class(bins[1], long_s)];
        ClassPileup::new(&classes, demand).expect("no overload").thresholds(active)
    };
    // By hand, above: l = 1 s for both lets 3.55 large ones and 14.897 small ones of 11 and those that follow be late.
    let hurried = thresholds(3.0, 11);
    assert!((hurried.misses - 18.447).abs() < 1e-3, "{hurried:?}");
    // 1 s on four cores and 10 s on one are far from 100 s.
    let patient = thresholds(100.0, 11);
    assert!((patient.misses - 14.897).abs() < 1e-3, "{patient:?}");
    assert_eq!((hurried.limits_s[1], patient.limits_s[1]), (1.0, 1.0));
    // Alone, 11 s take 2.75 s on four cores, and a short request behind that is done after 3 s: nobody has to be given up, and
    // nobody is. With a target of 3 s for the long one, the next of its kind is late behind it: x = (0.25 * 4 - 11) / 2 = -5, and
    // twice 5 * 0.1.
    let (patient, hurried) = (thresholds(100.0, 1), thresholds(3.0, 1));
    assert_eq!((patient.misses, patient.limits_s[1]), (0.0, 11.0), "{patient:?}");
    assert_eq!((hurried.misses, hurried.limits_s[1]), (1.0, 11.0), "{hurried:?}");
}
