//! Random requests and replies that own their bytes, and streams of them.

use caudal_proto::text::{Direction, Line, Request, Scan, ScanStart, Store, StoreLine, StoreMode, Writer};
use proptest::collection::vec;
use proptest::prelude::*;

/// Bytes of a key: short ones, long ones, and such of more than seven bits.
pub(crate) fn key() -> impl Strategy<Value = Vec<u8>> {
    let byte = prop_oneof![4 => 0x21..=0x7e_u8, 1 => 0x80..=0xff_u8];
    prop_oneof![4 => vec(byte.clone(), 1..20), 1 => vec(byte, 240..=250)]
}

/// Values, also such that look like protocol.
pub(crate) fn data() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        vec(any::<u8>(), 0..60),
        vec(prop_oneof![Just(b'\r'), Just(b'\n'), Just(b'E'), Just(b' ')], 0..20),
        Just(b"END\r\nVALUE a 0 1\r\n".to_vec()),
    ]
}

fn mode() -> impl Strategy<Value = StoreMode> {
    prop_oneof![
        Just(StoreMode::Set),
        Just(StoreMode::Add),
        Just(StoreMode::Replace),
        Just(StoreMode::Append),
        Just(StoreMode::Prepend),
        any::<u64>().prop_map(StoreMode::Cas),
    ]
}

/// The bytes of `request`.
pub(crate) fn encoded(request: &Request<'_>) -> Vec<u8> {
    let mut buffer = vec![0; 8_192];
    let mut writer = Writer::new(&mut buffer);
    writer.request(request).expect("the buffer is large");
    writer.written().to_vec()
}

/// A request, encoded. Retrievals have several keys, which only an encoded request can hold together.
pub(crate) fn request() -> impl Strategy<Value = Vec<u8>> {
    let store = (mode(), key(), any::<u32>(), any::<i64>(), data(), any::<bool>()).prop_map(
        |(mode, key, flags, exptime, data, noreply)| {
            let line = StoreLine { mode, key: &key, flags, exptime, data_bytes: data.len(), noreply };
            encoded(&Request::Store(Store { line, data: &data }))
        },
    );
    let retrieval = (prop_oneof!["get", "gets", "gat -7", "gats 3000000000"], vec(key(), 1..4)).prop_map(
        |(name, keys)| {
            let mut bytes = name.into_bytes();
            for key in keys {
                bytes.push(b' ');
                bytes.extend(key);
            }
            bytes.extend(b"\r\n");
            bytes
        },
    );
    let direction = prop_oneof![Just(Direction::Up), Just(Direction::Down)];
    let keyed = (key(), direction, any::<u64>(), any::<i64>(), any::<bool>(), 0..3).prop_map(
        |(key, direction, delta, exptime, noreply, which)| {
            encoded(&match which {
                0 => Request::Arithmetic { key: &key, direction, delta, noreply },
                1 => Request::Touch { key: &key, exptime, noreply },
                _ => Request::Delete { key: &key, noreply },
            })
        },
    );
    let scan = (1..1_000_u32, key(), any::<u64>(), 0..3).prop_map(|(limit, key, cursor, which)| {
        let start = match which {
            0 => ScanStart::First,
            1 => ScanStart::Key(&key),
            _ => ScanStart::Cursor(cursor),
        };
        encoded(&Request::Scan(Scan { limit, start }))
    });
    let other =
        (any::<i64>(), any::<u32>(), any::<bool>(), 0..6).prop_map(|(delay, level, noreply, which)| {
            encoded(&match which {
                0 => Request::FlushAll { delay, noreply },
                1 => Request::Verbosity { level, noreply },
                2 => Request::Version,
                3 => Request::Quit,
                4 => Request::Stats { arguments: b"" },
                _ => Request::Stats { arguments: b"items 1" },
            })
        });
    prop_oneof![3 => store, 3 => retrieval, 2 => keyed, 1 => scan, 1 => other]
}

/// Bytes that are a request, look like one, or are none.
pub(crate) fn anything() -> impl Strategy<Value = Vec<u8>> {
    let like = "(get|gets|gat|set|add|cas|incr|delete|touch|scan|flush_all|stats|verbosity)( |  )(k|0|-1|7|noreply|at|from|\t| ){0,9}(\r\n|\n)";
    prop_oneof![3 => request(), 2 => like.prop_map(String::into_bytes), 1 => vec(any::<u8>(), 0..40)]
}

/// A part of a reply, encoded.
pub(crate) fn reply() -> impl Strategy<Value = Vec<u8>> {
    let written = |write: &dyn Fn(&mut Writer<'_>)| {
        let mut buffer = [0; 1_024];
        let mut writer = Writer::new(&mut buffer);
        write(&mut writer);
        writer.written().to_vec()
    };
    let value =
        (key(), any::<u32>(), any::<Option<u64>>(), data()).prop_map(move |(key, flags, cas, data)| {
            written(&|writer| writer.value(&key, flags, cas, &data).unwrap())
        });
    let line =
        (0..Line::ALL.len()).prop_map(move |index| written(&|writer| writer.line(Line::ALL[index]).unwrap()));
    let number = (any::<u64>(), 0..4).prop_map(move |(number, which)| {
        written(&|writer| match which {
            0 => writer.number(number).unwrap(),
            1 => writer.cursor(number).unwrap(),
            2 => writer.stat_number(b"cmd_get", number).unwrap(),
            _ => writer.version(b"1.6.18").unwrap(),
        })
    });
    prop_oneof![3 => value, 1 => line, 1 => number]
}
