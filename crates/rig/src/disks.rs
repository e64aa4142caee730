//! Virtual disks for other programs: mounted through FUSE, and served by a separate process.
//!
//! The process that serves disks holds their journal, as a run does. So `undo` takes down what a
//! killed server left, and the journals of running servers list the existing disks.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

use iotax_experiment::{Arm, Base, Design, Draft, Spec, Stack, Target, Workload, layers};
use iotax_load::{IoTarget, PeerSecrets};
use iotax_vdisk::fuse::{MountOptions, Mounted, mount};
use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, kill_process};

use crate::build_context::new_token;
use crate::device::GivenUp;
use crate::entry::Entry;
use crate::error::{Error, Obstacle};
use crate::fill::Preparing;
use crate::held::{Held, link_of_another, resolved};
use crate::journal::{self, Journal};
use crate::mounts;
use crate::own_disk::{FILE, NAME};
use crate::rig::{Options, Rig};

/// How often a server checks whether it should end.
const LOOK: Duration = Duration::from_millis(50);
/// How long others (a prober such as udev's) may have a disk open when it is to be taken down.
const PROBING: Duration = Duration::from_secs(1);
/// How long a server may take to end: it flushes what it has.
const PATIENCE: Duration = Duration::from_secs(30);

/// A virtual disk to be mounted.
#[derive(Debug, Clone, PartialEq)]
pub struct Disk {
    /// Its in-process layers.
    pub stack: Stack,
    /// The empty directory to mount it at: it will hold `disk` and `stats.json`.
    pub at: PathBuf,
}

impl Disk {
    /// The file that is the disk, once it is mounted.
    pub fn file(&self) -> PathBuf {
        self.at.join(FILE)
    }
}

/// What a server needs from its surroundings.
pub struct ServeOptions<'a> {
    /// The directory of anonymous files of stacks.
    pub work_dir: &'a Path,
    /// Where the undo journal is kept.
    pub state_dir: Option<PathBuf>,
    /// Existing files that may be written; others are served read-only.
    pub writable: &'a [PathBuf],
    /// Whether another process's journal tracks the mounts.
    pub is_journalled: bool,
    /// Seed of the data on the disks and of faults.
    pub seed: u64,
    /// Told while disks are filled.
    pub progress: &'a mut dyn FnMut(&Preparing<'_>),
    /// Set by someone else to end it.
    pub stop: Arc<AtomicBool>,
    /// Called when all disks are mounted.
    pub ready: &'a mut dyn FnMut(),
}

/// Mounts disks, and serves them until `stop` is set or all are unmounted. Throttles of one group
/// share their bucket across all disks.
///
/// # Errors
/// [`Error::Refused`] with everything that is wrong with any of them, before anything is made.
pub fn serve(disks: &[Disk], options: ServeOptions<'_>) -> Result<(), Error> {
    let claimed = disks.iter().map(mount_point).collect::<Result<Vec<_>, _>>()?;
    let (disks, claims): (Vec<_>, Vec<_>) = claimed.into_iter().unzip();
    disks.iter().try_for_each(|disk| refuse_links(disk, options.writable))?;
    let spec = spec(&disks, options.seed);
    let ServeOptions { work_dir, state_dir, writable, progress, stop, .. } = options;
    let mut journal = Journal::new(state_dir.clone());
    let rig_options = Options {
        work_dir,
        state_dir,
        progress,
        stop: Arc::clone(&stop),
        given_up: &GivenUp::default(),
        program: Path::new(""),
        secrets: &PeerSecrets::new(),
    };
    let mut rig = Rig::open_side_by_side(&spec, rig_options)?;
    let mut mounted = Vec::with_capacity(disks.len());
    for (index, disk) in disks.iter().enumerate() {
        let IoTarget::Disk(virtual_disk) = rig.up(index)? else {
            unreachable!("in-process stacks are disks")
        };
        let name = format!("{NAME}{}", new_token()?);
        if !options.is_journalled {
            let (path, stack) = (disk.at.clone(), disk.stack.to_string());
            journal.announce(Entry::Disk { path, name: name.clone(), stack })?;
        }
        let read_only = is_others(&disk.stack, writable);
        let options = MountOptions { name, read_only, ..MountOptions::default() };
        let made = mount(virtual_disk, claims[index].place.path(), &options);
        mounted.push(
            made.map_err(|source| Error::Stack { arm: spec.arms[index].name.clone(), source })?,
        );
    }
    drop(claims);
    (options.ready)();
    while !stop.load(Ordering::Relaxed) && !mounted.iter().all(Mounted::has_ended) {
        sleep(LOOK);
    }
    drop(mounted);
    let undone = journal.unwind();
    undone.and(rig.down())
}

/// A mount point until the disk is mounted there.
struct Claim {
    place: Held,
    _lock: File,
}

/// The disk with the real path of its mount point, which must be an empty directory. The mount
/// point is locked until the disk is mounted, so that two disks cannot hide each other.
fn mount_point(disk: &Disk) -> Result<(Disk, Claim), Error> {
    let refuse = |obstacle| Error::refused("", &disk.at, obstacle);
    let unreachable = |error: io::Error| match error.raw_os_error().map(Errno::from_raw_os_error) {
        Some(Errno::NOENT) => refuse(Obstacle::Missing),
        Some(Errno::NOTCONN) => refuse(Obstacle::DeadDisk),
        _ => refuse(Obstacle::Unreachable(error)),
    };
    if let Some(link) = link_of_another(&disk.at) {
        return Err(refuse(Obstacle::LinkOfAnother { link }));
    }
    let at = resolved(&disk.at).map_err(unreachable)?;
    let place = Held::at(&at).map_err(unreachable)?;
    let lock = File::open(place.path()).map_err(unreachable)?;
    // File systems without locks get none.
    if flock(&lock, FlockOperation::NonBlockingLockExclusive) == Err(Errno::WOULDBLOCK) {
        return Err(refuse(Obstacle::TakenByAnother));
    }
    match fs::read_dir(place.path()).map(|mut entries| entries.next().is_some()) {
        Ok(false) => {
            let claim = Claim { place, _lock: lock };
            Ok((Disk { at, stack: disk.stack.clone() }, claim))
        }
        Ok(true) if mounts::is_fuse(&at) => Err(refuse(Obstacle::DiskThere)),
        Ok(true) => Err(refuse(Obstacle::NotEmpty)),
        Err(error) => Err(unreachable(error)),
    }
}

/// Refuses to write to a file through a link that another user can redirect.
fn refuse_links(disk: &Disk, writable: &[PathBuf]) -> Result<(), Error> {
    let Some(Base::File(layers::File { path: Some(path), .. })) = disk.stack.base() else {
        return Ok(());
    };
    match link_of_another(path).filter(|_| !is_others(&disk.stack, writable)) {
        Some(link) => Err(Error::refused("", path, Obstacle::LinkOfAnother { link })),
        None => Ok(()),
    }
}

/// A rig makes disks from arms that are stacks. There is no load here, so any workload that only
/// reads will do.
fn spec(disks: &[Disk], seed: u64) -> Spec {
    let arm =
        |disk: &Disk| Arm::new(disk.at.display().to_string(), Target::Stack(disk.stack.clone()));
    let phase = Workload::preset("randread-4k").expect("a built-in workload");
    let arms = disks.iter().map(arm).collect();
    Draft { seed, ..Draft::new(vec![phase], arms, Design::Single) }.unchecked()
}

/// Whether the base of the stack is an existing file that may not be written.
fn is_others(stack: &Stack, writable: &[PathBuf]) -> bool {
    let same = |a: &Path, b: &Path| fs::canonicalize(a).ok() == fs::canonicalize(b).ok();
    match stack.base() {
        Some(Base::File(layers::File { path: Some(path), .. })) => {
            path.exists() && !writable.iter().any(|given| same(given, path))
        }
        _ => false,
    }
}

/// A disk that is served.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Served {
    /// The process that serves it.
    pub pid: u32,
    pub at: PathBuf,
    pub stack: String,
    /// Its name in the mount table.
    name: String,
}

/// The disks that are served now, according to this state directory.
pub fn served(state_dir: &Path) -> Result<Vec<Served>, Error> {
    let living = journal::living(state_dir)?;
    let disks = living.into_iter().flat_map(|(pid, entries)| {
        entries.into_iter().filter_map(move |entry| match entry {
            Entry::Disk { path, stack, name } => Some(Served { pid, at: path, stack, name }),
            _ => None,
        })
    });
    Ok(disks.collect())
}

/// Ends the servers of these disks and waits until they are gone. Other disks of these servers go
/// too.
///
/// # Errors
/// [`Error::InUse`] if a program has one of them open. With `force` it is taken down anyway, and
/// that program's I/O fails. [`Error::Lingers`] if a server does not end.
pub fn take_down(disks: &[Served], force: bool) -> Result<(), Error> {
    if !force {
        disks.iter().try_for_each(release)?;
    }
    let started = Instant::now();
    // Once per server: a second signal makes a server end at once and leave its mounts behind.
    let servers: BTreeSet<u32> = disks.iter().map(|disk| disk.pid).collect();
    for pid in servers.into_iter().filter_map(|pid| Pid::from_raw(pid.cast_signed())) {
        let _ = kill_process(pid, Signal::TERM);
    }
    for disk in disks {
        while journal::lives(disk.pid) {
            if started.elapsed() > PATIENCE {
                return Err(Error::Lingers { pid: disk.pid, path: disk.at.clone() });
            }
            sleep(Duration::from_millis(5));
        }
    }
    Ok(())
}

/// Unmounts a disk that nobody uses.
fn release(disk: &Served) -> Result<(), Error> {
    let started = Instant::now();
    loop {
        match mounts::release(&disk.name) {
            Err(error) if error.kind() == io::ErrorKind::ResourceBusy => {}
            // The server handles everything else.
            _ => return Ok(()),
        }
        if started.elapsed() > PROBING {
            return Err(Error::InUse { path: disk.at.clone() });
        }
        sleep(Duration::from_millis(20));
    }
}
