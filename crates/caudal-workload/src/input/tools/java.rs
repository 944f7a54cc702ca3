//! Pauses in the log of Java's garbage collector: of the unified one (`-Xlog:gc`), of safepoints (`-Xlog:safepoint`) where it has no
//! others, and of the older one (`-XX:+PrintGCDetails`).
//! The table of tools (`mod.rs`) asks whether a text has this form, and calls the reader once if it has. Pure.

use super::{Names, Shown, passed_over};
use crate::error::WorkloadError;
use crate::input::{Place, text};

/// A pause: what it was for, and how long it took.
#[derive(Debug, PartialEq)]
struct Pause<'a> {
    kind: String,
    time: &'a str,
    is_safepoint: bool,
}

/// Is this a log of Java's garbage collector?
pub(super) fn holds(lines: &[&str]) -> bool {
    let of_java =
        |line: &&&str| line.contains("] GC(") || line.contains("] Safepoint \"") || old(line).is_some();
    let lines: Vec<&&str> = lines.iter().filter(of_java).collect();
    lines.len() >= 2 && lines.iter().any(|line| line.contains("] GC(") || pause(line).is_some())
}

fn pause(line: &str) -> Option<Pause<'_>> {
    unified(line).or_else(|| safepoint(line)).or_else(|| old(line))
}

/// `[1.042s][info][gc] GC(0) Pause Young (Normal) (G1 Evacuation Pause) 6M->3M(64M) 6.270ms`
fn unified(line: &str) -> Option<Pause<'_>> {
    let (_, rest) = line.trim_end().split_once("] GC(")?;
    let rest = rest.split_once(") ")?.1.trim_start().strip_prefix("Pause ")?;
    let time = rest.rsplit(' ').next()?;
    time.strip_suffix("ms")?.parse::<f64>().ok()?;
    let words = rest.split(' ').take_while(|word| word.starts_with(|letter: char| letter.is_alphabetic()));
    Some(Pause { kind: words.collect::<Vec<_>>().join(" "), time, is_safepoint: false })
}

/// `[0.832s][info][safepoint] Safepoint "ICBufferFull", Time since last: 5 ns, Reaching safepoint: 3 ns, …, Total: 46738433 ns`
fn safepoint(line: &str) -> Option<Pause<'_>> {
    let (_, rest) = line.trim_end().split_once("] Safepoint \"")?;
    let (kind, rest) = rest.split_once('"')?;
    let time = rest.rsplit_once("Total: ")?.1.trim_end_matches(',');
    time.strip_suffix(" ns")?.trim().parse::<u64>().ok()?;
    Some(Pause { kind: kind.to_owned(), time, is_safepoint: true })
}

/// `0.523: [GC (Allocation Failure) [PSYoungGen: 65K->10K(76K)] 65K->10K(251K), 0.0130000 secs] [Times: user=0.01 sys=0.00, real=0.01 secs]`
fn old(line: &str) -> Option<Pause<'_>> {
    let kind =
        ["Full", "Young"].into_iter().zip(["[Full GC", "[GC"]).find(|(_, begin)| line.contains(begin))?.0;
    let until = line.find("[Times:").unwrap_or(line.len());
    let head = line[..until].trim_end().strip_suffix(']')?;
    let seconds = head.strip_suffix("secs")?.trim_end().rsplit([' ', ',']).next()?;
    seconds.parse::<f64>().ok()?;
    let time = &head[head.rfind(seconds)?..];
    Some(Pause { kind: kind.to_owned(), time, is_safepoint: false })
}

/// The pauses as a table.
pub(super) fn table(bytes: &[u8], place: &Place<'_>) -> Result<Shown, WorkloadError> {
    let text = text(bytes);
    let mut shown = Shown::new("pauses in a log of Java's garbage collector", &["pause", "kind"]);
    let only_safepoints = text.lines().filter_map(pause).all(|pause| pause.is_safepoint);
    if only_safepoints {
        shown.format = "safepoints in a log of Java";
    }
    let (mut names, mut without) = (Names::default(), 0);
    for (at, line) in text.lines().enumerate() {
        match pause(line).filter(|pause| pause.is_safepoint == only_safepoints) {
            Some(pause) => {
                names.see(&pause.kind);
                shown.rows.add(at + 1, &[pause.time, &pause.kind])?;
            }
            None => without += usize::from(!line.trim().is_empty()),
        }
    }
    if shown.rows.count == 0 {
        return Err(place.whole(
            "is a log of Java's garbage collector without a pause that has ended; run Java with `-Xlog:gc`, and to its end",
        ));
    }
    if (2..=256).contains(&names.names.len()) {
        shown.class = Some("kind".to_owned());
    }
    shown.notes.push(
        "a pause stops the whole program and whatever requests it is at: these times come on top of what requests take, and are none of \
         a request"
            .to_owned(),
    );
    shown.notes.extend(passed_over(without, "line", "without a pause"));
    Ok(shown)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_are_told_from_what_else_the_log_says() {
        let known = |line| pause(line).map(|pause| format!("{} {}", pause.kind, pause.time));
        for (line, expected) in [
            (
                "[1.042s][info][gc] GC(0) Pause Young (Normal) (G1 Evacuation Pause) 6M->3M(64M) 6.270ms",
                "Young 6.270ms",
            ),
            ("[0.4s][info][gc,phases   ] GC(0) Pause Mark Start 0.009ms", "Mark Start 0.009ms"),
            (
                "[1][info][safepoint] Safepoint \"Cleanup\", Time since last: 7 ns, At safepoint: 4 ns, Total: 46 ns",
                "Cleanup 46 ns",
            ),
            (
                "0.523: [GC (Allocation Failure) [PSYoungGen: 6K->1K(7K)] 6K->1K(2K), 0.0130000 secs] [Times: user=0.01 sys=0.00, real=0.01 secs]",
                "Young 0.0130000 secs",
            ),
            ("1.5: [Full GC (Ergonomics)  6K->1K(2K), 0.25 secs]", "Full 0.25 secs"),
        ] {
            assert_eq!(known(line).as_deref(), Some(expected), "{line}");
        }
        for other in [
            "[0.7s][info][gc,start    ] GC(0) Pause Young (Normal) (G1 Evacuation Pause)",
            "[0.7s][info][gc,phases   ] GC(0)   Other: 0.2ms",
            "[1.4s][info][gc] GC(6) Concurrent Mark Cycle 12.3ms",
            "[GC",
            "[GC secs]",
            "] GC(",
            "] Safepoint \"",
        ] {
            assert_eq!(known(other), None, "{other}");
        }
    }
}
