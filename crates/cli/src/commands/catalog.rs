use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

use iotax_catalog::{self as catalog, Agreement, Caching, Cloud, Disk, Expectation, Setup, Vm};
use iotax_report::{self as report, Document};
use serde_json::{Value, json};

use crate::args::{
    CatalogCheckArgs, CatalogCommand, CatalogLookArgs, CatalogPlanArgs, ListingArgs,
};
use crate::exit::{Context as _, Exit, Result, usage};
use crate::output;

/// Argument that selects disks instead of VMs.
const DISK: &str = "disk";

/// `iotax catalog`
pub(crate) fn catalog(command: &CatalogCommand) -> Result<Exit> {
    match command {
        CatalogCommand::Azure(args) => look(Cloud::Azure, args),
        CatalogCommand::Aws(args) => look(Cloud::Aws, args),
        CatalogCommand::Gcp(args) => look(Cloud::Gcp, args),
        CatalogCommand::Plan(args) => plan(args),
        CatalogCommand::Check(args) => check(args),
    }
}

fn look(cloud: Cloud, args: &CatalogLookArgs) -> Result<Exit> {
    let CatalogLookArgs { name, disks: texts, listing } = args;
    let list =
        |vms: &[Vm]| show(listing, || json!({ "vms": vms }), || report::catalog_vm_list(vms));
    let Some(name) = name else { return list(&catalog::vms_like(cloud, "")) };
    if name.eq_ignore_ascii_case(DISK) {
        return disks(cloud, texts, listing);
    }
    match (catalog::vm_of(cloud, name), texts.as_slice()) {
        (Ok(vms), []) => show(listing, || json!({ "vms": vms }), || report::catalog_vms(&vms)),
        (Ok(vms), texts) => vm_with_disks(&vms, texts, listing),
        (Err(error), texts) => {
            let like = catalog::vms_like(cloud, name);
            if like.is_empty() || !texts.is_empty() {
                return Err(as_other(cloud, name).map_or_else(|| error.into(), usage));
            }
            list(&like)
        }
    }
}

/// The error if the name of a VM is that of a disk, or of another cloud's VM.
fn as_other(cloud: Cloud, name: &str) -> Option<String> {
    if let Ok(disk) = catalog::disk(name) {
        let (kind, word) = (disk.kind, word(disk.cloud));
        return Some(format!("{name} is a disk ({kind}); use iotax catalog {word} disk {name}"));
    }
    let other = catalog::vm(name).ok()?.first()?.cloud;
    let word = word(other);
    Some(format!("{name} belongs to {other}, not to {cloud}; use iotax catalog {word} {name}"))
}

/// The name of a cloud as an argument.
fn word(cloud: Cloud) -> &'static str {
    match cloud {
        Cloud::Azure => "azure",
        Cloud::Aws => "aws",
        Cloud::Gcp => "gcp",
    }
}

fn disks(cloud: Cloud, texts: &[String], listing: &ListingArgs) -> Result<Exit> {
    if texts.is_empty() {
        let names = catalog::disk_names(cloud);
        return output::list(listing.format, || names.join("\n"), || json!({ "disks": names }));
    }
    let disks: Vec<Disk> =
        texts.iter().map(|text| catalog::disk(text)).collect::<Result<_, _>>()?;
    if let Some(other) = disks.iter().find(|disk| disk.cloud != cloud) {
        let (name, of) = (&other.name, other.cloud);
        return Err(usage(format!("{name} is a disk on {of}, not on {cloud}")));
    }
    show(listing, || json!({ "disks": disks }), || report::catalog_disks(&disks))
}

/// The VM, the disks, and what they can do together, for each variant.
fn vm_with_disks(vms: &[Vm], texts: &[String], listing: &ListingArgs) -> Result<Exit> {
    let attached = |text: &String| catalog::attached_disk(text, Caching::None);
    let disks: Vec<_> = texts.iter().map(attached).collect::<Result<_, _>>()?;
    let expected = |vm: &Vm| {
        let (name, variant) = (Some(vm.name.clone()), vm.variant.clone());
        catalog::expect(&Setup { vm: name, variant, disks: disks.clone() })
    };
    let expected: Vec<Expectation> = vms.iter().map(expected).collect::<Result<_, _>>()?;
    // The plan has computed figures; disks without a fixed figure also need their rule.
    let is_open = |disk: &Disk| disk.limits.iter().any(|limit| limit.iops.is_none());
    let open: Vec<Disk> = disks.iter().map(|(disk, _)| disk.clone()).filter(is_open).collect();
    show(
        listing,
        || json!({ "expectations": expected }),
        || {
            let plans = expected.iter().map(report::catalog_plan);
            let plans = plans.fold(Document::default(), Document::followed_by);
            plans.followed_by(report::catalog_disks(&open))
        },
    )
}

fn plan(args: &CatalogPlanArgs) -> Result<Exit> {
    let attached = |text: &String| catalog::attached_disk(text, args.caching.into());
    let disks = args.disks.iter().map(attached).collect::<Result<_, _>>()?;
    let setup = Setup { vm: args.vm.clone(), variant: args.variant.clone(), disks };
    let expected = catalog::expect(&setup)?;
    show(&args.listing, || json!(expected), || report::catalog_plan(&expected))
}

fn check(args: &CatalogCheckArgs) -> Result<Exit> {
    let file = args.file.display().to_string();
    let table = head_of(&args.file).with_context(|| format!("cannot read {file}"))?;
    let rows = catalog::check_claims(&catalog::read_claims(&file, &table)?);
    let value = || json!({ "file": file, "rows": rows });
    show(&args.listing, value, || report::catalog_check(&rows))?;
    let differs = rows.iter().any(|row| row.agreement == Agreement::Differs);
    Ok(if differs { Exit::GateFailed } else { Exit::Done })
}

/// Reads just enough to notice that a file is too large; it may be endless.
fn head_of(file: &Path) -> io::Result<Vec<u8>> {
    let mut table = Vec::new();
    let most = catalog::Claim::MAX_TABLE_BYTES as u64 + 1;
    File::open(file)?.take(most).read_to_end(&mut table)?;
    Ok(table)
}

fn show(
    listing: &ListingArgs,
    value: impl FnOnce() -> Value,
    document: impl FnOnce() -> Document,
) -> Result<Exit> {
    let text = || report::text(&document(), output::style(listing.color));
    output::list(listing.format, text, || report::catalog_json(value()))
}
