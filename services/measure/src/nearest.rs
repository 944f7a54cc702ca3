//! Content-based search: a request is a vector, the reply the ids and distances of the ten nearest that an index of
//! locality-sensitive hashes finds among 100,000.
//!
//! Keys of 12 bits come with six tables and keys of 20 bits with twelve, the two settings of FLANN's index that
//! OpenCV's tutorial on it shows. FLANN hashes binary features by their bits and also probes keys that differ by a bit
//! or two from the query's; here the features are real numbers, hashed by planes, and only the query's own key is
//! probed.
//!
//! The vectors stand for features of images: they come in clusters of very different sizes and widths, so some
//! buckets of the index are crowded and most are empty, and a query's time is mostly that of the crowd that it meets.

use anyhow::{Context, Result, ensure};
use rand::RngExt;
use rand::seq::SliceRandom;
use rand_distr::{Distribution, StandardNormal, Zipf};

use crate::lsh::{DIMENSIONS, Index, Nearest, Vector, any_direction, normalise};
use crate::random::{Purpose, Stream, stream};
use crate::service::{Requests, Served, Service};

const VECTORS: usize = 100_000;
const CLUSTERS: usize = 2_000;
/// Exponent of Zipf's law for the sizes of clusters: the largest holds 4 % of the vectors.
const CLUSTER_EXPONENT: f64 = 0.75;
/// How far from their centre the members of a cluster lie, at a distance of the centre from the origin of 1.
const SPREAD: std::ops::Range<f32> = 0.2..0.8;
const NEIGHBOURS: usize = 10;

/// See the [module](self).
pub(crate) struct Search {
    index: Index,
    best: Nearest,
}

impl Search {
    /// An index with keys of `bits` bits.
    pub(crate) fn new(seed: u64, bits: usize) -> Search {
        let clusters = clusters(seed);
        let mut random = stream(seed, Purpose::Vectors);
        let mut vectors: Vec<Vector> = (0..VECTORS).map(|_| clusters.draw(&mut random)).collect();
        // Neighbours are not neighbours in memory: a collection is in order of arrival, not of content.
        vectors.shuffle(&mut random);
        let tables = if bits < 20 { 6 } else { 12 };
        let index = Index::new(vectors, tables, bits, &mut stream(seed, Purpose::Planes));
        Search { index, best: Nearest::new(NEIGHBOURS) }
    }
}

impl Service for Search {
    const CLASSES: &'static [&'static str] = &[];

    fn reset(&mut self) -> Result<()> {
        Ok(())
    }

    fn serve(&mut self, request: &[u8], reply: &mut Vec<u8>) -> Result<Served> {
        let query = parse(request).context("not a vector of finite numbers")?;
        self.best.clear();
        self.index.nearest(&query, &mut self.best);
        for neighbour in self.best.found() {
            reply.extend_from_slice(&neighbour.id.to_le_bytes());
            reply.extend_from_slice(&neighbour.distance.to_le_bytes());
        }
        Ok(Served::default())
    }

    fn settle(&mut self, _request: &[u8], reply: &[u8]) -> Result<()> {
        ensure!(reply.len() <= NEIGHBOURS * 8 && reply.len().is_multiple_of(8), "not a list of neighbours");
        Ok(())
    }
}

fn parse(request: &[u8]) -> Option<Vector> {
    let (numbers, rest) = request.as_chunks::<4>();
    if numbers.len() != DIMENSIONS || !rest.is_empty() {
        return None;
    }
    let mut query = [0.0; DIMENSIONS];
    query.iter_mut().zip(numbers).for_each(|(x, bytes)| *x = f32::from_le_bytes(*bytes));
    query.iter().all(|x| x.is_finite()).then_some(query)
}

/// Where vectors come from, those of the collection and those of the queries.
struct Clusters {
    centres: Vec<(Vector, f32)>,
    ranks: Zipf<f64>,
}

impl Clusters {
    fn draw(&self, random: &mut Stream) -> Vector {
        let (centre, spread) = &self.centres[self.ranks.sample(random) as usize - 1];
        // Of many dimensions, nearly all vectors of normal coordinates have about the same length.
        let deviation = spread / (DIMENSIONS as f32).sqrt();
        let mut vector = *centre;
        vector.iter_mut().for_each(|x| {
            let normal: f32 = StandardNormal.sample(random);
            *x += deviation * normal;
        });
        normalise(&mut vector);
        vector
    }
}

fn clusters(seed: u64) -> Clusters {
    let mut random = stream(seed, Purpose::Clusters);
    let mut centre = || (any_direction(&mut random), random.random_range(SPREAD));
    Clusters {
        centres: (0..CLUSTERS).map(|_| centre()).collect(),
        ranks: Zipf::new(CLUSTERS as f64, CLUSTER_EXPONENT).expect("clusters"),
    }
}

/// `count` queries: vectors like those of the collection, but none of them.
pub(crate) fn requests(seed: u64, count: usize) -> Requests {
    let clusters = clusters(seed);
    let mut random = stream(seed, Purpose::Queries);
    let mut requests = Requests::default();
    for _ in 0..count {
        let bytes: Vec<u8> = clusters.draw(&mut random).iter().flat_map(|x| x.to_le_bytes()).collect();
        requests.push(&bytes);
    }
    requests
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_is_answered_from_its_cluster() {
        let mut search = Search::new(1, 12);
        let requests = requests(1, 200);
        let mut found = 0;
        for index in 0..requests.len() {
            let mut reply = Vec::new();
            search.serve(requests.get(index), &mut reply).unwrap();
            search.settle(requests.get(index), &reply).unwrap();
            let distances: Vec<f32> = reply
                .as_chunks::<8>()
                .0
                .iter()
                .map(|c| f32::from_le_bytes([c[4], c[5], c[6], c[7]]))
                .collect();
            assert!(distances.is_sorted());
            // Unrelated unit vectors of 64 dimensions are sqrt(2) apart, give or take 0.12: 2 when squared.
            found += usize::from(distances.len() == NEIGHBOURS && distances[0] < 1.2);
        }
        assert!(found > 180, "{found} of 200 queries found a neighbour");
    }

    #[test]
    fn what_is_no_vector_is_refused() {
        assert!(parse(&[0; DIMENSIONS * 4]).is_some());
        assert!(parse(&[0; DIMENSIONS * 4 - 1]).is_none());
        assert!(parse(&[0; DIMENSIONS * 4 + 4]).is_none());
        assert!(parse(&f32::NAN.to_le_bytes().repeat(DIMENSIONS)).is_none());
    }

    #[test]
    fn a_seed_is_a_list_of_requests() {
        assert_eq!(requests(3, 50), requests(3, 50));
        assert_ne!(requests(3, 50), requests(4, 50));
    }
}
