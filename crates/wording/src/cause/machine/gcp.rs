use iotax_diagnose::why::gcp::{CouldBe, GcpWhy};
use iotax_quantity::{iops_limit, mb_per_s, size};

use super::super::names::listed;

pub(in super::super) fn why(why: &GcpWhy, disk: &str) -> String {
    match why {
        GcpWhy::Unnamed { kind, size_gib, could_be } => {
            let said = kind.as_ref();
            let said =
                said.map_or("names no kind of".to_owned(), |kind| format!("says only {kind} of"));
            let kinds: Vec<String> = could_be.iter().map(allows).collect();
            format!(
                "The metadata service {said} {disk}, as of pd-standard disks. At {} \
                 {}. Say which it is with --fact disk=pd-standard:size={size_gib}G.",
                size(size_gib << 30),
                listed(&kinds)
            )
        }
    }
}

fn allows(CouldBe { kind, read_iops, write_iops, bytes_per_s }: &CouldBe) -> String {
    format!(
        "{kind} allows reads {}, writes {} and {}",
        iops_limit(*read_iops),
        iops_limit(*write_iops),
        mb_per_s(*bytes_per_s)
    )
}
