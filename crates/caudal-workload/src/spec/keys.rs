//! Tables whose keys depend on one of them, such as `distribution = "…"`: which keys are allowed with it, and which are needed.
//! The readers of specs of services and of arrivals declare their tables by it, and ask it when a table is read. Pure.
//!
//! Serde's own tagged enums read the table into a buffer first, and an error then points at the whole
//! table. Here every possible key is read in place, so that a wrong unit or an unknown key is reported at
//! its own position; which keys belong together is checked afterwards.

/// Declares a struct of optional keys with `deny_unknown_fields`, and `given`, the names of those present.
macro_rules! keys {
    ($(#[$meta:meta])* struct $name:ident { $($key:ident : $type:ty),* $(,)? }) => {
        $(#[$meta])*
        #[derive(serde::Deserialize)]
        #[serde(deny_unknown_fields)]
        struct $name { $(#[serde(default, deserialize_with = "crate::spec::keys::some")] $key: Option<$type>),* }

        impl $name {
            /// Refuses keys that are not in `allowed` (nor the `tag`); `what` is the reason in words.
            fn only(&self, what: &str, allowed: &[&str]) -> Result<(), String> {
                let given = [$((stringify!($key).trim_start_matches("r#"), self.$key.is_some())),*];
                for (key, present) in given {
                    if present && !allowed.contains(&key) {
                        return Err($crate::spec::keys::surplus(what, key, allowed));
                    }
                }
                Ok(())
            }
        }
    };
}
pub(crate) use keys;

use serde::{Deserialize, Deserializer};

/// A key that is there has a value (a JSON `null` is an error of the value's own type).
pub(crate) fn some<'de, D: Deserializer<'de>, T: Deserialize<'de>>(de: D) -> Result<Option<T>, D::Error> {
    T::deserialize(de).map(Some)
}

/// The message for a key that belongs to something else.
pub(crate) fn surplus(what: &str, key: &str, allowed: &[&str]) -> String {
    // The first allowed key is the tag itself.
    let rest: Vec<String> = allowed.iter().skip(1).map(|key| format!("`{key}`")).collect();
    if rest.is_empty() {
        return format!("`{key}` does not belong to {what}, which takes no other key");
    }
    format!("`{key}` does not belong to {what}, which takes {}", rest.join(", "))
}

/// The value of a key that must be there.
pub(crate) fn need<T>(what: &str, key: &str, value: Option<T>) -> Result<T, String> {
    value.ok_or_else(|| format!("{what} needs `{key}`"))
}
