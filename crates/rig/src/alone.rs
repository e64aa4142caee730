//! Arms that cannot be up at the same time, because they use the same device or another unique
//! resource. Each is made when its turn comes, after the previous one was taken down.

use std::sync::atomic::AtomicBool;

use iotax_experiment::Arm;
use iotax_inspect::DeviceNumber;
use iotax_record::Site;

use crate::assembly::{ArmBase, Assembly};
use crate::device::Device;
use crate::error::Error;
use crate::journal::Journal;
use crate::resolved_target::ResolvedTarget;
use crate::{layers, site};

/// An arm that is rebuilt for each of its turns.
#[derive(Debug)]
pub(crate) struct Alone {
    // Dropped in this order: first the layers, then their base.
    up: Option<Assembly>,
    base: ArmBase,
    arm: Arm,
    resolved: ResolvedTarget,
    keys: Vec<String>,
}

/// The unique resources of an arm. Arms that share a key cannot be up at the same time.
pub(crate) fn keys(arm: &Arm, resolved: &ResolvedTarget) -> Vec<String> {
    let Some(stack) = arm.target.stack() else { return Vec::new() };
    let mut keys = if stack.is_in_process() { Vec::new() } else { layers::exclusive(stack) };
    if let ResolvedTarget::Device(facts) = resolved {
        // The kernel's name, because a device may have several nodes.
        let name = facts.block.as_ref().map(|device| format!("/dev/{}", device.name));
        keys.push(name.unwrap_or_else(|| facts.device_number.to_string()));
    }
    keys
}

impl Alone {
    /// Makes nothing yet.
    pub(crate) fn new(
        arm: &Arm,
        resolved: &ResolvedTarget,
        base: ArmBase,
        keys: Vec<String>,
    ) -> Self {
        Self { up: None, base, arm: arm.clone(), resolved: resolved.clone(), keys }
    }

    /// Its layers, if it is up.
    pub(crate) fn up(&self) -> Option<&Assembly> {
        self.up.as_ref()
    }

    /// The device at its base, if there is one.
    pub(crate) fn device_number(&self) -> Option<DeviceNumber> {
        match &self.resolved {
            ResolvedTarget::Device(facts) => Some(facts.device_number),
            _ => None,
        }
    }

    /// Whether the two cannot be up at the same time.
    pub(crate) fn excludes(&self, other: &Self) -> bool {
        self.keys.iter().any(|key| other.keys.contains(key))
    }

    pub(crate) fn make(
        &mut self,
        device: Option<&Device>,
        stop: &AtomicBool,
    ) -> Result<Site, Error> {
        let state_dir = self.base.journal.state_dir();
        let base = ArmBase {
            top: self.base.top.clone(),
            journal: Journal::new(state_dir.map(Into::into)),
            surroundings: self.base.surroundings.clone(),
        };
        let assembly = Assembly::make(&self.arm, base, device, stop)?;
        let mut site = site::of_assembly(&self.arm, &self.resolved, &assembly);
        site.notes.extend(device.into_iter().flat_map(|device| device.notes.clone()));
        site.notes.push(format!(
            "rebuilt for each trial, including its files, because the arms cannot use {} at the \
             same time",
            self.keys.join(", ")
        ));
        self.up = Some(assembly);
        Ok(site)
    }

    /// Takes it down, if it is up.
    pub(crate) fn down(&mut self) -> Result<(), Error> {
        self.up.take().map_or(Ok(()), Assembly::down)
    }

    /// Takes it down together with its base.
    pub(crate) fn remove(mut self) -> Result<(), Error> {
        let down = self.down();
        down.and(self.base.journal.unwind())
    }
}
