//! The table of what each class of requests gets from each system that lanes are held against. `lanes` puts it into the report, and
//! `caudal lanes --explain` prints it. Pure.

use caudal_report::PlainTable;
use caudal_tune::lanes::{JudgedSystem, LanesAnswer};
use caudal_tune::spelled;

use crate::table::{digits, time};

/// The latencies and slowdowns of each class under each system; nothing where there is one class.
#[must_use]
pub fn classes(answer: &LanesAnswer) -> Option<PlainTable> {
    let names: Vec<&String> = answer.judged.first()?.row.classes.0.iter().map(|(name, _)| name).collect();
    let line = |judged: &JudgedSystem| {
        let mut cells = vec![spelled(&judged.system)];
        for (_, class) in &judged.row.classes.0 {
            let at = |of: &caudal_stats::Summary, wanted: f64| {
                let found = of.percentiles.iter().find(|(percentile, _)| *percentile == wanted);
                found.map_or(f64::NAN, |(_, estimate)| estimate.estimate)
            };
            let shown = |value: f64, show: fn(f64) -> String| match value.is_finite() {
                true => show(value),
                false => "–".to_owned(),
            };
            cells.push(shown(class.latency_ns.mean.estimate, time));
            cells.push(shown(at(&class.latency_ns, 99.0), time));
            cells.push(shown(at(&class.latency_ns, 99.9), time));
            cells.push(shown(at(&class.slowdown, 99.0), digits));
        }
        cells
    };
    let mut head = vec!["system".to_owned()];
    for name in &names {
        head.extend([
            spelled(&format!("{name}: mean")),
            "p99".to_owned(),
            "p99.9".to_owned(),
            "p99 slowdown".to_owned(),
        ]);
    }
    (names.len() > 1).then(|| PlainTable {
        title: "By class of requests".to_owned(),
        note: "What the short requests gain, and what the long ones pay.".to_owned(),
        head,
        lines: answer.judged.iter().map(line).collect(),
        marked: vec![0],
    })
}
