//! Keys about caps: what the arms are, and what runs beside them.

use indexmap::IndexMap;
use iotax_layers::{Error, units};

use super::document::{At, Placed};
use super::written::Scalar;
use super::written::SpecFile;
use super::written::{CachingWord, DiskEntry, VariantWord};
use crate::cloud::CloudChoice;
use crate::side_runs::SideRuns;
use crate::spec::Arm;

/// What the arms are, in order.
pub(super) fn cloud(file: &SpecFile, arms: &[Arm]) -> Placed<CloudChoice> {
    let Some(table) = &file.documented else { return Ok(CloudChoice::default()) };
    let disks = match &table.disk {
        None => Vec::new(),
        Some(DiskEntry::All(disk)) => vec![disk.clone()],
        Some(DiskEntry::Each(disks)) => of_each(disks, arms)?,
    };
    let caching = table.caching.map(|caching| match caching {
        CachingWord::None => "none",
        CachingWord::ReadOnly => "readonly",
        CachingWord::ReadWrite => "readwrite",
    });
    let variant = table.variant.map(|variant| match variant {
        VariantWord::Scsi => "scsi",
        VariantWord::Nvme => "nvme",
    });
    Ok(CloudChoice {
        vm: table.vm.clone(),
        variant: variant.map(str::to_owned),
        caching: caching.map(str::to_owned),
        disks,
        roles: Vec::new(),
        encryption_at_host: None,
    })
}

fn of_each(disks: &IndexMap<String, String>, arms: &[Arm]) -> Placed<Vec<String>> {
    let names = || arms.iter().map(|arm| arm.name.as_str());
    if let Some(stranger) = disks.keys().find(|name| !names().any(|arm| arm == *name)) {
        let unknown = Error::unknown("arm", stranger, names());
        return Err(unknown).at(&["documented", "disk", stranger]);
    }
    let of_arm = |name: &str| {
        let advice = "name a disk for each arm, or one for all arms with disk = \"...\"";
        let missing = || Error::syntax(format!("arm `{name}` has no disk"), advice);
        disks.get(name).cloned().ok_or_else(missing).at(&["documented", "disk"])
    };
    names().map(of_arm).collect()
}

/// What runs beside the arms.
pub(super) fn side_runs(file: &SpecFile) -> Placed<SideRuns> {
    let drain_ns = match &file.drain {
        None | Some(Scalar::Switch(false)) => None,
        Some(Scalar::Switch(true)) => Some(SideRuns::DRAIN_NS),
        Some(time) => Some(units::parse_duration(&time.to_string()).at(&["drain"])?),
    };
    let depth_check = file.depth_check.unwrap_or(true);
    let SpecFile { below_cap, precondition, .. } = *file;
    SideRuns { depth_check, below_cap, precondition, drain_ns }.validated().at(&["below-cap"])
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::*;
    use crate::file::refused_key;
    use crate::file::tests::from_toml as read;

    const TWO: &str =
        "workload = \"randread-4k\"\nbaseline = \"b\"\n[arms]\na = \"/a\"\nb = \"/b\"\n";

    #[test]
    fn what_the_arms_are_and_what_is_run_beside_them_can_be_said() {
        let spec = read(&format!(
            "drain = \"90s\"\nprecondition = true\nbelow-cap = true\n{TWO}[documented]\nvm = \
             \"x\"\ncaching = \"readonly\"\nvariant = \"nvme\"\ndisk = {{ a = \"P10\", b = \"P20\" \
             }}\n"
        ))
        .unwrap();
        let drain_ns = Some(90_000_000_000);
        let all = SideRuns { depth_check: true, below_cap: true, precondition: true, drain_ns };
        assert_eq!(spec.side_runs, all);
        // In the order of the arms, of which the baseline is the first.
        assert_eq!(spec.cloud.disks, ["P20", "P10"]);
        let said = [&spec.cloud.vm, &spec.cloud.caching, &spec.cloud.variant];
        assert_eq!(said.map(|text| text.as_deref().unwrap_or_default()), ["x", "readonly", "nvme"]);
        let one = read(&format!(
            "drain = true\ndepth-check = false\n{TWO}[documented]\ndisk = \"P30\"\n"
        ))
        .unwrap();
        assert_eq!(one.cloud.disks, ["P30"]);
        let drain_ns = Some(SideRuns::DRAIN_NS);
        assert_eq!(one.side_runs, SideRuns { drain_ns, ..SideRuns::default() });
        assert_eq!(read(&format!("drain = false\n{TWO}")).unwrap().side_runs.drain_ns, None);
    }

    #[test]
    fn mistakes_about_caps_are_placed() {
        let files = [
            format!("{TWO}[documented]\ndisks = \"P30\"\n"),
            format!("{TWO}[documented]\ncaching = \"reads\"\n"),
            format!("{TWO}[documented]\ndisk = {{ a = \"P10\", c = \"P20\" }}\n"),
            format!("{TWO}[documented]\ndisk.a = \"P10\"\n"),
            format!("{TWO}[documented]\ndisk = 3\n"),
            format!("drain = \"soon\"\n{TWO}"),
            format!("below-cap = true\ndepth-check = false\n{TWO}"),
        ];
        assert_snapshot!(files.map(|file| read(&file).unwrap_err().to_string()).join("\n\n"), @r#"
        x.toml:7:1: documented.disks: unknown key `disks`; did you mean `disk`?
          7 | disks = "P30"
            | ^^^^^
        known keys: caching, disk, variant, vm

        x.toml:7:11: unknown variant `reads`, expected one of `none`, `readonly`, `readwrite`
          7 | caching = "reads"
            |           ^^^^^^^

        x.toml:7:25: documented.disk.c: unknown arm `c`
          7 | disk = { a = "P10", c = "P20" }
            |                         ^^^^^
        known arms: b, a

        x.toml:7:1: documented.disk: arm `b` has no disk
          7 | disk.a = "P10"
            | ^^^^
        name a disk for each arm, or one for all arms with disk = "..."

        x.toml:7:8: expected a disk type such as "P30", or a table with a disk type for each arm
          7 | disk = 3
            |        ^

        x.toml:1:9: drain: `soon` is not a duration: it does not start with a digit
          1 | drain = "soon"
            |         ^^^^^^
        specify a duration as 500ns, 200us, 2ms, 5s or 1m

        x.toml:1:13: below-cap: `below-cap` needs the depth check
          1 | below-cap = true
            |             ^^^^
        do not turn the depth check off: it finds the cap
        "#);
        let refused =
            refused_key("x.toml", "[documented]\nvm = \"D2\"\n", &["documented", "vm"], "no VM");
        assert_snapshot!(refused, @r#"
        x.toml:2:6: documented.vm: no VM
          2 | vm = "D2"
            |      ^^^^
        "#);
    }
}
