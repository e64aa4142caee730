//! One file per engine.

pub(crate) mod io_uring;
pub(crate) mod libaio;
pub(crate) mod mmap;
pub(crate) mod null;
pub(crate) mod psync;
pub(crate) mod tcp_connect;
pub(crate) mod tcp_rr;
pub(crate) mod tcp_stream;
pub(crate) mod udp_stream;
pub(crate) mod vdisk;
