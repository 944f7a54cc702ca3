//! Systems of equations of which each has its own unknown and its two neighbours', with the same three coefficients.

/// `lower` x(i-1) + `diagonal` x(i) + `upper` x(i+1) = right(i), ready to be solved for any right side: Thomas's algorithm,
/// whose first half does not depend on the right side but for one multiplication.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tridiagonal {
    lower: f64,
    /// Of each equation after elimination: one over the diagonal, and the coefficient above it.
    rows: Vec<(f64, f64)>,
}

impl Tridiagonal {
    /// Makes it one of `count` equations. Sound without pivots if the diagonal outweighs its neighbours.
    pub(crate) fn factor(&mut self, count: usize, [lower, diagonal, upper]: [f64; 3]) {
        self.lower = lower;
        self.rows.clear();
        let mut above = 0.0;
        self.rows.extend((0..count).map(|_| {
            let inverse = 1.0 / (diagonal - lower * above);
            above = upper * inverse;
            (inverse, above)
        }));
    }

    /// Replaces the right side by the solution; as many as there are equations.
    pub(crate) fn solve(&self, right: &mut [f64]) {
        debug_assert_eq!(right.len(), self.rows.len());
        let mut before = 0.0;
        for (value, &(inverse, _)) in right.iter_mut().zip(&self.rows) {
            before = (*value - self.lower * before) * inverse;
            *value = before;
        }
        let mut after = 0.0;
        for (value, &(_, above)) in right.iter_mut().zip(&self.rows).rev() {
            after = *value - above * after;
            *value = after;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_solution_fulfils_each_equation() {
        let (lower, diagonal, upper) = (-0.7, 2.5, -1.1);
        let wanted: Vec<f64> = (0..9).map(|i| f64::from(i * i % 7) - 2.5).collect();
        let at = |i: usize| wanted.get(i).copied().unwrap_or(0.0);
        let mut right: Vec<f64> = (0..9)
            .map(|i| lower * if i > 0 { at(i - 1) } else { 0.0 } + diagonal * at(i) + upper * at(i + 1))
            .collect();
        let mut system = Tridiagonal::default();
        system.factor(4, [1.0, 9.0, 1.0]);
        system.factor(9, [lower, diagonal, upper]);
        system.solve(&mut right);
        assert!(right.iter().zip(&wanted).all(|(found, wanted)| (found - wanted).abs() < 1e-13), "{right:?}");
    }
}
