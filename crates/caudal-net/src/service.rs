//! The server's own part: bytes of a datagram or a connection in, bytes of the answer out.
//! Programs implement [`Service`]. The inlet asks it for the class of each datagram and connection before it submits a request; the request calls it
//! to serve the bytes, on whichever worker runs it, so several threads call it at the same time.

use caudal_proto::stream::Served;
use caudal_rt::ClassId;

/// The origin of a request.
#[derive(Debug)]
pub enum Origin<'a, S> {
    /// A datagram.
    Datagram,
    /// A connection, in this state.
    Stream(&'a S),
}

/// A server's requests. All workers share it, and its functions are called in requests of the runtime, which may be pre-empted at probes.
pub trait Service: Send + Sync + 'static {
    /// State of a connection between two calls of [`Service::stream`].
    type Session: Default + Send + 'static;

    /// The class of the request that `bytes` begin with. Called by a worker that reads, before the request runs: it must be quick.
    fn class(&self, origin: Origin<'_, Self::Session>, bytes: &[u8]) -> ClassId;

    /// Carries out the requests in a datagram. A datagram is not answered if `answers` stays empty.
    fn datagram(&self, bytes: &[u8], answers: &mut Answers);

    /// Carries out requests of a connection, in order: as many as `bytes` has, and appends their answers to `answer`. `bytes` begins with what
    /// the last call has not consumed. A connection that needs more bytes for a request than
    /// [`Limits::input_bytes_max`](crate::Limits::input_bytes_max) is closed.
    fn stream(&self, session: &mut Self::Session, bytes: &[u8], answer: &mut Vec<u8>) -> Served;
}

/// Datagrams of an answer, one after the other in one buffer.
#[derive(Debug, Default)]
pub struct Answers {
    bytes: Vec<u8>,
    /// Ends of the datagrams but for the last one.
    cuts: Vec<usize>,
}

impl Answers {
    /// The bytes so far. What a service appends belongs to the present datagram.
    pub fn bytes(&mut self) -> &mut Vec<u8> {
        &mut self.bytes
    }

    /// Ends the present datagram here; what is appended from now on is the next one.
    pub fn cut(&mut self) {
        self.cuts.push(self.bytes.len());
    }

    /// Ends the present datagram after so many bytes, as often as it has more: for a service whose answer is one buffer of datagrams of one
    /// length, the last of which may be shorter.
    ///
    /// # Panics
    /// If `bytes` is 0.
    pub fn cut_every(&mut self, bytes: usize) {
        let begin = self.cuts.last().copied().unwrap_or(0);
        self.cuts.extend((begin + bytes..self.bytes.len()).step_by(bytes));
    }

    /// The datagrams in order, without empty ones.
    pub(crate) fn datagrams(&self) -> impl Iterator<Item = &[u8]> {
        let ends = self.cuts.iter().copied().chain(std::iter::once(self.bytes.len()));
        let mut begin = 0;
        ends.filter_map(move |end| {
            let datagram = self.bytes.get(std::mem::replace(&mut begin, end)..end)?;
            (!datagram.is_empty()).then_some(datagram)
        })
    }

    /// Makes it empty; of the memory not more than `kept` bytes stay.
    pub(crate) fn clear(&mut self, kept: usize) {
        self.cuts.clear();
        self.bytes.clear();
        self.bytes.shrink_to(kept);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_cut_into_datagrams() {
        let mut answers = Answers::default();
        assert_eq!(answers.datagrams().count(), 0);
        answers.bytes().extend_from_slice(b"one");
        answers.cut();
        answers.cut();
        answers.bytes().extend_from_slice(b"two");
        assert_eq!(answers.datagrams().collect::<Vec<_>>(), [b"one", b"two"]);
        answers.cut();
        answers.bytes().extend_from_slice(b"threefour5");
        answers.cut_every(5);
        assert_eq!(answers.datagrams().collect::<Vec<_>>(), [&b"one"[..], b"two", b"three", b"four5"]);
        // A service that takes back what it has cut off loses that, and nothing breaks.
        answers.bytes().clear();
        assert_eq!(answers.datagrams().count(), 0);
        answers.clear(0);
        assert_eq!(answers.datagrams().count(), 0);
    }
}
