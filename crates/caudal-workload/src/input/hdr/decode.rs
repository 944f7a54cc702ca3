//! Encoded HdrHistograms: of all versions of the format (V0, V1, V2), plain or compressed, of integers or of doubles. The reader of interval logs
//! calls [`decode`] for each line. Pure.
//!
//! The crate `hdrhistogram` reads V2 alone. The layouts are those of the reference implementation in Java
//! (`AbstractHistogram.decodeFromByteBuffer`, `DoubleHistogram`):
//!
//! ```text
//! cookie  4 bytes; its low byte names version and kind, its second digit the size of a count
//! V0      digits u32, lowest u64, highest u64, total u64, then counts of 2, 4 or 8 bytes
//! V1, V2  length u32, offset u32, digits u32, lowest u64, highest u64, ratio f64, then
//!         V1: counts of 2, 4 or 8 bytes; V2: counts as ZigZag LEB128, a negative one is so many zeros
//! double  digits u32, highest-to-lowest u64, then a histogram of integers whose values × ratio are meant
//! compressed: cookie, length u32, then zlib of the above
//! ```
//!
//! The index of a count says which values it counts: a sub-bucket of bucket k holds 2^k values, as everywhere in HdrHistogram.

use std::io::Read as _;

use flate2::read::ZlibDecoder;

/// Counts of values with the bounds of each, in the histogram's own unit.
#[derive(Debug, PartialEq)]
pub(super) struct Decoded {
    /// Lowest and highest equivalent value, and the count.
    pub(super) counts: Vec<(f64, f64, u64)>,
    /// Do the values have fractions: is it a histogram of doubles?
    pub(super) is_double: bool,
}

/// Most bytes of an encoded histogram after it is uncompressed.
const BYTES_MAX: u64 = 64 << 20;
/// The largest number of counts that a histogram has: five digits over all of 63 bits.
const COUNTS_MAX: usize = 1 << 25;

/// Decodes a histogram.
///
/// # Errors
/// The fault of the bytes, in words.
pub(super) fn decode(bytes: &[u8]) -> Result<Decoded, String> {
    let mut bytes = Bytes(bytes);
    let cookie = bytes.u32()?;
    match (cookie & !0xf0, cookie) {
        (_, 0x0c72_124e | 0x0c72_124f) => {
            let (_digits, _ratio) = (bytes.u32()?, bytes.u64()?);
            let Decoded { counts, .. } = decode(bytes.0)?;
            Ok(Decoded { counts, is_double: true })
        }
        (0x1c84_9309 | 0x1c84_9302 | 0x1c84_9304, _) => {
            let length = bytes.u32()? as usize;
            let packed = bytes.0.get(..length).ok_or("it is cut off")?;
            let mut plain = Vec::new();
            let mut inflate = ZlibDecoder::new(packed).take(BYTES_MAX);
            inflate
                .read_to_end(&mut plain)
                .map_err(|error| format!("its compressed part is damaged ({error})"))?;
            if matches!(plain.get(..4), Some([0x1c, 0x84, 0x93, kind]) if [0x9, 0x2, 0x4].contains(&(kind & 0xf)))
            {
                return Err("it is compressed twice".to_owned());
            }
            decode(&plain)
        }
        (0x1c84_9308, _) => {
            let (digits, lowest, _highest, _total) = (bytes.u32()?, bytes.u64()?, bytes.u64()?, bytes.u64()?);
            counts(Layout::new(digits, lowest, 1.0)?, &fixed(bytes, cookie)?)
        }
        (0x1c84_9301 | 0x1c84_9303, _) => {
            let (length, _offset) = (bytes.u32()? as usize, bytes.u32()?);
            let (digits, lowest, _highest, ratio) = (bytes.u32()?, bytes.u64()?, bytes.u64()?, bytes.f64()?);
            let payload = Bytes(bytes.0.get(..length).ok_or("it is cut off")?);
            let is_v2 = cookie & !0xf0 == 0x1c84_9303;
            let found = if is_v2 { zigzag(payload)? } else { fixed(payload, cookie)? };
            counts(Layout::new(digits, lowest, ratio)?, &found)
        }
        _ => Err(format!("it begins with {cookie:#010x}, as no version of the format does")),
    }
}

/// Bytes that are read from the front.
#[derive(Clone, Copy)]
struct Bytes<'a>(&'a [u8]);

impl Bytes<'_> {
    fn take<const N: usize>(&mut self) -> Result<[u8; N], String> {
        let (first, rest) = self.0.split_first_chunk().ok_or("it is cut off")?;
        self.0 = rest;
        Ok(*first)
    }

    fn u32(&mut self) -> Result<u32, String> {
        self.take().map(u32::from_be_bytes)
    }

    fn u64(&mut self) -> Result<u64, String> {
        self.take().map(u64::from_be_bytes)
    }

    fn f64(&mut self) -> Result<f64, String> {
        self.take().map(f64::from_be_bytes)
    }
}

/// Index and count of each count that is not 0.
type Counts = Vec<(usize, u64)>;

/// Counts of 2, 4 or 8 bytes, as the cookie says.
fn fixed(bytes: Bytes<'_>, cookie: u32) -> Result<Counts, String> {
    let size = (cookie >> 4 & 0xe) as usize;
    if ![2, 4, 8].contains(&size) {
        return Err(format!("its counts have {size} bytes, instead of 2, 4 or 8"));
    }
    let value = |bytes: &[u8]| bytes.iter().fold(0u64, |value, &byte| value << 8 | u64::from(byte));
    let counts = bytes.0.chunks_exact(size).map(value).enumerate();
    Ok(counts.filter(|(_, count)| *count > 0).collect())
}

/// Counts as ZigZag LEB128 of at most 9 bytes; a negative one stands for as many zeros.
fn zigzag(bytes: Bytes<'_>) -> Result<Counts, String> {
    let mut counts = Vec::new();
    let (mut at, mut index) = (0, 0usize);
    while at < bytes.0.len() {
        let (mut value, mut shift) = (0u64, 0);
        loop {
            let byte = *bytes.0.get(at).ok_or("it ends within a count")?;
            at += 1;
            // The ninth byte has eight bits of the value.
            if shift == 56 {
                value |= u64::from(byte) << 56;
                break;
            }
            value |= u64::from(byte & 0x7f) << shift;
            shift += 7;
            if byte & 0x80 == 0 {
                break;
            }
        }
        let count = (value >> 1) as i64 ^ -((value & 1) as i64);
        if count < 0 {
            index = usize::try_from(count.unsigned_abs())
                .ok()
                .and_then(|zeros| index.checked_add(zeros))
                .unwrap_or(usize::MAX);
        } else {
            if count > 0 {
                counts.push((index, count as u64));
            }
            index = index.saturating_add(1);
        }
        if index > COUNTS_MAX {
            return Err("it has more counts than any histogram".to_owned());
        }
    }
    Ok(counts)
}

/// The mapping from an index to the values that are counted there.
struct Layout {
    unit_magnitude: u32,
    half_magnitude: u32,
    ratio: f64,
}

impl Layout {
    fn new(digits: u32, lowest: u64, ratio: f64) -> Result<Layout, String> {
        if digits > 5 {
            return Err(format!("it has {digits} significant digits; there are 0 to 5"));
        }
        if lowest == 0 || !(ratio > 0.0 && ratio.is_finite()) {
            return Err("its lowest value, or the ratio of its values, is none".to_owned());
        }
        let sub_buckets = 2 * 10u64.pow(digits);
        let magnitude = u64::BITS - (sub_buckets - 1).leading_zeros();
        Ok(Layout { unit_magnitude: lowest.ilog2(), half_magnitude: magnitude.max(1) - 1, ratio })
    }

    /// Lowest and highest value of an index; `None` beyond 63 bits.
    fn values(&self, index: usize) -> Option<(f64, f64)> {
        let half = 1u64 << self.half_magnitude;
        let index = index as u64;
        let (bucket, sub_bucket) = match (index >> self.half_magnitude).checked_sub(1) {
            Some(bucket) => (bucket, (index & (half - 1)) + half),
            None => (0, index),
        };
        let shift =
            u32::try_from(bucket).ok()?.checked_add(self.unit_magnitude).filter(|shift| *shift < 63)?;
        let low = sub_bucket.checked_shl(shift).filter(|low| low >> shift == sub_bucket)?;
        let high = low.checked_add((1 << shift) - 1)?;
        Some((low as f64 * self.ratio, high as f64 * self.ratio))
    }
}

fn counts(layout: Layout, counts: &[(usize, u64)]) -> Result<Decoded, String> {
    let of = |&(index, count): &(usize, u64)| {
        let (low, high) = layout.values(index).ok_or("it has values beyond 63 bits")?;
        Ok((low, high, count))
    };
    Ok(Decoded { counts: counts.iter().map(of).collect::<Result<_, String>>()?, is_double: false })
}
