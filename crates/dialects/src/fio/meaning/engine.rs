//! How I/O is issued: engine, depth, page cache.

use iotax_experiment::{BlockSizes, Engine, Error, Pace, Think, Trims};

use super::draft::Draft;
use super::order::Directions;
use crate::fio::section::Setting;

const BUFFERED_AIO: &str = "iotax uses io_uring; in fio, buffered libaio does one I/O at a time";

impl<'a> Draft<'a> {
    pub(super) fn read_engine(&mut self) -> Result<(), Error> {
        let buffered = self.chosen.last_of(&["direct", "buffered"]);
        self.job.direct = match buffered {
            None => false,
            Some(setting) => setting.boolean()? == (setting.name() == "direct"),
        };
        self.read_ioengine();
        self.read_depth()?;
        if self.job.engine == Engine::IoUring {
            let most = self.chosen.small("iodepth_batch", 1)?;
            self.job.submit_batch = Some(if most == 0 { self.job.queue_depth } else { most });
        }
        if let Some(setting) = self.chosen.get("sqthread_poll") {
            self.job.sqpoll = self.job.engine == Engine::IoUring && setting.boolean()?;
        }
        self.read_submit_mode()
    }

    /// With `offload`, `iodepth` worker threads of fio issue the I/Os that the job would otherwise
    /// issue one after the other. Native jobs with a rate keep their schedule even if earlier I/Os
    /// are not finished.
    fn read_submit_mode(&mut self) -> Result<(), Error> {
        let Some(setting) = self.is_offloaded() else { return Ok(()) };
        let depth = self.chosen.small("iodepth", 1)?;
        if depth > 1 && !self.job.engine.is_async() {
            self.beyond(
                setting,
                "keeps several I/Os of a synchronous engine in flight, each in its own thread",
            );
        } else {
            self.keep(setting);
            self.note(
                setting,
                "each thread submits its own I/Os; in fio, other threads submit them",
            );
        }
        Ok(())
    }

    fn read_ioengine(&mut self) {
        let Some(setting) = self.chosen.get("ioengine") else { return };
        let direct = self.job.direct;
        match setting.value.as_deref().unwrap_or_default() {
            "psync" => {}
            "sync" | "pvsync" | "pvsync2" => self.keep(setting),
            "vsync" => {
                self.keep(setting);
                self.note(setting, "iotax uses psync and does not merge adjacent I/Os");
            }
            "io_uring" => self.job.engine = Engine::IoUring,
            "null" => self.job.engine = Engine::Null,
            "mmap" if direct => {
                self.beyond(setting, "with direct=1, releases the mapped pages after each I/O");
                self.job.direct = false;
            }
            "mmap" => self.job.engine = Engine::Mmap,
            "libaio" => {
                self.job.engine = Engine::IoUring;
                self.keep(setting);
                let note = if direct { "iotax uses io_uring" } else { BUFFERED_AIO };
                self.note(setting, note);
            }
            "posixaio" => {
                self.job.engine = Engine::IoUring;
                self.keep(setting);
                self.note(setting, "iotax uses io_uring");
            }
            // fio on this system lacks it, so it is not passed on.
            "windowsaio" => {
                self.job.engine = Engine::IoUring;
                self.note(setting, "iotax uses io_uring");
            }
            _ => self.beyond(setting, "an engine that exists only in fio"),
        }
    }

    fn is_offloaded(&self) -> Option<&'a Setting> {
        self.chosen.get("io_submit_mode").filter(|setting| setting.word().0 == "offload")
    }

    fn read_depth(&mut self) -> Result<(), Error> {
        let Some(setting) = self.chosen.get("iodepth") else { return Ok(()) };
        let depth = setting.small()?.max(1);
        let own_engine = self.job.fio.iter().any(|o| o.name == "ioengine" && o.beyond.is_some());
        if self.job.engine.is_async() {
            self.job.queue_depth = depth;
        } else if own_engine || (depth > 1 && self.is_offloaded().is_some()) {
            self.keep(setting);
        } else if depth > 1 {
            // As fio does ("queue depth will be capped at 1").
            self.note(setting, "a synchronous engine keeps one I/O in flight, as in fio");
        }
        Ok(())
    }
}

// Speed: rates and pauses.

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
                self.beyond(setting, "a rate for reads only or for writes only");
                continue;
            }
            if self.job.trims == Some(Trims::First) {
                self.beyond(setting, "a rate for writes that each follow a trim");
                continue;
            }
            self.set_rate(setting, &rates, poisson);
        }
        Ok(())
    }

    /// Rates of one thread: of reads and writes, or of the only direction that it uses.
    ///
    /// A job that reads and writes keeps both rates, whatever `rwmixread` is (`rate_ddir` in fio's
    /// `io_u.c` switches to the direction that is behind).
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
                return self.beyond(
                    setting,
                    "a rate in bytes per second combined with several block sizes",
                );
            }
            // fio converts the rate to bytes per second, with the smallest block size.
            (_, None) if !poisson => {
                return self.beyond(setting, "a steady rate combined with several block sizes");
            }
            _ => sum,
        };
        if let [reads, _] = rates {
            let percent = (*reads as f64 / sum * 100.0).round();
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 100")]
            let percent = percent as u8;
            if percent != self.job.read_percent {
                self.note(setting, "the two rates determine the share of reads");
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
            self.beyond(setting, "counts I/Os when they are issued, not when they complete");
        }
        Ok(())
    }
}
