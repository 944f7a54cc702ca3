//! The kind of a request before it runs is that of the request that is parsed.

use caudal_kv::kind::{Classes, Kind};
use caudal_proto::text::{Limits, Parsed, Request, parse};
use caudal_rt::{Builder, Pinning};
use proptest::prelude::*;

/// The kind of a request that was parsed.
fn of_request(request: &Request<'_>) -> Kind {
    match request {
        Request::Get { keys, .. } | Request::GetAndTouch { keys, .. } => {
            if keys.iter().count() > 1 {
                Kind::MultiGet
            } else {
                Kind::Get
            }
        }
        Request::Store(_) => Kind::Set,
        Request::Arithmetic { .. } | Request::Touch { .. } | Request::Delete { .. } => Kind::Update,
        Request::Scan(_) => Kind::Scan,
        _ => Kind::Other,
    }
}

#[test]
fn kinds_are_those_of_the_commands() {
    for (input, kind) in [
        ("get a\r\n", Kind::Get),
        ("get a \r\n", Kind::Get),
        ("get a\nget b\r\n", Kind::Get),
        ("  get   a\r\n", Kind::Get),
        ("get a", Kind::Get),
        ("get a b\r\n", Kind::MultiGet),
        ("get  a  b\r\n", Kind::MultiGet),
        ("gats 5 a b\r\n", Kind::MultiGet),
        ("gat 5 a\r\n", Kind::Get),
        ("gets a\r\n", Kind::Get),
        ("set a 0 0 1\r\nx\r\n", Kind::Set),
        ("cas a 0 0 1 5\r\n", Kind::Set),
        ("incr a 1\r\n", Kind::Update),
        ("delete a noreply\r\n", Kind::Update),
        ("scan 100 from a\r\n", Kind::Scan),
        ("stats\r\n", Kind::Other),
        ("gett a\r\n", Kind::Other),
        ("", Kind::Other),
        ("\x00\x01\r\n", Kind::Other),
    ] {
        assert_eq!(Kind::of(input.as_bytes()), kind, "{}", input.escape_debug());
    }
    let longest = "k".repeat(250);
    assert_eq!(Kind::of(format!("get {longest}\r\n").as_bytes()), Kind::Get);
    assert_eq!(Kind::of(format!("get {longest} b\r\n").as_bytes()), Kind::MultiGet);
}

#[test]
fn each_kind_has_a_class_of_its_own() {
    let text = "[system]\ncores = 1\npools = \"per-core\"\ndispatch = { policy = \"random\" }\n\
                discipline = { policy = \"processor-sharing\", quantum = \"2us\" }\n";
    let runtime = Builder::parse(text, "test.toml").unwrap().pinning(Pinning::None).start().unwrap();
    let classes = Classes::new(|name| runtime.class(name)).unwrap();
    for kind in Kind::ALL {
        assert_eq!(classes.of(kind), runtime.class(kind.name()).unwrap());
    }
    let distinct: std::collections::HashSet<_> = Kind::ALL.iter().map(|&kind| classes.of(kind)).collect();
    assert_eq!(distinct.len(), Kind::ALL.len());
}

proptest! {
    #[test]
    fn the_kind_is_that_of_the_request(
        input in "(get|gets|gat 5|gats -1|set|add|cas|incr|touch|delete|scan|stats|version|flush_all)( |  )(k|0|7|noreply){0,1}( (0|5|k)){0,5}( |)(\r\n|\n)(x\r\n){0,1}"
    ) {
        if let Parsed::Message { request, .. } = parse(input.as_bytes(), &Limits::default()) {
            prop_assert_eq!(Kind::of(input.as_bytes()), of_request(&request));
        }
    }

    #[test]
    fn any_bytes_have_a_kind(input in proptest::collection::vec(any::<u8>(), 0..400)) {
        Kind::of(&input);
    }
}
