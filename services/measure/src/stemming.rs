//! Word stemming: a request is `stem WORD WORD …`, a text; the reply has the stem of each of its words.
//!
//! The Q-Zilla paper explains the disparity of its service by the paths through the algorithm "for different words". A single
//! word takes a third of a microsecond here, though, and the paper's requests tens of microseconds, so a request is a text of many
//! words. A text averages over its words' paths: nearly all the spread of the times is that of the **lengths of the texts**.
//!
//! Those are ours: log-normal, as the lengths of documents are found to be (Serrano, Flammini and Menczer, Modeling
//! statistical properties of written text, PLoS ONE 2009, of Wikipedia among others) and those of messages (Szell, Grauwin and
//! Ratti, Contraction of online response to major events, PLoS ONE 2014), with a median of 80 words and a standard
//! deviation of 1 of the logarithm. Two texts of three have 30 to 217 words: two sentences to a long paragraph.
//!
//! The algorithm is Snowball's English stemmer, the successor of Porter's by Porter himself. The paper's stemmer,
//! Oleander's, is a port of Snowball too.

use anyhow::{Context, Result, ensure};
use rand_distr::{Distribution, LogNormal};
use snowball_stemmers_rs::{Algorithm, Stemmer};

use crate::random::{Purpose, stream};
use crate::service::{Requests, Served, Service};
use crate::units::Units;
use crate::words::Vocabulary;

/// Words of half the texts, at most.
const MEDIAN_WORDS: f64 = 80.0;
/// Standard deviation of the logarithm of the number of words.
const SPREAD: f64 = 1.0;
/// Longer texts, one of 1,600, are cut here, as a service would have its limit.
const MOST_WORDS: f64 = 2_000.0;
/// The clock is read after so many: a microsecond, of which the reading is a thirtieth.
const WORDS_A_UNIT: usize = 4;

pub(crate) struct Stemming {
    stemmer: Stemmer,
    units: Units,
}

impl Stemming {
    pub(crate) fn new() -> Stemming {
        Stemming { stemmer: Stemmer::create(Algorithm::English), units: Units::new() }
    }
}

impl Service for Stemming {
    const CLASSES: &'static [&'static str] = &[];

    fn reset(&mut self) -> Result<()> {
        Ok(())
    }

    fn serve(&mut self, request: &[u8], reply: &mut Vec<u8>) -> Result<Served> {
        let (mut words_of_unit, mut bytes_of_unit) = (0, 0);
        // Each word is looked at when its turn comes: a look at all of them beforehand would be a unit that grows with the text.
        for word in words_of(request).context("not a request for stems")? {
            let word = std::str::from_utf8(word)?;
            ensure!(!word.is_empty() && !word.contains(char::is_whitespace), "not a word: {word:?}");
            if !reply.is_empty() {
                reply.push(b' ');
            }
            reply.extend_from_slice(self.stemmer.stem(&word.to_lowercase()).as_bytes());
            (words_of_unit, bytes_of_unit) = (words_of_unit + 1, bytes_of_unit + word.len() + 1);
            if words_of_unit == WORDS_A_UNIT {
                self.units.mark(bytes_of_unit);
                (words_of_unit, bytes_of_unit) = (0, 0);
            }
        }
        reply.extend_from_slice(b"\r\n");
        if words_of_unit > 0 {
            self.units.mark(bytes_of_unit);
        }
        Ok(Served::default())
    }

    fn settle(&mut self, _request: &[u8], _reply: &[u8]) -> Result<()> {
        Ok(())
    }

    fn units(&mut self) -> Option<&mut Units> {
        Some(&mut self.units)
    }

    fn items(request: &[u8]) -> usize {
        words_of(request).map_or(0, Iterator::count)
    }
}

/// The words of a request, with a blank between two.
fn words_of(request: &[u8]) -> Option<impl Iterator<Item = &[u8]>> {
    Some(request.strip_prefix(b"stem ")?.strip_suffix(b"\r\n")?.split(|&byte| byte == b' '))
}

/// `count` texts of words of the vocabulary, the frequent ones more often.
pub(crate) fn requests(seed: u64, count: usize) -> Requests {
    let vocabulary = Vocabulary::new(seed);
    let mut random = stream(seed, Purpose::Words);
    let mut random_lengths = stream(seed, Purpose::Lengths);
    let lengths = LogNormal::new(MEDIAN_WORDS.ln(), SPREAD).expect("a finite spread");
    let mut requests = Requests::default();
    for _ in 0..count {
        let words = lengths.sample(&mut random_lengths).round().clamp(1.0, MOST_WORDS) as usize;
        let words: Vec<String> = (0..words).map(|_| vocabulary.draw(&mut random)).collect();
        requests.push(format!("stem {}\r\n", words.join(" ")).as_bytes());
    }
    requests
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    fn stem(request: &[u8]) -> Result<String> {
        let mut reply = Vec::new();
        Stemming::new().serve(request, &mut reply)?;
        Ok(String::from_utf8(reply)?)
    }

    fn words(requests: &Requests) -> impl Iterator<Item = &str> {
        requests.all().filter_map(words_of).flatten().map(|word| std::str::from_utf8(word).expect("a word"))
    }

    #[test]
    fn stems_are_those_of_the_algorithm() {
        for (word, expected) in
            [("relational", "relat"), ("Hopefulness", "hope"), ("SKIES", "sky"), ("at", "at")]
        {
            assert_eq!(stem(format!("stem {word}\r\n").as_bytes()).unwrap(), format!("{expected}\r\n"));
        }
    }

    #[test]
    fn a_text_has_the_stem_of_each_word_in_its_order() {
        let text = "Hopefulness of the relational skies at hopefulness";
        let expected = "hope of the relat sky at hope\r\n";
        assert_eq!(stem(format!("stem {text}\r\n").as_bytes()).unwrap(), expected);
    }

    #[test]
    fn texts_have_log_normal_lengths() {
        let requests = requests(1, 4_000);
        let mut words: Vec<usize> = requests.all().map(Stemming::items).collect();
        words.sort_unstable();
        // Standard errors: 2 % of the median, 3 % of the spread.
        assert!((74..=86).contains(&words[2_000]), "{}", words[2_000]);
        let spread = (words[3_365] as f64 / words[635] as f64).ln() / 2.0;
        assert!((0.93..1.07).contains(&spread), "{spread}");
        assert!(words[0] >= 1 && words[3_999] <= 2_000);
    }

    #[test]
    fn the_clock_is_read_within_a_text() {
        let mut stemming = Stemming::new();
        for (text, units) in [("one", 1), ("one two three four", 1), ("one two three four five", 2)] {
            stemming.serve(format!("stem {text}\r\n").as_bytes(), &mut Vec::new()).unwrap();
            assert_eq!(stemming.units.marked(), units, "{text}");
            stemming.units.learn();
        }
    }

    #[test]
    fn what_is_no_request_is_refused() {
        for request in
            ["stem word", "stern word\r\n", "stem \r\n", "stem two  words\r\n", "stem a\tb\r\n", ""]
        {
            assert!(stem(request.as_bytes()).is_err(), "{request:?}");
        }
        assert!(stem(b"stem \xff\r\n").is_err());
    }

    #[test]
    fn inflections_of_a_generated_word_have_its_stem() {
        let requests = requests(1, 20);
        let mut inflected = 0;
        for word in words(&requests) {
            // Two rules of step 1 that hold for whatever stands before: -sses becomes -ss, 's falls.
            if word.ends_with("ness") {
                inflected += 1;
                for suffix in ["es", "'s"] {
                    assert_eq!(
                        stem(format!("stem {word}{suffix}\r\n").as_bytes()).unwrap(),
                        stem(format!("stem {word}\r\n").as_bytes()).unwrap()
                    );
                }
            }
        }
        assert!(inflected > 5, "{inflected} words of 20 texts end in -ness");
    }

    /// Worked out by the algorithm's published rules.
    #[test]
    fn generated_words_have_the_stems_that_the_rules_give() {
        let requests = requests(1, 400);
        let words: HashSet<&str> = words(&requests).collect();
        let known = [
            ("ponds", "pond"),                // 1a: -s falls
            ("raged", "rage"),                // 1b: -ed falls, the short word gets its e back
            ("vuring", "vure"),               // likewise
            ("mairningly", "mairn"),          // 1b: -ingly falls
            ("Pandfufty", "pandfufti"),       // 1c: y after a consonant becomes i
            ("disfamtroa's", "disfamtroa"),   // 0: 's falls
            ("fifiveness's", "fifiv"),        // 0, then 2: -iveness becomes -ive, then 5: e in R2 falls
            ("gatizionity", "gatizion"),      // 4: -ity in R2 falls
            ("visbrellioned", "visbrellion"), // 1b
            ("LUS", "lus"),                   // 1a: no vowel before the u
        ];
        for (word, expected) in known {
            assert!(words.contains(word), "{word} is no longer generated");
            assert_eq!(stem(format!("stem {word}\r\n").as_bytes()).unwrap(), format!("{expected}\r\n"));
        }
    }

    #[test]
    fn a_seed_is_a_list_of_requests() {
        assert_eq!(requests(3, 500), requests(3, 500));
        assert_ne!(requests(3, 500), requests(4, 500));
    }
}
