//! What the far end tells of its host, as bytes.

use iotax_record::BusyOne;

use crate::busiest::OfEnd;

/// Names of threads are shorter (`TASK_COMM_LEN`).
const NAME_BYTES: usize = 16;
/// Not known.
const UNKNOWN: u64 = u64::MAX;

#[derive(Debug, PartialEq)]
pub(super) struct PeerTold {
    /// CPU time of the peer's process.
    pub cpu_ns: Option<u64>,
    pub cpu_busy_ns: Option<u64>,
    /// Which kernel it is.
    pub boot: [u8; 8],
    pub cpus: u32,
    /// Since it was last asked.
    pub busiest: OfEnd,
}

impl PeerTold {
    pub(super) const BYTES: usize = 28 + NAME_BYTES + 28;

    pub(super) fn encode(&self) -> Vec<u8> {
        let mut name = [0; NAME_BYTES];
        let (mut thread_ns, mut cpu_ns, mut interrupts, mut cpu) = (UNKNOWN, UNKNOWN, 0, 0);
        for (one, busy_ns) in self.busiest.iter().flatten() {
            match one {
                BusyOne::Thread { name: of } => {
                    name.iter_mut().zip(of.bytes()).for_each(|(to, from)| *to = from);
                    thread_ns = *busy_ns;
                }
                BusyOne::Cpu { number, interrupts_ns } => {
                    (cpu, interrupts, cpu_ns) = (*number, *interrupts_ns, *busy_ns);
                }
            }
        }
        [
            &self.cpu_ns.unwrap_or(UNKNOWN).to_le_bytes()[..],
            &self.cpu_busy_ns.unwrap_or(UNKNOWN).to_le_bytes(),
            &self.boot,
            &self.cpus.to_le_bytes(),
            &name,
            &thread_ns.to_le_bytes(),
            &cpu_ns.to_le_bytes(),
            &interrupts.to_le_bytes(),
            &cpu.to_le_bytes(),
        ]
        .concat()
    }

    pub(super) fn decode(bytes: &[u8; Self::BYTES]) -> Self {
        let mut rest = &bytes[..];
        let cpu_ns = known(take(&mut rest));
        let cpu_busy_ns = known(take(&mut rest));
        let boot = take(&mut rest);
        let cpus = u32::from_le_bytes(take(&mut rest));
        let name: [u8; NAME_BYTES] = take(&mut rest);
        let name = String::from_utf8_lossy(&name).trim_end_matches('\0').to_owned();
        let [thread_ns, busy_ns] = [(); 2].map(|()| known(take(&mut rest)));
        let interrupts_ns = u64::from_le_bytes(take(&mut rest));
        let number = u32::from_le_bytes(take(&mut rest));
        let busiest = [
            thread_ns.map(|ns| (BusyOne::Thread { name }, ns)),
            busy_ns.map(|ns| (BusyOne::Cpu { number, interrupts_ns }, ns)),
        ];
        Self { cpu_ns, cpu_busy_ns, boot, cpus, busiest }
    }
}

fn take<const N: usize>(rest: &mut &[u8]) -> [u8; N] {
    let (first, more) = rest.split_first_chunk().expect("fields add up to what was read");
    *rest = more;
    *first
}

fn known(bytes: [u8; 8]) -> Option<u64> {
    Some(u64::from_le_bytes(bytes)).filter(|figure| *figure != UNKNOWN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_told_is_understood() {
        let busiest = [
            Some((BusyOne::Thread { name: "peer".to_owned() }, 7)),
            Some((BusyOne::Cpu { number: 3, interrupts_ns: 8 }, 9)),
        ];
        for busiest in [busiest, [None, None]] {
            let told =
                PeerTold { cpu_ns: Some(1), cpu_busy_ns: None, boot: [5; 8], cpus: 4, busiest };
            let bytes: [u8; PeerTold::BYTES] = told.encode().try_into().unwrap();
            assert_eq!(PeerTold::decode(&bytes), told);
        }
    }
}
