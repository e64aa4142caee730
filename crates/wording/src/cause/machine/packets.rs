use iotax_diagnose::why::packets::PacketsWhy;
use iotax_quantity::{grouped, percent};

use super::{and_meanwhile, since_boot};

pub(in super::super) fn why(why: &PacketsWhy) -> String {
    match why {
        PacketsWhy::Backlog { dropped, share, since } => format!(
            "The kernel dropped {} packets {} ({} of all packets), because CPU backlogs were \
             full{}.",
            grouped(*dropped),
            since_boot(since),
            percent(*share),
            and_meanwhile(since.meanwhile)
        ),
        PacketsWhy::Connections { table, since } => format!(
            "The connection tracking table holds {} connections (maximum: {}); {}, {} were \
             dropped, {} were evicted to make room, and {} could not be added.",
            grouped(table.count),
            grouped(table.max),
            since_boot(since),
            grouped(table.dropped),
            grouped(table.early_drop),
            grouped(table.insert_failed)
        ),
        PacketsWhy::Plugin { plugin } => format!(
            "{plugin} has an encrypting interface on this machine. Packets between pods on \
             different nodes may pass through this interface, although packets on this path do not."
        ),
    }
}
