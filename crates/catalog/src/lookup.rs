//! Looks up a VM size or a disk by name.

use crate::disk::{Caching, Disk};
use crate::error::Error;
use crate::limit::Cloud;
use crate::table::{AWS_INSTANCES, AZURE_VMS, GCP_MACHINES};
use crate::text::Parameters;
use crate::vm::{Vm, conflicts_of_disk};
use crate::{aws, azure, gcp};

/// Maximum number of names that an error suggests.
const SUGGESTED: usize = 3;

/// Prefix of all Azure sizes, which users usually leave out.
const AZURE_PREFIX: &str = "standard_";

impl Cloud {
    pub const ALL: [Self; 3] = [Self::Azure, Self::Aws, Self::Gcp];
}

/// The size with this name in any cloud, or its variants by disk controller. Ignores case and the
/// prefix `Standard_`.
pub fn vm(name: &str) -> Result<Vec<Vm>, Error> {
    let found = Cloud::ALL.into_iter().find_map(|cloud| named(cloud, name));
    found.ok_or_else(|| unknown_vm(name, None))
}

/// Like [`vm`], in one cloud.
pub fn vm_of(cloud: Cloud, name: &str) -> Result<Vec<Vm>, Error> {
    named(cloud, name).ok_or_else(|| unknown_vm(name, Some(cloud)))
}

/// Sizes with a name that contains `part`, one per variant; all if it is empty.
pub fn vms_like(cloud: Cloud, part: &str) -> Vec<Vm> {
    let part = part.to_ascii_lowercase();
    rows(cloud, |name| name.to_ascii_lowercase().contains(&part))
}

/// Names of all sizes of a cloud, each once.
pub fn vm_names(cloud: Cloud) -> Vec<String> {
    let mut names = match cloud {
        Cloud::Azure => AZURE_VMS.names(),
        Cloud::Aws => AWS_INSTANCES.names(),
        Cloud::Gcp => GCP_MACHINES.names(),
    };
    names.sort();
    names.dedup();
    names
}

/// Names of all tiers and kinds of disk of a cloud.
pub fn disk_names(cloud: Cloud) -> Vec<String> {
    match cloud {
        Cloud::Azure => azure::disks::names(),
        Cloud::Aws => aws::volumes::names(),
        Cloud::Gcp => gcp::disks::names(),
    }
}

/// Disks with consecutive names, such as `P1` to `P80`, or a single one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DiskRange {
    pub first: String,
    pub last: String,
}

/// The disks that can be attached to a size, and the local disks of its host.
pub fn attachable(vm: &Vm) -> Vec<DiskRange> {
    let is_tier = |name: &str| name[1..].bytes().all(|digit| digit.is_ascii_digit());
    let is_premium = |name: &str| is_tier(name) && name.starts_with('P');
    let mut ranges: Vec<DiskRange> = Vec::new();
    let local: &[&str] = match vm.local_storage.len() {
        0 => &[],
        1 => &["local"],
        _ => &["temporary", "nvme"],
    };
    for name in disk_names(vm.cloud).into_iter().chain(local.iter().map(|name| (*name).to_owned()))
    {
        if vm.premium_storage == Some(false) && is_premium(&name) {
            continue;
        }
        let is_next = |last: &str| is_tier(&name) && is_tier(last) && name[..1] == last[..1];
        match ranges.last_mut() {
            Some(range) if is_next(&range.last) => range.last = name,
            _ => ranges.push(DiskRange { first: name.clone(), last: name }),
        }
    }
    ranges
}

/// The name of an Azure disk, for [`disk`], from the metadata service of its VM: a type such as
/// `Premium_LRS`, a tier if it was chosen independently of the size, and the size. `None` for
/// freely provisioned and unknown disks.
pub fn azure_disk_of(kind: &str, tier: Option<&str>, size_bytes: u64) -> Option<String> {
    azure::disks::of_instance(kind, tier, size_bytes)
}

/// A disk by its name and provisioned values: `P30`, `gp3:size=500G,iops=6000,bw=250M`,
/// `pd-ssd:size=500G`. Letters are the provider's units: `G` is GiB; `M` is MB for Azure, MiB
/// otherwise.
pub fn disk(text: &str) -> Result<Disk, Error> {
    let mut parameters = Parameters::parse(text)?;
    let disk = found(&mut parameters)?;
    parameters.finish()?;
    Ok(disk)
}

/// A disk attached to a VM: like [`disk`], with `caching=none`, `readonly` or `readwrite`.
pub fn attached_disk(text: &str, otherwise: Caching) -> Result<(Disk, Caching), Error> {
    let mut parameters = Parameters::parse(text)?;
    let said = parameters.caching()?;
    let disk = found(&mut parameters)?;
    parameters.finish()?;
    Ok((disk, said.unwrap_or(otherwise)))
}

fn found(parameters: &mut Parameters) -> Result<Disk, Error> {
    for look in [azure::disks::disk, aws::volumes::disk, gcp::disks::disk] {
        if let Some(disk) = look(parameters)? {
            let conflicts = conflicts_of_disk(parameters.name(), disk.size_bytes);
            return Ok(Disk { name: parameters.text().to_owned(), conflicts, ..disk });
        }
    }
    let name = parameters.name();
    let known = Cloud::ALL.into_iter().flat_map(disk_names);
    Err(Error::UnknownDisk { name: name.to_owned(), near: near(name, known) })
}

fn named(cloud: Cloud, name: &str) -> Option<Vec<Vm>> {
    let wanted = bare(name);
    let is_it = |known: &str| bare(known).eq_ignore_ascii_case(wanted);
    Some(rows(cloud, is_it)).filter(|found| !found.is_empty())
}

fn rows(cloud: Cloud, wanted: impl Fn(&str) -> bool) -> Vec<Vm> {
    match cloud {
        Cloud::Azure => azure::vms::vms(wanted),
        Cloud::Aws => aws::instances::vms(wanted),
        Cloud::Gcp => gcp::machines::vms(wanted),
    }
}

fn unknown_vm(name: &str, cloud: Option<Cloud>) -> Error {
    let clouds = cloud.map_or(Cloud::ALL.to_vec(), |cloud| vec![cloud]);
    let known = clouds.into_iter().flat_map(vm_names);
    Error::UnknownVm { name: name.to_owned(), cloud, near: near(name, known) }
}

/// A name without the prefix of Azure sizes.
fn bare(name: &str) -> &str {
    let name = name.trim();
    let has_prefix = |start: &str| start.eq_ignore_ascii_case(AZURE_PREFIX);
    let rest = name.get(..AZURE_PREFIX.len()).filter(|start| has_prefix(start));
    rest.map_or(name, |start| &name[start.len()..])
}

/// A name in the form used for comparison.
pub(crate) fn short(name: &str) -> String {
    bare(name).to_ascii_lowercase()
}

/// The known names that were probably meant: at most a third of them mistyped, the closest first.
pub fn near(name: &str, known: impl Iterator<Item = String>) -> Vec<String> {
    let wanted = short(name);
    // A long text is not a mistyped name, and comparing takes quadratic time.
    let length = wanted.chars().count();
    if !(1..=64).contains(&length) {
        return Vec::new();
    }
    let mut close: Vec<_> = known
        .filter_map(|candidate| {
            let distance = strsim::damerau_levenshtein(&wanted, &short(&candidate));
            (distance <= (length / 3).clamp(1, 3) && distance < length)
                .then_some((distance, candidate))
        })
        .collect();
    close.sort();
    close.truncate(SUGGESTED);
    close.into_iter().map(|(_, candidate)| candidate).collect()
}
