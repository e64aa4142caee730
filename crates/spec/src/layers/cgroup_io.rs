//! The kernel's I/O limits for a group of processes.

use serde::{Deserialize, Serialize};

use super::info::{Does, Form, LayerInfo, Submitter, Values, World, parameter};
use super::{Declared, Layer, Need};
use crate::error::Error;
use crate::text::{Arguments, Value};
use crate::units::Unit;

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
        about: "the kernel's I/O limits for a group of processes, on the device below",
        example: "cgroup-io(read_iops=1000)",
        world: World::System,
        takes: &[Form::Block, Form::Directory],
        gives: None,
        does: Does::Limits,
        submitter: Submitter::Caller,
        needs: &[Need::Root, Need::Cgroup { v1: "blkio", v2: "io" }],
        parameters: &[
            parameter("read_iops", Unit::Count, None, "reads per second"),
            parameter("write_iops", Unit::Count, None, "writes per second"),
            parameter("read_bw", Unit::Size, None, "bytes read per second"),
            parameter("write_bw", Unit::Size, None, "bytes written per second"),
        ],
        read,
    }];

    fn values(&self) -> Values {
        vec![
            ("read_iops", self.read_iops.map(Value::from)),
            ("write_iops", self.write_iops.map(Value::from)),
            ("read_bw", self.read_bw_bytes.map(Value::from)),
            ("write_bw", self.write_bw_bytes.map(Value::from)),
        ]
    }

    /// Refuses places at which it would limit nothing: the kernel limits what iotax's own process
    /// does to a block device.
    fn fit(&self, below: &mut [Layer]) -> Result<(), Error> {
        if below.iter().any(|layer| matches!(layer, Layer::CgroupIo(_))) {
            let problem = "a process is in one cgroup only, so a stack has one `cgroup-io`";
            return Err(Error::syntax(problem, "put all limits into one"));
        }
        match below.last().map(|layer| layer.info().submitter) {
            Some(Submitter::Process | Submitter::Nobody) => Err(Error::syntax(
                "`cgroup-io` limits I/O of block devices, and there is none right below it",
                "put it on a file system or device: file(size=2G) + ext4 + cgroup-io(read_iops=1000)",
            )),
            Some(Submitter::Caller) | None => Ok(()),
        }
    }
}

fn read(arguments: &Arguments<'_>) -> Result<Layer, Error> {
    let limits = CgroupIo {
        read_iops: arguments.whole_if_given("read_iops"),
        write_iops: arguments.whole_if_given("write_iops"),
        read_bw_bytes: arguments.whole_if_given("read_bw"),
        write_bw_bytes: arguments.whole_if_given("write_bw"),
    };
    let all = [
        ("read_iops", limits.read_iops),
        ("write_iops", limits.write_iops),
        ("read_bw", limits.read_bw_bytes),
        ("write_bw", limits.write_bw_bytes),
    ];
    if let Some((name, _)) = all.iter().find(|(_, limit)| *limit == Some(0)) {
        return Err(arguments.refuse(name, "a limit of 0 would never let an I/O pass", ""));
    }
    if all.iter().all(|(_, limit)| limit.is_none()) {
        let advice = "write cgroup-io(read_iops=1000), cgroup-io(read_bw=32M) or more of them";
        return Err(arguments.refuse("read_iops", "nothing is limited", advice));
    }
    Ok(Layer::CgroupIo(limits))
}
