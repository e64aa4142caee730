//! Reads results of other tools into the facts that iotax itself records.

pub mod diskspd;
pub mod fio;
pub(crate) mod imported;
pub mod iperf3;
mod json;
pub mod k8s_netperf;
pub mod knb;
mod sniff;

pub(crate) use imported::system;
pub use imported::{Error, Imported, Options};
pub use sniff::{ResultTool, open, sniff, sniff_file};
