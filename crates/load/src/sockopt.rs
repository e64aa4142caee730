//! Socket options that several files use, or that std and rustix do not support.

use std::io;
use std::net::{TcpStream, UdpSocket};
use std::os::fd::{AsFd, AsRawFd as _};
use std::time::Duration;

use iotax_record::TcpRecord;
use rustix::net::sockopt;

/// `linux/tls.h`: which way a key is for.
#[derive(Clone, Copy)]
#[repr(i32)]
pub(crate) enum TlsWay {
    Tx = 1,
    Rx = 2,
}

/// Lets neither a read nor a write wait longer.
pub(crate) fn set_timeouts(socket: &TcpStream, longest: Duration) -> io::Result<()> {
    socket.set_read_timeout(Some(longest))?;
    socket.set_write_timeout(Some(longest))
}

/// Has a connection closed by a reset, after which no port waits.
pub(crate) fn reset_on_close(socket: impl AsFd) -> rustix::io::Result<()> {
    sockopt::set_socket_linger(socket, Some(Duration::ZERO))
}

/// Asks after each such silence whether the other end is still there: three times, then it is gone.
pub(crate) fn keep_alive(socket: &TcpStream, silence: Duration) -> io::Result<()> {
    sockopt::set_socket_keepalive(socket, true)?;
    sockopt::set_tcp_keepidle(socket, silence)?;
    sockopt::set_tcp_keepintvl(socket, silence)?;
    Ok(sockopt::set_tcp_keepcnt(socket, 3)?)
}

/// Room for datagrams, as far as the system allows it: those that wait for the receiver's turn on a
/// busy CPU are not lost on the path.
pub(crate) fn ask_for_room(socket: &UdpSocket) {
    const ROOM_BYTES: usize = 4 << 20;
    let _ = sockopt::set_socket_recv_buffer_size(socket, ROOM_BYTES);
}

/// Lets sends ask for no copy.
pub(crate) fn allow_zero_copy(socket: &TcpStream) -> io::Result<()> {
    set(socket, libc::SOL_SOCKET, libc::SO_ZEROCOPY, &1_i32.to_ne_bytes())
}

/// Sends packets as they are, whatever is known of the path.
pub(crate) fn forbid_fragments(socket: &UdpSocket, is_v4: bool) -> io::Result<()> {
    let (level, option, value) = if is_v4 {
        (libc::IPPROTO_IP, libc::IP_MTU_DISCOVER, libc::IP_PMTUDISC_PROBE)
    } else {
        (libc::IPPROTO_IPV6, libc::IPV6_MTU_DISCOVER, libc::IPV6_PMTUDISC_PROBE)
    };
    set(socket, level, option, &value.to_ne_bytes())
}

/// The path's MTU as the kernel knows it.
pub(crate) fn known_mtu(socket: &impl AsFd, is_v4: bool) -> Option<u32> {
    let (level, option) =
        if is_v4 { (libc::IPPROTO_IP, libc::IP_MTU) } else { (libc::IPPROTO_IPV6, libc::IPV6_MTU) };
    let mut value: libc::c_int = 0;
    // SAFETY: every pattern of bits is a value of an integer.
    unsafe { get(socket, level, option, &mut value) }?;
    u32::try_from(value).ok()
}

/// `TCP_INFO` of a connection; `None` where the kernel has none.
pub(crate) fn tcp_record(flow: &TcpStream) -> Option<TcpRecord> {
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

fn tcp_info(socket: &TcpStream) -> Option<libc::tcp_info> {
    // SAFETY: plain numbers, for which all zeros are a value.
    let mut info: libc::tcp_info = unsafe { std::mem::zeroed() };
    // SAFETY: plain numbers, for which every pattern of bits is a value.
    unsafe { get(socket, libc::IPPROTO_TCP, libc::TCP_INFO, &mut info) }?;
    Some(info)
}

/// Has the kernel do TLS on a connection, once it is told the keys.
pub(crate) fn start_tls(socket: &TcpStream) -> io::Result<()> {
    set(socket, libc::SOL_TCP, libc::TCP_ULP, b"tls")
}

/// Tells the kernel a key, as a `tls12_crypto_info_*`.
pub(crate) fn set_tls_key(socket: &TcpStream, way: TlsWay, crypto_info: &[u8]) -> io::Result<()> {
    set(socket, libc::SOL_TLS, way as libc::c_int, crypto_info)
}

fn set(socket: impl AsFd, level: libc::c_int, name: libc::c_int, value: &[u8]) -> io::Result<()> {
    let socket = socket.as_fd().as_raw_fd();
    let length = libc::socklen_t::try_from(value.len()).expect("they are short");
    // SAFETY: the kernel reads `length` bytes of `value`, which is so long; the descriptor is open.
    let set = unsafe { libc::setsockopt(socket, level, name, value.as_ptr().cast(), length) };
    if set == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Writes over as much of `value` as the kernel knows.
///
/// # Safety
/// Every pattern of bits must be a `T`.
unsafe fn get<T>(
    socket: impl AsFd,
    level: libc::c_int,
    name: libc::c_int,
    value: &mut T,
) -> Option<()> {
    let socket = socket.as_fd().as_raw_fd();
    let mut length = libc::socklen_t::try_from(size_of::<T>()).ok()?;
    // SAFETY: the kernel writes at most `length` bytes to `value`, which may be any; the descriptor
    // is open.
    let got =
        unsafe { libc::getsockopt(socket, level, name, (&raw mut *value).cast(), &raw mut length) };
    (got == 0).then_some(())
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn the_kernel_has_what_was_set() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let socket = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let second = Duration::from_secs(1);
        set_timeouts(&socket, second).unwrap();
        assert_eq!(socket.read_timeout().unwrap(), Some(second));
        assert_eq!(socket.write_timeout().unwrap(), Some(second));
        reset_on_close(&socket).unwrap();
        assert_eq!(sockopt::socket_linger(&socket).unwrap(), Some(Duration::ZERO));
        keep_alive(&socket, 7 * second).unwrap();
        assert!(sockopt::socket_keepalive(&socket).unwrap());
        assert_eq!(sockopt::tcp_keepidle(&socket).unwrap(), 7 * second);
        assert_eq!(sockopt::tcp_keepintvl(&socket).unwrap(), 7 * second);
        assert_eq!(sockopt::tcp_keepcnt(&socket).unwrap(), 3);
        assert!(tcp_info(&socket).unwrap().tcpi_snd_mss > 0);
    }

    #[test]
    fn the_mtu_towards_this_machine_itself_is_known() {
        for (at, is_v4) in [("127.0.0.1:0", true), ("[::1]:0", false)] {
            // A machine may have no IPv6.
            let Ok(socket) = UdpSocket::bind(at) else { continue };
            assert_eq!(known_mtu(&socket, is_v4), None, "it goes nowhere yet");
            socket.connect(socket.local_addr().unwrap()).unwrap();
            forbid_fragments(&socket, is_v4).unwrap();
            assert!(known_mtu(&socket, is_v4).unwrap() >= 1280);
        }
    }
}
