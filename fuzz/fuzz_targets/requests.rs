//! What clients send: any bytes are requests, are refused, end the connection or ask for more. The parser always goes on; a request
//! that was parsed is the same one after it was written again; and however the bytes are cut, the same comes out of them.
#![no_main]

use caudal_proto::text::{Limits, Parsed, Writer, parse};
use libfuzzer_sys::fuzz_target;

const LIMITS: Limits = Limits { value_bytes_max: 200, get_line_bytes_max: 3_000, scan_items_max: 100 };

fuzz_target!(|input: &[u8]| {
    let whole = results(&[input]);
    let half = input.len() / 2;
    assert_eq!(results(&[&input[..half], &input[half..]]), whole);
    if input.len() < 200 {
        assert_eq!(results(&input.chunks(1).collect::<Vec<_>>()), whole);
    }
});

/// What comes of a stream that arrives in `reads`, as text.
fn results(reads: &[&[u8]]) -> Vec<String> {
    let (mut buffer, mut results, mut skip) = (Vec::new(), Vec::new(), 0);
    for read in reads {
        let dropped = skip.min(read.len());
        skip -= dropped;
        buffer.extend_from_slice(&read[dropped..]);
        let mut at = 0;
        loop {
            let input = &buffer[at..];
            let parsed = parse(input, &LIMITS);
            let (consumed, more) = match parsed {
                Parsed::Message { consumed, request } => {
                    check_again(&request);
                    (consumed, 0)
                }
                Parsed::Invalid { consumed, .. } => (consumed, 0),
                Parsed::Skip { consumed, skip, .. } => (consumed, skip),
                Parsed::Incomplete { needed } | Parsed::Block { needed, .. } => {
                    assert!(needed > input.len());
                    break;
                }
                Parsed::Close { .. } => {
                    results.push(format!("{parsed:?}"));
                    return results;
                }
            };
            assert!(0 < consumed && consumed <= input.len());
            results.push(format!("{parsed:?}"));
            let dropped = more.min(input.len() - consumed);
            skip = more - dropped;
            at += consumed + dropped;
        }
        buffer.drain(..at);
    }
    results
}

fn check_again(request: &caudal_proto::text::Request<'_>) {
    let mut buffer = [0; 8_192];
    let mut writer = Writer::new(&mut buffer);
    writer.request(request).expect("the buffer is larger than any input");
    match parse(writer.written(), &LIMITS) {
        Parsed::Message { request: again, consumed } => {
            assert_eq!((&again, consumed), (request, writer.written().len()));
        }
        other => panic!("{request:?} is written as what is parsed as {other:?}"),
    }
}
