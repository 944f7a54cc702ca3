//! Datagrams of replies, in any order and of any content: each is dropped, waits, or makes a reply whole, which has the bytes of its
//! datagrams in their order. An input is a row of datagrams, each behind a byte that says how long it is.
#![no_main]

use std::collections::HashMap;

use caudal_proto::datagram::{Added, Assembler, Header, request};
use libfuzzer_sys::fuzz_target;

/// More messages than an input can begin: none gives way.
const MESSAGES: usize = 512;

fuzz_target!(|input: &[u8]| {
    let mut assembler = Assembler::new(MESSAGES, 1_000, 4);
    let mut seen: HashMap<(u16, u16), Vec<Option<Vec<u8>>>> = HashMap::new();
    let mut rest = input;
    while let Some((&length, behind)) = rest.split_first() {
        let (datagram, behind) = behind.split_at(usize::from(length % 64).min(behind.len()));
        rest = behind;
        let Ok((header, payload)) = Header::decode(datagram) else {
            assert!(request(datagram).is_err());
            continue;
        };
        assert_eq!(request(datagram).is_ok(), header.total == 1);
        assert_eq!(Header::decode(&[&header.encode()[..], payload].concat()), Ok((header, payload)));
        // Another total under the same number is another message, which takes the place of the former.
        seen.retain(|&(number, total), _| {
            number != header.request || total == header.total || header.total == 1
        });
        let pieces =
            seen.entry((header.request, header.total)).or_insert_with(|| vec![None; header.total.into()]);
        match assembler.add(0, header, payload) {
            Added::Whole(bytes) => {
                pieces[usize::from(header.sequence)] = Some(payload.to_vec());
                let expected: Vec<u8> =
                    pieces.drain(..).flat_map(|piece| piece.expect("it is whole")).collect();
                assert_eq!(bytes, expected);
                seen.remove(&(header.request, header.total));
            }
            Added::Waits => {
                assert!(pieces[usize::from(header.sequence)].replace(payload.to_vec()).is_none());
                assert!(pieces.iter().any(Option::is_none));
            }
            Added::Doubled => assert!(pieces[usize::from(header.sequence)].is_some()),
            Added::TooLong => {
                seen.remove(&(header.request, header.total));
            }
        }
    }
});
