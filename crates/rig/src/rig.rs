//! Arms, brought up and taken down.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use iotax_experiment::{Form, HostCommands, Spec};
use iotax_inspect::DeviceNumber;
use iotax_load::{IoTarget, PeerSecrets};
use iotax_record::Site;

use crate::arm_state::{ArmState, Up};
use crate::assembly::{Assembly, Reached};
use crate::build::{Build, Files};
use crate::build_context::Surroundings;
use crate::check::{Sharing, check_targets};
use crate::device::Device;
use crate::device::GivenUp;
use crate::disk_file::DiskFile;
use crate::error::Error;
use crate::fill::Preparing;
use crate::fill::Watch;
use crate::held::{Held, exchanged};
use crate::host_setting::HostSetting;
use crate::journal::Journal;
use crate::site;

/// What a rig needs from its surroundings.
pub struct Options<'a> {
    /// The directory of anonymous files of stacks.
    pub work_dir: &'a Path,
    /// The directory of the undo journal: [`state_dir`](crate::state_dir()). Only needed if
    /// something with a name is made.
    pub state_dir: Option<PathBuf>,
    /// Called while disks are filled with data, which may take minutes.
    pub progress: &'a mut dyn FnMut(&Preparing<'_>),
    /// Set from outside to stop the making of arms, now or later. What was made so far is removed.
    pub stop: Arc<AtomicBool>,
    /// Block devices that may be overwritten.
    pub given_up: &'a GivenUp,
    /// The iotax program, which serves virtual disks when run with `disk serve`.
    pub program: &'a Path,
    /// Known secrets of peers elsewhere. Those of other peers are in files that the user names.
    pub secrets: &'a PeerSecrets,
}

/// The targets of an arm of the spec.
#[derive(Debug)]
struct Targets {
    /// Their indices in [`Rig::arms`].
    places: Range<usize>,
    /// Their names in jobs; empty if there is only one.
    names: Vec<String>,
    /// The combined site of several targets.
    site: Option<Site>,
}

/// All arms of an experiment. What it made is removed when it is dropped.
#[derive(Debug)]
pub struct Rig {
    /// The host setting of the arm whose turn it is.
    setting: Option<HostSetting>,
    /// Why other arms cannot be measured on this machine any more.
    left: Option<String>,
    /// Commands of each arm that make and undo a host setting.
    commands: Vec<Option<HostCommands>>,
    state_dir: Option<PathBuf>,
    /// The targets of the arm whose turn it is, held if other users could replace them.
    held: Vec<Option<Held>>,
    // Fields are dropped in this order: disks close their files before the files are removed.
    arms: Vec<ArmState>,
    /// The targets of each arm of the spec among these, and their names in jobs.
    targets: Vec<Targets>,
    _files: Vec<DiskFile>,
    journal: Journal,
    /// The arm whose turn it is.
    driven: Option<usize>,
    // Last: a device may be released when nothing of ours is on it.
    devices: BTreeMap<DeviceNumber, Device>,
    stop: Arc<AtomicBool>,
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

    /// As [`Rig::open`], for arms that are in use at the same time: each has its own files.
    pub(crate) fn open_side_by_side(spec: &Spec, options: Options<'_>) -> Result<Self, Error> {
        Self::open_sharing(spec, options, Sharing::Nothing)
    }

    fn open_sharing(spec: &Spec, options: Options<'_>, sharing: Sharing) -> Result<Self, Error> {
        let sharing = if spec.has_several_targets() { Sharing::Nothing } else { sharing };
        let resolved_targets = check_targets(spec, options.work_dir, options.given_up, sharing)?;
        let (apart, places) = spec.target_by_target();
        let Options { state_dir, progress, stop, .. } = options;
        let mut build = Build {
            spec: &apart,
            sharing,
            watch: Watch { progress, stop: &stop },
            journal: Journal::new(state_dir.clone()),
            surroundings: Surroundings {
                work_dir: options.work_dir.to_owned(),
                program: options.program.to_owned(),
                secrets: options.secrets.clone(),
            },
            state_dir,
            directories: BTreeMap::new(),
            files: Files::default(),
            devices: BTreeMap::new(),
            devices_are_new: options.given_up.are_new,
        };
        let arms = build.arms(&resolved_targets)?;
        let files = build.files.made.into_values().collect();
        let (journal, devices) = (build.journal, build.devices);
        let targets = spec.arms.iter().zip(places).map(|(arm, places)| {
            let several = arm.target.several().unwrap_or_default();
            let names: Vec<String> = several.iter().map(|target| target.name.clone()).collect();
            let sites = names.iter().zip(&arms[places.clone()]);
            let sites = sites.map(|(name, state)| (name.as_str(), &state.site));
            let site = (!several.is_empty()).then(|| site::of_several(arm, sites));
            Targets { places, names, site }
        });
        let targets = targets.collect();
        let held = Vec::new();
        let commands = spec.arms.iter().map(|arm| arm.host_commands.clone()).collect();
        let (setting, left, state_dir) = (None, None, journal.state_dir().map(Path::to_owned));
        Ok(Self {
            setting,
            left,
            commands,
            state_dir,
            held,
            arms,
            targets,
            _files: files,
            journal,
            driven: None,
            devices,
            stop,
        })
    }

    /// Whether arm `arm` is rebuilt for each of its turns, so that its files must be laid out
    /// again.
    pub fn is_made_anew(&self, arm: usize) -> bool {
        let places = self.targets[arm].places.clone();
        self.arms[places].iter().any(|state| matches!(state.place, Up::Alone(_)))
    }

    /// Brings arm `arm` (index in the spec) up, if it is not up already, and returns the target for
    /// the load, valid until the next call. A directory is a private one. A path leads to what was
    /// there when the rig was opened, even if it was renamed. A virtual disk is filled with data.
    ///
    /// # Errors
    /// [`Error::Vanished`] if the target disappeared or was replaced since [`Rig::open`]: a trial
    /// on something else must not count for this target. For arms that take turns, also if the
    /// previous one cannot be taken down, or this one cannot be made.
    ///
    /// If an arm has several targets, this is the first: [`Rig::up_all`] returns all.
    pub fn up(&mut self, arm: usize) -> Result<IoTarget<'_>, Error> {
        let all = self.up_all(arm)?;
        Ok(all.first().expect("an arm has a target").1)
    }

    /// As [`Rig::up`], with all targets of the arm and their names in jobs. The name of a single
    /// target is empty.
    ///
    /// # Errors
    /// As [`Rig::up`].
    pub fn up_all(&mut self, arm: usize) -> Result<Vec<(&str, IoTarget<'_>)>, Error> {
        self.end_turn_before(arm)?;
        self.set_host(arm)?;
        let places = self.targets[arm].places.clone();
        for place in places.clone() {
            self.take_turn(place)?;
            let mut held = None;
            if let Some(assembly) = self.arms[place].place.assembly() {
                assembly.enter()?;
                held = hold(assembly.top(), &self.arms[place].name)?;
            }
            self.held.push(held);
        }
        let names = self.targets[arm].names.iter().map(String::as_str).chain(std::iter::repeat(""));
        let states = self.arms[places].iter().zip(&self.held).zip(names);
        states
            .map(|((state, held), name)| match state.place.assembly() {
                Some(assembly) => Ok((name, place_of(assembly.top(), held.as_ref()))),
                None => Ok((name, state.at_hand()?)),
            })
            .collect()
    }

    /// Brings several arms up at the same time, or a single one of any kind.
    ///
    /// # Errors
    /// As [`Rig::up`]; and [`Error::OneAtATime`] if one of several arms has layers of the system,
    /// because these can affect the whole process and exclude the other arms.
    pub fn side_by_side(&mut self, arms: &[usize]) -> Result<Vec<IoTarget<'_>>, Error> {
        if let [arm] = arms {
            return Ok(vec![self.up(*arm)?]);
        }
        let places: Vec<usize> = arms.iter().map(|arm| self.targets[*arm].places.start).collect();
        if let Some(arm) = arms.iter().find(|arm| self.commands[**arm].is_some()) {
            return Err(Error::OneAtATime {
                arm: self.arms[self.targets[*arm].places.start].name.clone(),
            });
        }
        for place in &places {
            let ArmState { name, place, .. } = &self.arms[*place];
            if matches!(place, Up::System(_) | Up::Alone(_)) && place.peer().is_none() {
                return Err(Error::OneAtATime { arm: name.clone() });
            }
        }
        places.iter().map(|place| self.arms[*place].at_hand()).collect()
    }

    /// Ends the turn of the previous arm, if it was another.
    fn end_turn_before(&mut self, arm: usize) -> Result<(), Error> {
        self.held.clear();
        if let Some(before) = self.driven.filter(|before| *before != arm) {
            let places = self.targets[before].places.clone();
            let assemblies = self.arms[places].iter().filter_map(|state| state.place.assembly());
            assemblies.map(Assembly::leave).fold(Ok(()), Result::and)?;
        }
        self.driven = Some(arm);
        Ok(())
    }

    /// Makes the arm's host setting, if it has one, after the setting of another arm was undone.
    fn set_host(&mut self, arm: usize) -> Result<(), Error> {
        if let Some(why) = &self.left {
            return Err(Error::AfterSettingLeft { why: why.clone() });
        }
        if let Some(setting) = self.setting.take_if(|setting| setting.arm != arm) {
            setting.undo().inspect_err(|error| self.left = Some(error.to_string()))?;
        }
        let Some(commands) = self.commands[arm].as_ref().filter(|_| self.setting.is_none()) else {
            return Ok(());
        };
        let name = &self.arms[self.targets[arm].places.start].name;
        let state_dir = self.state_dir.clone();
        let made = HostSetting::make(arm, name, commands, state_dir, &self.stop);
        let made = made.inspect_err(|error| {
            if matches!(error, Error::SettingLeft { .. }) {
                self.left = Some(error.to_string());
            }
        });
        self.setting = Some(made?);
        Ok(())
    }

    /// Makes an arm that cannot be up together with others, after taking these down.
    fn take_turn(&mut self, place: usize) -> Result<(), Error> {
        let (before, rest) = self.arms.split_at_mut(place);
        let (this, after) = rest.split_first_mut().expect("one of the arms' targets");
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

    /// The facts about the target of arm `arm`, for the record.
    pub fn site(&self, arm: usize) -> &Site {
        let Targets { places, site, .. } = &self.targets[arm];
        site.as_ref().unwrap_or(&self.arms[places.start].site)
    }

    /// The facts about the targets of all arms, in their order, for the record. For arms that take
    /// turns, more is known after their first turn.
    pub fn sites(&self) -> Vec<Site> {
        (0..self.targets.len()).map(|arm| self.site(arm).clone()).collect()
    }

    /// Takes everything down.
    ///
    /// # Errors
    /// The first thing that could not be removed. It stays in the journal, where
    /// [`undo`](crate::undo()) finds it.
    pub fn down(self) -> Result<(), Error> {
        let Self { setting, held, arms, _files: files, mut journal, devices: _devices, .. } = self;
        drop(held);
        // Continues with the rest after a failure.
        let mut first = setting.map_or(Ok(()), HostSetting::undo);
        for arm in arms {
            first = first.and(match arm.place {
                Up::System(assembly) => assembly.down(),
                Up::Alone(alone) => alone.remove(),
                Up::Private(_) | Up::Users { .. } | Up::Disk(_) => Ok(()),
            });
        }
        drop(files);
        first.and(journal.unwind())
    }
}

/// Holds a target that other users could replace: a directory on a file server.
fn hold(top: &Reached, arm: &str) -> Result<Option<Held>, Error> {
    let Reached::Storage(top) = top else { return Ok(None) };
    let Some(inode) = top.inode else { return Ok(None) };
    let hold = || {
        let held = Held::at(&top.path)?;
        if held.inode()? == inode { Ok(Some(held)) } else { Err(exchanged()) }
    };
    hold().map_err(|error| Error::Vanished {
        arm: arm.to_owned(),
        path: top.path.clone(),
        what: error.to_string(),
    })
}

fn place_of<'a>(top: &'a Reached, held: Option<&'a Held>) -> IoTarget<'a> {
    let top = match top {
        Reached::Peer(path) => return IoTarget::Peer(&path.peer),
        Reached::Storage(top) => top,
    };
    let path = held.map_or(top.path.as_path(), Held::path);
    if top.form == Form::Directory { IoTarget::Path(path) } else { IoTarget::Own(path) }
}
