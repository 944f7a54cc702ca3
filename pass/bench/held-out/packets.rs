const REPS: u32 = 1900;

#[derive(Debug)]
enum ParseError {
    Short,
    Version,
    Checksum,
    Proto(u8),
}

struct Ipv4<'a> {
    src: u32,
    dst: u32,
    proto: u8,
    ttl: u8,
    payload: &'a [u8],
}

struct Udp<'a> {
    sport: u16,
    dport: u16,
    data: &'a [u8],
}

fn be16(b: &[u8], i: usize) -> u16 {
    (b[i] as u16) << 8 | b[i + 1] as u16
}

fn be32(b: &[u8], i: usize) -> u32 {
    (be16(b, i) as u32) << 16 | be16(b, i + 2) as u32
}

fn put16(b: &mut Vec<u8>, v: u16) {
    b.push((v >> 8) as u8);
    b.push(v as u8);
}

fn inet_checksum(b: &[u8], init: u32) -> u16 {
    let mut s = init;
    let mut i = 0;
    while i + 1 < b.len() {
        s += be16(b, i) as u32;
        i += 2;
    }
    if i < b.len() {
        s += (b[i] as u32) << 8;
    }
    while s >> 16 != 0 {
        s = (s & 0xffff) + (s >> 16);
    }
    !(s as u16)
}

fn parse_ipv4(b: &[u8]) -> Result<Ipv4<'_>, ParseError> {
    if b.len() < 20 {
        return Err(ParseError::Short);
    }
    if b[0] >> 4 != 4 {
        return Err(ParseError::Version);
    }
    let ihl = (b[0] & 15) as usize * 4;
    let total = be16(b, 2) as usize;
    if ihl < 20 || total < ihl || b.len() < total {
        return Err(ParseError::Short);
    }
    if inet_checksum(&b[..ihl], 0) != 0 {
        return Err(ParseError::Checksum);
    }
    Ok(Ipv4 { src: be32(b, 12), dst: be32(b, 16), proto: b[9], ttl: b[8], payload: &b[ihl..total] })
}

fn pseudo_sum(src: u32, dst: u32, proto: u8, len: usize) -> u32 {
    (src >> 16) + (src & 0xffff) + (dst >> 16) + (dst & 0xffff) + proto as u32 + len as u32
}

fn parse_udp<'a>(ip: &Ipv4<'a>) -> Result<Udp<'a>, ParseError> {
    if ip.proto != 17 {
        return Err(ParseError::Proto(ip.proto));
    }
    let b = ip.payload;
    if b.len() < 8 {
        return Err(ParseError::Short);
    }
    let len = be16(b, 4) as usize;
    if len < 8 || len > b.len() {
        return Err(ParseError::Short);
    }
    if inet_checksum(&b[..len], pseudo_sum(ip.src, ip.dst, 17, len)) != 0 {
        return Err(ParseError::Checksum);
    }
    Ok(Udp { sport: be16(b, 0), dport: be16(b, 2), data: &b[8..len] })
}

fn build(src: u32, dst: u32, sport: u16, dport: u16, data: &[u8], proto: u8) -> Vec<u8> {
    let ulen = 8 + data.len();
    let mut u = Vec::with_capacity(ulen);
    put16(&mut u, sport);
    put16(&mut u, dport);
    put16(&mut u, ulen as u16);
    put16(&mut u, 0);
    u.extend_from_slice(data);
    let c = inet_checksum(&u, pseudo_sum(src, dst, 17, ulen));
    u[6] = (c >> 8) as u8;
    u[7] = c as u8;
    let mut p = vec![0x45, 0];
    put16(&mut p, (20 + ulen) as u16);
    p.extend_from_slice(&[0, 1, 0, 0, 64, proto, 0, 0]);
    p.extend_from_slice(&src.to_be_bytes());
    p.extend_from_slice(&dst.to_be_bytes());
    let c = inet_checksum(&p, 0);
    p[10] = (c >> 8) as u8;
    p[11] = c as u8;
    p.extend_from_slice(&u);
    p
}

fn longest_prefix(routes: &[(u32, u32, u16)], ip: u32) -> Option<u16> {
    routes.iter().filter(|(net, mask, _)| ip & mask == *net).max_by_key(|(_, mask, _)| mask.count_ones()).map(|r| r.2)
}

fn main() {
    let mut x: u32 = 80;
    let mut rnd = || {
        x ^= x << 13;
        x ^= x >> 17;
        x ^= x << 5;
        x
    };
    let routes: Vec<(u32, u32, u16)> = (0..24u16)
        .map(|i| {
            let mask = u32::MAX << (8 + (i % 20) as u32);
            (rnd() & mask, mask, i)
        })
        .chain(std::iter::once((0, 0, 99)))
        .collect();
    let mut packets: Vec<Vec<u8>> = Vec::new();
    for i in 0..2000u32 {
        let data: Vec<u8> = (0..rnd() % 400).map(|_| rnd() as u8).collect();
        let proto = if rnd() % 10 == 0 { 6 } else { 17 };
        let mut p = build(rnd(), rnd(), rnd() as u16, (i % 100) as u16, &data, proto);
        match rnd() % 16 {
            0 => p[20 + (rnd() % 8) as usize] ^= 4,
            1 => p[15] ^= 1,
            2 => p.truncate(30),
            _ => {}
        }
        packets.push(p);
    }
    let mut sum: u64 = 0;
    let mut errors = [0u32; 4];
    for _ in 0..REPS {
        for p in &packets {
            let r = parse_ipv4(p).and_then(|ip| parse_udp(&ip).map(|u| (ip, u)));
            match r {
                Ok((ip, u)) => {
                    sum = sum.wrapping_mul(31).wrapping_add(u.sport as u64 ^ u.dport as u64);
                    sum = sum.wrapping_add(ip.ttl as u64 + u.data.iter().filter(|&&b| b == b'\n').count() as u64);
                    sum = sum.wrapping_add(longest_prefix(&routes, ip.dst).unwrap_or(0) as u64);
                }
                Err(ParseError::Short) => errors[0] += 1,
                Err(ParseError::Version) => errors[1] += 1,
                Err(ParseError::Checksum) => errors[2] += 1,
                Err(ParseError::Proto(n)) => errors[3] += n as u32,
            }
        }
    }
    println!("packets {} {:?}", sum, errors);
}
