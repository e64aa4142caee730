//! Checks all arms before anything is made: what each target is, and every reason to refuse it.

use std::collections::BTreeMap;
use std::ffi::CString;
use std::fs::OpenOptions;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

use iotax_experiment::{
    Arm, Base, BlockSizes, Draft, Form, Job, Layer, PageCache, Spec, Stack, Target, Workload,
};
use iotax_inspect::{Facts, SiteKind};
use iotax_layers::File;
use rustix::fs::{Access, AtFlags, CWD, accessat};

use crate::device::GivenUp;
use crate::disk_file::{DirectIo, direct_in};
use crate::error::{Error, Obstacle, Refusal};
use crate::free_space::SpaceNeeded;
use crate::needs::Missing;
use crate::resolved_target::{ResolvedTarget, look};
use crate::{alone, device, layers, needs, own_disk, vdisk};

/// Which arms without a file name share one file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sharing {
    /// All: they take turns and are compared on the same bytes in the same place.
    AnonymousFile,
    /// None: their disks are in use at the same time.
    Nothing,
}

/// The resolved targets of the arms, in the same order.
///
/// # Errors
/// [`Error::Refused`] with everything that is wrong.
pub(crate) fn check_targets(
    spec: &Spec,
    work_dir: &Path,
    given_up: &GivenUp,
    sharing: Sharing,
) -> Result<Vec<ResolvedTarget>, Error> {
    let (spec, places) = &spec.target_by_target();
    let mut refusals = lacks(spec, given_up);
    let (devices, reasons) = device::check_devices(spec, given_up);
    refusals.extend(reasons);
    let mut resolved_targets = Vec::new();
    for (index, arm) in spec.arms.iter().enumerate() {
        if let Some(stack) = arm.target.stack() {
            let refuse = |obstacle| Refusal { arm: arm.name.clone(), path: None, obstacle };
            refusals.extend(obstacles(stack).into_iter().map(refuse));
            refusals.extend(too_large(stack, spec.bytes_of_files_on(arm)).map(refuse));
        }
        if let Some(path) = device::path_in(arm) {
            resolved_targets.extend(devices.get(path).cloned().map(ResolvedTarget::Device));
            continue;
        }
        match resolved(arm, &spec.all_at_once_on(arm), work_dir) {
            Ok(ResolvedTarget::Anonymous { facts, .. }) if sharing == Sharing::Nothing => {
                resolved_targets
                    .push(ResolvedTarget::Anonymous { facts, key: index.to_string().into() });
            }
            Ok(ResolvedTarget::Existing(facts) | ResolvedTarget::OnExisting(facts))
                if spec.side_runs.precondition =>
            {
                let (arm, path) = (arm.name.clone(), Some(facts.path.clone()));
                refusals.push(Refusal { arm, path, obstacle: Obstacle::WouldPrecondition });
            }
            Ok(resolved) => resolved_targets.push(resolved),
            Err((path, obstacle)) => {
                refusals.push(Refusal { arm: arm.name.clone(), path: Some(path), obstacle });
            }
        }
    }
    if refusals.is_empty() {
        for places in places.iter().filter(|places| places.len() > 1) {
            let together = spec.arms[places.clone()].iter().zip(&resolved_targets[places.clone()]);
            refusals.extend(keep_apart(&together.collect::<Vec<_>>()));
        }
    }
    if refusals.is_empty() {
        let needed = space_needed(spec, spec.arms.iter().zip(&resolved_targets));
        refusals = needed.refusals(iotax_vdisk::available_memory());
    }
    if refusals.is_empty() { Ok(resolved_targets) } else { Err(Error::Refused { refusals }) }
}

/// Refuses two targets of one trial that cannot be in use at the same time.
fn keep_apart(together: &[(&Arm, &ResolvedTarget)]) -> Option<Refusal> {
    let keys = |(arm, resolved): &(&Arm, &ResolvedTarget)| {
        let is_group = |layer: &&Layer| matches!(layer, Layer::CgroupIo(_));
        let group = arm.target.layers().iter().find(is_group).map(|layer| layer.name().to_owned());
        alone::keys(arm, resolved).into_iter().chain(group).collect::<Vec<_>>()
    };
    together.iter().enumerate().find_map(|(at, one)| {
        let own = keys(one);
        let (other, what) = together[..at].iter().find_map(|other| {
            let mut theirs = keys(other).into_iter();
            Some((other.0, theirs.find(|key| own.contains(key))?))
        })?;
        let arm = format!("{}, {}", other.name, one.0.name);
        Some(Refusal { arm, path: None, obstacle: Obstacle::NotTogether { what } })
    })
}

/// Refuses what [`Rig::open`](crate::Rig::open) would refuse; makes nothing.
///
/// # Errors
/// [`Error::Refused`] with everything that is wrong with any target.
pub fn refuse(spec: &Spec, work_dir: &Path, given_up: &GivenUp) -> Result<(), Error> {
    let sharing =
        if spec.has_several_targets() { Sharing::Nothing } else { Sharing::AnonymousFile };
    check_targets(spec, work_dir, given_up, sharing).map(drop)
}

/// Every reason why the layers above the base cannot be made.
fn obstacles(stack: &Stack) -> Vec<Obstacle> {
    if stack.is_in_process() {
        return vdisk::check_layers(stack).err().map(Obstacle::Stack).into_iter().collect();
    }
    let small = stack.size_bytes().and_then(|bytes| layers::too_small(stack, bytes));
    let small = small.map(|(layer, least_bytes)| Obstacle::TooSmallFor { layer, least_bytes });
    let others = stack.layers.iter().filter_map(|layer| layers::system(layer)?.obstacle());
    small.into_iter().chain(others).collect()
}

/// Whether the test files are larger than the whole stack.
fn too_large(stack: &Stack, files_bytes: u64) -> Option<Obstacle> {
    let size_bytes = stack.size_bytes().filter(|_| stack.form() == Form::Directory)?;
    (files_bytes > size_bytes).then_some(Obstacle::FilesTooLarge { files_bytes, size_bytes })
}

/// What this machine lacks for the arms, each item once.
fn lacks(spec: &Spec, given_up: &GivenUp) -> Vec<Refusal> {
    let stacks = spec.arms.iter().filter_map(|arm| match &arm.target {
        Target::Stack(stack) if !stack.is_in_process() => {
            let is_new = device::path_in(arm).is_some_and(|base| given_up.is_new(stack, base));
            (!is_new).then_some((arm, stack))
        }
        _ => None,
    });
    let mut found: BTreeMap<Missing, Vec<&str>> = BTreeMap::new();
    for (arm, stack) in stacks {
        let layers = stack.layers.iter().filter_map(layers::system);
        let own = layers.flat_map(|layer| layer.lacks());
        for missing in needs::missing(layers::needs(stack)).into_iter().chain(own) {
            found.entry(missing).or_default().push(&arm.name);
        }
    }
    let refusal = |(missing, arms): (Missing, Vec<&str>)| Refusal {
        arm: arms.join(", "),
        path: None,
        obstacle: Obstacle::Lacks { what: missing.what, remedy: missing.remedy },
    };
    found.into_iter().map(refusal).collect()
}

type Looked = Result<ResolvedTarget, (PathBuf, Obstacle)>;

pub(crate) fn resolved(arm: &Arm, workload: &Workload, work_dir: &Path) -> Looked {
    let at = |path: &Path| {
        let path = path.to_owned();
        move |obstacle| (path, obstacle)
    };
    match &arm.target {
        Target::Path(path) => {
            let facts = look(path).map_err(at(path))?;
            path_target(facts, workload).map_err(at(path))
        }
        Target::Several(_) => unreachable!("each of its targets is a separate arm here"),
        Target::Stack(stack) => match stack.base() {
            Some(Base::File(File { path: None, thin, .. })) => {
                let facts = look(work_dir).map_err(at(work_dir))?;
                writable_directory(&facts).map_err(at(work_dir))?;
                let facts = Box::new(facts);
                Ok(if *thin {
                    ResolvedTarget::Thin(facts)
                } else {
                    ResolvedTarget::Anonymous { facts, key: "shared".into() }
                })
            }
            Some(Base::File(File { path: Some(path), size_bytes, .. })) => {
                let resolved = disk_on(path, *size_bytes, workload).map_err(at(path))?;
                if matches!(resolved, ResolvedTarget::OnExisting(_)) && !stack.is_in_process() {
                    return Err((path.clone(), Obstacle::WouldOverwrite));
                }
                Ok(resolved)
            }
            Some(Base::Directory(path)) => {
                let facts = look(path).map_err(at(path))?;
                writable_directory(&facts).map_err(at(path))?;
                Ok(ResolvedTarget::Directory(Box::new(facts)))
            }
            Some(Base::Disk(stack)) => {
                made_for_vdisk(stack)?;
                Ok(ResolvedTarget::Memory)
            }
            Some(Base::Memory { .. } | Base::Server(_) | Base::Device(_) | Base::Network)
            | None => Ok(ResolvedTarget::Memory),
        },
    }
}

/// The file below a mounted virtual disk is written to, so it must not exist yet.
fn made_for_vdisk(stack: &Stack) -> Result<(), (PathBuf, Obstacle)> {
    let Some(Base::File(File { path: Some(path), .. })) = stack.base() else { return Ok(()) };
    let obstacle = match std::fs::symlink_metadata(path) {
        Ok(found) if found.file_type().is_block_device() => Obstacle::DeviceAsBase,
        Ok(_) => Obstacle::WouldOverwrite,
        Err(_) => return disk_to_make(path).map(drop).map_err(|error| (path.clone(), error)),
    };
    Err((path.clone(), obstacle))
}

fn path_target(facts: Facts, workload: &Workload) -> Result<ResolvedTarget, Obstacle> {
    let own = own_disk::at(&facts)?;
    let is_own = own.is_some();
    let facts = own.unwrap_or(facts);
    match facts.kind {
        SiteKind::File if is_own && writes(workload) => own_disk::writable(&facts)?,
        SiteKind::Directory => {
            writable_directory(&facts)?;
            if let Some(direct) = direct_in(&facts.path) {
                direct_jobs(workload, &facts, direct)?;
            }
            return Ok(ResolvedTarget::Directory(Box::new(facts)));
        }
        SiteKind::Other => return Err(Obstacle::WrongKind),
        _ if needs_directory(workload) => return Err(Obstacle::NeedsDirectory),
        SiteKind::File if writes(workload) => return Err(Obstacle::WritesToFile),
        SiteKind::BlockDevice if writes(workload) => return Err(Obstacle::WritesToDevice),
        SiteKind::File | SiteKind::BlockDevice => {}
    }
    readable(&facts)?;
    let largest = workload.jobs.iter().map(|job| u64::from(job.max_block_bytes())).max();
    large_enough(
        &facts,
        workload.recorded_device_bytes().max(largest).unwrap_or(1),
        "name a larger file, or a directory in which iotax can create its test files",
    )?;
    let direct =
        DirectIo { possible: facts.direct.unwrap_or(true), align_bytes: facts.direct_align_bytes };
    direct_jobs(workload, &facts, direct)?;
    let facts = Box::new(facts);
    Ok(if is_own { ResolvedTarget::OwnDisk(facts) } else { ResolvedTarget::Existing(facts) })
}

fn disk_on(path: &Path, size_bytes: u64, workload: &Workload) -> Result<ResolvedTarget, Obstacle> {
    let facts = match look(path) {
        Err(Obstacle::Missing) => return disk_to_make(path),
        looked => looked?,
    };
    match facts.kind {
        SiteKind::Directory => return Err(Obstacle::NotAFile),
        SiteKind::Other => return Err(Obstacle::WrongKind),
        SiteKind::BlockDevice => return Err(Obstacle::DeviceAsBase),
        SiteKind::File if writes(workload) => return Err(Obstacle::WritesToFile),
        SiteKind::File => {}
    }
    readable(&facts)?;
    large_enough(
        &facts,
        size_bytes,
        "choose a smaller size in the stack, or name a new file for iotax to create",
    )?;
    Ok(ResolvedTarget::OnExisting(Box::new(facts)))
}

fn disk_to_make(path: &Path) -> Result<ResolvedTarget, Obstacle> {
    let name = path.file_name().ok_or(Obstacle::WrongKind)?;
    let parent = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let parent = look(parent).map_err(|obstacle| match obstacle {
        Obstacle::Missing => Obstacle::NoParent,
        other => other,
    })?;
    writable_directory(&parent)?;
    Ok(ResolvedTarget::OnNew { path: parent.path.join(name), parent: Box::new(parent) })
}

/// Whether anything is written to the target; the null engine never touches it.
fn writes(workload: &Workload) -> bool {
    workload.overwrites()
}

/// Whether it replays a recording of more than one block device.
fn needs_directory(workload: &Workload) -> bool {
    workload.is_recorded() && workload.recorded_device_bytes().is_none()
}

fn writable_directory(facts: &Facts) -> Result<(), Obstacle> {
    if facts.kind != SiteKind::Directory {
        return Err(Obstacle::Unwritable(io::ErrorKind::NotADirectory.into()));
    }
    if facts.read_only {
        return Err(Obstacle::ReadOnly);
    }
    let path = CString::new(facts.path.as_os_str().as_bytes()).expect("a path that exists");
    let access = Access::WRITE_OK | Access::EXEC_OK;
    accessat(CWD, path, access, AtFlags::EACCESS)
        .map_err(|error| Obstacle::Unwritable(error.into()))
}

/// Tries to read, because not only permissions can forbid it (device cgroups, LSMs).
fn readable(facts: &Facts) -> Result<(), Obstacle> {
    OpenOptions::new().read(true).open(&facts.path).map(drop).map_err(Obstacle::Unreadable)
}

fn large_enough(facts: &Facts, needed_bytes: u64, advice: &'static str) -> Result<(), Obstacle> {
    match facts.size_bytes {
        0 => Err(Obstacle::Empty { advice }),
        has_bytes if has_bytes < needed_bytes => {
            Err(Obstacle::TooSmall { has_bytes, needed_bytes, advice })
        }
        _ => Ok(()),
    }
}

/// Refuses direct I/O where it is impossible. If one arm silently used buffered I/O instead, the
/// arms would no longer differ only in the target.
fn direct_jobs(workload: &Workload, facts: &Facts, direct: DirectIo) -> Result<(), Obstacle> {
    let uses_direct = |job: &&Job| job.direct && job.engine.info().cache == PageCache::UnlessDirect;
    let mut jobs = workload.jobs.iter().filter(uses_direct).peekable();
    if jobs.peek().is_some() && !direct.possible {
        let file_system = facts.file_system.clone().unwrap_or_else(|| "unknown".to_owned());
        return Err(Obstacle::NoDirect { file_system });
    }
    let Some(align_bytes) = direct.align_bytes else { return Ok(()) };
    let unaligned = jobs.find_map(|job| {
        let odd =
            job.all_block_sizes().flat_map(block_sizes).find(|size| size % align_bytes != 0)?;
        Some(Obstacle::Unaligned { align_bytes, job: job.name.clone(), block_bytes: odd })
    });
    unaligned.map_or(Ok(()), Err)
}

/// Sizes that all I/O sizes of a job are multiples of.
fn block_sizes(sizes: &BlockSizes) -> Vec<u32> {
    match sizes {
        BlockSizes::Fixed(_) | BlockSizes::Range { .. } => vec![sizes.min_bytes()],
        BlockSizes::Split(shares) => shares.iter().map(|share| share.bytes).collect(),
    }
}

/// What arms will store in one place.
struct Wanted<'a> {
    path: &'a Path,
    arms: Vec<&'a str>,
    facts: &'a Facts,
    /// Size of a file; `None` for a directory.
    file_bytes: Option<u64>,
    /// Size of all test files of a directory.
    test_files_bytes: u64,
}

/// The space that all arms together will take, counting shared storage once.
pub(crate) fn space_needed<'a>(
    spec: &Draft,
    arms: impl Iterator<Item = (&'a Arm, &'a ResolvedTarget)>,
) -> SpaceNeeded {
    let mut needed = SpaceNeeded::default();
    let mut places: Vec<Wanted<'_>> = Vec::new();
    for (arm, resolved) in arms {
        let (path, facts, file_bytes) = match resolved {
            // A thin file takes what is written to it, which is not known in advance.
            ResolvedTarget::Existing(_)
            | ResolvedTarget::OwnDisk(_)
            | ResolvedTarget::OnExisting(_)
            | ResolvedTarget::Device(_)
            | ResolvedTarget::Thin(_) => continue,
            ResolvedTarget::Memory => {
                needed.in_memory(&arm.name, disk_bytes(arm));
                continue;
            }
            ResolvedTarget::Directory(facts) => (facts.path.as_path(), facts, None),
            ResolvedTarget::Anonymous { facts, key } => {
                (key.as_path(), facts, Some(disk_bytes(arm)))
            }
            ResolvedTarget::OnNew { path, parent } => {
                (path.as_path(), parent, Some(disk_bytes(arm)))
            }
        };
        // Layers of the system write to their base, and the targets of one trial are in use at the
        // same time, so each has its own file or directory.
        let is_own = arm.target.is_in_system() || arm.part.is_some();
        let path = if is_own { Path::new("") } else { path };
        let known = places.iter_mut().find(|place| !is_own && place.path == path);
        if let Some(place) = known {
            place.arms.push(&arm.name);
            place.file_bytes = file_bytes.max(place.file_bytes);
        } else {
            let test_files_bytes = spec.bytes_of_files_on(arm);
            let arms = vec![arm.name.as_str()];
            places.push(Wanted { path, arms, facts, file_bytes, test_files_bytes });
        }
    }
    for Wanted { arms, facts, file_bytes, test_files_bytes, .. } in places {
        match file_bytes {
            Some(bytes) => needed.file(&arms, facts, bytes),
            None => needed.directory(&arms, facts, test_files_bytes),
        }
    }
    needed
}

/// Bytes that the base of an arm's stack takes; 0 for paths.
pub(crate) fn disk_bytes(arm: &Arm) -> u64 {
    arm.target.stack().map_or(0, layers::base_bytes)
}
