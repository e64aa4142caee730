//! Shares of accesses for parts of the span: `50/5%:30/15%:20/rest`.

use iotax_layers::Error;
use iotax_layers::units::{self, Unit};

use super::values::percent;
use crate::workload::{Extent, Zone};

const ADVICE: &str = "write parts as ACCESSES/PART, as in 80/10%:20/rest or 50/10G:50/100G";

/// Zones with colons between them: percent of the accesses, then the part of the span.
pub(super) fn zones(text: &str) -> Result<Vec<Zone>, Error> {
    text.split(':').map(zone).collect()
}

fn zone(text: &str) -> Result<Zone, Error> {
    let Some((accesses, extent)) = text.split_once('/') else {
        return Err(Unit::Pattern.refuse(text, "it does not say which part it is", ADVICE));
    };
    let extent = match extent.trim() {
        "rest" => Extent::Rest,
        share if share.ends_with('%') => Extent::Percent(percent(share)?),
        bytes => Extent::Bytes(units::parse_bytes(bytes)?),
    };
    Ok(Zone { accesses_percent: percent(accesses)?, extent })
}

/// The text that [`zones`] reads back.
pub(super) fn format_zones(zones: &[Zone]) -> String {
    let zone = |zone: &Zone| {
        let extent = match zone.extent {
            Extent::Percent(percent) => format!("{percent}%"),
            Extent::Bytes(bytes) => units::format_bytes(bytes),
            Extent::Rest => "rest".to_owned(),
        };
        format!("{}/{extent}", zone.accesses_percent)
    };
    zones.iter().map(zone).collect::<Vec<_>>().join(":")
}

#[cfg(test)]
pub(super) mod tests {
    use insta::assert_snapshot;
    use proptest::prelude::*;

    use super::*;

    /// As they may be written, possible or not.
    pub(in super::super) fn any_zones() -> impl Strategy<Value = Vec<Zone>> {
        let extent = prop_oneof![
            (0..=100_u8).prop_map(Extent::Percent),
            any::<u64>().prop_map(Extent::Bytes),
            Just(Extent::Rest),
        ];
        let zone = (0..=100_u8, extent)
            .prop_map(|(accesses_percent, extent)| Zone { accesses_percent, extent });
        proptest::collection::vec(zone, 1..6)
    }

    #[test]
    fn zones_are_accesses_and_parts() {
        let read = zones("50/5%:30/10G:20/rest");
        let expected =
            [(50, Extent::Percent(5)), (30, Extent::Bytes(10 << 30)), (20, Extent::Rest)];
        let expected = expected.map(|(accesses_percent, extent)| Zone { accesses_percent, extent });
        assert_eq!(read, Ok(expected.to_vec()));
    }

    #[test]
    fn zones_say_what_is_wrong() {
        assert_snapshot!(zones("50").unwrap_err(), @"
        `50` is not a pattern: it does not say which part it is
        write parts as ACCESSES/PART, as in 80/10%:20/rest or 50/10G:50/100G
        ");
        assert_snapshot!(zones("150/5%").unwrap_err(), @"
        `150` is not a percentage: it is above 100
        write 0 to 100
        ");
        assert_snapshot!(zones("50/5x").unwrap_err(), @"
        `5x` is not a size: unknown unit `x`
        write a size as 4k, 64M, 2G or 4096 (letters are powers of 1024)
        ");
    }
}
