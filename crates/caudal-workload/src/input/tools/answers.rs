//! Answers from a network, each with its time: the output of `dnsperf -v`, and mtr's raw output (`mtr --raw`). The table of tools in `mod.rs` asks
//! the functions `holds_…` for each text of unknown format, and calls the reader of the tool whose output it is. Pure.

use std::collections::HashMap;

use super::{Names, Shown, passed_over};
use crate::error::WorkloadError;
use crate::input::{Place, text};

/// The words of a line `> NOERROR www.example.com A 0.000892`: the code of the answer, the name and the type that were asked for, and the time in
/// seconds.
fn answer(line: &str) -> Option<[&str; 4]> {
    let words: Vec<&str> = line.trim().strip_prefix("> ")?.split_whitespace().collect();
    let [code, name, .., seconds] = words[..] else { return None };
    let kind = if words.len() > 3 { words[2] } else { "" };
    let is_time = seconds.split_once('.').is_some_and(|(_, decimals)| decimals.len() == 6)
        && seconds.parse::<f64>().is_ok();
    let is_code = code.chars().all(|letter| letter.is_ascii_uppercase() || letter.is_ascii_digit());
    (is_time && is_code).then_some([seconds, code, kind, name])
}

/// Is this what `dnsperf -v` prints?
pub(super) fn holds_dnsperf(lines: &[&str]) -> bool {
    let answers = lines.iter().filter(|line| answer(line).is_some()).count();
    answers >= 2
        && (3 * answers >= 2 * lines.len()
            || lines.iter().any(|line| line.starts_with("DNS Performance Testing Tool")))
}

/// The times of the answers in dnsperf's output.
pub(super) fn of_dnsperf(bytes: &[u8], _: &Place<'_>) -> Result<Shown, WorkloadError> {
    let mut shown = Shown::new("answers to dnsperf", &["latency_s", "code", "type", "name"]);
    let mut lost = 0;
    for (at, line) in text(bytes).lines().enumerate() {
        match answer(line) {
            Some(fields) => shown.rows.add(at + 1, &fields)?,
            None => lost += usize::from(line.starts_with("> T ")),
        }
    }
    if lost > 0 {
        shown.notes.push(format!(
            "{lost} of the queries had no answer in time, and are missing here: they took longest"
        ));
    }
    Ok(shown)
}

/// The numbers of a line `p 0 54 33019`: the distance of the host in hops, its time in us, and perhaps the number of the packet.
fn packet(line: &str) -> Option<(&str, &str)> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let ["p", hop, us, ref number @ ..] = words[..] else { return None };
    let whole = |word: &&str| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit());
    (number.len() <= 1 && [hop, us].iter().chain(number).all(whole)).then_some((hop, us))
}

/// Is this mtr's raw output?
pub(super) fn holds_mtr(lines: &[&str]) -> bool {
    let is_of = |line: &&str| {
        let mut words = line.split_whitespace();
        words.next().is_some_and(|word| ["p", "h", "d", "x", "m", "t"].contains(&word))
            && words.next().is_some_and(|word| word.parse::<u32>().is_ok())
    };
    lines.iter().filter(|line| packet(line).is_some()).count() >= 2 && lines.iter().all(is_of)
}

/// The times of the answers in mtr's output.
pub(super) fn of_mtr(bytes: &[u8], _: &Place<'_>) -> Result<Shown, WorkloadError> {
    let text = text(bytes);
    let mut shown = Shown::new("answers to mtr", &["rtt_us", "hop", "host"]);
    let mut hosts: HashMap<&str, &str> = HashMap::new();
    let (mut names, mut sent, mut last) = (Names::default(), 0, 0);
    for (at, line) in text.lines().enumerate() {
        if let Some((hop, host)) = line.strip_prefix("h ").and_then(|rest| rest.split_once(' ')) {
            hosts.insert(hop, host);
        }
        sent += usize::from(line.starts_with("x "));
        let Some((hop, us)) = packet(line) else { continue };
        names.see(hop);
        last = last.max(hop.parse().unwrap_or(0));
        shown.rows.add(at + 1, &[us, hop, hosts.get(hop).copied().unwrap_or_default()])?;
    }
    if (2..=256).contains(&names.names.len()) {
        shown.class = Some("hop".to_owned());
        shown.notes.push(format!("each hop on the way is a class; `--where hop={last}` takes the last one alone, the host that was asked"));
    }
    let lost = sent.saturating_sub(shown.rows.count);
    shown.notes.extend(passed_over(lost, "packet", "without an answer"));
    Ok(shown)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_have_their_places() {
        assert_eq!(answer("> NOERROR a.example A 0.000892"), Some(["0.000892", "NOERROR", "A", "a.example"]));
        assert_eq!(answer("> SERVFAIL a.example 0.000892"), Some(["0.000892", "SERVFAIL", "", "a.example"]));
        for other in ["> T a.example A", "NOERROR a A 0.000892", "> a b 3", "> NOERROR 0.000892", ">"] {
            assert_eq!(answer(other), None, "{other}");
        }
        assert_eq!(packet("p 0 54 33019"), Some(("0", "54")));
        assert_eq!(packet("p 1 54"), Some(("1", "54")));
        for other in ["x 0 33019", "p a 5", "p 1", "p 1 2 3 4", "p"] {
            assert_eq!(packet(other), None, "{other}");
        }
    }
}
