//! A vocabulary that looks like written English to a stemmer, and is nobody's text: roots of random syllables with
//! English prefixes and suffixes.

use std::collections::HashSet;

use rand::RngExt;
use rand::seq::IndexedRandom;
use rand_distr::{Distribution, StandardNormal, Zipf};

use crate::random::{Purpose, Stream, stream};

const ONSETS: &[&str] = &[
    "b", "br", "c", "ch", "cl", "cr", "d", "dr", "f", "fl", "g", "gr", "h", "j", "l", "m", "n", "p", "pl",
    "pr", "qu", "r", "s", "sh", "st", "str", "t", "th", "tr", "v", "w", "",
];
const NUCLEI: &[&str] = &["a", "e", "i", "o", "u", "a", "e", "i", "o", "ai", "ea", "ee", "ou", "oa", "y"];
const CODAS: &[&str] = &[
    "", "", "", "b", "ck", "d", "f", "ft", "g", "l", "ll", "m", "n", "nd", "nt", "p", "r", "rn", "rt", "s",
    "st", "t", "x",
];
const PREFIXES: &[&str] =
    &["un", "re", "in", "dis", "over", "inter", "anti", "non", "pre", "sub", "counter", "trans", "micro"];
/// Suffixes that derive one word from another; several in a row are usual.
const DERIVATIONS: &[&str] = &[
    "al", "able", "ible", "er", "or", "ful", "ness", "less", "ly", "ment", "ion", "ation", "ize", "izer",
    "ive", "ous", "ity", "ist", "ism", "ic", "ical", "ance", "ence", "ant", "ent", "ate", "ator", "logy",
    "fulness", "ousness", "iveness", "ational", "tional", "ization", "iveli",
];
/// Suffixes that inflect; at most one, at the end.
const INFLECTIONS: &[&str] = &["s", "es", "ed", "ing", "'s", "ly", "edly", "ingly", "ies", "y"];

const ROOTS: usize = 4_000;
const VOCABULARY: usize = 30_000;

/// Words by rank: the first is the most frequent.
pub(crate) struct Vocabulary {
    words: Vec<String>,
    ranks: Zipf<f64>,
}

impl Vocabulary {
    pub(crate) fn new(seed: u64) -> Vocabulary {
        let mut random = stream(seed, Purpose::Vocabulary);
        let roots: Vec<String> = (0..ROOTS).map(|_| root(&mut random)).collect();
        let mut words: Vec<(f64, String)> = Vec::with_capacity(VOCABULARY);
        let mut known = HashSet::with_capacity(VOCABULARY);
        while words.len() < VOCABULARY {
            let word = derived(&roots, &mut random);
            if known.insert(word.clone()) {
                // Frequent words are short ones, on the whole (Zipf's law of abbreviation).
                let noise: f64 = StandardNormal.sample(&mut random);
                words.push((word.len() as f64 * (0.4 * noise).exp(), word));
            }
        }
        words.sort_by(|a, b| a.0.total_cmp(&b.0).then_with(|| a.1.cmp(&b.1)));
        let ranks = Zipf::new(VOCABULARY as f64, 1.0).expect("a vocabulary of words");
        Vocabulary { words: words.into_iter().map(|(_, word)| word).collect(), ranks }
    }

    /// A word as somebody may write it: some with a capital, few in capitals.
    pub(crate) fn draw(&self, random: &mut Stream) -> String {
        let rank = self.ranks.sample(random) as usize;
        let word = &self.words[rank - 1];
        match random.random_range(0..100) {
            0..10 => word[..1].to_uppercase() + &word[1..],
            10..12 => word.to_uppercase(),
            _ => word.clone(),
        }
    }
}

fn pick<'a>(from: &[&'a str], random: &mut Stream) -> &'a str {
    from.choose(random).expect("no list is empty")
}

/// One to three syllables, of two letters or more.
fn root(random: &mut Stream) -> String {
    let mut root = String::new();
    for _ in 0..[1, 1, 2, 2, 2, 3].choose(random).copied().unwrap_or(1) {
        root.push_str(pick(ONSETS, random));
        root.push_str(pick(NUCLEI, random));
        root.push_str(pick(CODAS, random));
    }
    if root.len() < 2 { root + "n" } else { root }
}

/// A root with what stands before and after it. As many bare roots as words with one derivation; every further one
/// halves the number.
fn derived(roots: &[String], random: &mut Stream) -> String {
    let a_root = |random: &mut Stream| roots.choose(random).expect("there are roots").clone();
    let mut word = String::new();
    if random.random_bool(0.15) {
        word.push_str(pick(PREFIXES, random));
    }
    word.push_str(&a_root(random));
    if random.random_bool(0.08) {
        word.push_str(&a_root(random));
    }
    while random.random_bool(0.5) && word.len() < 30 {
        append(&mut word, pick(DERIVATIONS, random));
    }
    if random.random_bool(0.4) {
        append(&mut word, pick(INFLECTIONS, random));
    }
    word
}

/// Appends a suffix as English spells it: a silent e falls before a vowel.
fn append(word: &mut String, suffix: &str) {
    if word.ends_with('e') && suffix.starts_with(['a', 'e', 'i', 'o']) {
        word.pop();
    }
    word.push_str(suffix);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_is_a_vocabulary() {
        let words = |seed| Vocabulary::new(seed).words;
        assert_eq!(words(7), words(7));
        assert_ne!(words(7), words(8));
    }

    #[test]
    fn frequent_words_are_short_and_none_is_twice() {
        let words = Vocabulary::new(1).words;
        let length =
            |words: &[String]| words.iter().map(String::len).sum::<usize>() as f64 / words.len() as f64;
        assert!(length(&words[..300]) * 2.0 < length(&words[VOCABULARY - 300..]));
        let distinct: HashSet<&String> = words.iter().collect();
        assert_eq!(distinct.len(), words.len());
    }

    #[test]
    fn ranks_follow_zipf() {
        let vocabulary = Vocabulary::new(1);
        let mut random = stream(1, Purpose::Words);
        let drawn = 50_000;
        let first =
            (0..drawn).filter(|_| vocabulary.draw(&mut random).to_lowercase() == vocabulary.words[0]).count();
        // 1/H(30,000) of all words is the most frequent one: 9.2 %.
        let share = first as f64 / f64::from(drawn);
        assert!((0.085..0.099).contains(&share), "{share}");
    }
}
