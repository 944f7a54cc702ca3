//! The two forms of a log, as text and as bytes.
//! Hosts write them; the replay of the simulator reads them.
//!
//! ```text
//!  lines    {"header": {…}}
//!           {"thread": {"worker": 0}, "lost": 0, "entries": 2}
//!           {"arrival": {"now_ps": 1, "task": 0}}
//!           …
//!  binary   "caudal-log\n" | the header's line | for each thread: its line | its entries as in `entry.rs`
//! ```

use std::io::{self, Write};

use serde::{Deserialize, Serialize};

use crate::{DecisionLog, Entry, Header, Thread, ThreadLog, VERSION};

/// The first bytes of a log in bytes.
pub const MAGIC: &[u8] = b"caudal-log\n";

#[derive(Serialize, Deserialize)]
struct HeaderLine {
    header: Header,
}

#[derive(Serialize, Deserialize)]
struct ThreadLine {
    thread: Thread,
    lost: u64,
    entries: u64,
}

/// Why a log could not be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// A line is not what it should be.
    #[error("line {line} is not that of a decision log: {source}")]
    Line {
        /// The number of the line, from 1.
        line: usize,
        /// The parser's error.
        source: serde_json::Error,
    },
    /// The log ends too early, or its bytes make no sense.
    #[error("the log is cut off or damaged: {read} entries of a thread with {entries} could be read")]
    Entries {
        /// Of one thread.
        read: u64,
        /// The number of entries that it has.
        entries: u64,
    },
    /// It is another version's.
    #[error("the log is of version {version}; this program reads version {VERSION}")]
    Version {
        /// Its version.
        version: u32,
    },
}

/// The text in front, by line.
struct Lines<'a> {
    rest: &'a [u8],
    line: usize,
}

impl<'a> Lines<'a> {
    fn next(&mut self) -> Option<&'a [u8]> {
        if self.rest.is_empty() {
            return None;
        }
        let end = self.rest.iter().position(|&byte| byte == b'\n').unwrap_or(self.rest.len());
        let line = &self.rest[..end];
        self.rest = &self.rest[(end + 1).min(self.rest.len())..];
        self.line += 1;
        Some(line)
    }

    fn parse<T: for<'de> Deserialize<'de>>(&self, line: &[u8]) -> Result<T, ReadError> {
        serde_json::from_slice(line).map_err(|source| ReadError::Line { line: self.line, source })
    }

    fn header(&mut self) -> Result<Header, ReadError> {
        let line = self.next().unwrap_or_default();
        let HeaderLine { header } = self.parse(line)?;
        if header.version == VERSION {
            Ok(header)
        } else {
            Err(ReadError::Version { version: header.version })
        }
    }
}

impl DecisionLog {
    fn thread_line(thread: &ThreadLog) -> ThreadLine {
        ThreadLine { thread: thread.thread, lost: thread.lost, entries: thread.entries.len() as u64 }
    }

    fn write_line(to: &mut impl Write, line: &impl Serialize) -> io::Result<()> {
        serde_json::to_writer(&mut *to, line)?;
        to.write_all(b"\n")
    }

    fn header_line(&self) -> HeaderLine {
        HeaderLine { header: self.header.clone() }
    }

    /// Writes it as JSON, an entry a line.
    ///
    /// # Errors
    /// Those of `to`.
    pub fn write_lines(&self, mut to: impl Write) -> io::Result<()> {
        Self::write_line(&mut to, &self.header_line())?;
        for thread in &self.threads {
            Self::write_line(&mut to, &Self::thread_line(thread))?;
            thread.entries.iter().try_for_each(|entry| Self::write_line(&mut to, entry))?;
        }
        to.flush()
    }

    /// Writes it as bytes, some ten an entry.
    ///
    /// # Errors
    /// Those of `to`.
    pub fn write_binary(&self, mut to: impl Write) -> io::Result<()> {
        to.write_all(MAGIC)?;
        Self::write_line(&mut to, &self.header_line())?;
        for thread in &self.threads {
            Self::write_line(&mut to, &Self::thread_line(thread))?;
            let mut bytes = Vec::new();
            thread.entries.iter().for_each(|entry| entry.encode(&mut bytes));
            to.write_all(&bytes)?;
        }
        to.flush()
    }

    /// Reads what [`DecisionLog::write_lines`] or [`DecisionLog::write_binary`] wrote.
    ///
    /// # Errors
    /// [`ReadError`].
    pub fn read(bytes: &[u8]) -> Result<DecisionLog, ReadError> {
        let (rest, is_binary) = bytes.strip_prefix(MAGIC).map_or((bytes, false), |rest| (rest, true));
        let mut lines = Lines { rest, line: 0 };
        let header = lines.header()?;
        let mut threads = Vec::new();
        while let Some(line) = lines.next() {
            let ThreadLine { thread, lost, entries: count } = lines.parse(line)?;
            let mut entries = Vec::new();
            for read in 0..count {
                let entry = if is_binary {
                    Entry::decode(&mut lines.rest)
                } else {
                    lines.next().map(|line| lines.parse(line)).transpose()?
                };
                entries.push(entry.ok_or(ReadError::Entries { read, entries: count })?);
            }
            threads.push(ThreadLog { thread, entries, lost });
        }
        Ok(DecisionLog { header, threads })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Answer, Why};

    fn log() -> DecisionLog {
        let header = Header {
            version: VERSION,
            policy: "[system]\ncores = 1\n".to_owned(),
            workers: 1,
            seed: 7,
            hz: 2.6e9,
            ps_per_cycle: 1 << 40,
        };
        let worker = vec![
            Entry::Arrival { now_ps: u64::MAX, task: 0 },
            Entry::Run { task: 0, quantum_ps: 2_000_000 },
            Entry::Stopped { now_ps: 128, task: 0, attained_ps: 1 << 63, why: Why::Quantum },
            Entry::Intake { answer: Answer::All },
            Entry::Enqueue { task: 0, lane: 1, at_head: true },
            Entry::OwnFirst {},
        ];
        let dispatcher =
            vec![Entry::Seen { worker: 0, unfinished: 1, quanta: 127 }, Entry::Placed { number: 0, pool: 0 }];
        let threads = vec![
            ThreadLog { thread: Thread::Worker(0), entries: worker, lost: 3 },
            ThreadLog { thread: Thread::Dispatcher, entries: dispatcher, lost: 0 },
        ];
        DecisionLog { header, threads }
    }

    #[test]
    fn a_log_is_read_as_it_was_written() {
        let (mut lines, mut binary) = (Vec::new(), Vec::new());
        log().write_lines(&mut lines).unwrap();
        log().write_binary(&mut binary).unwrap();
        assert_eq!(DecisionLog::read(&lines).unwrap(), log());
        assert_eq!(DecisionLog::read(&binary).unwrap(), log());
    }

    #[test]
    fn a_log_that_is_cut_off_is_refused_wherever_it_is_cut() {
        let (mut lines, mut binary) = (Vec::new(), Vec::new());
        log().write_lines(&mut lines).unwrap();
        log().write_binary(&mut binary).unwrap();
        for bytes in [lines, binary] {
            let whole = (0..bytes.len()).filter(|&end| {
                DecisionLog::read(&bytes[..end]).is_ok_and(|read| {
                    // Between two threads, and before a last line's end, nothing shows that more belongs to it.
                    read.threads != log().threads && read.threads != log().threads[..read.threads.len()]
                })
            });
            assert_eq!(whole.count(), 0);
        }
        let other = String::from_utf8(b"{\"header\":".to_vec()).unwrap();
        assert!(matches!(DecisionLog::read(other.as_bytes()), Err(ReadError::Line { line: 1, .. })));
        let mut newer = log();
        newer.header.version = 2;
        let mut lines = Vec::new();
        newer.write_lines(&mut lines).unwrap();
        assert!(matches!(DecisionLog::read(&lines), Err(ReadError::Version { version: 2 })));
    }
}
