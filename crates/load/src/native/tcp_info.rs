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
        header_bytes: header_bytes(flow, info.tcpi_options),
        zero_copy: None,
    })
}

/// Of RFC 791 or RFC 8200, RFC 9293, and the time stamps of RFC 7323 with what aligns them.
fn header_bytes(flow: &TcpStream, options: u8) -> u64 {
    const TIMESTAMPS: u8 = 1;
    let ip = if flow.local_addr().is_ok_and(|address| address.is_ipv6()) { 40 } else { 20 };
    ip + 20 + if options & TIMESTAMPS == 0 { 0 } else { 12 }
}
