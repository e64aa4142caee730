//! How I/O is issued: engine, depth, page cache.

use iotax_experiment::{Engine, Error};

use crate::fio::meaning::draft::Draft;
use crate::fio::section::Setting;

const BUFFERED_AIO: &str = "io_uring here; buffered libaio in fio does one I/O at a time";

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

    /// With `offload`, fio's worker threads, `iodepth` of them, do what the job's own would do one
    /// after the other. Native jobs with a rate keep their schedule whether or not earlier I/Os
    /// are done.
    fn read_submit_mode(&mut self) -> Result<(), Error> {
        let Some(setting) = self.is_offloaded() else { return Ok(()) };
        let depth = self.chosen.small("iodepth", 1)?;
        if depth > 1 && !self.job.engine.is_async() {
            self.beyond(setting, "keeps I/Os of a synchronous engine in flight, a thread for each");
        } else {
            self.keep(setting);
            self.note(setting, "each thread submits its own I/Os; in fio others do it for it");
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
                self.note(setting, "psync here: neighbouring I/Os are not put together");
            }
            "io_uring" => self.job.engine = Engine::IoUring,
            "null" => self.job.engine = Engine::Null,
            "mmap" if direct => {
                self.beyond(setting, "with direct=1, gives its pages back after each I/O");
                self.job.direct = false;
            }
            "mmap" => self.job.engine = Engine::Mmap,
            "libaio" => {
                self.job.engine = Engine::IoUring;
                self.keep(setting);
                let note = if direct { "io_uring here" } else { BUFFERED_AIO };
                self.note(setting, note);
            }
            "posixaio" => {
                self.job.engine = Engine::IoUring;
                self.keep(setting);
                self.note(setting, "io_uring here");
            }
            // fio on this system does not have it, so it is not handed on.
            "windowsaio" => {
                self.job.engine = Engine::IoUring;
                self.note(setting, "io_uring here");
            }
            _ => self.beyond(setting, "is an engine that only fio has"),
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
            // As fio does: "queue depth will be capped at 1".
            self.note(setting, "a synchronous engine keeps one I/O in flight, as in fio");
        }
        Ok(())
    }
}
