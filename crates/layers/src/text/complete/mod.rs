//! Checks that layers fit on each other, and adds the loop device where a file must become a block
//! device.
//!
//! A completed stack lists everything that will be built. A stack still fits after optional layers
//! are removed: an optional layer gives the form that it accepts, or another form of network path.

use std::ops::Range;

use super::token::quote;
use crate::declaration::info::{Does, Form, Submitter, World};
use crate::each::file::File;
use crate::each::file_system::{FileSystem, FileSystemKind};
use crate::each::loop_device::Loop;
use crate::error::Error;
use crate::stack::{Layer, Stack};

/// A layer and its position in the text.
pub(super) type Placed = (Layer, Range<usize>);

impl Stack {
    /// Whether the whole stack runs in this process.
    pub fn is_in_process(&self) -> bool {
        self.layers.iter().all(|layer| layer.info().world != World::System)
    }

    /// What the stack is to a load; in-process stacks are files.
    pub fn form(&self) -> Form {
        let mut forms = self.layers.iter().filter_map(|layer| layer.info().gives);
        forms.next_back().unwrap_or(Form::File)
    }

    /// Whether it is a network path within this machine without delays or limits, whose flows reach
    /// full speed within milliseconds.
    pub fn is_immediate_path(&self) -> bool {
        matches!(self.layers.first(), Some(Layer::Netns(_) | Layer::Loopback(_)))
            && self.layers.iter().all(|layer| layer.info().does != Does::Limits)
    }
}

/// Completes a stack of these layers.
pub(super) fn complete(layers: Vec<Placed>, text: &str) -> Result<Stack, Error> {
    let is_system = |(layer, _): &&Placed| layer.info().world == World::System;
    let Some((system, _)) = layers.iter().find(is_system) else {
        return Ok(Stack { layers: layers.into_iter().map(|(layer, _)| layer).collect() });
    };
    let system = system.name();
    let mut whole: Vec<Layer> = Vec::with_capacity(layers.len() + 2);
    let mut form = Form::File;
    for (layer, span) in layers {
        let info = layer.info();
        if info.world == World::InProcess {
            return Err(two_worlds(&layer, layer.name(), system).at(text, span));
        }
        if matches!(layer, Layer::File(File { thin: true, .. })) {
            return Err(two_worlds(&layer, "file(thin)", system).at(text, span));
        }
        if !layer.is_base() && !info.takes.contains(&form) {
            if form != Form::File || !info.takes.contains(&Form::Block) {
                return Err(unfit(&layer, form).at(text, span));
            }
            whole.push(Layer::Loop(Loop { direct: true }));
        }
        fit(&layer, &mut whole).map_err(|e| e.at(text, span))?;
        form = info.gives.unwrap_or(form);
        whole.push(layer);
    }
    if form == Form::File {
        whole.push(Layer::Loop(Loop { direct: true }));
    }
    Ok(Stack { layers: whole })
}

fn two_worlds(layer: &Layer, name: &str, system: &str) -> Error {
    let stack = if layer.is_base() { layer.to_string() } else { format!("file(size=1G) + {name}") };
    let stack = quote(&stack);
    Error::syntax(
        format!(
            "`{name}` runs inside iotax and cannot be combined with `{system}`, which runs in the \
             operating system"
        ),
        format!(
            "put the in-process layers into a virtual disk at the bottom: vdisk(stack={stack}) \
             + {system}"
        ),
    )
}

fn unfit(layer: &Layer, form: Form) -> Error {
    let (name, info) = (layer.name(), layer.info());
    let wanted: Vec<_> = info.takes.iter().map(|form| form.with_article()).collect();
    Error::syntax(
        format!("`{name}` needs {} below it, not {}", wanted.join(" or "), form.with_article()),
        match (info.takes, info.gives) {
            ([Form::Ethernet, ..], _) if matches!(form, Form::Service | Form::Connections) => {
                format!(
                    "put the layer on iotax's own interfaces, below any service address: netns + \
                     {name}"
                )
            }
            ([wanted, ..], _) if wanted.is_network() => {
                format!("put the layer on a network path: netns + {name}")
            }
            ([Form::Directory], _) => {
                format!("put a file system below the layer: file(size=2G) + ext4 + {name}")
            }
            _ if info.does == Does::Limits && form == Form::Block => {
                "put the layer directly on a file, below the device layers, or limit the device \
                 with cgroup-io"
                    .to_owned()
            }
            ([Form::Block], Some(Form::Directory)) => {
                format!("create the file system on a file or device: file(size=2G) + {name}")
            }
            _ => format!("put the layer below the file system: file(size=2G) + {name} + ext4"),
        },
    )
}

/// What a layer requires of those below it, other than their form; may change them.
fn fit(layer: &Layer, below: &mut [Layer]) -> Result<(), Error> {
    let is_limit = |layer: &Layer| matches!(layer, Layer::CgroupIo(_));
    match layer {
        Layer::CgroupIo(_) if below.iter().any(is_limit) => Err(Error::syntax(
            "a process belongs to only one cgroup, so a stack can have only one `cgroup-io`",
            "put all limits into one layer",
        )),
        Layer::CgroupIo(_) => has_device(below.last()),
        _ if layer.info().submitter == Submitter::Process && below.iter().any(is_limit) => {
            // A limit on this process does not apply to other processes.
            let problem = format!(
                "`{}` runs in another process, which the `cgroup-io` below it does not limit",
                layer.name()
            );
            Err(Error::syntax(problem, "put cgroup-io on top"))
        }
        Layer::Fscrypt(_) => encrypt(below),
        Layer::Ipsec(_) if !has_own_addresses(below) => Err(Error::syntax(
            "`ipsec` protects traffic between two addresses, and the `ipsec` below it already \
             protects the same traffic",
            "keep only one, or put a tunnel in between: ipsec + vxlan + ipsec",
        )),
        _ => Ok(()),
    }
}

/// Whether the ends of a network path have addresses that no `ipsec` protects yet: tunnels have
/// their own.
fn has_own_addresses(below: &[Layer]) -> bool {
    let nearest = below.iter().rev().find(|layer| layer.info().gives.is_some());
    !matches!(nearest, Some(Layer::Ipsec(_)))
}

/// Refuses `cgroup-io` where it would limit nothing: the kernel limits I/O of iotax's own process
/// to a block device.
fn has_device(below: Option<&Layer>) -> Result<(), Error> {
    match below.map(|layer| layer.info().submitter) {
        Some(Submitter::Process | Submitter::Nobody) => Err(Error::syntax(
            "`cgroup-io` limits the I/O of block devices, but there is none directly below it",
            "put the layer on a file system or device: file(size=2G) + ext4 + \
             cgroup-io(read_iops=1000)",
        )),
        Some(Submitter::Caller) | None => Ok(()),
    }
}

/// The file system below encrypts, and must be created with support for it.
fn encrypt(below: &mut [Layer]) -> Result<(), Error> {
    let nearest = below.iter_mut().rev().find(|layer| !matches!(layer, Layer::CgroupIo(_)));
    match nearest {
        Some(Layer::FileSystem(FileSystem { kind: FileSystemKind::Ext4, encrypt, .. })) => {
            *encrypt = true;
            Ok(())
        }
        _ => Err(Error::syntax("`fscrypt` needs ext4 directly below it", "use ext4 + fscrypt")),
    }
}

#[cfg(test)]
mod tests;
