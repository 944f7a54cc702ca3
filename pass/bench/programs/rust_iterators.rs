//! Statistics of trips by chains of iterators and closures: filters, maps, folds, windows, zips and a flat_map.
//! Stands for idiomatic Rust: loops that exist only after inlining, with `next` calls that unoptimised builds make.

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

#[derive(Clone)]
struct Trip {
    zone: u32,
    start: u32,
    metres: Vec<u32>,
}

fn random_trip(random: &mut Random) -> Trip {
    let (zone, start, legs) = (random.below(20), random.below(86_400), random.below(12));
    Trip { zone, start, metres: (0..legs).map(|_| random.below(5_000)).collect() }
}

/// The metres of all trips that start within an hour.
fn metres_of_hour(trips: &[Trip], hour: u32) -> u64 {
    trips
        .iter()
        .filter(|trip| trip.start / 3_600 == hour)
        .flat_map(|trip| trip.metres.iter())
        .map(|&metres| u64::from(metres))
        .sum()
}

/// How often a leg is longer than the one before it.
fn growing_legs(trips: &[Trip]) -> usize {
    trips.iter().map(|trip| trip.metres.windows(2).filter(|pair| pair[1] > pair[0]).count()).sum()
}

/// The longest trip of a zone: its metres and its place.
fn longest_trip(trips: &[Trip], zone: u32) -> Option<(u32, usize)> {
    trips
        .iter()
        .enumerate()
        .filter(|(_, trip)| trip.zone == zone)
        .map(|(index, trip)| (trip.metres.iter().sum(), index))
        .max()
}

/// A moving sum of the starts, compared with the starts turned round.
fn agreement(trips: &[Trip]) -> u64 {
    let sums = trips.iter().scan(0u32, |sum, trip| {
        *sum = (*sum / 2) + trip.start;
        Some(*sum)
    });
    sums.zip(trips.iter().rev())
        .filter(|(sum, trip)| sum % 97 < trip.start % 97)
        .fold(0, |count, _| count + 1)
}

fn main() {
    let mut random = Random(50);
    let mut trips: Vec<Trip> = (0..2_000).map(|_| random_trip(&mut random)).collect();

    let mut checksum = 0;
    for _ in 0..scaled_rounds(12_000) {
        checksum = (0..24).map(|hour| metres_of_hour(&trips, hour)).fold(checksum, mix);
        checksum = mix(checksum, growing_legs(&trips) as u64);
        checksum = (0..20)
            .filter_map(|zone| longest_trip(&trips, zone))
            .fold(checksum, |checksum, (metres, index)| {
                mix(checksum, u64::from(metres) * 10_000 + index as u64)
            });
        checksum = mix(checksum, agreement(&trips));
        let changed = random.below(2_000) as usize;
        trips[changed] = random_trip(&mut random);
    }
    println!("{checksum:016x}");
}
