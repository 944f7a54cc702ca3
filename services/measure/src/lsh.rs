//! Locality-sensitive hashing of unit vectors: an index of a few tables. In each table a vector has a key, and each bit of the key says on which
//! side of a random hyperplane the vector lies (Charikar, STOC 2002). Two vectors at angle a share a bit of their key
//! with probability 1 - a/pi. The service `nearest` builds an index once for each run, and asks it once for each request.
//!
//! ```text
//!   table t:  begins  [ 0 | 0 | 3 | 7 | … ]     one more than there are keys
//!             members [ 12 871 4 | 9 55 2 1 | … ]   ids, by key: those of key 1 are members[begins[1]..begins[2]]
//! ```

use rand_distr::{Distribution, StandardNormal};

use crate::random::Stream;

/// Dimensions of all vectors.
pub(crate) const DIMENSIONS: usize = 64;

pub(crate) type Vector = [f32; DIMENSIONS];

/// A neighbour and the square of its distance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Neighbour {
    pub(crate) id: u32,
    pub(crate) distance: f32,
}

struct Table {
    begins: Vec<u32>,
    members: Vec<u32>,
}

/// See the [module](self).
pub(crate) struct Index {
    vectors: Vec<Vector>,
    /// The planes' coordinates, by dimension, so that one pass over a vector goes through all planes.
    planes: Vec<Vec<f32>>,
    bits: usize,
    tables: Vec<Table>,
    /// For each vector, by its id, the last query that compared it.
    met: Vec<u32>,
    query: u32,
    /// The side of each plane on which the current query lies.
    sides: Vec<f32>,
}

impl Index {
    /// Indexes `vectors` by `tables` keys of `bits` bits.
    pub(crate) fn new(vectors: Vec<Vector>, tables: usize, bits: usize, random: &mut Stream) -> Index {
        assert!(bits <= 24 && vectors.len() < u32::MAX as usize, "keys and ids are of 32 bits");
        let mut normals = StandardNormal.sample_iter(random);
        let planes = (0..DIMENSIONS)
            .map(|_| normals.by_ref().take(tables * bits).collect())
            .collect::<Vec<Vec<f32>>>();
        let mut sides = vec![0.0; tables * bits];
        let mut keys = vec![Vec::with_capacity(vectors.len()); tables];
        for vector in &vectors {
            find_sides(&planes, vector, &mut sides);
            for (keys, sides) in keys.iter_mut().zip(sides.chunks_exact(bits)) {
                keys.push(key(sides));
            }
        }
        let tables = keys.iter().map(|keys| table(keys, bits)).collect();
        Index { met: vec![0; vectors.len()], vectors, planes, bits, tables, query: 0, sides }
    }

    /// The nearest of the vectors that share a key with `query`, at most as many as `best` has capacity for.
    pub(crate) fn nearest(&mut self, query: &Vector, best: &mut Nearest) {
        self.query += 1;
        find_sides(&self.planes, query, &mut self.sides);
        for (table, sides) in self.tables.iter().zip(self.sides.chunks_exact(self.bits)) {
            let key = key(sides) as usize;
            let bucket = table.begins[key] as usize..table.begins[key + 1] as usize;
            for &id in &table.members[bucket] {
                // A vector that shares several keys is compared once.
                if std::mem::replace(&mut self.met[id as usize], self.query) != self.query {
                    best.offer(Neighbour {
                        id,
                        distance: squared_distance(query, &self.vectors[id as usize]),
                    });
                }
            }
        }
    }

    /// The number of vectors that the last query compared.
    #[cfg(test)]
    fn looked_at(&self) -> usize {
        self.met.iter().filter(|&&query| query == self.query).count()
    }
}

/// The nearest vectors so far, in order of distance.
pub(crate) struct Nearest {
    found: Vec<Neighbour>,
    most: usize,
}

impl Nearest {
    pub(crate) fn new(most: usize) -> Nearest {
        Nearest { found: Vec::with_capacity(most + 1), most }
    }

    pub(crate) fn clear(&mut self) {
        self.found.clear();
    }

    pub(crate) fn found(&self) -> &[Neighbour] {
        &self.found
    }

    fn offer(&mut self, neighbour: Neighbour) {
        let is_full = self.found.len() == self.most;
        if is_full && self.found.last().is_some_and(|last| last.distance <= neighbour.distance) {
            return;
        }
        let at = self.found.partition_point(|found| found.distance <= neighbour.distance);
        self.found.insert(at, neighbour);
        self.found.truncate(self.most);
    }
}

fn find_sides(planes: &[Vec<f32>], vector: &Vector, sides: &mut [f32]) {
    sides.fill(0.0);
    for (planes, &coordinate) in planes.iter().zip(vector) {
        for (side, plane) in sides.iter_mut().zip(planes) {
            *side += plane * coordinate;
        }
    }
}

fn key(sides: &[f32]) -> u32 {
    sides.iter().fold(0, |key, &side| key << 1 | u32::from(side > 0.0))
}

/// Ids in order of their keys, by counting.
fn table(keys: &[u32], bits: usize) -> Table {
    let mut begins = vec![0_u32; (1 << bits) + 1];
    keys.iter().for_each(|&key| begins[key as usize + 1] += 1);
    for key in 0..1 << bits {
        begins[key + 1] += begins[key];
    }
    let mut free = begins.clone();
    let mut members = vec![0; keys.len()];
    for (id, &key) in keys.iter().enumerate() {
        members[free[key as usize] as usize] = id as u32;
        free[key as usize] += 1;
    }
    Table { begins, members }
}

/// The square of the distance, computed in eight sums so that the compiler may use wide registers: it does not reorder additions by itself.
fn squared_distance(a: &Vector, b: &Vector) -> f32 {
    let mut sums = [0.0_f32; 8];
    for (a, b) in a.chunks_exact(8).zip(b.chunks_exact(8)) {
        for lane in 0..8 {
            let difference = a[lane] - b[lane];
            sums[lane] += difference * difference;
        }
    }
    sums.iter().sum()
}

/// Scales to length 1.
pub(crate) fn normalise(vector: &mut Vector) {
    let length = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
    vector.iter_mut().for_each(|x| *x /= length);
}

/// A vector of independent normal coordinates: its direction is uniform.
pub(crate) fn any_direction(random: &mut Stream) -> Vector {
    let mut vector = [0.0; DIMENSIONS];
    vector.iter_mut().for_each(|x| *x = StandardNormal.sample(random));
    normalise(&mut vector);
    vector
}

#[cfg(test)]
mod tests {
    use std::f32::consts::PI;

    use super::*;
    use crate::random::{Purpose, stream};

    /// A unit vector at `angle` from `from`, in any direction.
    fn at_angle(from: &Vector, angle: f32, random: &mut Stream) -> Vector {
        let mut across = any_direction(random);
        let along: f32 = across.iter().zip(from).map(|(a, b)| a * b).sum();
        across.iter_mut().zip(from).for_each(|(a, b)| *a -= along * b);
        normalise(&mut across);
        std::array::from_fn(|i| from[i] * angle.cos() + across[i] * angle.sin())
    }

    #[test]
    fn planted_neighbours_are_found_as_often_as_theory_says() {
        let mut random = stream(1, Purpose::Vectors);
        for (tables, bits, angle) in [(8, 20, 0.25_f32), (8, 12, 0.5), (1, 12, 0.2)] {
            let vectors: Vec<Vector> = (0..4_000).map(|_| any_direction(&mut random)).collect();
            let queries: Vec<Vector> = vectors.iter().map(|v| at_angle(v, angle, &mut random)).collect();
            let mut index = Index::new(vectors, tables, bits, &mut random);
            let mut best = Nearest::new(1);
            let mut found = 0;
            for (id, query) in queries.iter().enumerate() {
                best.clear();
                index.nearest(query, &mut best);
                found += usize::from(best.found().first().is_some_and(|first| first.id == id as u32));
            }
            let recall = found as f64 / queries.len() as f64;
            let shares_key = f64::from(1.0 - angle / PI).powi(bits as i32);
            let expected = 1.0 - (1.0 - shares_key).powi(tables as i32);
            // The planes are shared by all queries, so the spread is wider than the binomial one.
            assert!((recall - expected).abs() < 0.05, "{tables} x {bits} bits: {recall} for {expected}");
        }
    }

    #[test]
    fn among_what_it_looks_at_the_nearest_are_kept_in_order_and_once() {
        let mut random = stream(2, Purpose::Vectors);
        let vectors: Vec<Vector> = (0..3_000).map(|_| any_direction(&mut random)).collect();
        // One bit a table and eight tables: nearly all vectors share a key, most of them several.
        let mut index = Index::new(vectors.clone(), 8, 1, &mut random);
        let query = any_direction(&mut random);
        let mut best = Nearest::new(5);
        index.nearest(&query, &mut best);
        assert!(index.looked_at() > 2_900);
        let mut all: Vec<Neighbour> = (0..3_000)
            .filter(|&id| index.met[id as usize] == index.query)
            .map(|id| Neighbour { id, distance: squared_distance(&query, &vectors[id as usize]) })
            .collect();
        all.sort_by(|a, b| a.distance.total_cmp(&b.distance));
        assert_eq!(best.found(), &all[..5]);
    }

    #[test]
    fn longer_keys_look_at_less() {
        let mut random = stream(3, Purpose::Vectors);
        let vectors: Vec<Vector> = (0..20_000).map(|_| any_direction(&mut random)).collect();
        let query = any_direction(&mut random);
        let looked_at = [4, 8, 12].map(|bits| {
            let mut index = Index::new(vectors.clone(), 4, bits, &mut random);
            index.nearest(&query, &mut Nearest::new(1));
            index.looked_at()
        });
        assert!(looked_at[0] > 4 * looked_at[1] && looked_at[1] > 4 * looked_at[2], "{looked_at:?}");
    }
}
