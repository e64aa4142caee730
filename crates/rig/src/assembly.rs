//! An arm whose stack has layers of the system: made layer by layer, taken down in reverse.

use std::path::Path;
use std::sync::atomic::AtomicBool;

use iotax_experiment::{Arm, Form, Stack};
use iotax_load::Peer;

use crate::build_context::{BuildContext, Key, Surroundings, Turn};
use crate::device::{Device, wait_until_free};
use crate::entry::Entry;
use crate::error::Error;
use crate::journal::Journal;
use crate::layers::maker::Top;
use crate::network::{Base, Link};
use crate::signatures::{Mark, Spot};
use crate::{layers, scratch, state};

/// Layers of the system on a base. It has its own journal, so that one arm can be taken down while
/// the others stay up. Dropping it takes it down.
#[derive(Debug)]
pub(crate) struct Assembly {
    journal: Journal,
    top: Reached,
    turns: Vec<Box<dyn Turn>>,
    notes: Vec<String>,
    caches: Vec<String>,
}

/// Where the load goes.
#[derive(Debug)]
pub(crate) enum Reached {
    Storage(Top),
    Peer(Box<NetworkPath>),
}

/// The base of an arm with layers of the system.
#[derive(Debug)]
pub(crate) struct ArmBase {
    /// The file, directory or device; `None` if the base is a layer of the system too.
    pub(crate) top: Option<Top>,
    /// The arm's own journal, with what was made for the arm so far.
    pub(crate) journal: Journal,
    pub(crate) surroundings: Surroundings,
}

impl Assembly {
    /// Makes the layers of an arm on its base. If the base is a device, it is checked once more. If
    /// a layer cannot be made, the layers below it are taken down again.
    pub(crate) fn make(
        arm: &Arm,
        base: ArmBase,
        device: Option<&Device>,
        stop: &AtomicBool,
    ) -> Result<Self, Error> {
        Self::made(arm, base, device, stop).map_err(|error| match error {
            Error::Interrupted | Error::Vanished { .. } => error,
            source => Error::Arm { arm: arm.name.clone(), source: Box::new(source) },
        })
    }

    fn made(
        arm: &Arm,
        base: ArmBase,
        device: Option<&Device>,
        stop: &AtomicBool,
    ) -> Result<Self, Error> {
        let stack = arm.target.stack().expect("only stacks have layers");
        let ArmBase { top: base, mut journal, surroundings } = base;
        let run_dir = state::run_directory(journal.state_dir())?;
        // Wiped when all layers are made: by then, everything that needs it has a copy.
        let (key, mark) = (Key::new()?, Mark::new()?);
        if let Some(device) = device {
            device.confirm(&arm.name)?;
            if !device.is_new {
                // First, so that it is undone last, when nothing uses the device any more.
                let spot = Spot::new(&device.path, device.number);
                journal.announce(Entry::Signatures { spot, mark: mark.clone() })?;
            }
        }
        // By name, because daemons outlive this process; nobody else can change that name.
        let own_dir = scratch::make(&run_dir, &mut journal)?.shown().to_owned();
        let (mut turns, mut notes, mut caches) = (Vec::new(), Vec::new(), Vec::new());
        let mut context = BuildContext {
            journal: &mut journal,
            own_dir: &own_dir,
            surroundings: &surroundings,
            key: &key,
            mark: &mark,
            stop,
            turns: &mut turns,
            notes: &mut notes,
            caches: &mut caches,
            names: 0,
        };
        let top = if stack.form().is_network() {
            Reached::Peer(Box::new(NetworkPath::make(stack, &mut context)?))
        } else {
            Reached::Storage(storage(stack, base, &own_dir, &mut context)?)
        };
        Ok(Self { journal, top, turns, notes, caches })
    }

    /// Where the load goes.
    pub(crate) fn top(&self) -> &Reached {
        &self.top
    }

    /// Begins the arm's turn, just before the load starts.
    pub(crate) fn enter(&self) -> Result<(), Error> {
        self.turns.iter().try_for_each(|turn| turn.begin())
    }

    /// Ends the arm's turn.
    pub(crate) fn leave(&self) -> Result<(), Error> {
        self.turns.iter().rev().map(|turn| turn.end()).fold(Ok(()), Result::and)
    }

    /// Facts about what was made.
    pub(crate) fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Caches of layers that could answer in place of the layers below.
    pub(crate) fn caches(&self) -> &[String] {
        &self.caches
    }

    /// Takes it down.
    pub(crate) fn down(mut self) -> Result<(), Error> {
        self.journal.unwind()
    }
}

/// Makes the layers of a stack of storage on its base.
fn storage(
    stack: &Stack,
    base: Option<Top>,
    own_dir: &Path,
    context: &mut BuildContext<'_>,
) -> Result<Top, Error> {
    let (bottom, above) = stack.layers.split_first().expect("a stack has a base");
    let nothing = Top::directory(own_dir);
    let mut top = match (base, layers::system(bottom)) {
        (Some(base), _) => base,
        (None, Some(layer)) => layer.make(nothing, context)?,
        (None, None) => nothing,
    };
    let steps = layers::steps(above);
    if !steps.is_empty() {
        // With layers above it, the base stays up between turns.
        context.turns.clear();
    }
    for layer in steps {
        if top.form == Form::Block {
            wait_until_free(&top.path);
        }
        top = layer.make(top, context)?;
    }
    Ok(top)
}

/// A network path that is up.
#[derive(Debug)]
pub(crate) struct NetworkPath {
    pub(crate) peer: Peer,
    /// Holds the namespaces.
    _link: Option<Link>,
}

impl NetworkPath {
    /// Makes the layers of a stack.
    pub(crate) fn make(stack: &Stack, context: &mut BuildContext<'_>) -> Result<Self, Error> {
        let (bottom, above) = stack.layers.split_first().expect("a stack has a base");
        let base = layers::network_base(bottom).expect("a network path has its own base");
        let (peer, link) = match base.make(context)? {
            Base::Elsewhere(peer) => (peer, None),
            Base::Here { link, port, secret } => {
                let mut layers = above.iter().filter_map(layers::network);
                let link = layers.try_fold(link, |below, layer| layer.make(below, context))?;
                (link.peer(port, secret), Some(link))
            }
        };
        let of_load = above.iter().filter_map(layers::of_load);
        Ok(Self { peer: of_load.fold(peer, |peer, layer| layer.over(peer)), _link: link })
    }
}
