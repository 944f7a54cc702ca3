const REPS: u32 = 1300;

struct Rng(u64);

impl Rng {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        self.0 >> 33
    }
    fn unit(&mut self) -> f64 {
        self.next() as f64 / (1u64 << 31) as f64
    }
}

struct Csr {
    n: usize,
    row: Vec<usize>,
    col: Vec<usize>,
    val: Vec<f64>,
}

impl Csr {
    fn from_triples(n: usize, mut t: Vec<(usize, usize, f64)>) -> Csr {
        t.sort_by_key(|&(i, j, _)| (i, j));
        let mut m = Csr { n, row: vec![0; n + 1], col: Vec::new(), val: Vec::new() };
        for (i, j, v) in t {
            m.row[i + 1] += 1;
            m.col.push(j);
            m.val.push(v);
        }
        for i in 0..n {
            m.row[i + 1] += m.row[i];
        }
        m
    }

    fn mul(&self, x: &[f64], y: &mut [f64]) {
        for i in 0..self.n {
            let mut s = 0.0;
            for k in self.row[i]..self.row[i + 1] {
                s += self.val[k] * x[self.col[k]];
            }
            y[i] = s;
        }
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

fn conjugate_gradient(a: &Csr, b: &[f64], iters: usize) -> (Vec<f64>, f64) {
    let mut x = vec![0.0; a.n];
    let mut r = b.to_vec();
    let mut p = r.clone();
    let mut ap = vec![0.0; a.n];
    let mut rs = dot(&r, &r);
    for _ in 0..iters {
        if rs < 1e-18 {
            break;
        }
        a.mul(&p, &mut ap);
        let alpha = rs / dot(&p, &ap);
        for i in 0..a.n {
            x[i] += alpha * p[i];
            r[i] -= alpha * ap[i];
        }
        let next = dot(&r, &r);
        let beta = next / rs;
        for i in 0..a.n {
            p[i] = r[i] + beta * p[i];
        }
        rs = next;
    }
    (x, rs)
}

fn knn(points: &[[f64; 3]], q: &[f64; 3], k: usize) -> Vec<usize> {
    let mut best: Vec<(f64, usize)> = Vec::with_capacity(k + 1);
    for (i, p) in points.iter().enumerate() {
        let d: f64 = p.iter().zip(q).map(|(a, b)| (a - b) * (a - b)).sum();
        if best.len() < k || d < best[best.len() - 1].0 {
            let pos = best.iter().position(|&(bd, _)| d < bd).unwrap_or(best.len());
            best.insert(pos, (d, i));
            best.truncate(k);
        }
    }
    best.into_iter().map(|(_, i)| i).collect()
}

fn main() {
    let mut rng = Rng(1);
    let n = 2000;
    let mut t = Vec::new();
    for i in 0..n {
        t.push((i, i, 10.0));
        for _ in 0..4 {
            let j = rng.next() as usize % n;
            if j != i {
                let v = rng.unit() - 0.5;
                t.push((i, j, v));
                t.push((j, i, v));
            }
        }
    }
    let a = Csr::from_triples(n, t);
    let points: Vec<[f64; 3]> = (0..3000).map(|_| [rng.unit(), rng.unit(), rng.unit()]).collect();
    let mut sum = 0.0;
    let mut idx: u64 = 0;
    for _ in 0..REPS {
        let b: Vec<f64> = (0..n).map(|_| rng.unit()).collect();
        let (x, rs) = conjugate_gradient(&a, &b, 15);
        sum += x.iter().sum::<f64>() + rs;
        for _ in 0..20 {
            let q = [rng.unit(), rng.unit(), rng.unit()];
            for i in knn(&points, &q, 5) {
                idx = idx.wrapping_mul(31).wrapping_add(i as u64);
            }
        }
    }
    println!("spmv {:.6} {}", sum, idx);
}
