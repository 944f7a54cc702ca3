//! Prices against the closed formula, and what must hold whatever the prices are.

use black_scholes::{Contract, Grid, Kind, Portfolio, Solver, price};
use statrs::distribution::{ContinuousCDF, Normal};

/// Black and Scholes's formula, with Merton's dividend.
fn formula(contract: &Contract) -> f64 {
    let Contract { kind, spot, strike, years, rate_per_year, dividend_per_year, volatility } = *contract;
    let normal = Normal::new(0.0, 1.0).expect("the standard normal distribution");
    let deviation = volatility * years.sqrt();
    let forward = (rate_per_year - dividend_per_year + volatility * volatility / 2.0) * years;
    let d1 = ((spot / strike).ln() + forward) / deviation;
    let d2 = d1 - deviation;
    let spot = spot * (-dividend_per_year * years).exp();
    let strike = strike * (-rate_per_year * years).exp();
    match kind {
        Kind::Call => spot * normal.cdf(d1) - strike * normal.cdf(d2),
        Kind::Put => strike * normal.cdf(-d2) - spot * normal.cdf(-d1),
    }
}

const CALL: Contract = Contract {
    kind: Kind::Call,
    spot: 100.0,
    strike: 100.0,
    years: 1.0,
    rate_per_year: 0.05,
    dividend_per_year: 0.02,
    volatility: 0.2,
};

/// In and out of the money, soon and late, calm and wild.
fn contracts() -> Vec<Contract> {
    let mut all = Vec::new();
    for kind in [Kind::Call, Kind::Put] {
        for strike in [60.0, 91.7, 100.0, 104.2, 150.0] {
            for years in [0.05, 0.5, 3.0] {
                for volatility in [0.08, 0.25, 0.6] {
                    for (rate_per_year, dividend_per_year) in [(0.0, 0.0), (0.06, 0.01), (-0.005, 0.04)] {
                        all.push(Contract {
                            kind,
                            strike,
                            years,
                            rate_per_year,
                            dividend_per_year,
                            volatility,
                            ..CALL
                        });
                    }
                }
            }
        }
    }
    all
}

fn error(contract: &Contract, grid: Grid) -> f64 {
    (price(contract, grid) - formula(contract)).abs()
}

#[test]
fn prices_are_those_of_the_formula() {
    for contract in contracts() {
        let deviation = contract.volatility * contract.years.sqrt();
        let scale = contract.spot.max(contract.strike) * deviation * (1.0 + deviation);
        for (grid, most) in [
            (Grid { space: 100, time: 25 }, 1e-3),
            (Grid { space: 200, time: 50 }, 2.5e-4),
            (Grid { space: 800, time: 200 }, 1.6e-5),
        ] {
            let error = error(&contract, grid);
            assert!(error < most * scale, "{contract:?} {grid:?}: {error} of {scale}");
        }
    }
}

/// Halving cells, or steps, quarters the error that they make.
#[test]
fn the_order_is_two_in_space_and_in_time() {
    // The kink on a node, near one, and in the middle between two.
    for strike in [100.0, 93.0, 107.3] {
        let contract = Contract { strike, ..CALL };
        let fine = 3_200;
        let in_space: Vec<f64> =
            [50, 100, 200, 400].map(|space| error(&contract, Grid { space, time: fine })).into();
        let exact = price(&contract, Grid { space: 400, time: 12_800 });
        let in_time: Vec<f64> =
            [10, 20, 40, 80].map(|time| (price(&contract, Grid { space: 400, time }) - exact).abs()).into();
        for errors in [in_space, in_time] {
            for pair in errors.windows(2) {
                let order = (pair[0] / pair[1]).log2();
                assert!((order - 2.0).abs() < 0.25, "{strike}: order {order} of {errors:?}");
            }
        }
    }
}

#[test]
fn a_call_without_its_put_is_the_underlying_without_the_strike() {
    let grid = Grid { space: 400, time: 100 };
    for call in contracts().into_iter().filter(|contract| contract.kind == Kind::Call) {
        let put = Contract { kind: Kind::Put, ..call };
        let forward = call.spot * (-call.dividend_per_year * call.years).exp()
            - call.strike * (-call.rate_per_year * call.years).exp();
        let found = price(&call, grid) - price(&put, grid);
        assert!((found - forward).abs() < 1e-4 * call.spot, "{call:?}: {found} {forward}");
    }
}

#[test]
fn where_nothing_is_left_to_chance_the_price_is_certain() {
    let grid = Grid { space: 200, time: 50 };
    for contract in contracts() {
        assert_eq!(price(&Contract { years: 0.0, ..contract }, grid), contract.payoff(contract.spot));
        let calm = Contract { volatility: 0.0, ..contract };
        assert_eq!(price(&calm, grid), calm.certain(calm.spot, calm.years));
        // Far in and far out of the money, at both ends of the grid.
        for strike in [1.0, 1e4] {
            let far = Contract { strike, years: 0.5, volatility: 0.2, ..contract };
            let certain = far.certain(far.spot, far.years);
            assert!((price(&far, grid) - certain).abs() < 1e-4 * far.spot, "{far:?}");
        }
    }
}

#[test]
fn prices_lie_between_what_is_certain_and_what_is_possible() {
    let grid = Grid { space: 200, time: 50 };
    for contract in contracts() {
        let Contract { spot, strike, years, rate_per_year, dividend_per_year, .. } = contract;
        let most = match contract.kind {
            Kind::Call => spot * (-dividend_per_year * years).exp(),
            Kind::Put => strike * (-rate_per_year * years).exp(),
        };
        let found = price(&contract, grid);
        let slack = 1e-4 * spot;
        assert!(contract.certain(spot, years) - slack <= found && found <= most + slack, "{contract:?}");
    }
}

/// A parallel loop: whoever does which part, and with whatever memory, the prices are the same bits.
#[test]
fn ranges_are_the_whole() {
    let grid = Grid { space: 100, time: 20 };
    let portfolio = Portfolio::new(contracts(), grid);
    let mut solver = Solver::new(grid);
    for (at, contract) in portfolio.contracts().iter().enumerate() {
        let alone = price(contract, grid);
        assert_eq!(portfolio.price_range(at..at + 1), alone);
        assert_eq!(solver.price(contract), alone, "what was in the memory before does not matter");
    }
    let whole = portfolio.price_range(0..portfolio.len());
    for cut in [1, 7, 64, portfolio.len()] {
        let starts = (0..portfolio.len()).step_by(cut);
        let sum: f64 =
            starts.map(|from| portfolio.price_range(from..(from + cut).min(portfolio.len()))).sum();
        assert!((sum / whole - 1.0).abs() < 1e-12, "ranges of {cut}: {sum} of {whole}");
    }
    assert_eq!(portfolio.price_range(3..3), 0.0);
    assert!(Portfolio::new(Vec::new(), grid).is_empty());
}

#[test]
#[should_panic(expected = "has a middle")]
fn a_grid_without_a_middle_is_none() {
    price(&CALL, Grid { space: 101, time: 10 });
}
