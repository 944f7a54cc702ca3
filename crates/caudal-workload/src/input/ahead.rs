//! The thread that reads a file or standard input ahead. `source` starts one for every input that it opens; it hands over chunks by a
//! channel and ends with the input. Without the feature `host` there are neither files nor threads, and inputs are refused.

/// Bytes that are read at once.
pub(super) const CHUNK: usize = 256 << 10;

#[cfg(feature = "host")]
mod host {
    use std::fs::File;
    use std::io::{self, Read};
    use std::path::Path;
    use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
    use std::time::Duration;

    use super::super::stop::is_stopping;
    use super::CHUNK;

    /// Chunks that are read ahead.
    const AHEAD: usize = 4;
    /// How long a silent pipe is waited for before the request to stop is looked at.
    const PATIENCE: Duration = Duration::from_millis(50);

    /// Is there a file at `path`?
    pub(crate) fn is_there(path: &Path) -> bool {
        path.exists()
    }

    /// Opens a file, or standard input as `-`. Whoever reads is never blocked for longer than [`PATIENCE`].
    pub(crate) fn open(path: &Path) -> io::Result<impl Read + use<>> {
        let input: Box<dyn Read + Send> =
            if path == Path::new("-") { Box::new(io::stdin()) } else { Box::new(File::open(path)?) };
        Ok(Chunks::new(input))
    }

    /// The bytes that a thread has read ahead.
    struct Chunks {
        chunks: Receiver<io::Result<Vec<u8>>>,
        chunk: Vec<u8>,
        at: usize,
    }

    impl Chunks {
        fn new(mut input: Box<dyn Read + Send>) -> Chunks {
            let (sender, chunks) = sync_channel(AHEAD);
            // It ends with the input, or when nobody takes what it reads; at the latest with the process, if a pipe stays
            // silent.
            std::thread::spawn(move || {
                loop {
                    let mut chunk = vec![0; CHUNK];
                    let read = match input.read(&mut chunk) {
                        Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                        Ok(0) => return,
                        Ok(count) => {
                            chunk.truncate(count);
                            Ok(chunk)
                        }
                        Err(error) => Err(error),
                    };
                    let failed = read.is_err();
                    if sender.send(read).is_err() || failed {
                        return;
                    }
                }
            });
            Chunks { chunks, chunk: Vec::new(), at: 0 }
        }
    }

    impl Read for Chunks {
        fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
            while self.at == self.chunk.len() {
                if is_stopping() {
                    return Err(io::Error::other("interrupted"));
                }
                match self.chunks.recv_timeout(PATIENCE) {
                    Ok(chunk) => (self.chunk, self.at) = (chunk?, 0),
                    Err(RecvTimeoutError::Timeout) => {}
                    Err(RecvTimeoutError::Disconnected) => return Ok(0),
                }
            }
            let count = out.len().min(self.chunk.len() - self.at);
            out[..count].copy_from_slice(&self.chunk[self.at..self.at + count]);
            self.at += count;
            Ok(count)
        }
    }
}

#[cfg(not(feature = "host"))]
mod host {
    use std::io::{self, Read};
    use std::path::Path;

    /// There is no file: this build has none.
    pub(crate) fn is_there(_path: &Path) -> bool {
        false
    }

    /// Refuses every path: this build has no files.
    pub(crate) fn open(_path: &Path) -> io::Result<impl Read + use<>> {
        Err::<io::Empty, _>(io::Error::new(io::ErrorKind::Unsupported, "this program is built without files"))
    }
}

pub(crate) use host::{is_there, open};
