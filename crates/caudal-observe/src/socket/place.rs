//! The directory of sockets, and why nobody else can put a socket there. The server binds its socket by it; clients list and check
//! sockets by it. It creates the directory, and removes sockets of processes that are gone.

use std::ffi::OsStr;
use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use super::SocketError;

/// Most runtimes of a process with a socket each.
const PER_PROCESS: u32 = 64;

/// The user as which this process acts.
pub(super) fn user() -> u32 {
    // SAFETY: the call has no precondition.
    unsafe { libc::geteuid() }
}

/// Directories of this user's sockets, the preferred one first.
pub(super) fn directories() -> Vec<PathBuf> {
    let of_session = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
    let of_session = of_session.filter(|dir| dir.is_absolute() && dir.is_dir()).map(|dir| dir.join("caudal"));
    of_session.into_iter().chain([PathBuf::from(format!("/tmp/caudal-{}", user()))]).collect()
}

/// Is `dir` a directory of this user that nobody else can enter?
pub(super) fn check(dir: &Path) -> Result<(), SocketError> {
    let wrong = |problem| Err(SocketError::Directory { path: dir.to_owned(), problem });
    // Not through a link: whoever owns that could lead it elsewhere.
    let found = fs::symlink_metadata(dir).map_err(|error| system(dir, &error))?;
    if !found.is_dir() {
        return wrong("is no directory");
    }
    if found.uid() != user() {
        return wrong("belongs to another user");
    }
    if found.mode() & 0o077 != 0 {
        return wrong("can be entered by others");
    }
    Ok(())
}

fn system(path: &Path, error: &std::io::Error) -> SocketError {
    SocketError::System { path: path.to_owned(), reason: error.to_string() }
}

/// A socket that somebody listens at, and where it is. Dropping it removes it.
///
/// The file goes before the listener does: one at which nobody listens is anybody's to replace, and what would then be removed is
/// theirs.
#[derive(Debug)]
pub(super) struct Bound {
    pub(super) listener: UnixListener,
    pub(super) path: PathBuf,
}

impl Drop for Bound {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

/// Opens a socket of this process, in the first directory that is fit for it.
pub(super) fn bind() -> Result<Bound, SocketError> {
    let mut refused = None;
    for dir in directories() {
        match bind_in(&dir) {
            Ok(bound) => return Ok(bound),
            Err(error) => refused = refused.or(Some(error)),
        }
    }
    Err(refused.unwrap_or(SocketError::Closed))
}

fn bind_in(dir: &Path) -> Result<Bound, SocketError> {
    match fs::DirBuilder::new().mode(0o700).create(dir) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(system(dir, &error)),
        _ => check(dir)?,
    }
    // Two runtimes of one process do not take each other's socket for a stale one.
    static ONE: Mutex<()> = Mutex::new(());
    let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    sweep(dir);
    let pid = std::process::id();
    for number in 1..=PER_PROCESS {
        let name = if number == 1 { format!("{pid}.sock") } else { format!("{pid}-{number}.sock") };
        let path = dir.join(name);
        if path.exists() && is_deserted(&path) {
            let _ = fs::remove_file(&path);
        }
        match UnixListener::bind(&path) {
            Ok(listener) => {
                let bound = Bound { listener, path };
                // Nobody else could enter the directory meanwhile.
                let mode = fs::set_permissions(&bound.path, fs::Permissions::from_mode(0o600));
                let ready = mode.and_then(|()| bound.listener.set_nonblocking(true));
                return ready.map(|()| bound).map_err(|error| system(dir, &error));
            }
            Err(error) if error.kind() == ErrorKind::AddrInUse => {}
            Err(error) => return Err(system(&path, &error)),
        }
    }
    let reason = format!("{PER_PROCESS} runtimes of this process have one");
    Err(SocketError::System { path: dir.to_owned(), reason })
}

/// The process whose socket `path` is.
pub(super) fn process_of(path: &Path) -> Option<u32> {
    if path.extension() != Some(OsStr::new("sock")) {
        return None;
    }
    path.file_stem()?.to_str()?.split('-').next()?.parse().ok()
}

/// Does nobody listen there?
fn is_deserted(path: &Path) -> bool {
    UnixStream::connect(path).is_err_and(|error| error.kind() == ErrorKind::ConnectionRefused)
}

/// Is there no such process? One of another PID namespace seems to be gone as well.
fn is_gone(pid: u32) -> bool {
    // SAFETY: signal 0 is none, it only asks.
    let failed = unsafe { libc::kill(pid as libc::pid_t, 0) } != 0;
    failed && std::io::Error::last_os_error().raw_os_error() == Some(libc::ESRCH)
}

/// Removes the sockets of processes that are gone, at which nobody listens.
fn sweep(dir: &Path) {
    for path in sockets(dir) {
        if process_of(&path).is_some_and(is_gone) && is_deserted(&path) {
            let _ = fs::remove_file(&path);
        }
    }
}

/// The sockets in `dir`, in the order of their names.
pub(super) fn sockets(dir: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(dir) else { return Vec::new() };
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    let mut sockets: Vec<PathBuf> = paths.filter(|path| process_of(path).is_some()).collect();
    sockets.sort();
    sockets
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_directory_that_others_could_use_is_refused() {
        let parent = tempfile::tempdir().unwrap();
        let problem = |dir: &Path| match check(dir) {
            Err(SocketError::Directory { problem, .. }) => problem,
            other => panic!("{other:?}"),
        };
        let open = parent.path().join("open");
        fs::create_dir(&open).unwrap();
        fs::set_permissions(&open, fs::Permissions::from_mode(0o750)).unwrap();
        assert_eq!(problem(&open), "can be entered by others");
        assert!(bind_in(&open).is_err());
        fs::set_permissions(&open, fs::Permissions::from_mode(0o700)).unwrap();
        assert_eq!(check(&open), Ok(()));
        let link = parent.path().join("link");
        std::os::unix::fs::symlink(&open, &link).unwrap();
        assert_eq!(problem(&link), "is no directory");
        if user() == 0 {
            std::os::unix::fs::chown(&open, Some(12345), None).unwrap();
            assert_eq!(problem(&open), "belongs to another user");
        }
    }

    #[test]
    fn what_gone_processes_left_is_swept_and_what_lives_is_not() {
        let parent = tempfile::tempdir().unwrap();
        let dir = parent.path().join("caudal");
        fs::DirBuilder::new().mode(0o700).create(&dir).unwrap();
        // Above the largest process number that Linux has.
        let gone = dir.join("4194999.sock");
        drop(UnixListener::bind(&gone).unwrap());
        let other = dir.join("notes.txt");
        fs::write(&other, "kept").unwrap();
        let (first, second) = (bind_in(&dir).unwrap(), bind_in(&dir).unwrap());
        assert!(!gone.exists() && other.exists());
        let pid = std::process::id();
        assert_eq!(first.path, dir.join(format!("{pid}.sock")));
        assert_eq!(second.path, dir.join(format!("{pid}-2.sock")));
        assert_eq!(fs::metadata(&first.path).unwrap().mode() & 0o777, 0o600);
        assert_eq!(process_of(&second.path), Some(pid));
        let of_second = second.path.clone();
        drop(second);
        assert!(!of_second.exists());
        // As one that is killed leaves it.
        drop(UnixListener::bind(&of_second).unwrap());
        assert_eq!(bind_in(&dir).unwrap().path, of_second, "a deserted one is taken again");
    }

    #[test]
    fn who_goes_takes_its_own_socket_along_and_nobody_elses() {
        let parent = tempfile::tempdir().unwrap();
        let dir = &parent.path().join("caudal");
        // Each time may take a place that somebody is leaving: many times, for it is by chance.
        let comes_and_goes = || {
            for _ in 0..1000 {
                let bound = bind_in(dir).unwrap();
                let made = fs::metadata(&bound.path).unwrap().ino();
                std::thread::yield_now();
                assert_eq!(fs::metadata(&bound.path).unwrap().ino(), made, "still the one that was made");
            }
        };
        std::thread::scope(|scope| (0..4).for_each(|_| drop(scope.spawn(comes_and_goes))));
        assert!(sockets(dir).is_empty());
    }
}
