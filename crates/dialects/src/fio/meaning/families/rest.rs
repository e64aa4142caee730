//! Switches of a job: syncs, caches, checks, CPUs.

use iotax_experiment::{Error, Pattern, Trims};

use crate::fio::meaning::draft::Draft;

/// Its own checksum, header and order.
const VERIFY: &str = "iotax checks with a checksum of its own, after the measured window";
const CHECKS: &str =
    "iotax checks with a checksum of its own, and all of it after the measured window";
const LATER: &str = "iotax writes checksums of its own, for a later job of this file";
const INTERVAL: &str = "iotax has a header in each 4k, or in each smaller block";
const SYNC: &str = "fdatasync here";

impl Draft<'_> {
    pub(super) fn read_switches(&mut self) -> Result<(), Error> {
        self.read_cache()?;
        self.read_syncs()?;
        self.read_verify()?;
        self.read_cpus()?;
        self.job.ends_all = self.chosen.switch("exitall", false)?;
        if let Some(setting) = self.chosen.get("mem") {
            match setting.word().0 {
                "cudamalloc" => self.beyond(setting, "moves data to a graphics card"),
                _ => self.keep(setting),
            }
        }
        Ok(())
    }

    fn read_cache(&mut self) -> Result<(), Error> {
        let touches = !self.job.engine.does_nothing();
        self.job.pre_read = self.chosen.switch("pre_read", false)? && touches;
        // fio, too, drops nothing for direct I/O, nor what it has just read in advance. What is
        // only written does not depend on it.
        let cached = touches && !self.job.direct && !self.job.pre_read && self.job.reads();
        self.job.invalidate = cached && self.chosen.switch("invalidate", true)?;
        let Some(setting) = self.chosen.get("fadvise_hint") else { return Ok(()) };
        let is_random = self.job.pattern.is_random();
        match setting.word().0 {
            "1" => {}
            "0" | "none" => self.job.advise = false,
            "random" if is_random => {}
            "sequential" if self.job.pattern == Pattern::Sequential => {}
            _ => self.beyond(setting, "advice that is not that of its own pattern"),
        }
        Ok(())
    }

    fn read_syncs(&mut self) -> Result<(), Error> {
        if !self.job.writes_data() {
            return Ok(());
        }
        if let Some(setting) = self.chosen.get("sync") {
            self.job.write_through = !matches!(setting.word().0, "0" | "none");
            if setting.word().0 == "dsync" {
                self.note(setting, "O_SYNC here");
            }
        }
        for name in ["fdatasync", "fsync"] {
            let Some(setting) = self.chosen.get(name) else { continue };
            let every = setting.small()?;
            if every == 0 {
                continue;
            }
            if self.job.fsync_every.is_some() {
                self.beyond(setting, "fsync and fdatasync at once");
                continue;
            }
            self.job.fsync_every = Some(every);
            if name == "fsync" {
                self.note(setting, SYNC);
            }
        }
        self.job.end_fsync = self.chosen.switch("end_fsync", false)?
            || self.chosen.switch("fsync_on_close", false)?;
        Ok(())
    }

    fn read_verify(&mut self) -> Result<(), Error> {
        let Some(setting) = self.chosen.get("verify") else { return Ok(()) };
        let is_real = !matches!(setting.word().0, "0" | "null");
        let does = self.chosen.switch("do_verify", true)?;
        // As in fio, there is nothing to look at behind a trim.
        if !is_real || self.job.trims == Some(Trims::Only) || !(does || self.job.writes()) {
            return Ok(());
        }
        if !self.job.writes() {
            // See `bind_checks`.
            self.job.verify_apart = true;
            return self.read_checks();
        }
        if let Some(interval) = self.chosen.get("verify_interval") {
            self.note(interval, INTERVAL);
        }
        if !does {
            if !self.job.reads() {
                self.job.verify_apart = true;
                self.note(setting, LATER);
            }
            return Ok(());
        }
        self.job.verify = true;
        self.read_checks()?;
        self.note(setting, if self.job.verify_every.is_some() { CHECKS } else { VERIFY });
        Ok(())
    }

    /// How verifying goes on.
    fn read_checks(&mut self) -> Result<(), Error> {
        self.job.verify_ends = self.chosen.switch("verify_fatal", false)?;
        let backlog = self.chosen.get("verify_backlog").filter(|_| self.job.writes());
        let Some(setting) = backlog else { return Ok(()) };
        let every = setting.small()?;
        self.job.verify_every = (every > 0).then_some(every);
        if let Some(batch) = self.chosen.get("verify_backlog_batch")
            && every > 0
            && ![0, every].contains(&batch.small()?)
        {
            self.beyond(batch, "checks another number of blocks than were written");
        }
        Ok(())
    }

    fn read_cpus(&mut self) -> Result<(), Error> {
        let Some(setting) = self.chosen.last_of(&["cpus_allowed", "cpumask"]) else {
            return Ok(());
        };
        self.job.cpus = setting.cpus()?;
        if let Some(policy) = self.chosen.get("cpus_allowed_policy")
            && policy.word().0 == "split"
            && self.job.threads > 1
            && self.job.cpus.len() > 1
        {
            self.beyond(policy, "a CPU of its own for each thread");
        }
        Ok(())
    }
}
