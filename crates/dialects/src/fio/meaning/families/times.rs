//! When a job starts and ends.

use iotax_experiment::{BlockSizes, Bound, Error};

use super::places::ZONES;
use crate::fio::meaning::chosen::bytes_of;
use crate::fio::meaning::draft::Draft;

impl Draft<'_> {
    /// After sizes and blocks are known.
    pub(super) fn read_times(&mut self) -> Result<(), Error> {
        if let Some(setting) = self.chosen.get("startdelay") {
            if setting.value.as_deref().is_some_and(|value| value.trim().contains('-')) {
                self.beyond(setting, "waits for a random time");
            } else {
                self.timing.delay_ns = setting.duration_ns()?;
            }
        }
        let offset_ns = self.chosen.section.start_offset_ns;
        self.timing.delay_ns = self.timing.delay_ns.saturating_add(offset_ns);
        self.timing.ramp_ns = self.chosen.duration_ns("ramp_time")?;
        self.timing.runtime_ns = Some(self.chosen.duration_ns("runtime")?).filter(|ns| *ns > 0);
        self.read_bound()
    }

    /// A job ends after its bytes, unless it is `time_based`.
    fn read_bound(&mut self) -> Result<(), Error> {
        let mut time_based = false;
        if let Some(setting) = self.chosen.get("time_based") {
            time_based = setting.boolean()?;
            if time_based && self.timing.runtime_ns.is_none() {
                self.note(setting, "without a runtime it means nothing, as in fio");
                time_based = false;
            }
        }
        if time_based {
            if let Some(setting) = self.chosen.get("number_ios") {
                self.note(setting, "beside time_based it means nothing, as in fio");
            }
            return Ok(());
        }
        let mut bytes = self.bytes_to_move()?;
        if let Some(setting) = self.chosen.get("number_ios") {
            let count = setting.whole()?.saturating_mul(self.loops()?);
            match &self.job.block_sizes {
                _ if count == 0 => {}
                BlockSizes::Fixed(block) if self.job.write_block_sizes.is_none() => {
                    bytes = bytes.min(count.saturating_mul((*block).into()));
                }
                _ => self.beyond(setting, "a number of I/Os with blocks of several sizes"),
            }
        }
        // fio moves at least one block.
        self.job.bound = Bound::Bytes(bytes.max(self.job.min_block_bytes().into()));
        Ok(())
    }

    /// Of one thread. Each loop moves what is there, or `io_size` of it; then fio goes on until
    /// `io_size` is reached.
    fn bytes_to_move(&mut self) -> Result<u64, Error> {
        let once = self.once_bytes()?;
        let loops = self.loops()?;
        let all = once.saturating_mul(loops);
        let Some(setting) = self.chosen.get("io_size") else { return Ok(all) };
        match bytes_of(setting.amount()?, self.job.size_bytes) {
            Some(0) => {}
            Some(io_size) => return Ok(once.min(io_size).saturating_mul(loops).max(io_size)),
            None => self.beyond(setting, ZONES),
        }
        Ok(all)
    }

    fn loops(&self) -> Result<u64, Error> {
        Ok(self.chosen.small("loops", 1)?.max(1).into())
    }
}
