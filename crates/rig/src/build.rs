//! The arms of an experiment being made.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use iotax_experiment::{Arm, Form, Spec, Target};
use iotax_inspect::{DeviceNumber, Facts};

use crate::alone::{Alone, keys};
use crate::arm_state::{ArmState, Up};
use crate::assembly::{ArmBase, Assembly};
use crate::build_context::Surroundings;
use crate::check::{Sharing, disk_bytes};
use crate::device::Device;
use crate::disk_file::{self, DiskFile};
use crate::error::Error;
use crate::fill::Preparing;
use crate::fill::{Watch, fill, reserve, reserve_in_turns};
use crate::held::{Held, exchanged};
use crate::journal::Journal;
use crate::layers::maker::Top;
use crate::resolved_target::ResolvedTarget;
use crate::site::cgroup_limits;
use crate::{scratch, site, vdisk};

/// A rig being made. If it is dropped half-way, the journal takes down what there is.
pub(crate) struct Build<'a> {
    /// Has one target for each arm.
    pub(crate) spec: &'a Spec,
    pub(crate) sharing: Sharing,
    pub(crate) watch: Watch<'a>,
    pub(crate) files: Files,
    /// Private directories by the directory they are in, without symbolic links: arms on the same
    /// directory share their test files.
    pub(crate) directories: BTreeMap<PathBuf, Arc<Held>>,
    pub(crate) journal: Journal,
    pub(crate) state_dir: Option<PathBuf>,
    pub(crate) surroundings: Surroundings,
    pub(crate) devices: BTreeMap<DeviceNumber, Device>,
    /// Whether they were made for this run.
    pub(crate) devices_are_new: bool,
}

#[derive(Default)]
pub(crate) struct Files {
    /// By path, or by the key of an anonymous file.
    pub(crate) made: BTreeMap<PathBuf, DiskFile>,
}

impl Build<'_> {
    /// Makes them all, in their order.
    pub(crate) fn arms(
        &mut self,
        resolved_targets: &[ResolvedTarget],
    ) -> Result<Vec<ArmState>, Error> {
        let spec = self.spec;
        self.claim_devices(resolved_targets)?;
        let sizes = self.make_files(resolved_targets)?;
        let mut bases = self.bases(resolved_targets)?;
        let mut states = Vec::with_capacity(resolved_targets.len());
        for (index, (arm, resolved)) in spec.arms.iter().zip(resolved_targets).enumerate() {
            let place = match bases.remove(&index) {
                Some(base) => self.stand(index, resolved_targets, base)?,
                None => self.place(arm, resolved)?,
            };
            let site = match &place {
                Up::System(assembly) => {
                    let mut site = site::of_assembly(arm, resolved, assembly);
                    site.notes
                        .extend(self.device(resolved).into_iter().flat_map(|d| d.notes.clone()));
                    site
                }
                Up::Alone(_) => site::in_waiting(arm, resolved),
                Up::Disk(disk) => {
                    site::describe(arm, resolved, Some(disk), &spec.all_at_once_on(arm))
                }
                Up::Private(_) | Up::Users { .. } => {
                    site::describe(arm, resolved, None, &spec.all_at_once_on(arm))
                }
            };
            let mut site = site;
            if arm.part.is_some() {
                site.known = cgroup_limits(&arm.target, spec.all_at_once_on(arm).writes());
            }
            // The other arms must not be made during this one's turn.
            place.assembly().map_or(Ok(()), Assembly::leave)?;
            states.push(ArmState { name: arm.name.clone(), site, place });
        }
        // Last, because it takes time: by now every stack is known to open.
        for (path, size_bytes) in sizes {
            let file = &self.files.made[&path];
            fill(&file.file, file.held.shown(), size_bytes, spec.seed, &mut self.watch)?;
        }
        self.fill_memory(&states)?;
        Ok(states)
    }

    /// Makes each file at the base of arms, as large as the largest of these arms needs.
    fn make_files(
        &mut self,
        resolved_targets: &[ResolvedTarget],
    ) -> Result<BTreeMap<PathBuf, u64>, Error> {
        let mut sizes = BTreeMap::new();
        let own = |arm: &&Arm| !arm.target.is_in_system();
        let shared = self.spec.arms.iter().zip(resolved_targets).filter(|(arm, _)| own(arm));
        for (arm, resolved) in shared.clone() {
            let Some(key) = resolved.file_to_make() else { continue };
            let size_bytes = sizes.entry(key.to_owned()).or_insert(0);
            *size_bytes = disk_bytes(arm).max(*size_bytes);
        }
        for (_, resolved) in shared {
            let Some(key) = resolved.file_to_make() else { continue };
            if self.files.made.contains_key(key) {
                continue;
            }
            let file = match resolved {
                ResolvedTarget::Anonymous { facts, .. } => {
                    disk_file::anonymous(&facts.path, &mut self.journal)?
                }
                _ => disk_file::make(key, &mut self.journal)?,
            };
            reserve(&file.file, file.held.shown(), sizes[key])?;
            self.files.made.insert(key.to_owned(), file);
        }
        Ok(sizes)
    }

    /// The bases of the arms with layers of the system, by the arm's index. Each arm has its own
    /// file. The files are allocated in turns, so that none is in a faster part of the volume.
    fn bases(
        &mut self,
        resolved_targets: &[ResolvedTarget],
    ) -> Result<BTreeMap<usize, ArmBase>, Error> {
        let spec = self.spec;
        let mut bases = BTreeMap::new();
        let mut files = Vec::new();
        for (index, (arm, resolved)) in spec.arms.iter().zip(resolved_targets).enumerate() {
            if !arm.target.is_in_system() {
                continue;
            }
            let mut journal = Journal::new(self.state_dir.clone());
            let top = match resolved {
                ResolvedTarget::Anonymous { facts, .. }
                | ResolvedTarget::OnNew { parent: facts, .. } => {
                    let DiskFile { file, held } = disk_file::private(&facts.path, &mut journal)?;
                    files.push((file, held.shown().to_owned(), disk_bytes(arm)));
                    Some(Top::file(scratch::put_on_shelf(&held, &mut journal)?))
                }
                ResolvedTarget::Device(facts) => Some(Top::block(&facts.path)),
                ResolvedTarget::Directory(facts) => {
                    let private = scratch::make(&facts.path, &mut journal)?;
                    Some(Top::directory(scratch::put_on_shelf(&private, &mut journal)?))
                }
                _ => None,
            };
            let surroundings = self.surroundings.clone();
            bases.insert(index, ArmBase { top, journal, surroundings });
        }
        reserve_in_turns(&files)?;
        for (file, path, size_bytes) in &files {
            fill(file, path, *size_bytes, spec.seed, &mut self.watch)?;
        }
        Ok(bases)
    }

    /// The devices at the base of arms, locked against other runs and filled with data unless they
    /// get a file system.
    fn claim_devices(&mut self, resolved_targets: &[ResolvedTarget]) -> Result<(), Error> {
        let spec = self.spec;
        for (arm, resolved) in spec.arms.iter().zip(resolved_targets) {
            if let ResolvedTarget::Device(facts) = resolved
                && !self.devices.contains_key(&facts.device_number)
            {
                let device = Device::claim(facts, self.devices_are_new, &arm.name)?;
                device.confirm(&arm.name)?;
                self.devices.insert(device.number, device);
            }
        }
        for device in self.devices.values() {
            let is_bare = |(arm, resolved): (&Arm, &ResolvedTarget)| {
                let Some(stack) = arm.target.stack() else { return false };
                let on_it = resolved.facts().is_some_and(|f| f.device_number == device.number);
                matches!(resolved, ResolvedTarget::Device(_))
                    && on_it
                    && stack.form() != Form::Directory
            };
            let mut arms = spec.arms.iter().zip(resolved_targets);
            if let Some((arm, _)) = arms.find(|pair| is_bare(*pair)) {
                let bytes = device.bytes_for(spec.bytes_of_files_on(arm));
                fill(&device.open()?, &device.path, bytes, spec.seed, &mut self.watch)?;
            }
        }
        Ok(())
    }

    fn device(&self, resolved: &ResolvedTarget) -> Option<&Device> {
        let ResolvedTarget::Device(facts) = resolved else { return None };
        self.devices.get(&facts.device_number)
    }

    /// Makes an arm with layers of the system, unless it must wait for its turn.
    fn stand(
        &mut self,
        index: usize,
        resolved_targets: &[ResolvedTarget],
        base: ArmBase,
    ) -> Result<Up, Error> {
        let all = || self.spec.arms.iter().zip(resolved_targets);
        let (arm, resolved) = all().nth(index).expect("an index into the spec");
        let own = keys(arm, resolved);
        let alike = |(arm, resolved)| keys(arm, resolved).iter().any(|key| own.contains(key));
        if all().filter(|pair| alike(*pair)).count() > 1 {
            return Ok(Up::Alone(Box::new(Alone::new(arm, resolved, base, own))));
        }
        (self.watch.progress)(&Preparing::Making { arm: &arm.name });
        let made = Assembly::make(arm, base, self.device(resolved), self.watch.stop);
        made.map(|assembly| Up::System(Box::new(assembly)))
    }

    fn place(&mut self, arm: &Arm, resolved: &ResolvedTarget) -> Result<Up, Error> {
        let stack = match (&arm.target, resolved) {
            (Target::Path(_), ResolvedTarget::Directory(facts)) => {
                return Ok(Up::Private(self.private_directory(&facts.path)?));
            }
            (Target::Path(path), _) => {
                let path = resolved.facts().map_or(path, |facts| &facts.path);
                return Up::users(path, matches!(resolved, ResolvedTarget::OwnDisk(_)));
            }
            (Target::Stack(stack), _) => stack,
            (Target::Several(_), _) => unreachable!("several targets are processed one by one"),
        };
        // The open disk keeps the file alive.
        let thin = match resolved {
            ResolvedTarget::Thin(facts) => {
                Some(disk_file::thin(&facts.path, disk_bytes(arm), &mut self.journal)?)
            }
            _ => None,
        };
        let users = match resolved {
            ResolvedTarget::OnExisting(facts) => Some(users_file(facts)?),
            _ => None,
        };
        let file = match resolved.file_to_make() {
            Some(key) => Some(&self.files.made[key].held),
            None => users.as_ref().or(thin.as_ref().map(|file| &file.held)),
        };
        let file = file.map_or(Path::new(""), Held::path);
        let opened = vdisk::open(stack, self.spec.owner(arm), file, self.spec.seed);
        opened.map(Up::Disk).map_err(|source| Error::Stack { arm: arm.name.clone(), source })
    }

    fn private_directory(&mut self, parent: &Path) -> Result<Arc<Held>, Error> {
        if self.sharing == Sharing::AnonymousFile
            && let Some(made) = self.directories.get(parent)
        {
            return Ok(Arc::clone(made));
        }
        let made = Arc::new(scratch::make(parent, &mut self.journal)?);
        self.directories.insert(parent.to_owned(), Arc::clone(&made));
        Ok(made)
    }

    /// Fills memory with data: memory that was never written is one page of zeros, and reading it
    /// would measure the cache.
    fn fill_memory(&mut self, arms: &[ArmState]) -> Result<(), Error> {
        for arm in arms {
            let Up::Disk(disk) = &arm.place else { continue };
            let what = disk.to_string();
            let Watch { progress, stop } = &mut self.watch;
            let report = |done_bytes, size_bytes| {
                progress(&Preparing::Filling { what: &what, done_bytes, size_bytes });
            };
            if !disk.fill_memory(report, stop) {
                return Err(Error::Interrupted);
            }
        }
        Ok(())
    }
}

/// Opens exactly the user's file that was checked.
fn users_file(facts: &Facts) -> Result<Held, Error> {
    let hold = || {
        let held = Held::at(&facts.path)?;
        let is_it = held.is_file()? && held.inode()? == facts.inode;
        if is_it { Ok(held) } else { Err(exchanged()) }
    };
    hold().map_err(Error::cannot("check it again", &facts.path))
}
