//! Searches and orders slices: the standard sorts by various keys, binary searches, merges of sorted halves, rotations
//! and a selection.
//! Stands for Rust on slices: bounds checks that remain, comparison closures, the library's sorting loops.

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

#[derive(Clone, Copy, PartialEq, Eq)]
struct Reading {
    time: u32,
    sensor: u16,
    value: i16,
}

fn readings(count: usize, random: &mut Random) -> Vec<Reading> {
    let mut reading = |_| {
        let (time, sensor, value) =
            (random.below(1 << 20), random.below(300) as u16, random.below(2_000) as i16);
        Reading { time, sensor, value: value - 1_000 }
    };
    (0..count).map(&mut reading).collect()
}

/// Sorts by insertion: for slices that are nearly sorted already.
fn insertion_sort(slice: &mut [u32]) {
    for i in 1..slice.len() {
        let mut j = i;
        while j > 0 && slice[j - 1] > slice[j] {
            slice.swap(j - 1, j);
            j -= 1;
        }
    }
}

fn merge(left: &[u32], right: &[u32], merged: &mut [u32]) {
    let (mut i, mut j) = (0, 0);
    for place in merged.iter_mut() {
        if j == right.len() || (i < left.len() && left[i] <= right[j]) {
            *place = left[i];
            i += 1;
        } else {
            *place = right[j];
            j += 1;
        }
    }
}

/// The readings of one sensor, in order of time, as a slice of all that are sorted by both.
fn of_sensor(sorted: &[Reading], sensor: u16) -> &[Reading] {
    let from = sorted.partition_point(|reading| reading.sensor < sensor);
    let to = sorted.partition_point(|reading| reading.sensor <= sensor);
    &sorted[from..to]
}

fn median(values: &mut [i16]) -> i16 {
    let middle = values.len() / 2;
    *values.select_nth_unstable(middle).1
}

/// Times in order from two halves, with late ones that a pass of insertion puts right.
fn merged_times(readings: &[Reading]) -> Vec<u32> {
    let mut times: Vec<u32> = readings.iter().map(|reading| reading.time).collect();
    let (left, right) = times.split_at_mut(readings.len() / 2);
    left.sort_unstable();
    right.sort_unstable();
    let mut merged = vec![0; readings.len()];
    merge(left, right, &mut merged);
    for chunk in merged.chunks_mut(64) {
        chunk.rotate_left(2);
    }
    insertion_sort(&mut merged);
    merged
}

fn round(readings: &mut [Reading], values: &mut Vec<i16>) -> u64 {
    let mut checksum =
        merged_times(readings).iter().step_by(101).fold(0, |sum, &time| mix(sum, u64::from(time)));
    readings.sort_by_key(|reading| (reading.sensor, reading.time, reading.value));
    for sensor in 0..300 {
        let own = of_sensor(readings, sensor);
        if let Some(last) = own.last() {
            values.clear();
            values.extend(own.iter().map(|reading| reading.value));
            checksum = mix(mix(checksum, u64::from(last.time)), median(values) as u64);
        }
    }
    checksum
}

fn main() {
    let mut random = Random(52);
    let mut values = Vec::new();
    let mut checksum = 0;
    for _ in 0..scaled_rounds(650) {
        let mut readings = readings(20_000, &mut random);
        checksum = mix(checksum, round(&mut readings, &mut values));
    }
    println!("{checksum:016x}");
}
