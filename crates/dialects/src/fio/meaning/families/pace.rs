//! How fast: rates and pauses.

use iotax_experiment::{BlockSizes, Error, Pace, Think, Trims};

use super::order::Directions;
use crate::fio::meaning::draft::Draft;
use crate::fio::section::Setting;

impl Draft<'_> {
    pub(super) fn read_pace(&mut self, directions: Directions) -> Result<(), Error> {
        self.read_think()?;
        let poisson = self.chosen.word("rate_process") == Some("poisson");
        for name in ["rate_iops", "rate"] {
            let Some(setting) = self.chosen.get(name) else { continue };
            let rates = directions.used(self.chosen.numbers(name)?);
            let rates: Vec<u64> = rates.into_iter().map(Option::unwrap_or_default).collect();
            if rates.iter().all(|rate| *rate == 0) {
                continue;
            }
            if rates.contains(&0) {
                self.beyond(setting, "a rate for reads or writes alone");
                continue;
            }
            if self.job.trims == Some(Trims::First) {
                self.beyond(setting, "a rate of writes with a trim before each");
                continue;
            }
            self.set_rate(setting, &rates, poisson);
        }
        Ok(())
    }

    /// Rates of a thread: of reads and writes, or of the one of them it does.
    ///
    /// A job that does both keeps both rates, whatever `rwmixread` says (`rate_ddir` in fio's
    /// `io_u.c` turns to the direction that is behind).
    fn set_rate(&mut self, setting: &Setting, rates: &[u64], poisson: bool) {
        let sizes = self.job.all_block_sizes().map(|sizes| match sizes {
            BlockSizes::Fixed(bytes) => Some(f64::from(*bytes)),
            _ => None,
        });
        let fixed: Option<Vec<f64>> = sizes.collect();
        let sum = rates.iter().map(|rate| *rate as f64).sum::<f64>();
        let iops = match (setting.name(), fixed) {
            ("rate", Some(bytes)) => {
                let bytes = bytes.iter().cycle();
                rates.iter().zip(bytes).map(|(rate, bytes)| *rate as f64 / bytes).sum()
            }
            ("rate", None) => {
                return self.beyond(setting, "bytes per second with blocks of several sizes");
            }
            // fio keeps the rate times the smallest block, in bytes per second.
            (_, None) if !poisson => {
                return self.beyond(setting, "a steady rate with blocks of several sizes");
            }
            _ => sum,
        };
        if let [reads, _] = rates {
            let percent = (*reads as f64 / sum * 100.0).round();
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 100")]
            let percent = percent as u8;
            if percent != self.job.read_percent {
                self.note(setting, "the two rates decide how many of the I/Os are reads");
                self.job.read_percent = percent;
            }
        }
        let iops = iops * f64::from(self.job.threads);
        self.job.pace = if poisson { Pace::Poisson { iops } } else { Pace::Even { iops } };
    }

    fn read_think(&mut self) -> Result<(), Error> {
        let time_ns = self.chosen.duration_ns("thinktime")?;
        if time_ns == 0 {
            return Ok(());
        }
        let after_ios = self.chosen.small("thinktime_blocks", 1)?.max(1);
        self.job.think = Some(Think { time_ns, after_ios });
        if let Some(setting) = self.chosen.get("thinktime_blocks_type")
            && self.job.queue_depth > 1
            && setting.word().0 == "issue"
        {
            self.beyond(setting, "counts I/Os when they are issued");
        }
        Ok(())
    }
}
