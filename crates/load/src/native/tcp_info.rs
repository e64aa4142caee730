//! What the kernel knows of a TCP connection.

use std::net::TcpStream;

use iotax_record::TcpRecord;

use crate::sockopt::tcp_info;

/// `TCP_INFO` of a connection; `None` where the kernel has none.
pub(crate) fn of(flow: &TcpStream) -> Option<TcpRecord> {
    let info = tcp_info(flow)?;
    Some(TcpRecord {
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
