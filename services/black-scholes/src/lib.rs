//! Prices of European options by the Black–Scholes partial differential equation. The authors of tail-control gave this work to
//! their requests (Li et al., PPoPP 2016, section 5: parallel-for loops, which they do not print).
//!
//! A request is a [`Portfolio`]. Each of its contracts is priced by itself, so the loop over them is a parallel loop: a task calls
//! [`Portfolio::price_range`] for a range of contracts, and the tasks of a request together cover `0..len()`.
//!
//! ```
//! use black_scholes::{Contract, Grid, Kind, Portfolio};
//! let call = Contract {
//!     kind: Kind::Call,
//!     spot: 100.0,
//!     strike: 95.0,
//!     years: 0.5,
//!     rate_per_year: 0.03,
//!     dividend_per_year: 0.0,
//!     volatility: 0.2,
//! };
//! let portfolio = Portfolio::new(vec![call, Contract { kind: Kind::Put, ..call }], Grid { space: 200, time: 50 });
//! let (first, second) = (portfolio.price_range(0..1), portfolio.price_range(1..2));
//! // The closed formula gives these prices.
//! assert!((first - 9.2511).abs() < 0.001 && (second - 2.8367).abs() < 0.001);
//! assert_eq!(first + second, portfolio.price_range(0..2));
//! ```

#![forbid(unsafe_code)]

mod contract;
mod portfolio;
mod solver;
mod tridiagonal;

pub use contract::{Contract, Kind};
pub use portfolio::Portfolio;
pub use solver::{Grid, Solver, price};
