const REPS: u32 = 159;

const TOP: u64 = 0xffff_ffff;
const HALF: u64 = 0x8000_0000;
const QUARTER: u64 = 0x4000_0000;
const SYMBOLS: usize = 257;
const EOF: usize = 256;

struct Model {
    freq: [u32; SYMBOLS],
    total: u32,
}

impl Model {
    fn new() -> Self {
        Model { freq: [1; SYMBOLS], total: SYMBOLS as u32 }
    }

    fn range(&self, s: usize) -> (u32, u32) {
        let lo: u32 = self.freq[..s].iter().sum();
        (lo, lo + self.freq[s])
    }

    fn find(&self, v: u32) -> (usize, u32) {
        let mut lo = 0;
        for (i, &f) in self.freq.iter().enumerate() {
            if lo + f > v {
                return (i, lo);
            }
            lo += f;
        }
        (EOF, lo)
    }

    fn update(&mut self, s: usize) {
        self.freq[s] += 24;
        self.total += 24;
        if self.total > 60000 {
            self.total = 0;
            for f in self.freq.iter_mut() {
                *f = *f / 2 + 1;
                self.total += *f;
            }
        }
    }
}

#[derive(Default)]
struct BitWriter {
    out: Vec<u8>,
    cur: u8,
    n: u8,
}

impl BitWriter {
    fn put(&mut self, b: bool) {
        self.cur = self.cur << 1 | b as u8;
        self.n += 1;
        if self.n == 8 {
            self.out.push(self.cur);
            self.cur = 0;
            self.n = 0;
        }
    }

    fn put_pending(&mut self, b: bool, pending: &mut u32) {
        self.put(b);
        while *pending > 0 {
            self.put(!b);
            *pending -= 1;
        }
    }
}

struct BitReader<'a> {
    data: &'a [u8],
    pos: usize,
}

impl<'a> BitReader<'a> {
    fn get(&mut self) -> u64 {
        let bit = self.data.get(self.pos / 8).map_or(0, |b| b >> (7 - self.pos % 8) & 1);
        self.pos += 1;
        bit as u64
    }
}

fn encode(data: &[u8]) -> Vec<u8> {
    let mut m = Model::new();
    let mut w = BitWriter::default();
    let (mut lo, mut hi, mut pending) = (0u64, TOP, 0u32);
    for s in data.iter().map(|&b| b as usize).chain(std::iter::once(EOF)) {
        let (a, b) = m.range(s);
        let span = hi - lo + 1;
        hi = lo + span * b as u64 / m.total as u64 - 1;
        lo += span * a as u64 / m.total as u64;
        loop {
            if hi < HALF {
                w.put_pending(false, &mut pending);
            } else if lo >= HALF {
                w.put_pending(true, &mut pending);
                lo -= HALF;
                hi -= HALF;
            } else if lo >= QUARTER && hi < HALF + QUARTER {
                pending += 1;
                lo -= QUARTER;
                hi -= QUARTER;
            } else {
                break;
            }
            lo <<= 1;
            hi = hi << 1 | 1;
        }
        m.update(s);
    }
    pending += 1;
    w.put_pending(lo >= QUARTER, &mut pending);
    while w.n != 0 {
        w.put(false);
    }
    w.out
}

fn decode(data: &[u8]) -> Vec<u8> {
    let mut m = Model::new();
    let mut r = BitReader { data, pos: 0 };
    let mut out = Vec::new();
    let (mut lo, mut hi, mut code) = (0u64, TOP, 0u64);
    for _ in 0..32 {
        code = code << 1 | r.get();
    }
    loop {
        let span = hi - lo + 1;
        let v = ((code - lo + 1) * m.total as u64 - 1) / span;
        let (s, a) = m.find(v as u32);
        if s == EOF {
            return out;
        }
        out.push(s as u8);
        let b = a + m.freq[s];
        hi = lo + span * b as u64 / m.total as u64 - 1;
        lo += span * a as u64 / m.total as u64;
        loop {
            if hi < HALF {
            } else if lo >= HALF {
                lo -= HALF;
                hi -= HALF;
                code -= HALF;
            } else if lo >= QUARTER && hi < HALF + QUARTER {
                lo -= QUARTER;
                hi -= QUARTER;
                code -= QUARTER;
            } else {
                break;
            }
            lo <<= 1;
            hi = hi << 1 | 1;
            code = code << 1 | r.get();
        }
        m.update(s);
    }
}

fn main() {
    let mut x: u32 = 1_000_001;
    let mut sum: u64 = 0;
    for _ in 0..REPS {
        let data: Vec<u8> = (0..30000)
            .map(|_| {
                x = x.wrapping_mul(1664525).wrapping_add(1013904223);
                let a = (x >> 8) & 63;
                let b = (x >> 20) & 63;
                (40 + a.min(b)) as u8
            })
            .collect();
        let c = encode(&data);
        let d = decode(&c);
        assert!(d == data);
        sum = c.iter().fold(sum, |h, &b| h.wrapping_mul(131).wrapping_add(b as u64));
        sum = sum.wrapping_add(c.len() as u64);
    }
    println!("arith {}", sum);
}
