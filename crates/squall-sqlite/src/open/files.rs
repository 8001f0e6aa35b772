//! The data directory, its lock, and who may look into it.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

use crate::open::OpenError;

/// Makes the directory for its owner alone, and makes sure that its name, and those of the
/// directories above that were missing too, survive a power cut. One that exists keeps
/// its mode.
pub(super) fn make_data_dir(data_dir: &Path) -> Result<(), OpenError> {
    let named = data_dir.ancestors().filter(|directory| !directory.as_os_str().is_empty());
    let missing: Vec<_> = named.take_while(|directory| !directory.exists()).collect();
    let made = DirBuilder::new().recursive(true).mode(0o700).create(data_dir);
    made.map_err(at(data_dir))?;
    missing.into_iter().filter_map(Path::parent).try_for_each(|parent| {
        let is_here = parent.as_os_str().is_empty();
        sync_directory(if is_here { Path::new(".") } else { parent })
    })
}

fn sync_directory(path: &Path) -> Result<(), OpenError> {
    File::open(path).and_then(|directory| directory.sync_all()).map_err(at(path))
}

/// Takes the directory for this process. The kernel gives it back when the process ends,
/// however it ends.
pub(super) fn lock(data_dir: &Path) -> Result<File, OpenError> {
    let path = data_dir.join("lock");
    let file = private().truncate(false).open(&path).map_err(at(&path))?;
    match flock(&file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(file),
        Err(Errno::WOULDBLOCK) => Err(OpenError::Locked { data_dir: data_dir.to_owned() }),
        Err(error) => Err(at(&path)(error.into())),
    }
}

/// Makes an empty database file for its owner alone, which the log beside it inherits,
/// and makes sure that its name survives a power cut.
pub(super) fn make_database_file(data_dir: &Path, path: &Path) -> Result<(), OpenError> {
    let made = private().truncate(false).open(path).map_err(at(path))?;
    drop(made);
    sync_directory(data_dir)
}

fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).mode(0o600);
    options
}

fn at(path: &Path) -> impl Fn(io::Error) -> OpenError + '_ {
    |source| OpenError::Io { path: path.to_owned(), source }
}
