//! The requested disks of one VM, and the layers made for them.

use iotax_catalog::{
    Caching, DiskRange, Error as Unknown, Expectation, Limit, Note, Setup, Vm, attachable,
    attached_disk, expect, vm_variant,
};
use serde::{Deserialize, Serialize};

use super::attached::attached_disks;
use super::disk::{CloudDisk, CloudOptions};
use super::local::{Local, limits_of, local_disks};
use crate::error::Error;

/// Disks of one VM, in the terms of the catalog.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CloudDisks {
    /// VM size; without it, only the limits of the disks apply.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vm: Option<String>,
    /// Disk controller, for VM sizes whose limits depend on it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variant: Option<String>,
    /// `P10`, `gp3:size=500G`, `local`.
    pub disks: Vec<String>,
    /// Host caching for disks that do not specify it.
    pub caching: Caching,
    /// Values that the documentation does not give, or that the user overrides.
    pub options: CloudOptions,
}

/// Disks in the order in which they were requested.
#[derive(Debug, Clone, PartialEq)]
pub struct MadeDisks {
    /// As the provider spells it.
    pub vm: Option<String>,
    pub disks: Vec<CloudDisk>,
    /// Facts that the limits of attached disks do not include.
    pub notes: Vec<Note>,
}

impl CloudDisks {
    /// The layers of these disks.
    ///
    /// # Errors
    /// [`Error::Cloud`] for unknown names, combinations that are impossible, disks without a size,
    /// and write-back caches.
    pub fn made(&self) -> Result<MadeDisks, Error> {
        self.made_or_refused().map_err(|error| match (error, self.vm()) {
            (Error::Cloud { parameter: "disk", problem, .. }, Ok(Some(vm))) => {
                let range = |DiskRange { first, last }: &DiskRange| {
                    if first == last { first.clone() } else { format!("{first} to {last}") }
                };
                let ranges: Vec<_> = attachable(&vm).iter().map(range).collect();
                let takes = format!("{} supports {}", vm.name, ranges.join(", "));
                Error::Cloud { parameter: "disk", problem, advice: takes }
            }
            (error, _) => error,
        })
    }

    fn made_or_refused(&self) -> Result<MadeDisks, Error> {
        let (local, expectation) = (self.local(), self.expectation()?);
        let (notes, attached) = match &expectation {
            Some(expectation) => {
                (expectation.notes.clone(), attached_disks(expectation, &self.options)?)
            }
            None => (Vec::new(), Vec::new()),
        };
        let vm = self.vm()?;
        let of_host = match &vm {
            Some(vm) => local_disks(vm, &local, &self.options)?,
            None => Vec::new(),
        };
        let (mut attached, mut of_host) = (attached.into_iter(), of_host.into_iter());
        let next = |text: &String| match Local::parse(text) {
            Some(_) => of_host.next(),
            None => attached.next(),
        };
        let disks = self.disks.iter().filter_map(next).collect();
        Ok(MadeDisks { vm: vm.map(|vm| vm.name), disks, notes })
    }

    /// The documented limits of each disk: its own and the VM's.
    ///
    /// # Errors
    /// As [`Self::made`].
    pub fn limits(&self) -> Result<Vec<Vec<Limit>>, Error> {
        let (vm, expectation) = (self.vm()?, self.expectation()?);
        let mut attached = expectation.into_iter().flat_map(|expectation| expectation.disks);
        let of = |text: &String| match (Local::parse(text), &vm) {
            (Some(local), Some(vm)) => limits_of(vm, local),
            (Some(_), None) => Ok(Vec::new()),
            (None, _) => Ok(attached.next().map(|disk| disk.limits).unwrap_or_default()),
        };
        self.disks.iter().map(of).collect()
    }

    fn vm(&self) -> Result<Option<Vm>, Error> {
        let variant = self.variant.as_deref();
        let vm = self.vm.as_deref().map(|name| vm_variant(name, variant)).transpose();
        vm.map_err(|error| {
            let parameter =
                if matches!(error, Unknown::UnknownVm { .. }) { "vm" } else { "variant" };
            Error::cloud(parameter, error.to_string())
        })
    }

    fn local(&self) -> Vec<Local> {
        self.disks.iter().filter_map(|text| Local::parse(text)).collect()
    }

    /// The documented limits of attached disks; `None` if there are none.
    fn expectation(&self) -> Result<Option<Expectation>, Error> {
        if self.vm()?.is_none() && !self.local().is_empty() {
            let problem = "a local disk belongs to a VM size; specify the VM size too";
            return Err(Error::cloud("vm", problem));
        }
        let refused = |error: Unknown| Error::cloud("disk", error.to_string());
        let attached = self.disks.iter().filter(|text| Local::parse(text).is_none());
        let disks = attached.map(|text| attached_disk(text, self.caching));
        let disks = disks.collect::<Result<Vec<_>, _>>().map_err(refused)?;
        if disks.is_empty() {
            return Ok(None);
        }
        let (vm, variant) = (self.vm.clone(), self.variant.clone());
        expect(&Setup { vm, variant, disks }).map(Some).map_err(refused)
    }
}
