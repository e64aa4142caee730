//! The kernel's I/O limits for a group of processes.

use crate::declaration::prelude::*;

/// I/O limits of a cgroup; absent means unlimited.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct CgroupIo {
    /// Reads per second.
    pub read_iops: Option<u64>,
    /// Writes per second.
    pub write_iops: Option<u64>,
    /// Bytes read per second.
    pub read_bw_bytes: Option<u64>,
    /// Bytes written per second.
    pub write_bw_bytes: Option<u64>,
}

impl Declared for CgroupIo {
    const WORDS: &'static [LayerInfo] = &[LayerInfo {
        name: "cgroup-io",
        about: "cgroup I/O limits on the device below",
        example: "cgroup-io(read_iops=1000)",
        takes: &[Form::Block, Form::Directory],
        does: Does::Limits,
        needs: &[Need::Root, Need::Cgroup { v1: "blkio", v2: "io" }],
        parameters: Self::PARAMETERS,
        ..IN_SYSTEM
    }];

    parameters! {
        read_iops: parameter("read_iops", Unit::Count, None, "reads per second"),
        write_iops: parameter("write_iops", Unit::Count, None, "writes per second"),
        read_bw_bytes: parameter("read_bw", Unit::Size, None, "bytes read per second"),
        write_bw_bytes: parameter("write_bw", Unit::Size, None, "bytes written per second"),
    }

    fn validate(&self, arguments: &Arguments<'_>) -> Result<(), Error> {
        let limits = [
            ("read_iops", self.read_iops),
            ("write_iops", self.write_iops),
            ("read_bw", self.read_bw_bytes),
            ("write_bw", self.write_bw_bytes),
        ];
        for (name, limit) in limits {
            arguments.demand(limit != Some(0), name, ENDLESS, "")?;
        }
        let advice = "for example cgroup-io(read_iops=1000) or cgroup-io(read_bw=32M)";
        arguments.demand(*self != Self::default(), "read_iops", "no limit is given", advice)
    }
}
