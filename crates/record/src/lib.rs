//! The raw facts of an experiment: trials, histograms, series, counters, and their files.
//!
//! Nothing here computes statistics. A record is a directory: `experiment.json` (what was run,
//! where, with which seed) and `trials.jsonl` (one line per trial, written as it ends).
#![forbid(unsafe_code)]

/// For errors in crates that use records but not experiments.
pub use iotax_experiment::{Blame, Fault};

mod around;
mod cloud;
pub mod cluster;
mod counters;
mod directions;
mod earlier;
mod end;
mod error;
mod experiment;
mod gap;
mod histogram;
mod host;
mod joined;
mod json_file;
mod location;
pub mod machine;
mod placed;
mod search;
mod side_record;
mod stable_id;
mod store;
mod stored;
mod trial;

pub use around::record_around;
pub use cloud::{CloudDisk, CloudInstance};
pub use counters::{
    CPU_MODES, Counters, DISK_COUNTERS, DeviceCounters, INTERFACE_COUNTERS, InterfaceCounters,
    MemoryCounters, NFS_COUNTERS, NFS_TRANSPORT_COUNTERS, NfsClientCounters, NfsCounters,
    NfsGranted, NfsOperation, NfsTransportCounters, PathEnd, Pressure, QDISC_COUNTERS,
    QdiscCounters, Series, Stalls,
};
pub use end::{Besides, End, EndReason, OtherPrograms, ProgramUse};
pub use error::Error;
pub use experiment::{ExperimentHead, FORMAT, NamedSite, Site};
pub use gap::Gap;
pub use histogram::LatencyHistogram;
pub use host::{HostRecord, HostRole, record_id};
pub use location::Location;
pub use machine::Environment;
pub use machine::Machine;
pub use placed::Placed;
pub use search::{ProbeLoad, ProbeRecord, SEARCH_FORMAT, SearchHead};
pub use side_record::SideRecord;
pub use stable_id::stable_id;
pub use store::{Reader, Record, Writer};
pub use stored::Stored;
pub use trial::{
    Busiest, BusyOne, DirectionRecord, FarEndRecord, FioLatency, JobRecord, LatencySummary,
    LoadRecord, OperationRecord, Outcome, PauseRecord, ReplayRecord, ReplayTimes, Slow,
    SystemCounters, TcpRecord, Trial, TrialLength, UdpRecord, ZeroCopyRecord,
};
