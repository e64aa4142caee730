//! Results of other tools, read into the same facts that iotax records itself.

pub mod diskspd;
pub(crate) mod error;
pub mod fio;
mod imported;
pub mod iperf3;
mod json;
pub mod k8s_netperf;
pub mod knb;
mod number;
pub(crate) mod options;
mod sniff;
mod xml;

pub use error::Error;
pub use imported::Imported;
pub(crate) use imported::system;
pub use options::Options;
pub use sniff::{ResultTool, open, sniff, sniff_file};
