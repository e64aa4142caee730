//! The quantity that a cap limits, and its unit.

use iotax_caps::{Cap, PathCap, PathQuantity, TargetCaps};
use iotax_experiment::Traffic;
use iotax_quantity::count;

use crate::bandwidth::Unit;
use crate::cap::path_quantity;
use crate::format;

/// The quantity that a cap limits.
#[derive(Debug, Clone, Copy)]
pub enum Quantity {
    /// I/Os
    Iops,
    /// Bytes
    Bandwidth(Unit),
    /// A quantity of a network path, of one flow or of all.
    Path { of: PathQuantity, traffic: Option<Traffic>, is_per_flow: bool },
}

/// Bytes per second in Mbit/s.
const MBIT: f64 = 125_000.0;

impl Quantity {
    /// Bytes or I/Os; `unit` is that of all bandwidths.
    pub const fn new(is_bytes: bool, unit: Unit) -> Self {
        if is_bytes { Self::Bandwidth(unit) } else { Self::Iops }
    }

    /// `IOPS`, `bandwidth`
    pub const fn name(self) -> &'static str {
        match self {
            Self::Iops => "IOPS",
            Self::Bandwidth(_) => "bandwidth",
            Self::Path { of, is_per_flow, .. } => path_quantity(of, is_per_flow),
        }
    }

    /// A row heading: `IOPS`, `Mbit/s to the peer`.
    pub fn head(self) -> String {
        match self {
            Self::Path { .. } => {
                let way = self.name().split_once(' ').map_or("", |(_, way)| way);
                format!("{} {way}", self.unit())
            }
            Self::Iops | Self::Bandwidth(_) => self.unit().to_owned(),
        }
    }

    /// The load that a cap was measured with: `4 KiB x 64`, `128 KiB x 4 flows`.
    pub fn load(self, cap: &Cap) -> String {
        let size = format::bytes(f64::from(cap.block_bytes));
        let at_once = match self {
            Self::Path { traffic: Some(traffic), .. } => count(traffic.flows, "flow"),
            Self::Path { traffic: None, .. } | Self::Iops | Self::Bandwidth(_) => {
                cap.queue_depth.to_string()
            }
        };
        format!("{size} x {at_once}")
    }

    /// The unit, as a heading: `IOPS`, `MB/s`.
    pub const fn unit(self) -> &'static str {
        match self {
            Self::Iops => "IOPS",
            Self::Bandwidth(unit) => unit.word(),
            Self::Path { of, .. } if of.is_bytes() => "Mbit/s",
            Self::Path { .. } => "packets/s",
        }
    }

    /// The rate in this unit.
    pub fn amount(self, per_s: f64) -> f64 {
        match self {
            Self::Bandwidth(unit) => unit.amount(per_s),
            Self::Path { of, .. } if of.is_bytes() => per_s / MBIT,
            Self::Iops | Self::Path { .. } => per_s,
        }
    }

    /// The rate without a unit, for columns whose heading has it: `3,998`, `32.77`.
    pub fn figure(self, per_s: f64) -> String {
        plain(self.amount(per_s))
    }

    /// The rate with its unit: `3,998 IOPS`, `32.77 MB/s`.
    pub fn rate(self, per_s: f64) -> String {
        match self {
            Self::Path { of, .. } if of.is_bytes() => iotax_quantity::bit_rate(8.0 * per_s),
            Self::Path { .. } | Self::Iops | Self::Bandwidth(_) => {
                format!("{} {}", self.figure(per_s), self.unit())
            }
        }
    }

    /// A total of I/Os or bytes: `5,400,000 I/Os`, `126.0 MB`.
    pub fn sum(self, count: f64) -> String {
        let word = match self {
            Self::Iops => "I/Os",
            Self::Bandwidth(unit) => unit.of_size(),
            Self::Path { of, .. } if of.is_bytes() => "Mbit",
            Self::Path { .. } => "packets",
        };
        format!("{} {word}", self.figure(count))
    }
}

/// How long a burst lasted. Short times keep their digits, because they were measured.
pub fn lasted(seconds: f64) -> String {
    if seconds < 120.0 {
        iotax_quantity::time(seconds * 1e9)
    } else {
        iotax_quantity::span(iotax_quantity::whole(seconds))
    }
}

/// The caps that were found.
pub fn caps(target: &TargetCaps, unit: Unit) -> Vec<(Quantity, &Cap)> {
    let caps = [(Quantity::Iops, &target.iops), (Quantity::Bandwidth(unit), &target.bw_bytes)];
    let of_storage = caps.into_iter().filter_map(|(quantity, cap)| Some((quantity, cap.as_ref()?)));
    of_storage.chain(target.path.iter().map(|path| (of_path(path), &path.cap))).collect()
}

/// The quantity with this name in the results, of storage or of a path.
pub fn named(name: &str, unit: Unit) -> Quantity {
    let both = |of: PathQuantity| [(of, false), (of, true)];
    let mut paths = PathQuantity::ALL.into_iter().flat_map(both);
    match paths.find(|(of, is_per_flow)| of.name(*is_per_flow) == name) {
        Some((of, is_per_flow)) => Quantity::Path { of, traffic: None, is_per_flow },
        None => Quantity::new(name == "bw_bytes", unit),
    }
}

/// The quantity that a cap of a path limits.
pub fn of_path(path: &PathCap) -> Quantity {
    let PathCap { quantity, traffic, is_per_flow, .. } = *path;
    Quantity::Path { of: quantity, traffic: Some(traffic), is_per_flow }
}

/// Four digits, because caps are accurate to 0.1 %: `3.251`, `80.02`, `3,998`, `24,310`.
pub fn plain(value: f64) -> String {
    iotax_quantity::significant(value, 4)
}
