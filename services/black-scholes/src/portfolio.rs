//! A request: contracts that are priced one by one.

use std::ops::Range;

use crate::{Contract, Grid, Solver};

/// Contracts, and how finely they are priced.
#[derive(Clone, Debug, PartialEq)]
pub struct Portfolio {
    contracts: Vec<Contract>,
    grid: Grid,
}

impl Portfolio {
    /// `contracts`, each priced on `grid`.
    ///
    /// # Panics
    /// If no grid is like that: see [`Grid`].
    pub fn new(contracts: Vec<Contract>, grid: Grid) -> Portfolio {
        grid.check();
        Portfolio { contracts, grid }
    }

    /// Iterations of the loop.
    pub fn len(&self) -> usize {
        self.contracts.len()
    }

    /// Is there nothing to price?
    pub fn is_empty(&self) -> bool {
        self.contracts.is_empty()
    }

    /// The contracts of the portfolio.
    pub fn contracts(&self) -> &[Contract] {
        &self.contracts
    }

    /// The value of the contracts of `range` together. Ranges do not depend on each other, and all contracts take
    /// equally long.
    ///
    /// # Panics
    /// If `range` ends beyond [`Portfolio::len`].
    pub fn price_range(&self, range: Range<usize>) -> f64 {
        let mut solver = Solver::new(self.grid);
        self.contracts[range].iter().map(|contract| solver.price(contract)).sum()
    }
}
