//! The kernel's I/O limits for a group of processes.

use serde::{Deserialize, Serialize};

use crate::declaration::info::{Does, Form, IN_SYSTEM, LayerInfo, parameter};
use crate::declaration::need::Need;
use crate::declaration::{Arguments, Declared, Value, Values};
use crate::error::Error;
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
        takes: &[Form::Block, Form::Directory],
        does: Does::Limits,
        needs: &[Need::Root, Need::Cgroup { v1: "blkio", v2: "io" }],
        parameters: &[
            parameter("read_iops", Unit::Count, None, "reads per second"),
            parameter("write_iops", Unit::Count, None, "writes per second"),
            parameter("read_bw", Unit::Size, None, "bytes read per second"),
            parameter("write_bw", Unit::Size, None, "bytes written per second"),
        ],
        ..IN_SYSTEM
    }];

    fn from_arguments(arguments: &Arguments<'_>) -> Result<Self, Error> {
        let limits = Self {
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
        Ok(limits)
    }

    fn values(&self) -> Values {
        vec![
            ("read_iops", self.read_iops.map(Value::from)),
            ("write_iops", self.write_iops.map(Value::from)),
            ("read_bw", self.read_bw_bytes.map(Value::from)),
            ("write_bw", self.write_bw_bytes.map(Value::from)),
        ]
    }
}
