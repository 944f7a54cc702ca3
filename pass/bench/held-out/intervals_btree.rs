use std::collections::{BTreeMap, BTreeSet};

const REPS: u32 = 143;

struct Lcg(u32);

impl Lcg {
    fn next(&mut self, n: u32) -> u32 {
        self.0 = self.0.wrapping_mul(1664525).wrapping_add(1013904223);
        (self.0 >> 8) % n
    }
}

#[derive(Default)]
struct IntervalSet {
    map: BTreeMap<u32, u32>,
}

impl IntervalSet {
    fn insert(&mut self, mut lo: u32, mut hi: u32) {
        if let Some((&s, &e)) = self.map.range(..=lo).next_back() {
            if e >= lo {
                lo = s;
                hi = hi.max(e);
            }
        }
        let absorbed: Vec<u32> = self.map.range(lo..=hi).map(|(&s, _)| s).collect();
        for s in absorbed {
            if let Some(e) = self.map.remove(&s) {
                hi = hi.max(e);
            }
        }
        self.map.insert(lo, hi);
    }

    fn contains(&self, p: u32) -> bool {
        self.map.range(..=p).next_back().map_or(false, |(_, &e)| p < e)
    }

    fn covered(&self) -> u64 {
        self.map.iter().map(|(&s, &e)| (e - s) as u64).sum()
    }
}

fn merge_sorted(mut v: Vec<(u32, u32)>) -> Vec<(u32, u32)> {
    v.sort();
    let mut out: Vec<(u32, u32)> = Vec::new();
    for (s, e) in v {
        match out.last_mut() {
            Some(last) if s <= last.1 => last.1 = last.1.max(e),
            _ => out.push((s, e)),
        }
    }
    out
}

fn main() {
    let mut rng = Lcg(321);
    let mut sum: u64 = 0;
    for _ in 0..REPS {
        let mut set = IntervalSet::default();
        let mut raw = Vec::new();
        for _ in 0..10000 {
            let lo = rng.next(1_000_000);
            let hi = lo + 1 + rng.next(60);
            set.insert(lo, hi);
            raw.push((lo, hi));
        }
        let merged = merge_sorted(raw);
        let total: u64 = merged.iter().map(|&(s, e)| (e - s) as u64).sum();
        assert_eq!(total, set.covered());
        sum = sum.wrapping_mul(31).wrapping_add(total + merged.len() as u64);
        for _ in 0..20000 {
            if set.contains(rng.next(1_000_000)) {
                sum += 1;
            }
        }
        let mut book: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for i in 0..10000u32 {
            let price = 900 + rng.next(200);
            if rng.next(3) == 0 {
                if let Some((&p, q)) = book.iter_mut().next() {
                    sum = sum.wrapping_add(q.pop().unwrap_or(0) as u64 * p as u64);
                    if q.is_empty() {
                        book.remove(&p);
                    }
                }
            } else {
                book.entry(price).or_default().push(i);
            }
        }
        let ids: BTreeSet<u32> = book.values().flatten().copied().collect();
        sum = sum.wrapping_add(ids.iter().step_by(7).map(|&x| x as u64).sum::<u64>());
    }
    println!("intervals_btree {}", sum);
}
