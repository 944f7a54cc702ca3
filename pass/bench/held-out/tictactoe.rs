const REPS: u32 = 345;

const LINES: [[usize; 3]; 8] = [
    [0, 1, 2],
    [3, 4, 5],
    [6, 7, 8],
    [0, 3, 6],
    [1, 4, 7],
    [2, 5, 8],
    [0, 4, 8],
    [2, 4, 6],
];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Cell {
    Empty,
    X,
    O,
}

impl Cell {
    fn other(self) -> Cell {
        match self {
            Cell::X => Cell::O,
            Cell::O => Cell::X,
            Cell::Empty => Cell::Empty,
        }
    }
}

struct Board {
    cells: [Cell; 9],
    nodes: u64,
}

impl Board {
    fn winner(&self) -> Option<Cell> {
        for l in LINES.iter() {
            let c = self.cells[l[0]];
            if c != Cell::Empty && c == self.cells[l[1]] && c == self.cells[l[2]] {
                return Some(c);
            }
        }
        None
    }

    fn moves(&self) -> Vec<usize> {
        (0..9).filter(|&i| self.cells[i] == Cell::Empty).collect()
    }

    fn minimax(&mut self, turn: Cell, depth: i32) -> i32 {
        self.nodes += 1;
        if let Some(w) = self.winner() {
            return if w == Cell::X { 10 - depth } else { depth - 10 };
        }
        let moves = self.moves();
        if moves.is_empty() {
            return 0;
        }
        let mut best = if turn == Cell::X { i32::MIN } else { i32::MAX };
        for m in moves {
            self.cells[m] = turn;
            let v = self.minimax(turn.other(), depth + 1);
            self.cells[m] = Cell::Empty;
            best = if turn == Cell::X { best.max(v) } else { best.min(v) };
        }
        best
    }

    fn alphabeta(&mut self, turn: Cell, mut alpha: i32, beta: i32) -> i32 {
        self.nodes += 1;
        if let Some(w) = self.winner() {
            return if w == turn { 1 } else { -1 };
        }
        let mut any = false;
        for m in 0..9 {
            if self.cells[m] != Cell::Empty {
                continue;
            }
            any = true;
            self.cells[m] = turn;
            let v = -self.alphabeta(turn.other(), -beta, -alpha);
            self.cells[m] = Cell::Empty;
            if v >= beta {
                return v;
            }
            alpha = alpha.max(v);
        }
        if any {
            alpha
        } else {
            0
        }
    }
}

fn main() {
    let mut sum: i64 = 0;
    for r in 0..REPS {
        let mut b = Board { cells: [Cell::Empty; 9], nodes: 0 };
        let first = (r as usize * 5) % 9;
        b.cells[first] = Cell::X;
        sum = sum.wrapping_mul(31).wrapping_add(b.minimax(Cell::O, 1) as i64);
        let mut turn = Cell::O;
        loop {
            let mut best: Option<(i32, usize)> = None;
            for m in b.moves() {
                b.cells[m] = turn;
                let v = -b.alphabeta(turn.other(), -2, 2);
                b.cells[m] = Cell::Empty;
                if best.map_or(true, |(bv, _)| v > bv) {
                    best = Some((v, m));
                }
            }
            match best {
                Some((v, m)) => {
                    b.cells[m] = turn;
                    sum = sum.wrapping_mul(7).wrapping_add(v as i64 * 10 + m as i64);
                }
                None => break,
            }
            if b.winner().is_some() {
                break;
            }
            turn = turn.other();
        }
        sum = sum.wrapping_add(b.nodes as i64);
    }
    println!("tictactoe {}", sum);
}
