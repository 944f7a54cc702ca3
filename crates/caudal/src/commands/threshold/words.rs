//! Sentences about a table of thresholds, and about what simulation has shown of it. They are a file of their own because
//! `threshold::show` prints the same sentences that `threshold::report` puts into a report. Pure functions.

use caudal_tune::thresholds::{JudgedPolicy, Refined, Row, ThresholdAnswer, changes};

use super::ThresholdArgs;
use caudal_results::table::{digits, estimate, time};

/// The note that a reader needs who sees tables of classes beside that of all requests.
const TOGETHER: &str = "The tables of classes are chosen together, and the expected misses are those of all classes. Here a large \
                        request is only late if what is left of it takes too long on one core; the table of all requests \
                        counts each as late.";

/// The table in sentences; the second one says when a request is given up.
pub(super) fn sentences(args: &ThresholdArgs, found: &ThresholdAnswer) -> Vec<String> {
    let mut said = vec![format!(
        "{} requests/s of {} on average keep {} of {} cores busy.",
        digits(args.rate.per_s()),
        time(found.mean_ns.1),
        digits(found.busy),
        args.cores
    )];
    let tables = found.tables();
    said.push(all_given_up(found, 1.0));
    if found.hopeless > 0.0 {
        let missed = match args.target.len() {
            1 => args.targets(),
            _ => format!("their targets ({})", args.targets()),
        };
        let share = match 100.0 * found.hopeless {
            percent if percent < 0.0005 => "Less than 0.001 %".to_owned(),
            percent => format!("{percent:.3} %"),
        };
        let vain = if found.hopeless > 0.5 { ": no threshold helps those" } else { "" };
        said.push(format!("{share} of the requests miss {missed} even alone on all cores{vain}."));
    }
    if tables.len() > 1 {
        said.push(TOGETHER.to_owned());
    }
    said.extend(tables.iter().filter_map(|(class, rows)| rises(*class, rows)));
    said
}

/// The sentence on when requests are given up, with the table times `scale`.
pub(super) fn all_given_up(found: &ThresholdAnswer, scale: f64) -> String {
    let each: Vec<String> =
        found.tables().iter().map(|(class, rows)| given_up(*class, rows, scale)).collect();
    format!("{}.", each.join(". "))
}

/// `A request is given up after 367 ms of work when it is alone, after 31.9 ms when 110 are active or more`.
fn given_up(class: Option<&str>, rows: &[Row], scale: f64) -> String {
    let request = class.map_or("request".to_owned(), |class| format!("`{class}` request"));
    if scale == 1.0 && rows.iter().all(|row| row.large == 0.0) {
        return format!("No {request} is given up, however many are active");
    }
    let changes: Vec<&Row> = changes(rows).collect();
    match changes[..] {
        [] => format!("Nothing is known of when a {request} is given up"),
        [only] => format!(
            "A {request} is given up after {} of work, however many are active",
            time(only.threshold_ns * scale)
        ),
        [first, .., last] => {
            let lowest = changes.iter().min_by(|a, b| a.threshold_ns.total_cmp(&b.threshold_ns));
            let lowest = lowest.filter(|row| row.threshold_ns < last.threshold_ns.min(first.threshold_ns));
            let between = lowest.map_or(String::new(), |row| {
                format!(" after {} when {} are active,", time(row.threshold_ns * scale), row.active)
            });
            format!(
                "A {request} is given up after {} of work when it is alone,{between} after {} when {} are active or more",
                time(first.threshold_ns * scale),
                time(last.threshold_ns * scale),
                last.active
            )
        }
    }
}

/// Where a threshold is higher with one more active request, if it is anywhere.
fn rises(class: Option<&str>, rows: &[Row]) -> Option<String> {
    let rising: Vec<&[Row]> =
        rows.windows(2).filter(|pair| pair[1].threshold_ns > pair[0].threshold_ns).collect();
    let [before, there] = rising.first()? else { return None };
    let of = class.map_or(String::new(), |class| format!(" of `{class}`"));
    let misses = match there.misses {
        Some(misses) => format!("{} are expected to miss until the pile-up is over", digits(misses)),
        None => "the pile-up has no end".to_owned(),
    };
    let times = match rising.len() {
        1 => "once,".to_owned(),
        several => format!("{several} times, first"),
    };
    Some(format!(
        "The threshold{of} does not fall throughout: it rises {times} from {} to {} at {} active requests, where {misses}.",
        time(before.threshold_ns),
        time(there.threshold_ns),
        there.active,
    ))
}

/// The verdict of the simulation on the table, in words.
pub(super) fn refined_sentence(found: &ThresholdAnswer, refined: &Refined) -> String {
    let simulated = format!("{} M requests simulated", digits(refined.requests as f64 / 1e6));
    let known = |judged: &JudgedPolicy| judged.chosen_over.is_some_and(|over| !over.is_missing());
    if !refined.judged.iter().any(known) {
        return format!(
            "Too few requests are late to tell anything apart: the table stays ({simulated}; --requests takes more)."
        );
    }
    let table = match refined.scale {
        1.0 => {
            "No multiple of the table's thresholds is certainly better than the table: it stays".to_owned()
        }
        scale => format!(
            "The table's thresholds times {scale} let certainly fewer requests be late than the table. They are written: {}",
            all_given_up(found, scale).trim_end_matches('.').replacen('A', "a", 1)
        ),
    };
    let rivals: Vec<String> = refined.judged.iter().filter_map(against).collect();
    format!("{table} ({simulated}).{}", rivals.concat())
}

/// A sentence on a rival that is certainly better, or not certainly worse.
fn against(rival: &JudgedPolicy) -> Option<String> {
    let over = rival.chosen_over.filter(|_| !rival.policy.starts_with("the table"))?;
    let policy = &rival.policy;
    match () {
        () if over.is_missing() => None,
        () if over.low > 1.0 => Some(format!(
            " But {policy} lets fewer be late than any of them: theirs are {} times its.",
            estimate(&over, digits).trim_end()
        )),
        () if over.high >= 1.0 => Some(format!(" They are not certainly better than {policy}.")),
        () => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(thresholds_us: &[f64]) -> Vec<Row> {
        let row = |(at, us): (usize, &f64)| Row {
            active: at as u32 + 1,
            threshold_ns: us * 1e3,
            large: if *us < 900.0 { 0.1 } else { 0.0 },
            misses: Some(at as f64 + 1.5),
        };
        thresholds_us.iter().enumerate().map(row).collect()
    }

    #[test]
    fn what_is_said_of_thresholds_is_what_they_do() {
        let said = |thresholds_us: &[f64]| given_up(None, &rows(thresholds_us), 1.0);
        assert_eq!(
            said(&[9e2, 8e2, 7e2, 7e2]),
            "A request is given up after 900 µs of work when it is alone, after 700 µs when 3 are active or more"
        );
        assert_eq!(said(&[5e2, 5e2]), "A request is given up after 500 µs of work, however many are active");
        assert_eq!(
            given_up(Some("get"), &rows(&[9e2, 9e2]), 1.0),
            "No `get` request is given up, however many are active"
        );
        assert_eq!(
            given_up(None, &rows(&[8e2, 1e2, 7e2]), 0.5),
            "A request is given up after 400 µs of work when it is alone, after 50.0 µs when 2 are active, after 350 µs when 3 \
             are active or more"
        );
        assert_eq!(rises(None, &rows(&[9e2, 8e2, 8e2])), None);
        assert_eq!(
            rises(Some("get"), &rows(&[9e2, 1e2, 2e2, 2e2, 3e2])).as_deref(),
            Some(
                "The threshold of `get` does not fall throughout: it rises 2 times, first from 100 µs to 200 µs at 3 active \
                 requests, where 3.50 are expected to miss until the pile-up is over."
            )
        );
    }
}
