const REPS: u32 = 700;

#[derive(Debug, Clone, PartialEq)]
enum Token {
    Num(i64),
    Ident(String),
    Str(String),
    Op(char),
    EqEq,
    Arrow,
    LParen,
    RParen,
    Comma,
    Keyword(Kw),
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Kw {
    Let,
    Fn,
    If,
    Return,
}

struct Lexer<'a> {
    chars: std::iter::Peekable<std::str::Chars<'a>>,
    line: usize,
}

impl<'a> Lexer<'a> {
    fn new(s: &'a str) -> Self {
        Lexer { chars: s.chars().peekable(), line: 1 }
    }

    fn take_while<F: Fn(char) -> bool>(&mut self, first: char, f: F) -> String {
        let mut s = String::new();
        s.push(first);
        while let Some(&c) = self.chars.peek() {
            if !f(c) {
                break;
            }
            s.push(c);
            self.chars.next();
        }
        s
    }
}

impl<'a> Iterator for Lexer<'a> {
    type Item = Result<Token, String>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let c = self.chars.next()?;
            let t = match c {
                '\n' => {
                    self.line += 1;
                    continue;
                }
                c if c.is_whitespace() => continue,
                '#' => {
                    while let Some(&c) = self.chars.peek() {
                        if c == '\n' {
                            break;
                        }
                        self.chars.next();
                    }
                    continue;
                }
                '0'..='9' => {
                    let s = self.take_while(c, |c| c.is_ascii_digit());
                    match s.parse::<i64>() {
                        Ok(n) => Token::Num(n),
                        Err(e) => return Some(Err(format!("line {}: {}", self.line, e))),
                    }
                }
                'a'..='z' | 'A'..='Z' | '_' => {
                    let s = self.take_while(c, |c| c.is_ascii_alphanumeric() || c == '_');
                    match s.as_str() {
                        "let" => Token::Keyword(Kw::Let),
                        "fn" => Token::Keyword(Kw::Fn),
                        "if" => Token::Keyword(Kw::If),
                        "return" => Token::Keyword(Kw::Return),
                        _ => Token::Ident(s),
                    }
                }
                '"' => {
                    let mut s = String::new();
                    loop {
                        match self.chars.next() {
                            Some('"') => break,
                            Some('\\') => s.extend(self.chars.next()),
                            Some(c) => s.push(c),
                            None => return Some(Err("unterminated".to_string())),
                        }
                    }
                    Token::Str(s)
                }
                '(' => Token::LParen,
                ')' => Token::RParen,
                ',' => Token::Comma,
                '=' if self.chars.peek() == Some(&'=') => {
                    self.chars.next();
                    Token::EqEq
                }
                '-' if self.chars.peek() == Some(&'>') => {
                    self.chars.next();
                    Token::Arrow
                }
                '+' | '-' | '*' | '/' | '=' | '<' | '>' | '{' | '}' | ';' => Token::Op(c),
                other => return Some(Err(format!("line {}: bad char {:?}", self.line, other))),
            };
            return Some(Ok(t));
        }
    }
}

fn main() {
    let snippets = [
        "let total = price * quantity + 42;\n",
        "fn area(width, height) -> int { return width * height; }\n",
        "if count == 10 { print(\"limit \\\"reached\\\"\", count); }\n",
        "# a comment that runs to the end of the line\n",
        "let long_variable_name_1 = (alpha + beta) / (gamma - 7) @ 2;\n",
        "x = 99999999999999999999;\n",
    ];
    let mut src = String::new();
    let mut x: u32 = 2021;
    for _ in 0..2000 {
        x ^= x << 13;
        x ^= x >> 17;
        x ^= x << 5;
        src.push_str(snippets[(x % 29 % 6) as usize]);
    }
    let mut sum: u64 = 0;
    for _ in 0..REPS {
        let mut errors: Vec<String> = Vec::new();
        let mut tokens: Vec<Token> = Vec::new();
        for t in Lexer::new(&src) {
            match t {
                Ok(t) => tokens.push(t),
                Err(e) => errors.push(e),
            }
        }
        let mut depth = 0i32;
        for t in &tokens {
            sum = sum.wrapping_mul(31).wrapping_add(match t {
                Token::Num(n) => *n as u64,
                Token::Ident(s) => s.bytes().map(u64::from).sum(),
                Token::Str(s) => s.len() as u64,
                Token::Op(c) => *c as u64,
                Token::EqEq => 2,
                Token::Arrow => 3,
                Token::LParen => {
                    depth += 1;
                    4
                }
                Token::RParen => {
                    depth -= 1;
                    5
                }
                Token::Comma => 6,
                Token::Keyword(k) => 100 + *k as u64,
            });
        }
        sum = sum.wrapping_add(errors.iter().map(|e| e.len() as u64).sum::<u64>()).wrapping_add(depth as u64);
    }
    println!("tokenizer {}", sum);
}
