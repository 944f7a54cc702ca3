//! Option pricing: a request is a portfolio out of a book of contracts, the reply what it is worth. The work that the tail-control
//! paper's requests do (Li et al., PPoPP 2016, section 5.1); how finely they price, the paper does not say.
//!
//! Portfolios have as many contracts as a log-normal variable says, of the mean and the deviation that the paper's
//! log-normal workload has in time (10 ms, 13 ms), at 54.3 us a contract, which is about what one takes on the machine that
//! the data were measured on. The sizes are drawn; the times are what they take.

use anyhow::{Context, Result, ensure};
use black_scholes::{Contract, Grid, Kind, Portfolio};
use rand::RngExt;
use rand_distr::{Distribution, LogNormal};

use crate::random::{Purpose, Stream, stream};
use crate::service::{Clock, Requests, Served, Service};

const GRID: Grid = Grid { space: 200, time: 50 };
/// Contracts of the book; the largest portfolio is all of it.
const BOOK: usize = 20_000;
/// Contracts of a portfolio.
const MEAN: f64 = 184.0;
const DEVIATION: f64 = 239.2;

/// See the [module](self).
pub(crate) struct Pricing {
    book: Portfolio,
}

impl Pricing {
    pub(crate) fn new(seed: u64) -> Pricing {
        let mut random = stream(seed, Purpose::Contracts);
        Pricing { book: Portfolio::new((0..BOOK).map(|_| contract(&mut random)).collect(), GRID) }
    }
}

/// Listed options on shares: around the money, days to two years.
fn contract(random: &mut Stream) -> Contract {
    let spot = random.random_range(20.0..400.0);
    Contract {
        kind: if random.random() { Kind::Call } else { Kind::Put },
        spot,
        strike: spot * random.random_range(0.7..1.4),
        years: random.random_range(0.02..2.0),
        rate_per_year: random.random_range(0.0..0.05),
        dividend_per_year: random.random_range(0.0..0.03),
        volatility: random.random_range(0.1..0.7),
    }
}

impl Service for Pricing {
    const CLASSES: &'static [&'static str] = &[];
    const CLOCK: Clock = Clock::Thread;

    fn reset(&mut self) -> Result<()> {
        Ok(())
    }

    fn serve(&mut self, request: &[u8], reply: &mut Vec<u8>) -> Result<Served> {
        let (from, to) = parse(request).context("not a part of the book")?;
        reply.extend_from_slice(&self.book.price_range(from..to).to_le_bytes());
        Ok(Served::default())
    }

    fn settle(&mut self, _request: &[u8], reply: &[u8]) -> Result<()> {
        let worth = f64::from_le_bytes(reply.try_into().context("not a number")?);
        ensure!(worth.is_finite() && worth > 0.0, "a portfolio is worth {worth}");
        Ok(())
    }
}

/// First contract, and the one after the last.
fn parse(request: &[u8]) -> Option<(usize, usize)> {
    let (numbers, rest) = request.as_chunks::<4>();
    let [from, to] = numbers else { return None };
    let place = |bytes: &[u8; 4]| u32::from_le_bytes(*bytes) as usize;
    let (from, to) = (place(from), place(to));
    (rest.is_empty() && from < to && to <= BOOK).then_some((from, to))
}

/// `count` portfolios, anywhere in the book.
pub(crate) fn requests(seed: u64, count: usize) -> Requests {
    let spread = (DEVIATION / MEAN).powi(2).ln_1p();
    let sizes = LogNormal::new(MEAN.ln() - spread / 2.0, spread.sqrt()).expect("a finite spread");
    let mut random = stream(seed, Purpose::Portfolios);
    let mut requests = Requests::default();
    for _ in 0..count {
        let size = (sizes.sample(&mut random).round() as usize).clamp(1, BOOK);
        let from = random.random_range(0..=BOOK - size);
        let bytes: Vec<u8> = [from, from + size].iter().flat_map(|&at| (at as u32).to_le_bytes()).collect();
        requests.push(&bytes);
    }
    requests
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sizes(requests: &Requests) -> Vec<f64> {
        let size = |index| {
            let (from, to) = parse(requests.get(index)).expect("a part of the book");
            (to - from) as f64
        };
        (0..requests.len()).map(size).collect()
    }

    #[test]
    fn portfolios_are_as_large_as_they_are_meant_to_be() {
        let sizes = sizes(&requests(1, 200_000));
        let count = sizes.len() as f64;
        let mean = sizes.iter().sum::<f64>() / count;
        let deviation = (sizes.iter().map(|size| (size - mean).powi(2)).sum::<f64>() / count).sqrt();
        // Of the mean, 1 % is four standard errors.
        assert!(
            (mean / MEAN - 1.0).abs() < 0.012 && (deviation / DEVIATION - 1.0).abs() < 0.08,
            "{mean} {deviation}"
        );
    }

    #[test]
    fn a_portfolio_is_worth_its_contracts() {
        let mut pricing = Pricing::new(1);
        let request: Vec<u8> = [5_u32, 8].iter().flat_map(|at| at.to_le_bytes()).collect();
        let mut reply = Vec::new();
        pricing.serve(&request, &mut reply).unwrap();
        pricing.settle(&request, &reply).unwrap();
        let contracts = &pricing.book.contracts()[5..8];
        let worth: f64 = contracts.iter().map(|contract| black_scholes::price(contract, GRID)).sum();
        assert_eq!(reply, worth.to_le_bytes());
        assert!(contracts.iter().all(|contract| contract.volatility > 0.0 && contract.spot > 0.0));
    }

    #[test]
    fn what_is_no_part_of_the_book_is_refused() {
        let of = |from: u32, to: u32| [from.to_le_bytes(), to.to_le_bytes()].concat();
        assert_eq!(parse(&of(3, 20_000)), Some((3, 20_000)));
        assert!(
            [of(3, 3), of(4, 3), of(3, 20_001), of(0, 1)[..7].to_vec()]
                .iter()
                .all(|bytes| parse(bytes).is_none())
        );
        assert!(Pricing::new(1).settle(&[], &f64::NAN.to_le_bytes()).is_err());
    }

    #[test]
    fn a_seed_is_a_list_of_requests() {
        assert_eq!(requests(3, 50), requests(3, 50));
        assert_ne!(requests(3, 50), requests(4, 50));
    }
}
