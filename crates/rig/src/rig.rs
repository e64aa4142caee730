//! Arms, brought up and taken down.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use iotax_inspect::DeviceNumber;
use iotax_record::Site;
use iotax_spec::{Arm, Form, Spec, Target};
use iotax_vdisk::{Prepared, VirtualDisk};

use crate::alone::{Alone, Base, Surroundings, assemble, keys};
use crate::assembly::Assembly;
use crate::check::{Ground, Sharing, check, disk_bytes, is_system};
use crate::device::Device;
use crate::disk_file::{self, DiskFile};
use crate::entry::Identity;
use crate::error::Error;
use crate::fill::{Watch, fill, reserve, reserve_in_turns};
use crate::journal::Journal;
use crate::layers::Top;
use crate::progress::Progress;
use crate::room::bytes_in_directory;
use crate::{scratch, site, vdisk};

/// What a rig needs from its surroundings.
pub struct Options<'a> {
    /// Where anonymous files of stacks lie.
    pub work_dir: &'a Path,
    /// Where the undo journal is kept: [`state_dir`](crate::state_dir()). Only needed if something
    /// with a name is made.
    pub state_dir: Option<PathBuf>,
    /// Told while disks are filled with data, which may take minutes.
    pub progress: &'a mut dyn FnMut(&Progress<'_>),
    /// Set by someone else to stop the preparation; everything made so far is removed.
    pub stop: &'a AtomicBool,
    /// Block devices that the user gave up to be overwritten.
    pub destroy: &'a [PathBuf],
    /// The iotax program, which serves virtual disks when run with `disk serve`.
    pub program: &'a Path,
}

/// What load can be driven at.
#[derive(Debug, Clone, Copy)]
pub enum Place<'a> {
    /// A private directory, or the user's file or block device, which may only be read.
    Path(&'a Path),
    /// A device or virtual disk that was made for this run or by iotax, and may be written.
    Own(&'a Path),
    /// An open virtual disk, filled with data.
    Disk(&'a VirtualDisk),
}

/// All arms of an experiment. What it made is removed when it is dropped.
#[derive(Debug)]
pub struct Rig {
    // Fields are dropped in this order: disks close their files before these are removed.
    arms: Vec<Standing>,
    _files: Vec<DiskFile>,
    journal: Journal,
    /// The arm whose turn it is.
    driven: Option<usize>,
    // Last: others may have a device when nothing of ours is on it.
    devices: BTreeMap<DeviceNumber, Device>,
    stop: Arc<AtomicBool>,
}

/// An arm that is up, or whose turn will come.
#[derive(Debug)]
struct Standing {
    name: String,
    site: Site,
    place: Up,
}

#[derive(Debug)]
enum Up {
    Path {
        path: PathBuf,
        identity: Identity,
        is_own: bool,
    },
    Disk(VirtualDisk),
    System(Box<Assembly>),
    /// Not up side by side with others.
    Alone(Box<Alone>),
}

impl Standing {
    /// A path or a disk, which needs nothing to be driven at.
    fn at_hand(&self) -> Result<Place<'_>, Error> {
        match &self.place {
            Up::Disk(disk) => Ok(Place::Disk(disk)),
            Up::System(_) | Up::Alone(_) => unreachable!("it is entered, or refused"),
            Up::Path { path, identity, is_own } => {
                let place = if *is_own { Place::Own } else { Place::Path };
                let what = match Identity::of(path) {
                    Ok(found) if found == *identity => return Ok(place(path)),
                    Ok(_) => "something else is there now".to_owned(),
                    Err(error) => error.to_string(),
                };
                Err(Error::Vanished { arm: self.name.clone(), path: path.clone(), what })
            }
        }
    }
}

impl Rig {
    /// Checks the targets of all arms, then makes what they need.
    ///
    /// # Errors
    /// [`Error::Refused`] with everything that is wrong with any target, before anything is made.
    /// Whatever happens later, everything made so far is removed.
    pub fn open(spec: &Spec, options: Options<'_>) -> Result<Self, Error> {
        Self::open_sharing(spec, options, Sharing::AnonymousFile)
    }

    /// As [`Rig::open`], for arms that are all in use at the same time: each has its own files.
    pub(crate) fn open_side_by_side(spec: &Spec, options: Options<'_>) -> Result<Self, Error> {
        Self::open_sharing(spec, options, Sharing::Nothing)
    }

    fn open_sharing(spec: &Spec, options: Options<'_>, sharing: Sharing) -> Result<Self, Error> {
        let grounds = check(spec, options.work_dir, options.destroy, sharing)?;
        let Options { state_dir, progress, stop, .. } = options;
        let mut build = Build {
            spec,
            watch: Watch { progress, stop },
            journal: Journal::new(state_dir.clone()),
            surroundings: Surroundings {
                work_dir: options.work_dir.to_owned(),
                program: options.program.to_owned(),
            },
            state_dir,
            directories: BTreeMap::new(),
            files: Files::default(),
            devices: BTreeMap::new(),
        };
        let arms = build.arms(&grounds)?;
        let files = build.files.made.into_values().collect();
        let (journal, devices) = (build.journal, build.devices);
        Ok(Self { arms, _files: files, journal, driven: None, devices, stop: Arc::default() })
    }

    /// Ends the making of arms in [`Rig::up`] when `stop` is set.
    pub fn heed(&mut self, stop: Arc<AtomicBool>) {
        self.stop = stop;
    }

    /// Whether arm `arm` is made anew for its turns, so that its files must be laid out again.
    pub fn is_made_anew(&self, arm: usize) -> bool {
        matches!(self.arms[arm].place, Up::Alone(_))
    }

    /// Brings arm `arm` (index in the spec) up, if it is not up already, and says where load can
    /// be driven at it until the next call.
    ///
    /// # Errors
    /// [`Error::Vanished`] if the target disappeared or was replaced since [`Rig::open`]: a trial
    /// on something else must not pass for one on this target. For arms that take turns, whatever
    /// keeps the one before from being taken down, or this one from being made.
    pub fn up(&mut self, arm: usize) -> Result<Place<'_>, Error> {
        self.end_turn_before(arm)?;
        self.take_turn(arm)?;
        if let Some(assembly) = self.arms[arm].place.assembly() {
            assembly.enter()?;
            return Ok(place_of(assembly));
        }
        self.arms[arm].at_hand()
    }

    /// Brings several arms up at the same time, or one of any kind.
    ///
    /// # Errors
    /// As [`Rig::up`]; and [`Error::OneAtATime`] for one of several with layers of the system:
    /// what makes such an arm this process's own place may keep others out.
    pub fn side_by_side(&mut self, arms: &[usize]) -> Result<Vec<Place<'_>>, Error> {
        if let [arm] = arms {
            return Ok(vec![self.up(*arm)?]);
        }
        for arm in arms {
            let Standing { name, place, .. } = &self.arms[*arm];
            if matches!(place, Up::System(_) | Up::Alone(_)) {
                return Err(Error::OneAtATime { arm: name.clone() });
            }
        }
        arms.iter().map(|arm| self.arms[*arm].at_hand()).collect()
    }

    /// Ends the turn of the arm before, if it was another.
    fn end_turn_before(&mut self, arm: usize) -> Result<(), Error> {
        let before = self.driven.filter(|before| *before != arm);
        let assembly = before.and_then(|before| self.arms[before].place.assembly());
        assembly.map_or(Ok(()), Assembly::leave)?;
        self.driven = Some(arm);
        Ok(())
    }

    /// Makes an arm that cannot be up side by side with others, after these are down.
    fn take_turn(&mut self, arm: usize) -> Result<(), Error> {
        let (before, rest) = self.arms.split_at_mut(arm);
        let (this, after) = rest.split_first_mut().expect("an index of the spec");
        let Up::Alone(alone) = &mut this.place else { return Ok(()) };
        if alone.up().is_some() {
            return Ok(());
        }
        for other in before.iter_mut().chain(after) {
            if let Up::Alone(other) = &mut other.place
                && other.excludes(alone)
            {
                other.down()?;
            }
        }
        let device = alone.device_number().and_then(|number| self.devices.get(&number));
        this.site = alone.make(device, &self.stop)?;
        Ok(())
    }

    /// What the target of arm `arm` turned out to be, for the record.
    pub fn site(&self, arm: usize) -> &Site {
        &self.arms[arm].site
    }

    /// The targets of all arms, in their order, for the record. Of arms that take turns, more is
    /// known after their first.
    pub fn sites(&self) -> Vec<Site> {
        self.arms.iter().map(|arm| arm.site.clone()).collect()
    }

    /// Takes everything down.
    ///
    /// # Errors
    /// The first thing that could not be removed. It stays in the journal, where
    /// [`undo`](crate::undo()) finds it.
    pub fn down(self) -> Result<(), Error> {
        let Self { arms, _files: files, mut journal, driven: _, devices: _devices, stop: _ } = self;
        // All of it, whatever fails on the way.
        let mut first = Ok(());
        for arm in arms {
            first = first.and(match arm.place {
                Up::System(assembly) => assembly.down(),
                Up::Alone(alone) => alone.remove(),
                Up::Path { .. } | Up::Disk(_) => Ok(()),
            });
        }
        drop(files);
        first.and(journal.unwind())
    }
}

fn place_of(assembly: &Assembly) -> Place<'_> {
    match assembly.top() {
        Top { form: Form::Directory, path } => Place::Path(path),
        Top { path, .. } => Place::Own(path),
    }
}

/// A rig being made. If it is dropped half-way, the journal takes down what there is.
struct Build<'a> {
    spec: &'a Spec,
    watch: Watch<'a>,
    files: Files,
    /// Private directories by the directory they are in, without symbolic links: arms on the same
    /// directory share their test files.
    directories: BTreeMap<PathBuf, PathBuf>,
    journal: Journal,
    state_dir: Option<PathBuf>,
    surroundings: Surroundings,
    devices: BTreeMap<DeviceNumber, Device>,
}

#[derive(Default)]
struct Files {
    /// By path, or by what stands for that of an anonymous one.
    made: BTreeMap<PathBuf, DiskFile>,
}

impl Build<'_> {
    fn arms(&mut self, grounds: &[Ground]) -> Result<Vec<Standing>, Error> {
        let spec = self.spec;
        self.claim_devices(grounds)?;
        let sizes = self.make_files(grounds)?;
        let mut bases = self.bases(grounds)?;
        let mut standing = Vec::with_capacity(grounds.len());
        for (index, (arm, ground)) in spec.arms.iter().zip(grounds).enumerate() {
            let place = match bases.remove(&index) {
                Some(base) => self.stand(index, grounds, base)?,
                None => self.place(arm, ground)?,
            };
            let site = match &place {
                Up::System(assembly) => {
                    let mut site = site::of_assembly(arm, ground, assembly);
                    site.notes
                        .extend(self.device(ground).into_iter().flat_map(|d| d.notes.clone()));
                    site
                }
                Up::Alone(_) => site::in_waiting(arm, ground),
                Up::Disk(disk) => site::describe(arm, ground, Some(disk), &spec.all_at_once()),
                Up::Path { .. } => site::describe(arm, ground, None, &spec.all_at_once()),
            };
            // Others are about to be made, and none of them in this one's turn.
            place.assembly().map_or(Ok(()), Assembly::leave)?;
            standing.push(Standing { name: arm.name.clone(), site, place });
        }
        // Last, because it is what takes time: by now every stack is known to open.
        for (path, size_bytes) in sizes {
            let file = &self.files.made[&path];
            fill(&file.file, &file.shown, size_bytes, spec.seed, &mut self.watch)?;
        }
        self.fill_memory(&standing)?;
        Ok(standing)
    }

    /// Makes each file that arms stand on, as large as the largest of them needs it.
    fn make_files(&mut self, grounds: &[Ground]) -> Result<BTreeMap<PathBuf, u64>, Error> {
        let mut sizes = BTreeMap::new();
        let own = |arm: &&Arm| !is_system(arm);
        let shared = self.spec.arms.iter().zip(grounds).filter(|(arm, _)| own(arm));
        for (arm, ground) in shared.clone() {
            let Some(key) = ground.file_to_make() else { continue };
            let size_bytes = sizes.entry(key.to_owned()).or_insert(0);
            *size_bytes = disk_bytes(arm).max(*size_bytes);
        }
        for (_, ground) in shared {
            let Some(key) = ground.file_to_make() else { continue };
            if self.files.made.contains_key(key) {
                continue;
            }
            let file = match ground {
                Ground::Anonymous { facts, .. } => {
                    disk_file::anonymous(&facts.path, &mut self.journal)?
                }
                _ => disk_file::make(key, &mut self.journal)?,
            };
            reserve(&file.file, &file.shown, sizes[key])?;
            self.files.made.insert(key.to_owned(), file);
        }
        Ok(sizes)
    }

    /// The bases of the arms with layers of the system, by the arm's index. Each has a file of its
    /// own, and all of these are allocated in turns, so that no arm lies in a faster part of the
    /// volume.
    fn bases(&mut self, grounds: &[Ground]) -> Result<BTreeMap<usize, Base>, Error> {
        let spec = self.spec;
        let mut bases = BTreeMap::new();
        let mut files = Vec::new();
        for (index, (arm, ground)) in spec.arms.iter().zip(grounds).enumerate() {
            if !is_system(arm) {
                continue;
            }
            let mut journal = Journal::new(self.state_dir.clone());
            let top = match ground {
                Ground::Anonymous { facts, .. } | Ground::OnNew { parent: facts, .. } => {
                    let path = scratch::make(&facts.path, &mut journal)?.join("disk");
                    files.push((disk_file::create(&path)?, path.clone(), disk_bytes(arm)));
                    Some(Top::file(path))
                }
                Ground::Device(facts) => Some(Top::block(&facts.path)),
                Ground::Directory(facts) => {
                    Some(Top::directory(scratch::make(&facts.path, &mut journal)?))
                }
                _ => None,
            };
            let surroundings = self.surroundings.clone();
            bases.insert(index, Base { top, journal, surroundings });
        }
        reserve_in_turns(&files)?;
        for (file, path, size_bytes) in &files {
            fill(file, path, *size_bytes, spec.seed, &mut self.watch)?;
        }
        Ok(bases)
    }

    /// The devices that arms stand on, held against other runs and filled with data where no file
    /// system will be.
    fn claim_devices(&mut self, grounds: &[Ground]) -> Result<(), Error> {
        let spec = self.spec;
        for (arm, ground) in spec.arms.iter().zip(grounds) {
            if let Ground::Device(facts) = ground
                && !self.devices.contains_key(&facts.device_number)
            {
                let device = Device::claim(facts, &arm.name)?;
                device.confirm(&arm.name)?;
                self.devices.insert(device.number, device);
            }
        }
        for device in self.devices.values() {
            let is_bare = |(arm, ground): (&Arm, &Ground)| {
                let Target::Stack(stack) = &arm.target else { return false };
                let on_it = ground.facts().is_some_and(|f| f.device_number == device.number);
                matches!(ground, Ground::Device(_)) && on_it && stack.form() != Form::Directory
            };
            if spec.arms.iter().zip(grounds).any(is_bare) {
                let bytes = device.bytes_for(bytes_in_directory(&spec.all_at_once()));
                fill(&device.open()?, &device.path, bytes, spec.seed, &mut self.watch)?;
            }
        }
        Ok(())
    }

    fn device(&self, ground: &Ground) -> Option<&Device> {
        let Ground::Device(facts) = ground else { return None };
        self.devices.get(&facts.device_number)
    }

    /// Makes an arm with layers of the system, unless it must wait for its turn.
    fn stand(&mut self, index: usize, grounds: &[Ground], base: Base) -> Result<Up, Error> {
        let all = || self.spec.arms.iter().zip(grounds);
        let (arm, ground) = all().nth(index).expect("an index of the spec");
        let own = keys(arm, ground);
        let alike = |(arm, ground)| keys(arm, ground).iter().any(|key| own.contains(key));
        if all().filter(|pair| alike(*pair)).count() > 1 {
            return Ok(Up::Alone(Box::new(Alone::new(arm, ground, base, own))));
        }
        (self.watch.progress)(&Progress::Making { arm: &arm.name });
        let made = assemble(arm, base, self.device(ground), self.watch.stop);
        made.map(|assembly| Up::System(Box::new(assembly)))
    }

    fn place(&mut self, arm: &Arm, ground: &Ground) -> Result<Up, Error> {
        let stack = match (&arm.target, ground) {
            (Target::Path(_), Ground::Directory(facts)) => {
                let path = self.private_directory(&facts.path)?;
                return Up::at(path, false);
            }
            (Target::Path(path), _) => {
                let path = ground.facts().map_or(path, |facts| &facts.path);
                return Up::at(path.clone(), matches!(ground, Ground::OwnDisk(_)));
            }
            (Target::Stack(stack), _) => stack,
            (Target::Results(_), _) => unreachable!("results have no ground: they were refused"),
        };
        // The open disk keeps it, as it would its own.
        let thin = match ground {
            Ground::Thin(facts) => {
                Some(disk_file::thin(&facts.path, disk_bytes(arm), &mut self.journal)?)
            }
            _ => None,
        };
        let file = match (ground.file_to_make(), ground) {
            (Some(key), _) => self.files.made[key].path.as_path(),
            (None, Ground::OnExisting(facts)) => facts.path.as_path(),
            (None, _) => thin.as_ref().map_or(Path::new(""), |file| file.path.as_path()),
        };
        let opened = vdisk::open(stack, file, self.spec.seed);
        opened.map(Up::Disk).map_err(|source| Error::Stack { arm: arm.name.clone(), source })
    }

    fn private_directory(&mut self, parent: &Path) -> Result<PathBuf, Error> {
        if let Some(made) = self.directories.get(parent) {
            return Ok(made.clone());
        }
        let made = scratch::make(parent, &mut self.journal)?;
        self.directories.insert(parent.to_owned(), made.clone());
        Ok(made)
    }

    /// Memory that was never written is one page of zeros, and reading it measures the cache.
    fn fill_memory(&mut self, arms: &[Standing]) -> Result<(), Error> {
        for arm in arms {
            let Up::Disk(disk) = &arm.place else { continue };
            let what = disk.to_string();
            let Watch { progress, stop } = &mut self.watch;
            let report = |done_bytes, size_bytes| {
                progress(&Progress::Filling { what: &what, done_bytes, size_bytes });
            };
            // Leaves files alone: to the disk they existed before.
            let prepared = disk
                .prepare(report, stop)
                .map_err(|source| Error::Stack { arm: arm.name.clone(), source })?;
            if prepared == Prepared::Cancelled {
                return Err(Error::Interrupted);
            }
        }
        Ok(())
    }
}

impl Up {
    /// The layers of the system, if it has any that are up.
    fn assembly(&self) -> Option<&Assembly> {
        match self {
            Self::System(assembly) => Some(assembly),
            Self::Alone(alone) => alone.up(),
            Self::Path { .. } | Self::Disk(_) => None,
        }
    }

    fn at(path: PathBuf, is_own: bool) -> Result<Self, Error> {
        let identity = Identity::of(&path).map_err(|error| Error::Make {
            path: path.clone(),
            action: "look at it again",
            source: error.into(),
        })?;
        Ok(Self::Path { path, identity, is_own })
    }
}
