//! Where a job works: files, sizes, offsets. Paths are never followed: the target replaces them.

use iotax_experiment::units::format_bytes;
use iotax_experiment::{BlockSizes, Bound, Error, Files, Pattern};

use super::draft::{Draft, bytes_of};
use crate::fio::section::Setting;
use crate::fio::values::Amount;
use crate::fio_write::file_name;

pub(super) const REPLACED: &str = "replaced by TARGET";
pub(super) const ZONES: &str = "a size in zones";
const PERCENT: &str = "a percentage of the target's size";

impl<'a> Draft<'a> {
    pub(super) fn read_places(&mut self) -> Result<(), Error> {
        self.job.threads = self.chosen.small("numjobs", self.job.threads)?.max(1);
        self.job.files_per_thread = self.chosen.small("nrfiles", self.job.files_per_thread)?.max(1);
        if let Some(setting) = self.chosen.get("directory") {
            self.note(setting, REPLACED);
        }
        self.job.target = self.place_of_files();
        match self.chosen.get("filename") {
            Some(setting) => self.read_filename(setting),
            None => self.read_filename_format(),
        }
        if let Some(setting) = self.chosen.get("file_service_type")
            && self.job.files_per_thread > 1
            && setting.word() != ("roundrobin", None)
        {
            self.beyond(setting, "accesses its files in an order other than round-robin");
        }
        self.read_offset()?;
        self.read_size()
    }

    /// The directory or device that the job names for all its files, if any.
    fn place_of_files(&self) -> Option<String> {
        let words = |name| self.chosen.get(name).and_then(|setting| setting.value.as_deref());
        let directories = split_names(words("directory").unwrap_or_default());
        let directory = match directories.as_slice() {
            [] => None,
            [one] => Some(one.as_str()),
            // The threads of the job take turns.
            _ => return None,
        };
        // fio puts a directory before any `filename`.
        let of_file = |name: &str| match (directory, name.trim_end_matches('/')) {
            (Some(directory), _) => Some(directory.to_owned()),
            (None, device) if device.starts_with("/dev/") => Some(device.to_owned()),
            (None, name) => name.rsplit_once('/').map(|(folder, _)| folder.to_owned()),
        };
        let names = split_names(words("filename").unwrap_or_default());
        let mut places = names.iter().map(|name| of_file(name));
        match places.next() {
            None => directory.map(str::to_owned),
            Some(first) => first.filter(|first| places.all(|other| other.as_ref() == Some(first))),
        }
    }

    /// All threads share these files.
    fn read_filename(&mut self, setting: &Setting) {
        let names = split_names(setting.value.as_deref().unwrap_or_default());
        let first = names.first().map_or("", String::as_str);
        let base = first.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
        self.job.files = Files::Shared(file_name(base));
        self.job.files_per_thread = u32::try_from(names.len()).unwrap_or(u32::MAX).max(1);
        if names.len() > 1 {
            self.note(setting, &format!("{} files, named by iotax", names.len()));
        } else if first.contains('/') {
            self.note(setting, REPLACED);
        }
    }

    /// By default, fio numbers the files of a job by thread.
    fn read_filename_format(&mut self) {
        let Some(setting) = self.chosen.get("filename_format") else { return };
        let format = setting.value.as_deref().unwrap_or_default();
        if format.contains("$jobnum") {
            self.note(setting, "files are named after the job and thread");
        } else {
            let base = format.replace("$jobname", &self.job.name).replace("$filenum", "");
            let base = base.rsplit('/').next().unwrap_or_default().trim_matches('.').to_owned();
            self.job.files = Files::Shared(file_name(&base));
            self.note(setting, "the threads share the files");
        }
    }

    /// `size` is the amount that a thread uses of all its files together, after `offset`;
    /// `filesize` is the full size of each file, including `offset` (`setup_files` in fio's
    /// `filesetup.c`).
    fn read_size(&mut self) -> Result<(), Error> {
        let each = self.read_filesize()?;
        let largest = u64::from(self.job.max_block_bytes());
        let mut whole = None;
        if let Some(setting) = self.chosen.get("size") {
            match setting.amount()? {
                Amount::Bytes(0) | Amount::Percent(100) => {}
                Amount::Bytes(bytes) => whole = Some((setting, bytes)),
                Amount::Percent(_) if each.is_some() => {}
                Amount::Percent(_) => self.beyond(setting, PERCENT),
                Amount::Zones(_) => self.beyond(setting, ZONES),
            }
        }
        match (whole, each) {
            (_, Some((setting, each))) => self.use_files(setting, each)?,
            (Some((setting, bytes)), None) => {
                if bytes < largest {
                    let problem = "is smaller than the block size, so fio also refuses it";
                    return Err(setting.refuse_value(problem, "specify a larger size"));
                }
                self.job.size_bytes = bytes;
            }
            (None, None) => {
                self.job.size_bytes = self.job.size_bytes.max(largest);
                if self.job.fio.iter().any(|option| option.name == "size") {
                    return Ok(());
                }
                let size = format_bytes(self.job.size_bytes);
                if let Some(setting) = self.chosen.get("size")
                    && setting.amount()? == Amount::Percent(100)
                {
                    let note = format!(
                        "the whole target in fio, but {size} in iotax; change this with --set \
                         size=SIZE"
                    );
                    self.note(setting, &note);
                    return Ok(());
                }
                let (place, name) = (self.place().words(), &self.job.name);
                let note =
                    format!("{place}: job `{name}` has no size; iotax uses {size} of the target");
                self.notes.push(note);
            }
        }
        Ok(())
    }

    /// The part after `offset` of files of this size each, or `size` percent of the file if that is
    /// less.
    fn use_files(&mut self, filesize: &Setting, each: u64) -> Result<(), Error> {
        let offset = self.job.offset_bytes;
        let Some(behind) = each.checked_sub(offset) else {
            let (offset, each) = (format_bytes(offset), format_bytes(each));
            let problem = format!("with a size of {each}, a file ends before offset {offset}");
            return Err(filesize.refuse_value(
                &problem,
                "specify a larger filesize; fio has the same requirement",
            ));
        };
        let share = match self.chosen.get("size").map(Setting::amount).transpose()? {
            Some(Amount::Percent(percent)) => {
                let blocks = u64::from(self.job.min_block_bytes()).max(1);
                let share = bytes_of(Amount::Percent(percent), each).unwrap_or(each).min(behind);
                share / blocks * blocks
            }
            _ => behind,
        };
        if share < u64::from(self.job.max_block_bytes()) {
            let problem = "leaves less than one block, so fio also refuses it";
            return Err(filesize.refuse_value(problem, "specify a larger filesize"));
        }
        self.job.size_bytes = share.saturating_mul(self.job.files_per_thread.into());
        Ok(())
    }

    fn read_filesize(&mut self) -> Result<Option<(&'a Setting, u64)>, Error> {
        let Some(setting) = self.chosen.get("filesize") else { return Ok(None) };
        let (least, most) = setting.span()?;
        if least != most {
            self.beyond(setting, "files of random sizes");
            return Ok(None);
        }
        Ok(Some(most).filter(|bytes| *bytes > 0).map(|bytes| (setting, bytes)))
    }

    /// Bytes that one loop moves: `size`, even if `filesize` makes the files larger. fio uses only
    /// whole blocks of each file; if it skips, it ends at the end of the file.
    fn once_bytes(&self) -> Result<u64, Error> {
        let all = match self.chosen.get("size").map(Setting::amount).transpose()? {
            Some(Amount::Bytes(bytes)) if bytes > 0 => bytes.min(self.job.size_bytes),
            _ => self.job.size_bytes,
        };
        let (BlockSizes::Fixed(block), None) = (&self.job.block_sizes, &self.job.write_block_sizes)
        else {
            return Ok(all);
        };
        let (files, block) =
            (u64::from(self.job.files_per_thread.max(1)), u64::from(*block).max(1));
        let blocks = match self.job.pattern {
            Pattern::Strided(stride) => (all / files).div_ceil(stride.max(1)),
            _ => all / files / block,
        };
        Ok(blocks.saturating_mul(block).saturating_mul(files))
    }

    fn read_offset(&mut self) -> Result<(), Error> {
        self.job.offset_bytes = self.offset("offset")?;
        // The offset of the first thread is that of the job.
        if self.job.threads > 1 {
            self.job.offset_increment_bytes = self.offset("offset_increment")?;
        }
        Ok(())
    }

    fn offset(&mut self, name: &str) -> Result<u64, Error> {
        let Some(setting) = self.chosen.get(name) else { return Ok(0) };
        match setting.amount()? {
            Amount::Bytes(bytes) => return Ok(bytes),
            Amount::Percent(0) | Amount::Zones(0) => {}
            Amount::Percent(_) => self.beyond(setting, PERCENT),
            Amount::Zones(_) => self.beyond(setting, ZONES),
        }
        Ok(0)
    }
}

/// `a:b`, where `\:` is a colon in a name.
pub(super) fn split_names(text: &str) -> Vec<String> {
    let mut names = vec![String::new()];
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\\' if chars.peek() == Some(&':') => {
                chars.next();
                names.last_mut().expect("there is one").push(':');
            }
            ':' => names.push(String::new()),
            c => names.last_mut().expect("there is one").push(c),
        }
    }
    names.retain(|name| !name.is_empty());
    names
}

// Start and end of a job.

impl Draft<'_> {
    /// Must follow sizes and blocks.
    pub(super) fn read_times(&mut self) -> Result<(), Error> {
        if let Some(setting) = self.chosen.get("startdelay") {
            if setting.value.as_deref().is_some_and(|value| value.trim().contains('-')) {
                self.beyond(setting, "waits for a random length of time");
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

    /// A job ends after its bytes unless it is `time_based`.
    fn read_bound(&mut self) -> Result<(), Error> {
        let mut time_based = false;
        if let Some(setting) = self.chosen.get("time_based") {
            time_based = setting.boolean()?;
            if time_based && self.timing.runtime_ns.is_none() {
                self.note(setting, "has no effect without a runtime, as in fio");
                time_based = false;
            }
        }
        if time_based {
            if let Some(setting) = self.chosen.get("number_ios") {
                self.note(setting, "has no effect with time_based, as in fio");
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
                _ => self.beyond(setting, "a number of I/Os combined with several block sizes"),
            }
        }
        // fio moves at least one block.
        self.job.bound = Bound::Bytes(bytes.max(self.job.min_block_bytes().into()));
        Ok(())
    }

    /// Bytes of one thread. Each loop moves all, or `io_size` of it; fio then continues until
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
