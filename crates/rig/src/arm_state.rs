//! An arm that is up, or whose turn will come.

use std::path::Path;
use std::sync::Arc;

use iotax_load::{IoTarget, Peer};
use iotax_record::Site;
use iotax_vdisk::VirtualDisk;

use crate::alone::Alone;
use crate::assembly::{Assembly, Reached};
use crate::error::Error;
use crate::held::Held;
use crate::identity::Identity;

/// An arm that is up, or whose turn will come.
#[derive(Debug)]
pub(crate) struct ArmState {
    pub(crate) name: String,
    pub(crate) site: Site,
    pub(crate) place: Up,
}

#[derive(Debug)]
pub(crate) enum Up {
    /// A private directory, which arms on one directory share.
    Private(Arc<Held>),
    /// A file or device of the user and its identity; or the file of one of our virtual disks.
    Users { held: Held, identity: Identity, is_own: bool },
    /// An in-process stack.
    Disk(VirtualDisk),
    /// One with layers of the system.
    System(Box<Assembly>),
    /// An arm that cannot be up at the same time as others.
    Alone(Box<Alone>),
}

impl ArmState {
    /// The target as it can be loaded now, without further preparation.
    pub(crate) fn at_hand(&self) -> Result<IoTarget<'_>, Error> {
        let vanished = |path: &Path, what: String| {
            let (arm, path) = (self.name.clone(), path.to_owned());
            Err(Error::Vanished { arm, path, what })
        };
        match &self.place {
            Up::Disk(disk) => Ok(IoTarget::Disk(disk)),
            Up::System(_) | Up::Alone(_) => match self.place.peer() {
                Some(peer) => Ok(IoTarget::Peer(peer)),
                None => unreachable!("it was entered or refused before"),
            },
            // It is ours even if it was renamed.
            Up::Private(held) => match held.has_name() {
                Ok(true) => Ok(IoTarget::Path(held.path())),
                Ok(false) => vanished(held.shown(), "it was removed".to_owned()),
                Err(error) => vanished(held.shown(), error.to_string()),
            },
            Up::Users { held, identity, is_own } => match Identity::of(held.shown()) {
                Ok(found) if found == *identity => {
                    let place = if *is_own { IoTarget::Own } else { IoTarget::Path };
                    Ok(place(held.path()))
                }
                Ok(_) => vanished(held.shown(), "something else is in its place".to_owned()),
                Err(error) => vanished(held.shown(), error.to_string()),
            },
        }
    }
}

impl Up {
    /// The layers of the system, if it has any that are up.
    pub(crate) fn assembly(&self) -> Option<&Assembly> {
        match self {
            Self::System(assembly) => Some(assembly),
            Self::Alone(alone) => alone.up(),
            Self::Private(_) | Self::Users { .. } | Self::Disk(_) => None,
        }
    }

    /// The far end, if this is a network path that is up.
    pub(crate) fn peer(&self) -> Option<&Peer> {
        match self.assembly()?.top() {
            Reached::Peer(path) => Some(&path.peer),
            Reached::Storage(_) => None,
        }
    }

    /// The user's file or device at a path without symbolic links, or the file of one of our disks.
    pub(crate) fn users(path: &Path, is_own: bool) -> Result<Self, Error> {
        let look = || Ok((Held::at(path)?, Identity::of(path)?));
        let looked: std::io::Result<_> = look();
        let (held, identity) = looked.map_err(Error::cannot("check it again", path))?;
        Ok(Self::Users { held, identity, is_own })
    }
}
