//! Arms, brought up and taken down.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use iotax_record::Site;
use iotax_spec::{Arm, Form, Spec, Target};
use iotax_vdisk::{Prepared, VirtualDisk};

use crate::assembly::{Assembly, Plan};
use crate::check::{Ground, check, disk_bytes, is_system};
use crate::disk_file::{self, DiskFile};
use crate::entry::Identity;
use crate::error::Error;
use crate::fill::{Watch, fill, reserve, reserve_in_turns};
use crate::journal::{self, Journal};
use crate::layers::Top;
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

/// How far the filling of one disk has got.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress<'a> {
    /// What is filled, for people: a file, or a stack in memory.
    pub what: &'a str,
    /// Bytes that are on the device.
    pub done_bytes: u64,
    /// Bytes there will be.
    pub size_bytes: u64,
}

/// What load can be driven at.
#[derive(Debug, Clone, Copy)]
pub enum Place<'a> {
    /// A private directory, or the user's file or block device, which may only be read.
    Path(&'a Path),
    /// A block device that was made for this run, and may be written.
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
}

/// An arm that is up.
#[derive(Debug)]
struct Standing {
    name: String,
    site: Site,
    place: Up,
}

#[derive(Debug)]
enum Up {
    Path { path: PathBuf, identity: Identity },
    Disk(VirtualDisk),
    System(Box<Assembly>),
}

impl Rig {
    /// Checks the targets of all arms, then makes what they need.
    ///
    /// # Errors
    /// [`Error::Refused`] with everything that is wrong with any target, before anything is made.
    /// Whatever happens later, everything made so far is removed.
    pub fn open(spec: &Spec, options: Options<'_>) -> Result<Self, Error> {
        let grounds = check(spec, options.work_dir)?;
        let Options { state_dir, progress, stop, .. } = options;
        let mut build = Build {
            spec,
            watch: Watch { progress, stop },
            journal: Journal::new(state_dir.clone()),
            state_dir,
            directories: BTreeMap::new(),
            files: Files::default(),
        };
        let arms = build.arms(&grounds)?;
        let files = build.files.made.into_values().collect();
        Ok(Self { arms, _files: files, journal: build.journal })
    }

    /// Brings arm `arm` (index in the spec) up, if it is not up already, and says where load can
    /// be driven at it until the next call.
    ///
    /// # Errors
    /// [`Error::Vanished`] if the target disappeared or was replaced since [`Rig::open`]: a trial
    /// on something else must not pass for one on this target.
    pub fn up(&mut self, arm: usize) -> Result<Place<'_>, Error> {
        let Standing { name, place, .. } = &self.arms[arm];
        match place {
            Up::Disk(disk) => Ok(Place::Disk(disk)),
            Up::System(assembly) => Ok(match assembly.top() {
                Top { form: Form::Directory, path } => Place::Path(path),
                Top { path, .. } => Place::Own(path),
            }),
            Up::Path { path, identity } => {
                let what = match Identity::of(path) {
                    Ok(found) if found == *identity => return Ok(Place::Path(path)),
                    Ok(_) => "something else is there now".to_owned(),
                    Err(error) => error.to_string(),
                };
                Err(Error::Vanished { arm: name.clone(), path: path.clone(), what })
            }
        }
    }

    /// What the target of arm `arm` turned out to be, for the record.
    pub fn site(&self, arm: usize) -> &Site {
        &self.arms[arm].site
    }

    /// The targets of all arms, in their order, for the record.
    pub fn sites(&self) -> Vec<Site> {
        self.arms.iter().map(|arm| arm.site.clone()).collect()
    }

    /// Takes everything down.
    ///
    /// # Errors
    /// The first thing that could not be removed. It stays in the journal, where
    /// [`undo`](crate::undo()) finds it.
    pub fn down(self) -> Result<(), Error> {
        let Self { arms, _files: files, mut journal } = self;
        // All of it, whatever fails on the way.
        let mut first = Ok(());
        for arm in arms {
            if let Up::System(assembly) = arm.place {
                first = first.and(assembly.down());
            }
        }
        drop(files);
        first.and(journal.unwind())
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
}

/// What an arm with layers of the system stands on.
struct Base {
    /// `None` if the base is a layer of the system too.
    top: Option<Top>,
    /// The arm's own.
    journal: Journal,
}

#[derive(Default)]
struct Files {
    /// By path; the anonymous one, which several arms share, under the empty path.
    made: BTreeMap<PathBuf, DiskFile>,
}

impl Build<'_> {
    fn arms(&mut self, grounds: &[Ground]) -> Result<Vec<Standing>, Error> {
        let spec = self.spec;
        let sizes = self.make_files(grounds)?;
        let mut bases = self.bases(grounds)?;
        let mut standing = Vec::with_capacity(grounds.len());
        for (index, (arm, ground)) in spec.arms.iter().zip(grounds).enumerate() {
            let place = match bases.remove(&index) {
                Some(base) => self.assemble(arm, base)?,
                None => self.place(arm, ground)?,
            };
            let site = match &place {
                Up::System(assembly) => site::of_assembly(arm, ground, assembly),
                Up::Disk(disk) => site::describe(arm, ground, Some(disk), &spec.workload),
                Up::Path { .. } => site::describe(arm, ground, None, &spec.workload),
            };
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
                Ground::Anonymous(facts) => disk_file::anonymous(&facts.path, &mut self.journal)?,
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
                Ground::Anonymous(facts) | Ground::OnNew { parent: facts, .. } => {
                    let path = scratch::make(&facts.path, &mut journal)?.join("disk");
                    files.push((disk_file::create(&path)?, path.clone(), disk_bytes(arm)));
                    Some(Top::file(path))
                }
                Ground::Directory(facts) => {
                    Some(Top::directory(scratch::make(&facts.path, &mut journal)?))
                }
                _ => None,
            };
            bases.insert(index, Base { top, journal });
        }
        reserve_in_turns(&files)?;
        for (file, path, size_bytes) in &files {
            fill(file, path, *size_bytes, spec.seed, &mut self.watch)?;
        }
        Ok(bases)
    }

    fn assemble(&mut self, arm: &Arm, base: Base) -> Result<Up, Error> {
        let Target::Stack(stack) = &arm.target else { unreachable!("only stacks have layers") };
        let Base { top: base, journal } = base;
        let room = journal::room(self.state_dir.as_deref())?;
        let plan = Plan { stack, base, room, journal };
        let made = Assembly::make(plan, self.watch.stop);
        made.map(|assembly| Up::System(Box::new(assembly))).map_err(|error| match error {
            Error::Interrupted => error,
            source => Error::Arm { arm: arm.name.clone(), source: Box::new(source) },
        })
    }

    fn place(&mut self, arm: &Arm, ground: &Ground) -> Result<Up, Error> {
        let stack = match (&arm.target, ground) {
            (Target::Path(_), Ground::Directory(facts)) => {
                let path = self.private_directory(&facts.path)?;
                return Up::at(path);
            }
            (Target::Path(path), _) => {
                let path = ground.facts().map_or(path, |facts| &facts.path);
                return Up::at(path.clone());
            }
            (Target::Stack(stack), _) => stack,
        };
        let file = match (ground.file_to_make(), ground) {
            (Some(key), _) => self.files.made[key].path.as_path(),
            (None, Ground::OnExisting(facts)) => facts.path.as_path(),
            (None, _) => Path::new(""),
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
                progress(&Progress { what: &what, done_bytes, size_bytes });
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
    fn at(path: PathBuf) -> Result<Self, Error> {
        let identity = Identity::of(&path).map_err(|error| Error::Make {
            path: path.clone(),
            action: "look at it again",
            source: error.into(),
        })?;
        Ok(Self::Path { path, identity })
    }
}
