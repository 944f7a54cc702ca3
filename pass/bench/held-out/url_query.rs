const REPS: u32 = 534;

#[derive(Debug)]
struct Url<'a> {
    scheme: &'a str,
    host: &'a str,
    port: Option<u16>,
    path: &'a str,
    query: Option<&'a str>,
    fragment: Option<&'a str>,
}

fn parse_url(s: &str) -> Option<Url<'_>> {
    let (scheme, rest) = s.split_once("://")?;
    if scheme.is_empty() || !scheme.chars().all(|c| c.is_ascii_alphabetic()) {
        return None;
    }
    let (rest, fragment) = match rest.split_once('#') {
        Some((a, b)) => (a, Some(b)),
        None => (rest, None),
    };
    let (rest, query) = match rest.split_once('?') {
        Some((a, b)) => (a, Some(b)),
        None => (rest, None),
    };
    let slash = rest.find('/').unwrap_or(rest.len());
    let (authority, path) = rest.split_at(slash);
    let (host, port) = match authority.rsplit_once(':') {
        Some((h, p)) => (h, Some(p.parse::<u16>().ok()?)),
        None => (authority, None),
    };
    if host.is_empty() {
        return None;
    }
    Some(Url { scheme, host, port, path, query, fragment })
}

fn hex(b: u8) -> Option<u8> {
    match b {
        b'0'..=b'9' => Some(b - b'0'),
        b'a'..=b'f' => Some(b - b'a' + 10),
        b'A'..=b'F' => Some(b - b'A' + 10),
        _ => None,
    }
}

fn decode(s: &str) -> Option<String> {
    let b = s.as_bytes();
    let mut out = Vec::with_capacity(b.len());
    let mut i = 0;
    while i < b.len() {
        match b[i] {
            b'+' => out.push(b' '),
            b'%' => {
                let hi = b.get(i + 1).copied().and_then(hex)?;
                let lo = b.get(i + 2).copied().and_then(hex)?;
                out.push(hi << 4 | lo);
                i += 2;
            }
            c => out.push(c),
        }
        i += 1;
    }
    String::from_utf8(out).ok()
}

fn encode(s: &str) -> String {
    let mut o = String::new();
    for b in s.bytes() {
        match b {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => o.push(b as char),
            b' ' => o.push('+'),
            _ => {
                o.push('%');
                o.push(b"0123456789ABCDEF"[(b >> 4) as usize] as char);
                o.push(b"0123456789ABCDEF"[(b & 15) as usize] as char);
            }
        }
    }
    o
}

fn param(u: &Url, name: &str) -> Option<String> {
    u.query?
        .split('&')
        .filter_map(|kv| kv.split_once('='))
        .find(|(k, _)| *k == name)
        .and_then(|(_, v)| decode(v))
}

fn page_number(u: &Url) -> Option<u32> {
    param(u, "page").and_then(|p| p.trim().parse::<u32>().ok()).filter(|&n| n > 0 && n < 5000)
}

fn main() {
    let values = ["hello world", "caf\u{e9} & cr\u{e8}me", "100% sure?", "a=b&c=d", "plain", "\u{65e5}\u{672c}"];
    let mut x: u32 = 17;
    let mut rnd = |n: u32| {
        x = x.wrapping_mul(1103515245).wrapping_add(12345);
        (x >> 12) % n
    };
    let mut urls: Vec<String> = Vec::new();
    for _ in 0..3000 {
        let mut u = String::new();
        u.push_str(["http", "https", "ftp", "h2p"][rnd(4) as usize]);
        u.push_str("://");
        u.push_str(["example.com", "api.service.local", "", "10.0.0.1"][rnd(4) as usize % 4]);
        if rnd(3) == 0 {
            u.push_str(&format!(":{}", rnd(70000)));
        }
        for _ in 0..rnd(4) {
            u.push('/');
            u.push_str(&encode(values[rnd(6) as usize]));
        }
        if rnd(4) > 0 {
            u.push_str(&format!("/?q={}&page={}&x={}", encode(values[rnd(6) as usize]), rnd(6000), ["%zz", "%C3", "ok"][rnd(3) as usize]));
        }
        if rnd(5) == 0 {
            u.push_str("#top");
        }
        urls.push(u);
    }
    let mut sum: u64 = 0;
    let mut bad = 0u64;
    for _ in 0..REPS {
        for s in &urls {
            match parse_url(s) {
                Some(u) => {
                    sum = sum.wrapping_mul(31).wrapping_add((u.scheme.len() + u.host.len()) as u64);
                    sum = sum.wrapping_add(u.port.map_or(80, u64::from));
                    sum = sum.wrapping_add(page_number(&u).unwrap_or(1) as u64);
                    sum = sum.wrapping_add(param(&u, "q").map_or(0, |q| encode(&q).len() as u64));
                    sum = sum.wrapping_add(param(&u, "x").is_some() as u64);
                    sum = sum.wrapping_add(u.fragment.map(str::len).unwrap_or_default() as u64);
                    for seg in u.path.split('/').filter(|p| !p.is_empty()) {
                        sum = sum.wrapping_add(decode(seg).map_or(3, |d| d.chars().count() as u64));
                    }
                }
                None => bad += 1,
            }
        }
    }
    println!("url_query {} {}", sum, bad);
}
