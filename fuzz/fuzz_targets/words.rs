//! Small words of files and of the command line: times, rates, targets. What is read is the same after it
//! was shown; what is not points at a part of the text.
#![no_main]

use caudal_config::{LatencyTarget, Rate};
use caudal_policy::Picos;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    if let Ok(time) = Picos::parse(text) {
        assert_eq!(Picos::parse(&time.to_string()).ok(), Some(time), "{text:?} is {time}");
    }
    if let Ok(rate) = Rate::parse(text) {
        let again = Rate::parse(&rate.to_string()).expect("what a rate shows can be read").per_s();
        assert!((again - rate.per_s()).abs() <= 1e-9 * rate.per_s(), "{text:?} is {rate}");
    }
    match LatencyTarget::parse(text) {
        Ok(target) => {
            let shown = target.to_string();
            assert_eq!(LatencyTarget::parse(&shown).ok(), Some(target), "{text:?} is {shown:?}");
        }
        Err(error) => {
            assert!(text.get(error.span.0..error.span.1).is_some(), "{text:?}: {error:?}");
            assert!(!error.problem.is_empty());
        }
    }
});
