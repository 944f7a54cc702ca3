use std::collections::{HashMap, HashSet};

const REPS: u32 = 110;

struct Rng(u64);

impl Rng {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }
}

fn make_text(rng: &mut Rng, words: usize) -> String {
    let stems = ["run", "jump", "blue", "stone", "river", "cloud", "light", "ember", "quiet", "north"];
    let suffixes = ["", "s", "ing", "ed", "er", "ly"];
    let mut t = String::new();
    for _ in 0..words {
        let a = stems[(rng.next() % 10) as usize];
        let b = stems[(rng.next() % 10) as usize];
        if rng.next() % 3 == 0 {
            t.push_str(a);
        }
        t.push_str(b);
        t.push_str(suffixes[(rng.next() % 6) as usize]);
        t.push(if rng.next() % 12 == 0 { '\n' } else { ' ' });
    }
    t
}

fn main() {
    let mut rng = Rng(0x1234_5678_9abc);
    let mut sum: u64 = 0;
    for _ in 0..REPS {
        let text = make_text(&mut rng, 10000);
        let mut counts: HashMap<&str, u32> = HashMap::new();
        for w in text.split_whitespace() {
            *counts.entry(w).or_insert(0) += 1;
        }
        let mut top: Vec<(&str, u32)> = counts.iter().map(|(k, v)| (*k, *v)).collect();
        top.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
        for (w, n) in top.iter().take(50) {
            sum = sum.wrapping_mul(31).wrapping_add(*n as u64 + w.len() as u64);
        }
        let mut pairs: HashMap<(String, String), usize> = HashMap::new();
        for line in text.lines() {
            let ws: Vec<&str> = line.split(' ').filter(|w| !w.is_empty()).collect();
            for p in ws.windows(2) {
                *pairs.entry((p[0].to_string(), p[1].to_string())).or_default() += 1;
            }
        }
        sum = sum.wrapping_add(pairs.values().filter(|&&n| n > 1).count() as u64);
        let uniq: HashSet<char> = text.chars().collect();
        sum = sum.wrapping_add(uniq.len() as u64 * 7);
        let mut anagrams: HashMap<Vec<u8>, Vec<&str>> = HashMap::new();
        for w in counts.keys() {
            let mut k = w.as_bytes().to_vec();
            k.sort_unstable();
            anagrams.entry(k).or_default().push(w);
        }
        sum = sum.wrapping_mul(3).wrapping_add(anagrams.len() as u64);
    }
    println!("word_hashmap {}", sum);
}
