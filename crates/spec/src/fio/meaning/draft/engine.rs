//! How I/O is issued: engine, depth, page cache.

use super::Draft;
use crate::error::Error;
use crate::workload::Engine;

const BUFFERED_AIO: &str = "io_uring here; buffered libaio in fio does one I/O at a time";

impl Draft<'_> {
    pub(super) fn read_engine(&mut self) -> Result<(), Error> {
        let buffered = self.chosen.last_of(&["direct", "buffered"]);
        self.job.direct = match buffered {
            None => false,
            Some(setting) => setting.boolean()? == (setting.name() == "direct"),
        };
        self.read_ioengine();
        self.read_depth()?;
        if self.job.engine == Engine::IoUring {
            let most = match self.chosen.get("iodepth_batch") {
                Some(setting) => setting.small()?,
                None => 1,
            };
            self.job.submit_batch = Some(if most == 0 { self.job.queue_depth } else { most });
        }
        if let Some(setting) = self.chosen.get("sqthread_poll") {
            self.job.sqpoll = self.job.engine == Engine::IoUring && setting.boolean()?;
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
            _ => self.beyond(setting, "is an engine that only fio has"),
        }
    }

    fn read_depth(&mut self) -> Result<(), Error> {
        let Some(setting) = self.chosen.get("iodepth") else { return Ok(()) };
        let depth = setting.small()?.max(1);
        let own_engine = self.job.fio.iter().any(|o| o.name == "ioengine" && o.beyond.is_some());
        if self.job.engine.is_async() {
            self.job.queue_depth = depth;
        } else if own_engine {
            self.keep(setting);
        } else if depth > 1 {
            // As fio does: "queue depth will be capped at 1".
            self.note(setting, "a synchronous engine keeps one I/O in flight, as in fio");
        }
        Ok(())
    }
}
