//! Builds random expressions as boxed trees, simplifies them by pattern matching, and evaluates them for many values.
//! Stands for Rust with enums and boxes: recursion over trees of small allocations, a match a node, drops.

/// splitmix64: one word of state, and any seed will do.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let x = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ (x >> 31)
    }

    fn below(&mut self, bound: u32) -> u32 {
        (((self.next() >> 32) * u64::from(bound)) >> 32) as u32
    }
}

/// Folds a value into a checksum; the order of the values matters.
fn mix(checksum: u64, value: u64) -> u64 {
    let x = (checksum ^ value).wrapping_mul(0xff51_afd7_ed55_8ccd);
    x ^ (x >> 32)
}

/// `rounds`, or the first argument's percentage of them.
fn scaled_rounds(rounds: u64) -> u64 {
    let percent = std::env::args().nth(1).map_or(100, |argument| argument.parse().unwrap_or(100));
    rounds * percent / 100
}

enum Expression {
    Constant(i64),
    Variable(usize),
    Negate(Box<Expression>),
    Add(Box<Expression>, Box<Expression>),
    Multiply(Box<Expression>, Box<Expression>),
    Choose(Box<Expression>, Box<Expression>, Box<Expression>),
}

use Expression::{Add, Choose, Constant, Multiply, Negate, Variable};

fn random_expression(depth: u32, random: &mut Random) -> Expression {
    let part = |random: &mut Random| Box::new(random_expression(depth - 1, random));
    match if depth == 0 { random.below(2) } else { random.below(9) } {
        0 => Constant(i64::from(random.below(5)) - 1),
        1 => Variable(random.below(4) as usize),
        2 => Negate(part(random)),
        3..=5 => Add(part(random), part(random)),
        6 | 7 => Multiply(part(random), part(random)),
        _ => Choose(part(random), part(random), part(random)),
    }
}

/// The same value with fewer nodes.
fn simplify(expression: Expression) -> Expression {
    match expression {
        Negate(inner) => match simplify(*inner) {
            Constant(value) => Constant(value.wrapping_neg()),
            Negate(twice) => *twice,
            other => Negate(Box::new(other)),
        },
        Add(left, right) => match (simplify(*left), simplify(*right)) {
            (Constant(a), Constant(b)) => Constant(a.wrapping_add(b)),
            (Constant(0), other) | (other, Constant(0)) => other,
            (left, right) => Add(Box::new(left), Box::new(right)),
        },
        Multiply(left, right) => match (simplify(*left), simplify(*right)) {
            (Constant(a), Constant(b)) => Constant(a.wrapping_mul(b)),
            (Constant(0), _) | (_, Constant(0)) => Constant(0),
            (Constant(1), other) | (other, Constant(1)) => other,
            (left, right) => Multiply(Box::new(left), Box::new(right)),
        },
        Choose(condition, yes, no) => match simplify(*condition) {
            Constant(value) => simplify(if value > 0 { *yes } else { *no }),
            other => Choose(Box::new(other), Box::new(simplify(*yes)), Box::new(simplify(*no))),
        },
        leaf => leaf,
    }
}

fn evaluate(expression: &Expression, variables: &[i64; 4]) -> i64 {
    match expression {
        Constant(value) => *value,
        Variable(index) => variables[*index],
        Negate(inner) => evaluate(inner, variables).wrapping_neg(),
        Add(left, right) => evaluate(left, variables).wrapping_add(evaluate(right, variables)),
        Multiply(left, right) => evaluate(left, variables).wrapping_mul(evaluate(right, variables)),
        Choose(condition, yes, no) => {
            evaluate(if evaluate(condition, variables) > 0 { yes } else { no }, variables)
        }
    }
}

fn main() {
    let mut random = Random(53);
    let mut checksum = 0;
    for _ in 0..scaled_rounds(20_000) {
        let expression = simplify(random_expression(12, &mut random));
        for _ in 0..10 {
            let variables = std::array::from_fn(|_| i64::from(random.below(100)) - 50);
            checksum = mix(checksum, evaluate(&expression, &variables) as u64);
        }
    }
    println!("{checksum:016x}");
}
