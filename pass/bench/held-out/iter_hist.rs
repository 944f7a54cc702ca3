const REPS: u32 = 378;

fn rng_stream(seed: u64) -> impl Iterator<Item = u64> {
    let mut s = seed;
    std::iter::from_fn(move || {
        s ^= s >> 12;
        s ^= s << 25;
        s ^= s >> 27;
        Some(s.wrapping_mul(0x2545_F491_4F6C_DD1D))
    })
}

fn histogram(data: &[u32], buckets: usize, max: u32) -> Vec<u64> {
    let mut h = vec![0u64; buckets];
    for &d in data {
        let b = (d as u64 * buckets as u64 / max as u64) as usize;
        h[b.min(buckets - 1)] += 1;
    }
    h
}

fn prefix_sums(v: &[u64]) -> Vec<u64> {
    v.iter()
        .scan(0u64, |acc, &x| {
            *acc += x;
            Some(*acc)
        })
        .collect()
}

fn percentile(cdf: &[u64], p: u64) -> usize {
    let target = cdf.last().copied().unwrap_or(0) * p / 100;
    cdf.partition_point(|&c| c < target)
}

fn equalize(data: &[u32], cdf: &[u64], max: u32) -> Vec<u32> {
    let total = *cdf.last().unwrap();
    data.iter()
        .map(|&d| {
            let b = (d as u64 * cdf.len() as u64 / max as u64) as usize;
            (cdf[b.min(cdf.len() - 1)] * (max as u64 - 1) / total) as u32
        })
        .collect()
}

fn monte_carlo_pi(seed: u64, n: usize) -> f64 {
    let mut it = rng_stream(seed).map(|v| (v >> 11) as f64 / (1u64 << 53) as f64);
    let inside = (0..n)
        .filter(|_| {
            let x = it.next().unwrap();
            let y = it.next().unwrap();
            x * x + y * y <= 1.0
        })
        .count();
    4.0 * inside as f64 / n as f64
}

fn main() {
    let mut sum: u64 = 0;
    let mut pi = 0.0;
    for r in 0..REPS {
        let data: Vec<u32> = rng_stream(r as u64 + 1)
            .map(|v| ((v >> 40) as u32 % 5000).min((v >> 20) as u32 % 5000))
            .take(100_000)
            .collect();
        let h = histogram(&data, 256, 5000);
        let cdf = prefix_sums(&h);
        for p in [1, 25, 50, 75, 99] {
            sum = sum.wrapping_mul(31).wrapping_add(percentile(&cdf, p) as u64);
        }
        let eq = equalize(&data, &cdf, 5000);
        let odd: u64 = eq.iter().filter(|&&x| x & 1 == 1).map(|&x| x as u64).sum();
        let rises = eq.windows(2).filter(|w| w[1] > w[0]).count();
        let peak = eq.chunks(64).map(|c| c.iter().sum::<u32>()).max().unwrap_or(0);
        let dot: u64 = data.iter().zip(eq.iter().rev()).map(|(&a, &b)| a as u64 * b as u64).sum();
        sum = sum.wrapping_add(odd + rises as u64 + peak as u64).wrapping_mul(7) ^ dot;
        let runs = data.iter().skip_while(|&&x| x > 10).enumerate().filter(|(i, &x)| *i as u32 % 16 == x % 16).count();
        sum = sum.wrapping_add(runs as u64);
        pi += monte_carlo_pi(r as u64 + 99, 100_000);
    }
    println!("iter_hist {} {:.6}", sum, pi / REPS as f64);
}
