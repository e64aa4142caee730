//! File systems, made and mounted.

use std::thread::sleep;
use std::time::{Duration, Instant};

use iotax_layers::{FileSystem, FileSystemKind};

use crate::layers::maker::prelude::*;
use crate::read_ahead::ReadAhead;

const MIB: u64 = 1 << 20;
/// How long it may take to undo another user's killed run.
const PATIENCE: Duration = Duration::from_secs(10);

impl System for FileSystem {
    fn least_bytes(&self) -> u64 {
        match self.kind {
            FileSystemKind::Ext4 => 8 * MIB,
            // The limits of their mkfs.
            FileSystemKind::Xfs => 300 * MIB,
            FileSystemKind::Btrfs => 109 * MIB,
        }
    }

    /// Without the journal or log, inode tables and space reserved for root. A tenth stays free,
    /// because file systems get slow when they are nearly full. Btrfs writes new data before it
    /// frees the old. Further arguments may make any of these larger.
    fn left_for_files(&self, below_bytes: u64) -> u64 {
        let own_bytes = match self.kind {
            FileSystemKind::Ext4 => (64 * MIB).min(below_bytes / 5),
            FileSystemKind::Xfs => 96 * MIB,
            FileSystemKind::Btrfs => 64 * MIB + below_bytes / 5 * 2,
        };
        let left_bytes = (below_bytes / 10 * 9).saturating_sub(own_bytes);
        if self.mkfs.is_some() { left_bytes / 2 } else { left_bytes }
    }

    fn obstacle(&self) -> Option<Obstacle> {
        let word = names_another(self)?;
        Some(Obstacle::NamesAnother { layer: self.kind.name(), word: word.to_owned() })
    }

    fn make(&self, below: Top, context: &mut BuildContext<'_>) -> Result<Top, Error> {
        // Last, so that no further argument can give it another identity.
        let uuid = context.mark.uuid()?;
        let identity = match self.kind {
            FileSystemKind::Ext4 | FileSystemKind::Btrfs => ["-U".to_owned(), uuid],
            FileSystemKind::Xfs => ["-m".to_owned(), format!("uuid={uuid}")],
        };
        let own_dir = context.own_dir;
        // In its private directory, a bare name among the further arguments cannot refer to
        // anything else.
        let mkfs = || mkfs_of(self).args(&identity).arg(&below.path).within(own_dir);
        run_beside_servers_that_end(mkfs, context)?;
        let at = context.mount_point(self.kind.name())?;
        mounts::mount(&below.path, &at, self.kind.name(), self.mount.as_deref().unwrap_or(""))?;
        if let Some(bytes) = self.read_ahead_bytes {
            // The read-ahead belongs to the device, which may outlive the mount.
            let read_ahead = ReadAhead::of(&at, bytes)?;
            context.journal.announce(Entry::ReadAhead(read_ahead.clone()))?;
            read_ahead.set(self.kind.name())?;
        }
        Ok(Top::directory(at))
    }
}

fn mkfs_of(made: &FileSystem) -> Program {
    let further = made.mkfs.iter().flat_map(|text| text.split_whitespace());
    let mkfs = match made.kind {
        // Nothing is initialised in the background during a measurement. Nothing is discarded,
        // because holes in the layer below would be measured as fast reads.
        FileSystemKind::Ext4 => Program::new("mkfs.ext4")
            .args(["-q", "-F", "-E", "lazy_itable_init=0,lazy_journal_init=0,nodiscard"])
            .args(made.encrypt.then_some(["-O", "encrypt"]).into_iter().flatten()),
        FileSystemKind::Xfs => Program::new("mkfs.xfs").args(["-q", "-f", "-K"]),
        FileSystemKind::Btrfs => Program::new("mkfs.btrfs").args(["-q", "-f", "-K"]),
    };
    mkfs.args(further)
}

/// Runs mkfs, and repeats it if it stumbled over another user's dead server: `mkfs.btrfs` examines
/// all mounted devices, and fails on a FUSE file system whose server was killed until that is
/// unmounted.
fn run_beside_servers_that_end(
    mkfs: impl Fn() -> Program,
    context: &BuildContext<'_>,
) -> Result<(), Error> {
    let started = Instant::now();
    loop {
        let Err(error) = context.run(mkfs()) else {
            return Ok(());
        };
        if !is_of_a_server_that_has_gone(&error) || started.elapsed() > PATIENCE {
            return Err(error);
        }
        sleep(PATIENCE / 100);
    }
}

fn is_of_a_server_that_has_gone(error: &Error) -> bool {
    matches!(error, Error::Program { said, .. } if said.contains("endpoint is not connected"))
}

/// The first of the further arguments of mkfs that names a file or device. Several kinds accept
/// more than one device (`mkfs.btrfs /dev/x`, `mkfs.xfs -l logdev=/dev/x`, `mkfs.ext4 -J
/// device=LABEL=x`) and would overwrite it without the user's permission.
fn names_another(made: &FileSystem) -> Option<&str> {
    let mut words = made.mkfs.as_deref().unwrap_or_default().split_whitespace();
    // Bare names are harmless in the directory where mkfs runs. Tags are `UUID=`, `PARTUUID=` etc.
    let is_name = |word: &&str| {
        word.contains('/') || ["UUID=", "LABEL="].iter().any(|tag| word.contains(tag))
    };
    words.find(is_name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(mkfs: &str) -> Option<String> {
        let kind = FileSystemKind::Ext4;
        let mkfs = Some(mkfs.to_owned());
        let made = FileSystem { kind, encrypt: false, mkfs, mount: None, read_ahead_bytes: None };
        names_another(&made).map(str::to_owned)
    }

    #[test]
    fn arguments_that_name_another_device_are_found() {
        assert_eq!(named("-f /dev/sdb").unwrap(), "/dev/sdb");
        assert_eq!(named("-l logdev=/dev/sdb,size=100m").unwrap(), "logdev=/dev/sdb,size=100m");
        assert_eq!(named("-J device=LABEL=journal").unwrap(), "device=LABEL=journal");
        assert_eq!(named("-d name=../x").unwrap(), "name=../x");
        assert_eq!(named("-b 4096 -O ^has_journal -E stride=16 -m0 -L label"), None);
    }
}
