const REPS: u32 = 524;

struct UnionFind {
    parent: Vec<usize>,
    rank: Vec<u8>,
    sets: usize,
}

impl UnionFind {
    fn new(n: usize) -> Self {
        UnionFind { parent: (0..n).collect(), rank: vec![0; n], sets: n }
    }

    fn find(&mut self, x: usize) -> usize {
        let mut root = x;
        while self.parent[root] != root {
            root = self.parent[root];
        }
        let mut x = x;
        while self.parent[x] != root {
            let next = self.parent[x];
            self.parent[x] = root;
            x = next;
        }
        root
    }

    fn union(&mut self, a: usize, b: usize) -> bool {
        let (a, b) = (self.find(a), self.find(b));
        if a == b {
            return false;
        }
        if self.rank[a] < self.rank[b] {
            self.parent[a] = b;
        } else {
            self.parent[b] = a;
            if self.rank[a] == self.rank[b] {
                self.rank[a] += 1;
            }
        }
        self.sets -= 1;
        true
    }
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Edge {
    w: u32,
    a: u32,
    b: u32,
}

fn kruskal(n: usize, edges: &mut [Edge]) -> (u64, usize) {
    edges.sort_unstable();
    let mut uf = UnionFind::new(n);
    let mut total = 0u64;
    for e in edges.iter() {
        if uf.union(e.a as usize, e.b as usize) {
            total += e.w as u64;
        }
    }
    (total, uf.sets)
}

fn percolation(n: usize, seed: &mut u64) -> usize {
    let mut open = vec![false; n * n];
    let mut uf = UnionFind::new(n * n + 2);
    let (top, bottom) = (n * n, n * n + 1);
    let mut opened = 0;
    loop {
        *seed ^= *seed << 13;
        *seed ^= *seed >> 7;
        *seed ^= *seed << 17;
        let c = (*seed % (n * n) as u64) as usize;
        if open[c] {
            continue;
        }
        open[c] = true;
        opened += 1;
        let (y, x) = (c / n, c % n);
        if y == 0 {
            uf.union(c, top);
        } else if open[c - n] {
            uf.union(c, c - n);
        }
        if y == n - 1 {
            uf.union(c, bottom);
        } else if open[c + n] {
            uf.union(c, c + n);
        }
        if x > 0 && open[c - 1] {
            uf.union(c, c - 1);
        }
        if x + 1 < n && open[c + 1] {
            uf.union(c, c + 1);
        }
        if uf.find(top) == uf.find(bottom) {
            return opened;
        }
    }
}

fn main() {
    let mut seed = 0xdeadbeef_u64;
    let mut sum = 0u64;
    for _ in 0..REPS {
        let n = 5000;
        let mut edges: Vec<Edge> = (0..n * 4)
            .map(|_| {
                seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                Edge { w: (seed >> 50) as u32, a: (seed >> 20) as u32 % n as u32, b: (seed >> 33) as u32 % n as u32 }
            })
            .collect();
        let (t, sets) = kruskal(n, &mut edges);
        sum = sum.wrapping_mul(31).wrapping_add(t + sets as u64);
        sum = sum.wrapping_add(percolation(80, &mut seed) as u64);
    }
    println!("unionfind {}", sum);
}
