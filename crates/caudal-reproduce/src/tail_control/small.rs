//! Beyond the paper: requests so short that a fork costs as much as what is forked. `figures` lists it; `reproduction` simulates its file
//! of `experiments/`, and then asks here for statements, charts and tables.

use caudal_report::chart::{Axis, Chart, Plot, Point, Series, Spread, Unit};
use caudal_stats::Estimate;

use super::super::cell::CONFIDENCE;
use super::super::cell::{Cell, Stat};
use super::super::claim::{Ask, Claim, Finding, Limit, all, interval};
use super::super::figure::{Figure, FigureKind, Source, Statement, Study};
use super::super::measured::Measured;
use super::super::sheet::Sheet;
use super::setting::loads;
use super::{ADMIT, CONTROL, STEAL};

/// A file of the figure.
macro_rules! file {
    ($name:literal) => {
        Source {
            workload: $name,
            text: include_str!(concat!("../../../../experiments/tail-control-small/", $name, ".toml")),
        }
    };
}

pub(crate) const FIGURE_SMALL: Figure = Figure {
    name: "tail-control-small",
    title: "Tail-control, beyond the paper: from which size on it pays to fork",
    shows: "p99 of steal-first, admit-first and tail-control over that of requests that are done on one core each, by the mean \
            work of a request, which is one parallel loop, on 16 cores at loads of 0.5 and 0.8; an attempt to steal takes 100 \
            ns, a fork 25 ns, a look at the requests that run 20 ns a worker, and leaves have at least 250 ns. Tail-control's \
            target is 2.5 times the mean work.",
    files: &[
        file!("2us"),
        file!("5us"),
        file!("10us"),
        file!("20us"),
        file!("50us"),
        file!("100us"),
        file!("1ms"),
    ],
    kind: FigureKind::Points,
    statements: &STATEMENTS,
    charts: |measured| vec![chart(measured)],
    sheets: |measured| vec![sheet(measured)],
};

const SERIAL: &str = "serial";
const P99: Stat = Stat::Latency(99.0);

const fn statement(text: &'static str, reading: &'static str, judge: fn(&Study<'_>) -> Finding) -> Statement {
    Statement { text, source: "ours", reading, needs: &[], judge }
}

static STATEMENTS: [Statement; 5] = [
    statement(
        "Requests of 2 us are better done on one core each than under steal-first",
        "steal-first's p99 is higher than that of serial requests, at both loads",
        |study| all(&over(study.here(), "2us", STEAL, Limit::Above(1.0))),
    ),
    statement(
        "Requests of 2 us are better done on one core each than under tail-control",
        "tail-control's p99 is higher than that of serial requests, at both loads",
        |study| all(&over(study.here(), "2us", CONTROL, Limit::Above(1.0))),
    ),
    statement(
        "Even requests of 2 us are better forked under admit-first",
        "admit-first's p99 is lower than that of serial requests, at both loads",
        |study| all(&over(study.here(), "2us", ADMIT, Limit::Below(1.0))),
    ),
    statement(
        "Requests of 100 us are better forked under steal-first",
        "steal-first's p99 is lower than that of serial requests, at both loads",
        |study| all(&over(study.here(), "100us", STEAL, Limit::Below(1.0))),
    ),
    statement(
        "Under high load, the size from which on steal-first pays is larger",
        "at 20 us of work, steal-first's p99 over that of serial requests is higher at load 0.8 than at 0.5",
        |study| all(&higher(study.here(), "20us", STEAL)),
    ),
];

/// A system and serial requests, at each load.
fn pairs<'a>(measured: &'a Measured, work: &str, system: &str) -> Vec<(&'a Cell, &'a Cell)> {
    let of = |name: &str| {
        measured.cells.iter().filter(|cell| cell.workload == work && cell.system == name).collect()
    };
    let [own, serial]: [Vec<&Cell>; 2] = [of(system), of(SERIAL)];
    own.into_iter().zip(serial).collect()
}

fn over<'a>(measured: &'a Measured, work: &str, system: &str, limit: Limit) -> Vec<Ask<'a>> {
    let ask = |(own, serial): (&'a Cell, &'a Cell)| -> Ask<'a> {
        Box::new(move |confidence| {
            let place = format!("load {}:", own.load);
            Claim::new(place, P99.ratio(own, serial, confidence), limit).about(&[own, serial])
        })
    };
    pairs(measured, work, system).into_iter().map(ask).collect()
}

/// Is the ratio higher at the higher load?
fn higher<'a>(measured: &'a Measured, work: &str, system: &str) -> Vec<Ask<'a>> {
    let all = pairs(measured, work, system);
    let [(low, low_serial), (high, high_serial)] = all[..] else { return Vec::new() };
    vec![Box::new(move |confidence| {
        let at = |own, serial| P99.ratio(own, serial, confidence);
        let ratio = super::super::cell::apart(at(high, high_serial), at(low, low_serial));
        Claim::new("load 0.8 against 0.5:", ratio, Limit::Above(1.0)).about(&[
            low,
            low_serial,
            high,
            high_serial,
        ])
    })]
}

fn chart(measured: &Measured) -> Chart {
    let names: Vec<String> = loads(measured).into_iter().map(str::to_owned).collect();
    let upwards = Axis::new("p99 over serial requests'", Unit::Times, Spread::Log);
    let mut plot = Plot::new("", Axis::of_names("mean work", names), upwards);
    for (at, load) in [0.5, 0.8].into_iter().enumerate() {
        for system in [STEAL, ADMIT, CONTROL] {
            let point = |(place, work): (usize, &'static str)| {
                let (own, serial) = *pairs(measured, work, system).get(at)?;
                let Estimate { estimate, low, high } = P99.ratio(own, serial, CONFIDENCE);
                estimate.is_finite().then(|| Point::new(place as f64, estimate).within(low, high))
            };
            let points = loads(measured).into_iter().enumerate().filter_map(point).collect();
            plot.series.push(Series::line(format!("{system}, load {load}"), points));
        }
    }
    Chart::single(FIGURE_SMALL.title, "Below 1 it pays to fork.", vec![plot])
}

fn sheet(measured: &Measured) -> Sheet {
    let row = |work: &'static str| {
        let mut row = vec![work.to_owned()];
        for system in [STEAL, ADMIT, CONTROL] {
            let ratios = pairs(measured, work, system).into_iter();
            row.extend(ratios.map(|(own, serial)| interval(P99.ratio(own, serial, CONFIDENCE))));
        }
        row
    };
    let head = [
        "mean work",
        "steal-first, load 0.5",
        "load 0.8",
        "admit-first, load 0.5",
        "load 0.8",
        "tail-control, load 0.5",
        "load 0.8",
    ];
    let pays = |at: usize, system: &'static str| {
        let known = loads(measured).into_iter().filter_map(|work| {
            let (own, serial) = *pairs(measured, work, system).get(at)?;
            Some((work, P99.ratio(own, serial, CONFIDENCE)))
        });
        pays(&known.collect::<Vec<_>>())
    };
    let mut rows: Vec<Vec<String>> = loads(measured).into_iter().map(row).collect();
    let sizes = [(STEAL, 0), (STEAL, 1), (ADMIT, 0), (ADMIT, 1), (CONTROL, 0), (CONTROL, 1)]
        .map(|(system, at)| pays(at, system));
    rows.push([vec!["it pays".to_owned()], sizes.to_vec()].concat());
    Sheet {
        title: "p99 over that of serial requests (with 95 % intervals)".to_owned(),
        head: head.map(str::to_owned).to_vec(),
        rows,
    }
}

/// From which size on it surely pays to fork, and up to which it surely does not: ratios by increasing size.
fn pays(ratios: &[(&'static str, Estimate)]) -> String {
    let not = ratios.iter().rposition(|(_, ratio)| ratio.low > 1.0);
    let from = ratios.len() - ratios.iter().rev().take_while(|(_, ratio)| ratio.high < 1.0).count();
    let upwards = match ratios.get(from) {
        Some((work, _)) => format!("from {work} on"),
        None => "nowhere for sure".to_owned(),
    };
    match not {
        Some(not) => format!("{upwards}, not up to {}", ratios[not].0),
        None => upwards,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_pays_from_where_all_larger_ones_are_surely_faster() {
        let ratio = |low: f64, high: f64| Estimate { estimate: (low * high).sqrt(), low, high };
        let missing = ("1us", Estimate::exact(f64::INFINITY));
        let rows = [missing, ("2us", ratio(1.1, 1.3)), ("5us", ratio(0.9, 1.2)), ("9us", ratio(0.5, 0.6))];
        assert_eq!(pays(&rows), "from 9us on, not up to 2us");
        assert_eq!(pays(&rows[3..]), "from 9us on");
        assert_eq!(pays(&rows[..3]), "nowhere for sure, not up to 2us");
    }
}
