//! What servers answer: any bytes are replies, are refused or ask for more, and however they are cut, the same comes out of them. The first
//! byte of an input says which protocol it is.
#![no_main]

use caudal_proto::spin;
use caudal_proto::text::{ParsedReply, parse_reply};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    let Some((&kind, input)) = input.split_first() else { return };
    match kind {
        b's' => check_spin(input),
        _ => {
            let whole = results(&[input]);
            let half = input.len() / 2;
            assert_eq!(results(&[&input[..half], &input[half..]]), whole);
            if input.len() < 200 {
                assert_eq!(results(&input.chunks(1).collect::<Vec<_>>()), whole);
            }
        }
    }
});

fn results(reads: &[&[u8]]) -> Vec<String> {
    let (mut buffer, mut results) = (Vec::new(), Vec::new());
    for read in reads {
        buffer.extend_from_slice(read);
        let mut at = 0;
        loop {
            let input = &buffer[at..];
            let parsed = parse_reply(input, 200);
            match parsed {
                ParsedReply::Message { consumed, .. } => {
                    assert!(0 < consumed && consumed <= input.len());
                    results.push(format!("{parsed:?}"));
                    at += consumed;
                }
                ParsedReply::Incomplete { needed } => {
                    assert!(needed > input.len());
                    break;
                }
                ParsedReply::Invalid(_) => {
                    results.push(format!("{parsed:?}"));
                    return results;
                }
            }
        }
        buffer.drain(..at);
    }
    results
}

/// A message that was parsed is written as the same bytes.
fn check_spin(input: &[u8]) {
    match spin::Request::parse(input) {
        spin::Parsed::Message { message, consumed } => assert_eq!(message.encode(), input[..consumed]),
        spin::Parsed::Incomplete { needed } => assert!(needed > input.len()),
        spin::Parsed::Invalid(strange) => assert!(!strange.to_string().is_empty()),
    }
    match spin::Reply::parse(input) {
        spin::Parsed::Message { message, consumed } => assert_eq!(message.encode(), input[..consumed]),
        spin::Parsed::Incomplete { needed } => assert!(needed > input.len()),
        spin::Parsed::Invalid(strange) => assert!(!strange.to_string().is_empty()),
    }
}
