//! The kernel's read-ahead on a mount: set, read back, and restored.

use std::fmt;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{major, minor};
use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::undone::Undone;

/// A mount's read-ahead in KiB, before and as set.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ReadAhead {
    /// The kernel's file.
    file: PathBuf,
    before_kib: u64,
    set_kib: u64,
}

impl ReadAhead {
    /// Of the mount at `path`, to be set to `bytes`.
    pub(crate) fn of(path: &Path, bytes: u64) -> Result<Self, Error> {
        let failed = |source| Error::cannot("find the read-ahead of this mount", path)(source);
        let number = fs::metadata(path).map_err(failed)?.dev();
        let number = format!("{}:{}", major(number), minor(number));
        let places = [
            PathBuf::from(format!("/sys/class/bdi/{number}/read_ahead_kb")),
            // A partition uses that of its disk.
            PathBuf::from(format!("/sys/dev/block/{number}/../bdi/read_ahead_kb")),
        ];
        let place = places.into_iter().find_map(|place| fs::canonicalize(place).ok());
        let file = place.ok_or_else(|| failed(io::ErrorKind::NotFound.into()))?;
        let before_kib = read(&file).map_err(Error::cannot("read this setting", &file))?;
        Ok(Self { file, before_kib, set_kib: bytes / 1024 })
    }

    /// Sets it. Fails if the kernel changes the value, which would be measured under a wrong name.
    pub(crate) fn set(&self, layer: &'static str) -> Result<(), Error> {
        let failed = Error::cannot("set the read-ahead", &self.file);
        fs::write(&self.file, self.set_kib.to_string()).map_err(failed)?;
        let made = read(&self.file).map_err(Error::cannot("read this setting", &self.file))?;
        if made == self.set_kib {
            return Ok(());
        }
        Err(Error::NotAsAsked {
            layer,
            asked: format!("read_ahead={}k", self.set_kib),
            made: format!("read_ahead={made}k"),
            remedy: "use a multiple of the kernel's page size",
        })
    }

    /// Restores the previous value, unless something else changed it since.
    pub(crate) fn undo(&self) -> Result<Undone, Error> {
        match read(&self.file) {
            Ok(kib) if kib == self.set_kib && kib != self.before_kib => {
                let failed = Error::cannot("restore its read-ahead", &self.file);
                fs::write(&self.file, self.before_kib.to_string()).map_err(failed)?;
                Ok(Undone::Removed)
            }
            // The setting went with its device.
            _ => Ok(Undone::Absent),
        }
    }
}

impl fmt::Display for ReadAhead {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "the read-ahead of {} in {}",
            iotax_quantity::size(self.set_kib << 10),
            self.file.display()
        )
    }
}

fn read(file: &Path) -> io::Result<u64> {
    let text = fs::read_to_string(file)?;
    text.trim().parse().map_err(|_| io::ErrorKind::InvalidData.into())
}
