//! The local device: blocks in a file that is read and written past the page cache.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::sys::statfs::{TMPFS_MAGIC, fstatfs};

pub(crate) const BLOCK_BYTES: usize = 4096;

/// A block in memory, where direct transfers want it.
#[derive(Clone)]
#[repr(align(4096))]
pub(crate) struct Block(pub(crate) [u8; BLOCK_BYTES]);

impl Block {
    /// The content of the block at `address` of the remote storage: its address, and a filling.
    pub(crate) fn of(address: u64) -> Block {
        let mut block = Block([0xa5; BLOCK_BYTES]);
        block.0[..8].copy_from_slice(&address.to_le_bytes());
        block
    }
}

const CHUNK_BLOCKS: usize = 64;

/// Blocks that are written at once.
#[repr(align(4096))]
struct Chunk([u8; CHUNK_BLOCKS * BLOCK_BYTES]);

/// See the [module](self).
pub(crate) struct Device {
    file: File,
}

impl Device {
    /// A device in a file of `directory` that has no name, so nothing of it can be left behind.
    pub(crate) fn create(directory: &Path) -> Result<Device> {
        let file = tempfile::tempfile_in(directory)
            .with_context(|| format!("no file can be made in `{}`", directory.display()))?;
        let place = fstatfs(&file)?.filesystem_type();
        ensure!(
            place != TMPFS_MAGIC,
            "`{}` is memory, not a device; name a directory on a disk with --scratch",
            directory.display()
        );
        let flags = OFlag::from_bits_truncate(fcntl(&file, FcntlArg::F_GETFL)?);
        fcntl(&file, FcntlArg::F_SETFL(flags | OFlag::O_DIRECT)).with_context(|| {
            format!(
                "`{}` has no direct transfers; name another directory with --scratch",
                directory.display()
            )
        })?;
        Ok(Device { file })
    }

    /// Writes the blocks of `addresses` from the first frame on, then waits for the disk: later writes change no
    /// extents.
    pub(crate) fn fill(&self, addresses: &[u64]) -> Result<()> {
        let mut chunk = Box::new(Chunk([0; CHUNK_BLOCKS * BLOCK_BYTES]));
        for (number, addresses) in addresses.chunks(CHUNK_BLOCKS).enumerate() {
            for (place, &address) in chunk.0.chunks_exact_mut(BLOCK_BYTES).zip(addresses) {
                place.copy_from_slice(&Block::of(address).0);
            }
            let bytes = &chunk.0[..addresses.len() * BLOCK_BYTES];
            self.file.write_all_at(bytes, offset(number * CHUNK_BLOCKS))?;
        }
        Ok(self.file.sync_all()?)
    }

    pub(crate) fn read(&self, frame: usize, block: &mut Block) -> Result<()> {
        Ok(self.file.read_exact_at(&mut block.0, offset(frame))?)
    }

    pub(crate) fn write(&self, frame: usize, block: &Block) -> Result<()> {
        Ok(self.file.write_all_at(&block.0, offset(frame))?)
    }
}

fn offset(frame: usize) -> u64 {
    frame as u64 * BLOCK_BYTES as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_read_as_they_were_written() {
        let device = Device::create(Path::new(env!("CARGO_MANIFEST_DIR"))).unwrap();
        device.fill(&(0..100).collect::<Vec<u64>>()).unwrap();
        device.write(5, &Block::of(77)).unwrap();
        let mut block = Block::of(u64::MAX);
        for (frame, address) in [(0, 0), (5, 77), (99, 99)] {
            device.read(frame, &mut block).unwrap();
            assert_eq!(block.0, Block::of(address).0, "frame {frame}");
        }
        assert!(device.read(100, &mut block).is_err(), "there are no more");
    }
}
