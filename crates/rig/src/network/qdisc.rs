//! Queueing disciplines of one interface, each inside the one before.

/// How long a bucket fills at its rate, and the least it holds: some packets as large as they cross
/// a virtual wire. A smaller one than the kernel's tick at the rate cannot reach it.
const BURST_S: f64 = 0.002;
const LEAST_BURST_BYTES: u64 = 128 << 10;

/// The place of a queueing discipline, in the order in which they were put on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Qdisc(u8);

impl Qdisc {
    /// The one behind so many others.
    pub(crate) fn behind(others: u8) -> Self {
        Self(others + 1)
    }

    /// The major number of its own classes, the first of which the next one stands in.
    pub(crate) fn handle(self) -> u8 {
        self.0
    }

    /// Where it is put, for `tc`.
    pub(crate) fn place(self) -> String {
        match self.0 {
            1 => "root handle 1:".to_owned(),
            handle => format!("parent {}:1 handle {handle}:", handle - 1),
        }
    }
}

/// A rate that a bucket keeps.
pub(crate) struct Rate {
    pub(crate) bits: u64,
    /// What may leave at once.
    pub(crate) burst_bytes: u64,
}

impl Rate {
    pub(crate) fn of(bits: f64) -> Self {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a rate is above 0"
        )]
        let (bits, own) = (bits as u64, (bits / 8.0 * BURST_S) as u64);
        Self { bits, burst_bytes: own.max(LEAST_BURST_BYTES) }
    }
}
