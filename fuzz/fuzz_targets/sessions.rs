//! What a cache service answers: any bytes of a connection are answered by what a client can read, and the same however the bytes are cut;
//! output and memory stay within their limits; and all memory comes back.
#![no_main]

use caudal_kv::datagram;
use caudal_kv::service::{Config, Service};
use caudal_kv::session::{Session, Then};
use caudal_kv::store;
use caudal_proto::datagram::Header;
use caudal_proto::text::{ParsedReply, parse_reply};
use libfuzzer_sys::fuzz_target;

const NOW: u32 = 1_700_000_000;
const VALUE_BYTES_MAX: usize = 200;
const SCAN_BYTES_MAX: usize = 300;
const DATAGRAM_BYTES_MAX: usize = 1_000;
/// The most bytes of an item's lines, and of the lines of `stats`, which stand behind the mark.
const LINES_BYTES: usize = 4_000;

fn service(memory_bytes: usize) -> Service {
    let store = store::Config {
        memory_bytes,
        value_bytes_max: VALUE_BYTES_MAX,
        shards: 2,
        ..store::Config::default()
    };
    Service::new(
        Config {
            store,
            get_line_bytes_max: 3_000,
            scan_items_max: 100,
            scan_bytes_max: SCAN_BYTES_MAX,
            output_bytes_mark: 256,
            datagram_answer_bytes_max: DATAGRAM_BYTES_MAX,
        },
        NOW,
    )
}

fuzz_target!(|input: &[u8]| {
    let whole = answers(&service(1 << 20), &[input]);
    readable(&whole);
    let half = input.len() / 2;
    assert_eq!(answers(&service(1 << 20), &[&input[..half], &input[half..]]), whole);
    if input.len() < 200 {
        assert_eq!(answers(&service(1 << 20), &input.chunks(1).collect::<Vec<_>>()), whole);
    }
    // So little memory that items give way.
    let narrow = service(1_000);
    readable(&answers(&narrow, &input.chunks(7).collect::<Vec<_>>()));
    assert!(narrow.store().used_bytes() <= 1_000 + 100, "{} bytes", narrow.store().used_bytes());
    let mut output = Vec::new();
    datagram::answer(&narrow, input, NOW, &mut output);
    assert!(output.len() <= DATAGRAM_BYTES_MAX || output == datagram::TOO_LONG);
    readable(&output);
    output.clear();
    datagram::serve(&narrow, input, NOW, 100, &mut output);
    for (sequence, datagram) in output.chunks(100).enumerate() {
        let (header, _) = Header::decode(datagram).expect("a frame and a text");
        assert_eq!(
            (usize::from(header.sequence), usize::from(header.total)),
            (sequence, output.len().div_ceil(100))
        );
    }
    narrow.store().flush_all(0, NOW);
    narrow.store().sweep(10_000, NOW);
    assert_eq!(narrow.store().used_bytes(), 0);
});

/// The answers to a stream that comes in these reads.
fn answers(service: &Service, reads: &[&[u8]]) -> Vec<u8> {
    let (mut session, mut input, mut answers) = (Session::new(), Vec::new(), Vec::new());
    for read in reads {
        input.extend_from_slice(read);
        loop {
            let mut output = Vec::new();
            session.kind(&input);
            let served = session.serve(service, &input, NOW, &mut output);
            assert!(output.len() <= 256 + VALUE_BYTES_MAX.max(SCAN_BYTES_MAX) + LINES_BYTES);
            input.drain(..served.consumed);
            answers.extend_from_slice(&output);
            match served.then {
                Then::Read { needed } => {
                    assert!(needed > input.len(), "it asks for what it has");
                    break;
                }
                Then::Send => assert!(served.consumed > 0 || !output.is_empty(), "it goes on"),
                Then::Again => assert!(served.consumed > 0, "it goes on"),
                Then::Close => return answers,
            }
        }
    }
    answers
}

/// Whether a client can read all of it.
fn readable(answers: &[u8]) {
    let mut at = 0;
    while at < answers.len() {
        match parse_reply(&answers[at..], 1_000) {
            ParsedReply::Message { consumed, .. } => at += consumed,
            other => panic!("{other:?} at {at} of {}", answers.escape_ascii()),
        }
    }
}
