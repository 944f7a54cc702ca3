//! Counts the words of a generated text in a HashMap, indexes their lines in a BTreeMap, and writes a report into a
//! String.
//! Stands for everyday Rust: hashing with SipHash, nodes of a B-tree, strings that are split, owned, compared and
//! formatted.

use std::collections::hash_map::DefaultHasher;
use std::collections::{BTreeMap, HashMap};
use std::fmt::Write;
use std::hash::BuildHasherDefault;

/// The standard hash with fixed keys, so that every run does the same.
type Counts<'a> = HashMap<&'a str, u32, BuildHasherDefault<DefaultHasher>>;

/// splitmix64: one word of state, and any seed will do.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let x = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ (x >> 31)
    }

    fn below(&mut self, bound: u32) -> u32 {
        (((self.next() >> 32) * u64::from(bound)) >> 32) as u32
    }
}

/// `rounds`, or the first argument's percentage of them.
fn scaled_rounds(rounds: u64) -> u64 {
    let percent = std::env::args().nth(1).map_or(100, |argument| argument.parse().unwrap_or(100));
    rounds * percent / 100
}

fn vocabulary(random: &mut Random) -> Vec<String> {
    let mut word = |_| {
        let letters = 2 + random.below(9);
        (0..letters).map(|_| char::from(b'a' + random.below(26) as u8)).collect()
    };
    (0..2_500).map(&mut word).collect()
}

/// Words at the front of the vocabulary are more frequent, and every seventh is capitalised.
fn text(words: &[String], random: &mut Random) -> String {
    let mut text = String::new();
    for i in 0..10_000 {
        let reach = 1 + random.below(words.len() as u32);
        let word = &words[random.below(reach) as usize];
        if random.below(7) == 0 {
            text.push_str(&word[..1].to_uppercase());
            text.push_str(&word[1..]);
        } else {
            text.push_str(word);
        }
        text.push_str(if i % 11 == 10 { ".\n" } else { " " });
    }
    text
}

fn count(text: &str) -> Counts<'_> {
    let mut counts = Counts::default();
    for word in text.split_whitespace() {
        *counts.entry(word.trim_end_matches('.')).or_insert(0) += 1;
    }
    counts
}

/// The lines of each word, whatever its case.
fn index(text: &str) -> BTreeMap<String, Vec<u32>> {
    let mut index: BTreeMap<String, Vec<u32>> = BTreeMap::new();
    for (number, line) in (1..).zip(text.lines()) {
        for word in line.trim_end_matches('.').split(' ') {
            let lines = index.entry(word.to_lowercase()).or_default();
            if lines.last() != Some(&number) {
                lines.push(number);
            }
        }
    }
    index
}

fn report(text: &str) -> Result<String, std::fmt::Error> {
    let counts = count(text);
    let mut report = String::new();
    for (word, lines) in index(text).range("c".to_owned().."t".to_owned()) {
        let count = counts.get(word.as_str()).copied().unwrap_or(0);
        if count > 3 {
            writeln!(report, "{word:>12} {count:5} times, lines {} to {}", lines[0], lines[lines.len() - 1])?;
        }
    }
    Ok(report)
}

fn main() -> Result<(), std::fmt::Error> {
    let mut random = Random(51);
    let words = vocabulary(&mut random);
    let mut text = text(&words, &mut random);

    let mut checksum = 0;
    for _ in 0..scaled_rounds(300) {
        let report = report(&text)?;
        checksum = report
            .bytes()
            .fold(checksum, |sum: u64, byte| sum.wrapping_mul(31).wrapping_add(u64::from(byte)));
        text.push_str(&words[random.below(2_500) as usize]);
        text.push('\n');
    }
    println!("{checksum:016x}");
    Ok(())
}
