//! memtier's cumulative percentages, with a class for each operation. The reader of reports calls it once, when it finds their heading. Pure.

use crate::error::WorkloadError;
use crate::input::number::{Number, Style};
use crate::input::percentiles::{Moments, Percentiles};
use crate::input::unit::Unit;
use crate::input::{Data, Place, Read, Taken};

pub(super) fn is_memtier(line: &str) -> bool {
    let words: Vec<&str> = line.split_whitespace().collect();
    words == ["Type", "<=", "msec", "Percent"]
}

/// memtier's cumulative percents, a class an operation: `SET       0.100        10.000`.
pub(super) fn memtier(lines: &[&str], heading: usize, place: &Place<'_>) -> Result<Read, WorkloadError> {
    let mut classes: Vec<Percentiles> = Vec::new();
    for line in &lines[heading + 1..] {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let [class, value, percent] = fields[..] else { continue };
        let (Ok(number), Ok(percent)) =
            (Number::parse(value.as_bytes(), Style::POINT), percent.parse::<f64>())
        else {
            continue;
        };
        let ps = number.ps(Unit::Ms).and_then(|ps| u64::try_from(ps).ok());
        let Some(ps) = ps.filter(|_| (0.0..=100.0).contains(&percent)) else { continue };
        if !classes.iter().any(|known| known.class == class) {
            let weight = of_operation(lines, class, "Ops/sec").unwrap_or(1.0);
            let mean_ps = of_operation(lines, class, "Avg. Latency").map(|ms| ms * Unit::Ms.ps() as f64);
            let stated = Moments { mean_ps, sd_ps: None };
            classes.push(Percentiles { class: class.to_owned(), points: Vec::new(), weight, stated });
        }
        let known = classes.iter_mut().find(|known| known.class == class).expect("it was added");
        known.points.push((percent, ps));
    }
    classes.retain(|class| class.points.len() > 1 && class.class != "WAIT");
    if classes.is_empty() {
        return Err(place.whole("holds no rows below `Type <= msec Percent`"));
    }
    let taken = Taken {
        format: "memtier's latency distribution".to_owned(),
        class_column: Some("Type".to_owned()),
        unit: Some(Unit::Ms),
        unit_by: "says its heading",
        ..Taken::default()
    };
    Ok(Read { taken, data: Data::Percentiles(classes), notes: Vec::new() })
}

/// The value of a class in a column of memtier's table: `Sets   5000.00 …` below `Type   Ops/sec   …   Avg. Latency`.
fn of_operation(lines: &[&str], class: &str, column: &str) -> Option<f64> {
    let heading = lines.iter().find(|line| line.starts_with("Type") && line.contains("Ops/sec"))?;
    let mut names = heading.split("  ").map(str::trim).filter(|name| !name.is_empty());
    let at = names.position(|name| name == column)?;
    let row = lines.iter().find(|line| {
        let first = line.split_whitespace().next().unwrap_or_default().to_lowercase();
        first.trim_end_matches('s') == class.to_lowercase() && line.split_whitespace().count() > 4
    })?;
    row.split_whitespace().nth(at)?.parse().ok().filter(|value: &f64| *value > 0.0 && value.is_finite())
}
