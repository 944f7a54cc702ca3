const REPS: u32 = 4100;

trait Expr {
    fn eval(&self, env: &[i64]) -> Option<i64>;
    fn depth(&self) -> usize;
    fn write(&self, out: &mut String);
}

struct Const(i64);
struct Var(usize);
struct Neg(Box<dyn Expr>);
struct Bin {
    op: char,
    l: Box<dyn Expr>,
    r: Box<dyn Expr>,
}
struct Cond {
    c: Box<dyn Expr>,
    t: Box<dyn Expr>,
    e: Box<dyn Expr>,
}

impl Expr for Const {
    fn eval(&self, _: &[i64]) -> Option<i64> {
        Some(self.0)
    }
    fn depth(&self) -> usize {
        1
    }
    fn write(&self, out: &mut String) {
        out.push_str(&self.0.to_string());
    }
}

impl Expr for Var {
    fn eval(&self, env: &[i64]) -> Option<i64> {
        env.get(self.0).copied()
    }
    fn depth(&self) -> usize {
        1
    }
    fn write(&self, out: &mut String) {
        out.push((b'a' + self.0 as u8) as char);
    }
}

impl Expr for Neg {
    fn eval(&self, env: &[i64]) -> Option<i64> {
        self.0.eval(env)?.checked_neg()
    }
    fn depth(&self) -> usize {
        1 + self.0.depth()
    }
    fn write(&self, out: &mut String) {
        out.push('-');
        self.0.write(out);
    }
}

impl Expr for Bin {
    fn eval(&self, env: &[i64]) -> Option<i64> {
        let a = self.l.eval(env)?;
        let b = self.r.eval(env)?;
        match self.op {
            '+' => Some(a.wrapping_add(b)),
            '-' => Some(a.wrapping_sub(b)),
            '*' => Some(a.wrapping_mul(b) % 1_000_003),
            '/' => a.checked_div(b),
            _ => None,
        }
    }
    fn depth(&self) -> usize {
        1 + self.l.depth().max(self.r.depth())
    }
    fn write(&self, out: &mut String) {
        out.push('(');
        self.l.write(out);
        out.push(self.op);
        self.r.write(out);
        out.push(')');
    }
}

impl Expr for Cond {
    fn eval(&self, env: &[i64]) -> Option<i64> {
        if self.c.eval(env)? > 0 {
            self.t.eval(env)
        } else {
            self.e.eval(env)
        }
    }
    fn depth(&self) -> usize {
        1 + self.c.depth().max(self.t.depth()).max(self.e.depth())
    }
    fn write(&self, out: &mut String) {
        self.c.write(out);
        out.push('?');
        self.t.write(out);
        out.push(':');
        self.e.write(out);
    }
}

fn rnd(s: &mut u32, n: u32) -> u32 {
    *s = s.wrapping_mul(1664525).wrapping_add(1013904223);
    (*s >> 10) % n
}

fn gen(s: &mut u32, depth: u32) -> Box<dyn Expr> {
    let k = if depth == 0 { rnd(s, 2) } else { rnd(s, 12) };
    match k {
        0 => Box::new(Const(rnd(s, 100) as i64 + 1)),
        1 => Box::new(Var(rnd(s, 4) as usize)),
        2 => Box::new(Neg(gen(s, depth - 1))),
        3 => {
            let c = gen(s, depth - 1);
            let t = gen(s, depth - 1);
            let e = gen(s, depth - 1);
            Box::new(Cond { c, t, e })
        }
        _ => {
            let op = ['+', '-', '*', '+', '-', '/'][rnd(s, 6) as usize];
            let l = gen(s, depth - 1);
            let r = gen(s, depth - 1);
            Box::new(Bin { op, l, r })
        }
    }
}

fn main() {
    let mut s = 1u32;
    let exprs: Vec<Box<dyn Expr>> = (0..60).map(|_| gen(&mut s, 8)).collect();
    let mut sum: u64 = 0;
    let mut undefined = 0u32;
    for r in 0..REPS {
        for e in &exprs {
            for k in 0..4i64 {
                let env = [r as i64, k - 2, rnd(&mut s, 1000) as i64, 7];
                match e.eval(&env) {
                    Some(v) => sum = sum.wrapping_mul(31).wrapping_add(v as u64),
                    None => undefined += 1,
                }
            }
        }
        if r % 16 == 0 {
            let mut out = String::new();
            for e in &exprs {
                e.write(&mut out);
                sum = sum.wrapping_add(e.depth() as u64);
            }
            sum = sum.wrapping_add(out.len() as u64);
        }
    }
    println!("dyn_expr {} {}", sum, undefined);
}
