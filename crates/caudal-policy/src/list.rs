//! A short list that is copied like a number. Configurations of policies hold one wherever a file has a list (cutoffs, reservations), because
//! policies do not allocate; so do the lengths of stalls in `caudal-config`. The list is built when a file is read, or by code that makes a
//! configuration. Only reading one with serde allocates.

use core::fmt;
use core::ops::Deref;

/// Up to [`List::CAPACITY`] values, kept in place: policies do not allocate, and their configurations are `Copy`.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct List<T> {
    /// The values; the ones beyond `len` are defaults, so that equal lists are equal.
    items: [T; LIST_CAPACITY],
    len: u8,
}

const LIST_CAPACITY: usize = 16;

/// More than [`List::CAPACITY`] values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLong;

impl<T: Copy + Default> List<T> {
    /// Most values of a list.
    pub const CAPACITY: usize = LIST_CAPACITY;

    /// A list of `values`.
    ///
    /// # Errors
    /// [`TooLong`].
    pub fn new(values: &[T]) -> Result<List<T>, TooLong> {
        let mut list = List::default();
        list.items.get_mut(..values.len()).ok_or(TooLong)?.copy_from_slice(values);
        list.len = values.len() as u8;
        Ok(list)
    }
}

impl<T: Copy + Default> Default for List<T> {
    fn default() -> List<T> {
        List { items: [T::default(); LIST_CAPACITY], len: 0 }
    }
}

impl<T> Deref for List<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.items[..usize::from(self.len)]
    }
}

impl<T: fmt::Debug> fmt::Debug for List<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self[..].fmt(f)
    }
}

#[cfg(feature = "serde")]
impl<T: serde::Serialize> serde::Serialize for List<T> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter())
    }
}

#[cfg(feature = "serde")]
impl<'de, T: serde::Deserialize<'de> + Copy + Default> serde::Deserialize<'de> for List<T> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<List<T>, D::Error> {
        let values = alloc::vec::Vec::<T>::deserialize(deserializer)?;
        let too_long = |TooLong| {
            let (given, most) = (values.len(), LIST_CAPACITY);
            serde::de::Error::custom(alloc::format!(
                "there are {given} values, and at most {most} are possible"
            ))
        };
        List::new(&values).map_err(too_long)
    }
}

#[cfg(feature = "schema")]
impl<T: schemars::JsonSchema> schemars::JsonSchema for List<T> {
    fn schema_name() -> alloc::borrow::Cow<'static, str> {
        alloc::format!("List_of_{}", T::schema_name()).into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "type": "array",
            "items": generator.subschema_for::<T>(),
            "maxItems": LIST_CAPACITY,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_holds_what_it_was_given() {
        let list = List::new(&[3, 1, 2]).unwrap();
        assert_eq!(&list[..], [3, 1, 2]);
        assert_eq!(alloc::format!("{list:?}"), "[3, 1, 2]");
        assert_ne!(list, List::new(&[3, 1, 2, 0]).unwrap(), "a last zero counts");
        assert!(List::new(&[0; 16]).is_ok());
        assert_eq!(List::new(&[0; 17]), Err(TooLong));
    }
}
