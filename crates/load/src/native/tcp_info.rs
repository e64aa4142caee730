//! What the kernel knows of a TCP connection.

use std::net::TcpStream;
use std::os::fd::AsRawFd;

use iotax_record::TcpRecord;

/// `TCP_INFO` of a connection; `None` where the kernel has none.
pub(crate) fn of(flow: &TcpStream) -> Option<TcpRecord> {
    // SAFETY: plain numbers, for which all zeros are a value.
    let mut info: libc::tcp_info = unsafe { std::mem::zeroed() };
    let mut length = libc::socklen_t::try_from(size_of_val(&info)).ok()?;
    // SAFETY: the kernel writes at most `length` bytes to `info`, and the descriptor is open.
    let got = unsafe {
        libc::getsockopt(
            flow.as_raw_fd(),
            libc::IPPROTO_TCP,
            libc::TCP_INFO,
            (&raw mut info).cast(),
            &raw mut length,
        )
    };
    (got == 0).then(|| TcpRecord {
        connections: 1,
        retransmits: info.tcpi_total_retrans.into(),
        rtt_ns: u64::from(info.tcpi_rtt) * 1000,
        cwnd_bytes: u64::from(info.tcpi_snd_cwnd) * u64::from(info.tcpi_snd_mss),
        mss_bytes: info.tcpi_snd_mss.into(),
    })
}
