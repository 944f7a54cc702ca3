use std::collections::{HashMap, VecDeque};

const REPS: u32 = 22000000;

struct TokenBucket {
    capacity: f64,
    tokens: f64,
    rate: f64,
    last_ms: u64,
}

impl TokenBucket {
    fn new(capacity: f64, rate: f64) -> Self {
        TokenBucket { capacity, tokens: capacity, rate, last_ms: 0 }
    }

    fn allow(&mut self, now: u64, cost: f64) -> bool {
        let dt = now.saturating_sub(self.last_ms) as f64 / 1000.0;
        self.last_ms = now;
        self.tokens = (self.tokens + dt * self.rate).min(self.capacity);
        if self.tokens >= cost {
            self.tokens -= cost;
            true
        } else {
            false
        }
    }
}

struct SlidingWindow {
    window_ms: u64,
    limit: usize,
    hits: VecDeque<u64>,
}

impl SlidingWindow {
    fn allow(&mut self, now: u64) -> bool {
        while let Some(&t) = self.hits.front() {
            if t + self.window_ms <= now {
                self.hits.pop_front();
            } else {
                break;
            }
        }
        if self.hits.len() < self.limit {
            self.hits.push_back(now);
            true
        } else {
            false
        }
    }
}

enum Decision {
    Allowed,
    Throttled { retry_ms: u64 },
    Banned,
}

struct Client {
    bucket: TokenBucket,
    window: SlidingWindow,
    strikes: u32,
    banned_until: u64,
}

struct Limiter {
    clients: HashMap<u32, Client>,
}

impl Limiter {
    fn check(&mut self, ip: u32, now: u64, cost: f64) -> Decision {
        let c = self.clients.entry(ip).or_insert_with(|| Client {
            bucket: TokenBucket::new(10.0, 2.0),
            window: SlidingWindow { window_ms: 5000, limit: 12, hits: VecDeque::new() },
            strikes: 0,
            banned_until: 0,
        });
        if now < c.banned_until {
            return Decision::Banned;
        }
        if c.window.allow(now) && c.bucket.allow(now, cost) {
            c.strikes = c.strikes.saturating_sub(1);
            return Decision::Allowed;
        }
        c.strikes += 1;
        if c.strikes > 20 {
            c.strikes = 0;
            c.banned_until = now + 30_000;
            Decision::Banned
        } else {
            let missing = (cost - c.bucket.tokens).max(0.0);
            Decision::Throttled { retry_ms: (missing / c.bucket.rate * 1000.0) as u64 }
        }
    }
}

fn main() {
    let mut l = Limiter { clients: HashMap::new() };
    let mut s: u64 = 424242;
    let mut now: u64 = 0;
    let (mut ok, mut throttled, mut banned, mut wait) = (0u64, 0u64, 0u64, 0u64);
    for _ in 0..REPS {
        s ^= s << 13;
        s ^= s >> 7;
        s ^= s << 17;
        now += s & 3;
        let a = (s >> 8) as u32 % 260;
        let b = (s >> 40) as u32 % 260;
        let ip = 0x0a00_0000 + a.min(b);
        match l.check(ip, now, 1.0 + ((s >> 30) & 3) as f64 * 0.5) {
            Decision::Allowed => ok += 1,
            Decision::Throttled { retry_ms } => {
                throttled += 1;
                wait += retry_ms;
            }
            Decision::Banned => banned += 1,
        }
    }
    println!("token_bucket {} {} {} {} {}", ok, throttled, banned, wait, l.clients.len());
}
