use iotax_diagnose::why::gcp::{CouldBe, GcpWhy};
use iotax_quantity::{iops_limit, mb_per_s, size};

use super::super::names::listed;

pub(in super::super) fn why(why: &GcpWhy, disk: &str) -> String {
    match why {
        GcpWhy::Unnamed { kind, size_gib, could_be } => {
            let reports = kind.as_ref().map_or_else(
                || "names no type for".to_owned(),
                |kind| format!("reports only {kind} for"),
            );
            let kinds: Vec<String> = could_be.iter().map(allows).collect();
            format!(
                "The metadata service {reports} {disk}, just as for pd-standard disks. At {}, \
                 {}. Set the type with --fact disk=pd-standard:size={size_gib}G.",
                size(size_gib << 30),
                listed(&kinds)
            )
        }
    }
}

fn allows(CouldBe { kind, read_iops, write_iops, bytes_per_s }: &CouldBe) -> String {
    format!(
        "{kind} allows {} for reads, {} for writes, and a throughput of {}",
        iops_limit(*read_iops),
        iops_limit(*write_iops),
        mb_per_s(*bytes_per_s)
    )
}
