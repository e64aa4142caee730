//! Switches of a job: syncs, caches, verification, CPUs.

use iotax_experiment::{
    Content, Error, Flow, IoPriority, LatencyTarget, Numa, NumaMemory, Pattern, PriorityClass,
    PriorityShare, Stretches, Trims,
};

use super::draft::{Draft, bytes_of};
use super::places::ZONES;
use crate::fio::section::Setting;

/// iotax uses its own checksum, header and order.
const VERIFY: &str = "iotax verifies the data with its own checksum, after the measured window";
const CHECKS: &str = "iotax verifies all data with its own checksum, after the measured window";
const LATER: &str = "iotax writes its own checksums, which a later job in this file can verify";
const INTERVAL: &str = "iotax writes a header every 4k, or in every block if blocks are smaller";
const SYNC: &str = "iotax uses fdatasync";

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
        // fio, too, does not drop caches for direct I/O, or caches of what it has just read ahead.
        // Data that is only written does not depend on it.
        let cached = touches && !self.job.direct && !self.job.pre_read && self.job.reads();
        self.job.invalidate = cached && self.chosen.switch("invalidate", true)?;
        let Some(setting) = self.chosen.get("fadvise_hint") else { return Ok(()) };
        let is_random = self.job.pattern.is_random();
        match setting.word().0 {
            "1" => {}
            "0" | "none" => self.job.advise = false,
            "random" if is_random => {}
            "sequential" if self.job.pattern == Pattern::Sequential => {}
            _ => self.beyond(setting, "a cache hint that does not match the job's access pattern"),
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
                self.note(setting, "iotax uses O_SYNC");
            }
        }
        for name in ["fdatasync", "fsync"] {
            let Some(setting) = self.chosen.get(name) else { continue };
            let every = setting.small()?;
            if every == 0 {
                continue;
            }
            if self.job.fsync_every.is_some() {
                self.beyond(setting, "fsync together with fdatasync");
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
        // As in fio, there is nothing to verify after a trim.
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

    /// How verification continues.
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
            self.beyond(batch, "verifies a different number of blocks at a time than the job writes between verifications");
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
            self.beyond(policy, "a separate CPU for each thread");
        }
        Ok(())
    }
}

// How a job shares machine and file: zones, data, flow, priorities, NUMA nodes.

/// The default of fio.
const WORKING_SET_PERCENT: u64 = 5;
const CHUNK_BYTES: u32 = 512;

impl Draft<'_> {
    pub(super) fn read_shares(&mut self) -> Result<(), Error> {
        self.read_stretches()?;
        self.read_latency_target()?;
        self.read_flow()?;
        self.read_priority()?;
        self.read_priorities()?;
        self.read_numa()?;
        if self.job.writes_data() { self.read_content() } else { Ok(()) }
    }

    /// A zone size without a mode means strided zones, as in fio.
    fn read_stretches(&mut self) -> Result<(), Error> {
        let size = self.chosen.get("zonesize");
        let bytes = self.chosen.whole("zonesize", 0)?;
        let mode = self.chosen.get("zonemode");
        match (mode.map(|setting| setting.word().0), size) {
            (Some("strided"), None) => {
                let setting = mode.expect("it has a word");
                let problem = "requires zonesize, as in fio";
                return Err(setting.refuse(problem, "specify zonesize=SIZE"));
            }
            (Some("none"), _) | (None, None) => return Ok(()),
            (Some("zbd"), _) => {
                for name in ["zonemode", "zonesize", "zonerange", "zoneskip"] {
                    if let Some(setting) = self.chosen.get(name) {
                        self.beyond(setting, "writes at the write pointers of a zoned disk");
                    }
                }
                return Ok(());
            }
            _ if bytes == 0 => return Ok(()),
            _ => {}
        }
        let range = self.chosen.whole("zonerange", 0)?;
        let mut skip_bytes = 0;
        if let Some(setting) = self.chosen.get("zoneskip") {
            match bytes_of(setting.amount()?, self.job.size_bytes) {
                Some(skip) => skip_bytes = skip,
                None => self.beyond(setting, ZONES),
            }
        }
        let range_bytes = if range == 0 { bytes } else { range };
        self.job.stretches = Some(Stretches { bytes, range_bytes, skip_bytes });
        Ok(())
    }

    fn read_latency_target(&mut self) -> Result<(), Error> {
        let target_ns = self.chosen.duration_ns("latency_target")?;
        let window_ns = self.chosen.duration_ns("latency_window")?;
        let percentile = self.chosen.get("latency_percentile");
        let percentile = percentile.map(Setting::float).transpose()?.unwrap_or(100.0);
        let keeps_on = self.chosen.switch("latency_run", false)?;
        if target_ns > 0 {
            // Without a window, fio checks after every I/O.
            let window_ns = window_ns.max(1);
            self.job.latency_target =
                Some(LatencyTarget { target_ns, window_ns, percentile, keeps_on });
        }
        Ok(())
    }

    fn read_flow(&mut self) -> Result<(), Error> {
        let number = |name| self.chosen.whole(name, 0);
        let (weight, group, pause) = (number("flow")?, number("flow_id")?, number("flow_sleep")?);
        let small = |number: u64| u32::try_from(number).unwrap_or(u32::MAX);
        if weight > 0 {
            let sleep_ns = pause.saturating_mul(1000);
            self.job.flow = Some(Flow { weight: small(weight), group: small(group), sleep_ns });
        }
        Ok(())
    }

    fn read_priority(&mut self) -> Result<(), Error> {
        if self.chosen.last_of(&["prioclass", "prio"]).is_some() {
            let (class, level) =
                (self.chosen.whole("prioclass", 0)?, self.chosen.whole("prio", 0)?);
            self.job.priority = Some(priority(class, level));
        }
        Ok(())
    }

    /// The priorities of an engine: `cmdprio`.
    fn read_priorities(&mut self) -> Result<(), Error> {
        let class = self.chosen.numbers("cmdprio_class")?;
        let level = self.chosen.numbers("cmdprio")?;
        // In fio, the default class is real time.
        let usual = |way: usize| {
            priority(class[way].filter(|class| *class > 0).unwrap_or(1), level[way].unwrap_or(0))
        };
        let used = [(0, self.job.reads()), (1, self.job.writes_data())];
        let used = used.into_iter().filter(|(_, used)| *used).map(|(way, _)| way);
        let mut shares = Vec::new();
        let percents = self.chosen.numbers("cmdprio_percentage")?;
        let split = self.chosen.get("cmdprio_bssplit");
        let entries = split.map(Setting::priorities).transpose()?;
        let hints =
            entries.iter().flatten().flatten().any(|entry| entry.2.is_some_and(|own| own[2] > 0));
        if let Some(setting) = split.filter(|_| hints) {
            self.beyond(setting, "gives hints to the disk");
        }
        for way in used {
            let reads = way == 0;
            if let Some(percent) = percents[way].filter(|percent| *percent > 0) {
                let percent = u8::try_from(percent).unwrap_or(100);
                shares.push(PriorityShare { reads, bytes: None, percent, priority: usual(way) });
            }
            let of_way = entries.iter().flat_map(|entries| &entries[way]);
            for (bytes, percent, own) in of_way.filter(|(_, percent, _)| *percent > 0) {
                let priority = own.map_or(usual(way), |[class, level, _]| priority(class, level));
                let percent = u8::try_from(*percent).unwrap_or(100);
                let bytes = Some(u32::try_from(*bytes).unwrap_or(u32::MAX));
                shares.push(PriorityShare { reads, bytes, percent, priority });
            }
        }
        if let (Some(setting), true) = (split, percents.iter().flatten().any(|p| *p > 0)) {
            let problem = "cannot be combined with cmdprio_percentage, as in fio";
            return Err(setting.refuse(problem, "leave out one of them"));
        }
        self.job.priorities = shares;
        Ok(())
    }

    fn read_numa(&mut self) -> Result<(), Error> {
        let mut numa = Numa::default();
        if let Some(setting) = self.chosen.get("numa_cpu_nodes") {
            numa.cpu_nodes = setting.cpus()?;
        }
        if let Some(setting) = self.chosen.get("numa_mem_policy") {
            let (word, nodes) = setting.text().split_once(':').unwrap_or((setting.text(), ""));
            let listed = || setting.listed(nodes);
            numa.memory = match word {
                "default" => None,
                "local" => Some(NumaMemory::Local),
                "prefer" => listed()?.first().copied().map(NumaMemory::Prefer),
                "bind" => Some(NumaMemory::Bind(listed()?)),
                "interleave" => Some(NumaMemory::Interleave(listed()?)),
                _ => {
                    let advice = "use default, local, prefer, bind or interleave";
                    return Err(setting.refuse_value("is not a memory policy", advice));
                }
            };
        }
        self.job.numa = (numa != Numa::default()).then_some(numa);
        Ok(())
    }

    fn read_content(&mut self) -> Result<(), Error> {
        let number = |name| self.chosen.whole(name, 0);
        let percent = |number: u64| u8::try_from(number).unwrap_or(100).min(100);
        let mut content = Content {
            compress_percent: percent(number("buffer_compress_percentage")?),
            dedupe_percent: percent(number("dedupe_percentage")?),
            ..Content::default()
        };
        let is_whole = content.compress_percent == 0 && content.dedupe_percent == 0;
        match self.chosen.get("buffer_compress_chunk") {
            Some(setting) if setting.whole()? > 0 => content.chunk_bytes = setting.small()?,
            _ => content.chunk_bytes = CHUNK_BYTES.min(self.least_write()),
        }
        if let Some(setting) = self.chosen.get("buffer_pattern") {
            let Some(bytes) = self.pattern(setting)? else { return Ok(()) };
            content.pattern = bytes;
        }
        // Fills the data between the headers for verification; fio ignores it without verification.
        if (self.job.verify || self.job.verify_apart)
            && let Some(setting) = self.chosen.get("verify_pattern")
        {
            let Some(bytes) = self.pattern(setting)? else { return Ok(()) };
            self.job.content = Some(Content {
                compress_percent: 100,
                chunk_bytes: self.job.max_block_bytes(),
                pattern: bytes,
                ..Content::default()
            });
            return Ok(());
        }
        let zeroes = self.chosen.switch("zero_buffers", false)?;
        if is_whole && (zeroes || !content.pattern.is_empty()) {
            // The same data in every write, without random data in between.
            content.compress_percent = 100;
            content.chunk_bytes = self.job.max_block_bytes();
        }
        let mode = self.chosen.word("dedupe_mode");
        if content.dedupe_percent > 0 && mode == Some("working_set") {
            let set = self.chosen.whole("dedupe_working_set_percentage", WORKING_SET_PERCENT)?;
            let set = percent(set);
            content.working_set_percent = Some(set).filter(|set| *set > 0);
            content.shared_set = self.chosen.switch("dedupe_global", false)?;
        }
        if content.compress_percent > 0 || content.dedupe_percent > 0 {
            self.job.content = Some(content);
        }
        Ok(())
    }

    fn pattern(&mut self, setting: &Setting) -> Result<Option<Vec<u8>>, Error> {
        let bytes = setting.pattern()?;
        if bytes.is_none() {
            self.beyond(setting, "data from a file, or data that contains its offset");
        }
        Ok(bytes)
    }

    fn least_write(&self) -> u32 {
        let sizes = self.job.write_block_sizes.as_ref().unwrap_or(&self.job.block_sizes);
        sizes.min_bytes().max(1)
    }
}

/// Priorities with fio's numbers; no class means best effort.
fn priority(class: u64, level: u64) -> IoPriority {
    let class = match class {
        1 => PriorityClass::RealTime,
        3 => PriorityClass::Idle,
        _ => PriorityClass::BestEffort,
    };
    IoPriority { class, level: u8::try_from(level).unwrap_or(7).min(7) }
}
