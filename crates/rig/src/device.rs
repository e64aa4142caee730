//! Block devices that the user allows to be overwritten, and every reason not to.
//!
//! iotax writes to a device only if it is blank, not in use, and named in `--destroy`. All reasons
//! against that are reported at once, before anything is made. The device is checked again each
//! time before an arm is made on it.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

use iotax_experiment::{Arm, Base, Form, Spec, Stack, Workload};
use iotax_inspect::{DeviceNumber, Facts, SiteKind};
use rustix::fs::OFlags;
use serde::{Deserialize, Serialize};

use crate::entry::loop_device;
use crate::error::{Error, Obstacle, Refusal};
use crate::held::{changeable_by_others, link_of_another};
use crate::resolved_target::look;
use crate::signatures::{self, Signature, number_of};
use crate::{archive, layers};

/// How long udev may take to look at a device that has just changed.
const PATIENCE: Duration = Duration::from_secs(2);

/// Room for headers, and for the alignment of each file to a MiB.
const SLACK_BYTES: u64 = 256 << 20;

/// A device that this run may overwrite, locked against other runs.
#[derive(Debug)]
pub(crate) struct Device {
    pub(crate) path: PathBuf,
    pub(crate) number: DeviceNumber,
    pub(crate) size_bytes: u64,
    /// Whether it was made for this run.
    pub(crate) is_new: bool,
    /// Facts about it, for the record.
    pub(crate) notes: Vec<String>,
    /// Locked for as long as it is open.
    _claim: File,
}

/// The device at the base of an arm, as the user wrote it.
pub(crate) fn path_in(arm: &Arm) -> Option<&Path> {
    if let Base::Device(path) = arm.target.stack()?.base()? { Some(path) } else { None }
}

/// The devices at the base of arms, by the path in the stack, and every reason to refuse one.
pub(crate) fn check_devices(
    spec: &Spec,
    given_up: &GivenUp,
) -> (BTreeMap<PathBuf, Box<Facts>>, Vec<Refusal>) {
    let mut users: BTreeMap<&Path, Vec<&Arm>> = BTreeMap::new();
    for arm in &spec.arms {
        if let Some(path) = path_in(arm) {
            users.entry(path).or_default().push(arm);
        }
    }
    let are_new = given_up.are_new;
    let given_up: Vec<_> = given_up.devices.iter().map(|path| (path, number_of(path))).collect();
    let mut found = BTreeMap::new();
    let mut refusals = Vec::new();
    for (path, arms) in users {
        let names: Vec<_> = arms.iter().map(|arm| arm.name.as_str()).collect();
        let mut refuse = |obstacle| {
            let (arm, path) = (names.join(", "), Some(path.to_owned()));
            refusals.push(Refusal { arm, path, obstacle });
        };
        let is_device = |facts: &Facts| facts.kind == SiteKind::BlockDevice;
        let looked =
            look(path).and_then(|it| is_device(&it).then_some(it).ok_or(Obstacle::NotADevice));
        let facts = match looked {
            Ok(facts) => facts,
            Err(obstacle) => {
                refuse(obstacle);
                continue;
            }
        };
        if let Some(link) = link_of_another(path) {
            refuse(Obstacle::LinkOfAnother { link });
        } else if let Some(directory) = changeable_by_others(&facts.path) {
            refuse(Obstacle::InOthersHands { directory });
        }
        obstacles(&facts, are_new).into_iter().for_each(&mut refuse);
        if !given_up.iter().any(|(_, number)| *number == Some(facts.device_number)) {
            refuse(Obstacle::NotGivenUp { path: path.to_owned() });
        }
        too_small(spec, &arms, facts.size_bytes).into_iter().for_each(&mut refuse);
        found.insert(path.to_owned(), Box::new(facts));
    }
    let is_used = |number: &DeviceNumber| found.values().any(|f| f.device_number == *number);
    for (path, number) in given_up {
        if !number.as_ref().is_some_and(is_used) {
            let (arm, path) = (String::new(), Some(path.clone()));
            refusals.push(Refusal { arm, path, obstacle: Obstacle::GivenUpInVain });
        }
    }
    (found, refusals)
}

fn too_small(spec: &Spec, arms: &[&Arm], size_bytes: u64) -> Vec<Obstacle> {
    let stacks = || arms.iter().filter_map(|arm| arm.target.stack());
    let layer = stacks().find_map(|stack| layers::too_small(stack, size_bytes));
    let layer = layer.map(|(layer, least_bytes)| Obstacle::TooSmallFor { layer, least_bytes });
    let needed_bytes = arms.iter().map(|arm| spec.bytes_of_files_on(arm)).max().unwrap_or(0);
    let files = stacks().any(|stack| stack.form() == Form::Directory) && needed_bytes > size_bytes;
    let files = files.then_some(Obstacle::TooSmall {
        has_bytes: size_bytes,
        needed_bytes,
        advice: "choose smaller sizes for the workload, or a larger device",
    });
    let recorded = stacks().any(|stack| stack.form() != Form::Directory);
    let recorded_bytes = spec.phases().filter_map(Workload::recorded_device_bytes).max();
    let recorded = recorded_bytes.filter(|bytes| recorded && *bytes > size_bytes);
    let recorded = recorded.map(|needed_bytes| Obstacle::TooSmall {
        has_bytes: size_bytes,
        needed_bytes,
        advice: "choose a device as large as the recorded one",
    });
    layer.into_iter().chain(files).chain(recorded).collect()
}

/// Every reason not to write to a device, apart from the missing permission of the user. The
/// content of a new device is not a reason.
fn obstacles(facts: &Facts, is_new: bool) -> Vec<Obstacle> {
    let mut obstacles = users(facts);
    if facts.read_only {
        obstacles.push(Obstacle::ReadOnlyDevice);
    }
    if obstacles.is_empty() {
        obstacles.extend(opened(facts));
    }
    if !is_new {
        obstacles.extend(content(facts));
    }
    obstacles
}

/// The content of a device or virtual disk that writes would destroy.
pub(crate) fn content(facts: &Facts) -> Vec<Obstacle> {
    let mut obstacles = Vec::new();
    match signatures::signatures(&facts.path) {
        Ok(signatures) => obstacles.extend(carries(&signatures, &facts.path)),
        Err(error) => obstacles.push(Obstacle::Unprobed { why: error.to_string() }),
    }
    match archive::found_on(&facts.path, facts.size_bytes) {
        Ok(Some(what)) => obstacles.push(Obstacle::HoldsData { what }),
        Ok(None) => {}
        Err(error) => obstacles.push(Obstacle::Unreadable(error)),
    }
    obstacles
}

/// The users of the device that the kernel reports by name.
fn users(facts: &Facts) -> Vec<Obstacle> {
    let mut users = Vec::new();
    let mut used = |by: String, remedy: &'static str| users.push(Obstacle::InUse { by, remedy });
    let Some(device) = &facts.block else {
        used("is not listed in /sys".into(), "name another device");
        return users;
    };
    if !device.mounted_at.is_empty() {
        let places: Vec<_> = device.mounted_at.iter().map(|at| at.display().to_string()).collect();
        used(format!("is mounted at {}", places.join(", ")), "name another device");
    }
    if !device.partitions.is_empty() {
        let names = device.partitions.join(", ");
        used(
            format!("has partitions: {names}"),
            "name a device without partitions, or one of these partitions",
        );
    }
    if !device.holders.is_empty() {
        used(format!("is part of {}", device.holders.join(", ")), "name another device");
    }
    let swaps = fs::read_to_string("/proc/swaps").unwrap_or_default();
    let swaps = swaps.lines().skip(1).filter_map(|line| line.split_whitespace().next());
    if swaps.map(Path::new).any(|swap| number_of(swap) == Some(facts.device_number)) {
        used("is in use as swap space".into(), "name another device");
    }
    // Loop devices use their backing device without the kernel listing them as holders.
    for (name, backing) in loop_device::backing_files() {
        if number_of(&backing) == Some(facts.device_number) {
            used(
                format!("is the backing device of {name}"),
                "detach the loop device first (losetup --detach)",
            );
        }
    }
    users
}

/// Other programs that have the device open, and the kernel itself.
fn opened(facts: &Facts) -> Option<Obstacle> {
    let started = Instant::now();
    loop {
        // Closed before processes are checked: one that is starting now would inherit it.
        let found = match open_exclusively(&facts.path).map(drop) {
            Ok(()) => holder_of(facts.device_number).map(|by| Obstacle::InUse {
                by: format!("is in use by {by}"),
                remedy: "stop that process first, or name another device",
            }),
            Err(error) if error.kind() == io::ErrorKind::ResourceBusy => Some(Obstacle::InUse {
                by: "is in use: it cannot be opened exclusively".into(),
                remedy: "run lsblk to see what uses it, or name another device",
            }),
            Err(error) => Some(Obstacle::Unreadable(error)),
        };
        if found.is_none() || started.elapsed() > PATIENCE {
            return found;
        }
        sleep(Duration::from_millis(50));
    }
}

/// Waits until a block device can be opened exclusively, as the programs that make a layer do. A
/// program that is just starting may hold it for a moment, because it inherits open files. If the
/// device stays in use, these programs report it.
pub(crate) fn wait_until_free(path: &Path) {
    let started = Instant::now();
    let is_busy = || {
        let opened = open_exclusively(path).map(drop);
        opened.is_err_and(|error| error.kind() == io::ErrorKind::ResourceBusy)
    };
    while is_busy() && started.elapsed() < PATIENCE {
        sleep(Duration::from_millis(20));
    }
}

fn open_exclusively(path: &Path) -> io::Result<File> {
    let flags = OFlags::EXCL.bits().cast_signed();
    OpenOptions::new().read(true).custom_flags(flags).open(path)
}

/// A process that has the device open, such as a virtual machine.
fn holder_of(number: DeviceNumber) -> Option<String> {
    let own = std::process::id().to_string();
    let processes = fs::read_dir("/proc").ok()?.flatten();
    let mut processes = processes.filter(|process| {
        let name = process.file_name();
        let pid = name.to_str().unwrap_or_default();
        pid != own && pid.bytes().all(|byte| byte.is_ascii_digit())
    });
    let holder = processes.find(|process| {
        let files = fs::read_dir(process.path().join("fd")).into_iter().flatten().flatten();
        // Only links to devices are followed: for other files, a server may not answer.
        files.map(|file| file.path()).any(|file| {
            fs::read_link(&file).is_ok_and(|target| target.starts_with("/dev"))
                && number_of(&file) == Some(number)
        })
    })?;
    let name = fs::read_to_string(holder.path().join("comm")).unwrap_or_default();
    Some(format!("{} (process {})", name.trim(), holder.file_name().to_string_lossy()))
}

fn carries(signatures: &[Signature], path: &Path) -> Option<Obstacle> {
    let mut told: Vec<String> = Vec::new();
    for Signature { kind, usage, uuid, label } in signatures {
        let what = match usage.as_deref() {
            Some("filesystem") => format!("a file system ({kind})"),
            Some("partition-table") => format!("a partition table ({kind})"),
            Some("crypto") => format!("encrypted data ({kind})"),
            Some("raid") => format!("part of a volume ({kind})"),
            _ => kind.clone(),
        };
        let label = label.as_ref().map(|label| format!(", label {label}"));
        let uuid = uuid.as_ref().map(|uuid| format!(", UUID {uuid}"));
        let text = [Some(what), label, uuid].into_iter().flatten().collect();
        if !told.contains(&text) {
            told.push(text);
        }
    }
    let path = path.to_owned();
    (!told.is_empty()).then(|| Obstacle::Signature { what: told.join(" and "), path })
}

impl Device {
    /// Locks the device against other runs.
    ///
    /// # Errors
    /// [`Error::Refused`] if another run has it.
    pub(crate) fn claim(facts: &Facts, is_new: bool, arm: &str) -> Result<Self, Error> {
        let number = facts.device_number;
        // Its directory in sysfs, not its node: other programs lock that.
        let directory = Path::new("/sys/dev/block").join(number.to_string());
        let claim = File::open(&directory).and_then(|file| {
            file.try_lock()?;
            Ok(file)
        });
        let claim = claim.map_err(|error| {
            let obstacle = match error.kind() {
                io::ErrorKind::WouldBlock => Obstacle::InUse {
                    by: "is in use by another run of iotax".to_owned(),
                    remedy: "wait until that run ends, or name another device",
                },
                _ => Obstacle::Unreachable(error),
            };
            Error::refused(arm, &facts.path, obstacle)
        })?;
        let note = if is_new { None } else { content_note(&facts.path) };
        let notes = note.into_iter().collect();
        let (path, size_bytes) = (facts.path.clone(), facts.size_bytes);
        Ok(Self { path, number, size_bytes, is_new, notes, _claim: claim })
    }

    /// Opens it exclusively for writing.
    pub(crate) fn open(&self) -> Result<File, Error> {
        let flags = OFlags::EXCL.bits().cast_signed();
        let file = OpenOptions::new().read(true).write(true).custom_flags(flags).open(&self.path);
        file.map_err(Error::cannot("open this device for writing", &self.path))
    }

    /// Bytes from its start that a load of `files_bytes` and the headers below it can reach.
    pub(crate) fn bytes_for(&self, files_bytes: u64) -> u64 {
        files_bytes.saturating_add(SLACK_BYTES).min(self.size_bytes)
    }

    /// Checks again, because another program may have started to use the device since the start or
    /// since the last arm on it was taken down.
    pub(crate) fn confirm(&self, arm: &str) -> Result<(), Error> {
        let gone =
            |what: String| Error::Vanished { arm: arm.to_owned(), path: self.path.clone(), what };
        let facts = look(&self.path).map_err(|obstacle| gone(obstacle.to_string()))?;
        if facts.device_number != self.number || facts.size_bytes != self.size_bytes {
            return Err(gone("another device is in its place".to_owned()));
        }
        let obstacles =
            obstacles(&facts, self.is_new).into_iter().map(|obstacle| format!("it {obstacle}"));
        let told: Vec<String> = obstacles.collect();
        if told.is_empty() { Ok(()) } else { Err(gone(told.join("; "))) }
    }
}

/// A note for the record if the device has data: reads of a blank device cost nothing.
fn content_note(path: &Path) -> Option<String> {
    let mut head = vec![0; 1 << 20];
    File::open(path).and_then(|file| file.read_exact_at(&mut head, 0)).ok()?;
    head.iter().any(|byte| *byte != 0).then(|| {
        format!(
            "{} contained data without a known signature; --destroy allowed iotax to overwrite it",
            path.display()
        )
    })
}

/// Block devices that may be overwritten.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GivenUp {
    pub devices: Vec<PathBuf>,
    /// Whether they were made for this run and are removed with it. Then their content belongs to
    /// nobody and is neither checked nor wiped.
    pub are_new: bool,
}

impl GivenUp {
    /// Those that a user named.
    pub fn by_user(devices: &[PathBuf]) -> Self {
        Self { devices: devices.to_vec(), are_new: false }
    }

    /// Whether a stack is only a new device, which needs nothing from this machine.
    pub(crate) fn is_new(&self, stack: &Stack, base: &Path) -> bool {
        self.are_new && stack.layers.len() == 1 && self.devices.iter().any(|path| path == base)
    }
}
