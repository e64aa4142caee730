//! Publishes versions.

use iotax_record::OperationRecord;
use iotax_vdisk::Clock;

use super::IndexStore;
use super::run::{Run, operation};

/// How long to sleep at most before looking at the stop flags again.
const POLL_INTERVAL_NS: u64 = 10_000_000;

/// Publishes versions 2, 3, ... until the window closes, at most at the asked rate: each starts
/// one period after the start of the one before, or when that one is done if it took longer.
pub(crate) fn publish_versions(
    store: &mut dyn IndexStore,
    clock: &dyn Clock,
    run: &Run<'_>,
) -> OperationRecord {
    let mut record = operation("publish");
    let period_ns = 1e9 / run.loads.versions_per_second;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a rate is > 0")]
    let period_ns = period_ns as u64;
    let over = || clock.now_ns() >= run.window.close_ns || run.flags.raised();
    let mut due_ns = run.start_ns;
    let mut version = 1;
    loop {
        while clock.now_ns() < due_ns && !over() {
            clock.sleep_until(due_ns.min(clock.now_ns() + POLL_INTERVAL_NS));
        }
        if over() {
            return record;
        }
        let began_ns = clock.now_ns();
        due_ns = began_ns.max(due_ns).saturating_add(period_ns);
        let outcome = store.publish(version + 1, &over);
        let done_ns = clock.now_ns();
        match outcome {
            Ok(true) => {
                version += 1;
                run.published.set(version);
            }
            Ok(false) => return record,
            Err(_) => {}
        }
        run.count(&mut record, [began_ns, done_ns], outcome);
    }
}
