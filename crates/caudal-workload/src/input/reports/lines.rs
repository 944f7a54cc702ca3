//! The statistics that one line of a report states, in the forms in which load generators write them. The reader of reports calls it for
//! every line, and `rows` for averages. Pure.

use crate::input::number::{Number, Style};
use crate::input::percentiles::{Statistic, unit_of_name};
use crate::input::unit::Unit;

/// A statistic in a line.
#[derive(Debug)]
pub(super) struct Point {
    pub(super) statistic: Statistic,
    /// Is it a percentile by its name, rather than the end of all times?
    pub(super) is_inner: bool,
    pub(super) number: Number,
    /// The thing that it is a statistic of, where a text has percentiles of several things.
    pub(super) family: String,
}

impl Point {
    pub(super) fn new(name: &str, statistic: Statistic, value: &str) -> Option<Point> {
        let number = Number::parse(value.trim().as_bytes(), Style::POINT).ok()?;
        let is_end = matches!(statistic, Statistic::Percentile(0.0 | 100.0))
            && !name.contains(|l: char| l.is_ascii_digit());
        Some(Point { statistic, is_inner: !is_end, number, family: String::new() })
    }

    /// Of this family, in the unit that its name says.
    pub(super) fn of_name(self, family: &str, name: &str) -> Option<Point> {
        let number = match (self.number.unit, unit_of_name(name)) {
            (None, Some(unit)) => self.number.in_unit(unit),
            _ => self.number,
        };
        Some(Point { number, family: family.trim().to_owned(), ..self })
    }

    /// The percentile that it is, unless it is a mean or the shortest or longest time.
    pub(super) fn percentile(&self) -> Option<f64> {
        match self.statistic {
            Statistic::Percentile(percentile) if self.is_inner => Some(percentile),
            _ => None,
        }
    }
}

/// The statistics of a line: one, or as many as fio (`|  1.00th=[   20],  5.00th=[   20],`) and vegeta (`Latencies  [min,
/// mean, 50]  1ms, 2ms, 1.5ms`) put there.
pub(super) fn points(line: &str) -> Vec<Point> {
    if line.contains("th=[") {
        let parts = line.trim().trim_start_matches('|').split("],");
        let part = |part: &str| {
            let (name, value) = part.split_once("=[")?;
            Point::new(name, Statistic::of(name)?, value.trim_end_matches(']').trim())
        };
        return parts.filter_map(part).collect();
    }
    if let Some(points) =
        listed(line).or_else(|| of_fio(line)).or_else(|| of_k6(line)).or_else(|| assigned(line))
    {
        return points;
    }
    if let Some(points) = named_in_turn(line).or_else(|| named_behind(line)) {
        return points;
    }
    point(line).or_else(|| labelled(line)).into_iter().collect()
}

/// Statistics with their names in front, one behind the other: `READ   - Takes(s): 10.0, Avg(us): 1034, 50th(us): 812, 99th(us): 5223` of
/// go-ycsb, `[I] Latency: min = 1.96 ms, median = 1.97 ms, percentile(99%) = 2.00 ms` of trtexec, `--- Latency: mean: 3.757 ms - med: 2.900 -
/// 99pct: 8.700` of Pulsar. What stands before the first is the family.
fn named_in_turn(line: &str) -> Option<Vec<Point>> {
    let is_label = line.matches(" - ").count() == 1;
    let (family, rest) = line.split_once(" - ").filter(|_| is_label).unwrap_or(("", line));
    [",", " - "].into_iter().find_map(|separator| {
        let mut family = family.trim();
        let mut points: Vec<Point> = Vec::new();
        for part in rest.split(separator) {
            let Some((name, value)) = part.rsplit_once(['=', ':']) else { continue };
            // `… [I] Latency: min = …`
            let (before, name) = name.rsplit_once(": ").unwrap_or(("", name));
            if !before.is_empty() {
                let label = before.rsplit(['-', ']']).next().unwrap_or(before).trim();
                family = if label.len() < 30 { label } else { family };
            }
            let point = Statistic::of(name)
                .and_then(|statistic| Point::new(name, statistic, value)?.of_name(family, name));
            points.extend(point);
        }
        // Only the first has the unit, which is that of all.
        let unit = points.iter().find_map(|point| point.number.unit);
        let bare = points.iter_mut().filter(|point| point.number.unit.is_none());
        bare.for_each(|point| point.number = unit.map_or(point.number, |unit| point.number.in_unit(unit)));
        (points.iter().filter(|point| point.percentile().is_some()).count() >= 2).then_some(points)
    })
}

/// `2.43 ms avg latency, 331.00 ms max latency, 1 ms 50th, 6 ms 95th, 27 ms 99th`, as Kafka's tools sum up
fn named_behind(line: &str) -> Option<Vec<Point>> {
    let point = |part: &str| {
        let mut words = part.split_whitespace();
        let value = format!("{} {}", words.next()?, words.next()?);
        let name = words.collect::<Vec<_>>().join(" ");
        let name = name.trim_end_matches('.');
        Point::new(name, Statistic::of(name)?, &value).filter(|point| point.number.unit.is_some())
    };
    let points: Vec<Point> = line.split(',').filter_map(point).collect();
    (points.iter().filter(|point| point.percentile().is_some()).count() >= 2).then_some(points)
}

/// `P99 E2EL (ms):    11012.80` of vLLM, `99.00 percentile latency (ns)   : 21934431` of MLPerf: a label with its unit, of which the
/// words that name no statistic are the family.
fn labelled(line: &str) -> Option<Point> {
    let (name, value) = line.trim().split_once(':')?;
    let unit = name.trim_end().strip_suffix(')')?.rsplit_once('(')?.1;
    Unit::of_word(unit)?;
    let known = |word: &&str| {
        let word = word.to_lowercase();
        let is_digit = word.starts_with(|letter: char| letter.is_ascii_digit());
        is_digit || ["percentile", "latency"].contains(&word.as_str()) || Statistic::of(&word).is_some()
    };
    let words: Vec<&str> = name.split('(').next()?.split_whitespace().collect();
    let family = words.iter().filter(|word| !known(word)).copied().collect::<Vec<_>>().join(" ");
    let rest = words.iter().filter(|word| known(word)).copied().collect::<Vec<_>>().join(" ");
    let statistic = Statistic::of(&rest).filter(|_| words.len() <= 5)?;
    Point::new(&rest, statistic, value)?.of_name(&family, name)
}

/// `Latencies     [min, mean, 50, 90, 99, max]  1.2ms, 3.1ms, 2.9ms, 4ms, 9.1ms, 12ms`
fn listed(line: &str) -> Option<Vec<Point>> {
    let (names, values) = line.split_once('[')?.1.split_once(']')?;
    let (names, values): (Vec<&str>, Vec<&str>) = (names.split(',').collect(), values.split(',').collect());
    if names.len() != values.len() || names.len() < 2 {
        return None;
    }
    let statistic = |name: &str| match name.trim().parse::<f64>() {
        Ok(percentile) => {
            Some(Statistic::Percentile(percentile)).filter(|_| (0.0..=100.0).contains(&percentile))
        }
        Err(_) => Statistic::of(name),
    };
    let point = |(name, value): (&&str, &&str)| Point::new(name, statistic(name)?, value);
    let points: Vec<Point> = names.iter().zip(&values).filter_map(point).collect();
    (points.iter().filter(|point| point.percentile().is_some()).count() >= 2).then_some(points)
}

/// `clat (usec): min=1, max=211, avg= 4.31, stdev= 2.16`
fn of_fio(line: &str) -> Option<Vec<Point>> {
    let (unit, values) = line.trim().strip_prefix("clat (")?.split_once("):")?;
    let unit = Unit::of_word(unit)?;
    let point = |part: &str| {
        let (name, value) = part.split_once('=')?;
        let point = Point::new(name, Statistic::of(name)?, value)?;
        Some(Point { number: point.number.in_unit(unit), ..point })
    };
    Some(values.split(',').filter_map(point).collect())
}

/// `min=1, max=8018`: nothing but statistics
fn assigned(line: &str) -> Option<Vec<Point>> {
    let point = |part: &str| {
        let (name, value) = part.trim().split_once('=')?;
        Point::new(name, Statistic::of(name)?, value)
    };
    let points: Vec<Point> = line.split(',').map(point).collect::<Option<_>>()?;
    (points.len() > 1).then_some(points)
}

/// `http_req_duration..............: avg=2.1ms min=1ms med=2ms max=9ms p(90)=3ms p(95)=4ms`; the other lines of k6's report
/// are of parts of requests.
fn of_k6(line: &str) -> Option<Vec<Point>> {
    let (name, values) = line.trim().split_once(": ")?;
    if !name.trim_end_matches(['.', ' ']).ends_with("_req_duration") {
        return None;
    }
    let point = |part: &str| {
        let (name, value) = part.split_once('=')?;
        Point::new(name, Statistic::of(name)?, value)
    };
    Some(values.split_whitespace().filter_map(point).collect())
}

/// `  99%    9.00ms`, ` 99.000%  126.00us`, `p99: 9.0 ms`, `99th percentile: 12.3`, `100%   12 (longest request)`, `99% in 0.0120
/// secs`, `Average: 1.2 ms`, `sockperf: ---> percentile 99.900 =   12.345`
fn point(line: &str) -> Option<Point> {
    // schbench marks the percentile that matters by a star.
    let line = line
        .trim()
        .trim_start_matches("* ")
        .trim_start_matches("sockperf:")
        .trim()
        .trim_start_matches("--->")
        .trim();
    let line = line.split(" (").next()?;
    let cut = line.find(['=', ':']).or_else(|| line.find('%')).or_else(|| line.find(char::is_whitespace))?;
    let (name, value) = line.split_at(cut + line[cut..].chars().next().map_or(0, char::len_utf8));
    let name = name.trim_end_matches(['=', ':']).trim();
    // Names are short; sentences that mention a percentile are none.
    let statistic = Statistic::of(name).filter(|_| name.split_whitespace().count() <= 3)?;
    let value = value.trim().trim_start_matches(['=', ':', '<']).trim();
    let value = value.strip_prefix("in ").unwrap_or(value);
    // `60.5 [WRITE:60.5]` of cassandra-stress
    let value = value.split(" [").next().unwrap_or(value);
    // `50% in 0.0123 secs.` of etcd's benchmark
    let value = value.strip_suffix('.').filter(|rest| rest.ends_with(char::is_alphabetic)).unwrap_or(value);
    Point::new(name, statistic, value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tools_print_percentiles_in_their_ways() {
        let of = |line: &str| point(line).and_then(|point| Some((point.percentile()?, point.number.value())));
        assert_eq!(of("     99%    9.00ms"), Some((99.0, 9.0)));
        assert_eq!(of(" 50.000%   19.00us"), Some((50.0, 19.0)));
        assert_eq!(of(" 100%     12 (longest request)"), Some((100.0, 12.0)));
        assert_eq!(of("p99.9: 12.5 ms"), Some((99.9, 12.5)));
        assert_eq!(of("  99% in 0.0021 secs"), Some((99.0, 21.0 * 1e-4)));
        assert_eq!(of("sockperf: ---> percentile 99.900 =   12.345"), Some((99.9, 12.345)));
        assert_eq!(of("sockperf: ---> <MAX> observation =  190.105"), None, "an end, no percentile");
        assert_eq!(listed("Latencies  [mean, 50, 99, max]  2ms, 1ms, 9ms, 1m2.5s").unwrap().len(), 4);
        assert!(listed("Bytes In  [total, mean]  1200, 6.00").is_none());
        assert_eq!(of("99% of requests were served"), None);
        assert_eq!(of("Requests/sec: 1200"), None);
        assert_eq!(of("p99\u{a0}12 ms"), Some((99.0, 12.0)), "a blank of two bytes");
    }
}
