//! Applies calls to descriptors, files and mappings, and creates events.

use std::cell::RefCell;
use std::io::Write;
use std::rc::Rc;

use super::flags::{self, has, value};
use super::kind::{Kind, Naming};
use super::line::{self, Call, CallResult, Descriptor};
use super::paths::{is_block_device, is_elsewhere, joined};
use super::tasks::{Description, SharedDescription};
use super::{BLANK, Importer, Moment, Stop};
use crate::event::{Event, File, Flags, Op};
use crate::head::FileKind;
use crate::import::outcome::Reason;

pub(super) const ENOENT: i32 = 2;
/// Standard input, output and error are seldom files.
const STANDARD: std::ops::RangeInclusive<i32> = 0..=2;

/// What `stat` says a file is.
pub(super) enum Class {
    File(FileKind),
    /// A pipe, a terminal or the like.
    Other,
    /// strace did not show the file type.
    Unknown,
}

impl Class {
    pub(super) fn of(mode: Option<&str>) -> Self {
        let Some(mode) = mode else { return Self::Unknown };
        match mode.split('|').next() {
            Some("S_IFREG") => Self::File(FileKind::Regular),
            Some("S_IFDIR") => Self::File(FileKind::Directory),
            Some("S_IFBLK") => Self::File(FileKind::BlockDevice),
            _ => Self::Other,
        }
    }
}

/// Whether a descriptor that was opened before the trace is known to be that of a file.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Evidence {
    /// The call succeeds on files only.
    File,
    None,
}

impl Evidence {
    const fn of(result: CallResult<'_>) -> Self {
        if matches!(result, CallResult::Value { .. }) { Self::File } else { Self::None }
    }
}

/// The result as an event has it; `None` if the call did not come to its end.
pub(super) fn outcome(result: CallResult<'_>) -> Option<i64> {
    match result {
        CallResult::Value { number, .. } => Some(number),
        CallResult::Error(error) => Some(-i64::from(error)),
        CallResult::None => None,
    }
}

/// The number in `[5]` or `[5] => [9]`; `None` if it is `NULL`.
pub(super) fn pointed(text: &str) -> Result<Option<u64>, Reason> {
    if text == "NULL" {
        return Ok(None);
    }
    let inner = text.strip_prefix('[').and_then(|text| text.split([']', ' ']).next());
    inner.and_then(line::number).map(Some).ok_or(Reason::Number)
}

impl<W: Write> Importer<'_, W> {
    pub(super) fn call(
        &mut self,
        kind: Kind,
        call: &Call<'_>,
        text: &str,
        moment: Moment,
    ) -> Result<(), Stop> {
        match kind {
            Kind::Transfer { op, is_vector, is_positional } => {
                self.transfer(call, moment, op, Shape { is_vector, is_positional })
            }
            Kind::Open { naming, flags } => {
                let flags = match flags {
                    Some(behind) => call.argument(naming.width() + behind)?,
                    None => "O_WRONLY|O_CREAT|O_TRUNC",
                };
                self.open(call, moment, naming, line::field(flags, "flags").unwrap_or(flags))
            }
            Kind::Close => self.close(call, moment),
            Kind::CloseRange => self.close_range(call, moment),
            Kind::Sync(op) => self.simple(call, moment, Event { op, ..BLANK }),
            Kind::SyncRange => {
                let event = Event { op: Op::SyncRange, ..BLANK };
                self.ranged(call, moment, event, Place { offset: 1, detail: Some(3) })
            }
            Kind::SyncAll => self.push(moment, Event { op: Op::SyncAll, ..BLANK }),
            Kind::Allocate => {
                let event = Event { op: Op::Allocate, ..BLANK };
                self.ranged(call, moment, event, Place { offset: 2, detail: Some(1) })
            }
            Kind::Advise => {
                let event = Event { op: Op::Advise, ..BLANK };
                self.ranged(call, moment, event, Place { offset: 1, detail: Some(3) })
            }
            Kind::Truncate => {
                let event = Event { op: Op::Truncate, offset: call.number(1)?, ..BLANK };
                self.simple(call, moment, event)
            }
            Kind::TruncatePath => {
                let event = Event { op: Op::Truncate, offset: call.number(1)?, ..BLANK };
                self.about_path(call, moment, Naming::Path, event)
            }
            Kind::Rename(naming) => self.rename(call, moment, naming),
            Kind::Unlink(naming) => {
                let is_directory = call.arguments.last().is_some_and(|f| has(f, "AT_REMOVEDIR"));
                self.unlink(call, moment, naming, is_directory)
            }
            Kind::RemoveDirectory => self.unlink(call, moment, Naming::Path, true),
            Kind::MakeDirectory(naming) => self.make_directory(call, moment, naming),
            Kind::Stat { naming, answer } => self.stat(call, moment, naming, answer),
            Kind::StatDescriptor => self.stat_descriptor(call, moment, call.arguments.get(1)),
            Kind::ReadDirectory => {
                let length = call.number(2)?;
                self.simple(call, moment, Event { op: Op::ReadDir, length, ..BLANK })
            }
            Kind::Map => self.map(call, moment),
            Kind::SyncMapping => self.sync_mapping(call, moment),
            Kind::SendFile => self.send_file(call, moment),
            Kind::CopyRange => self.copy_range(call, moment),
            Kind::Splice => self.splice(call, moment),
            Kind::Clone => self.spawn(call, text, moment),
            Kind::Submit(argument) | Kind::Enter(argument) => {
                let submits = call.number(argument)? > 0;
                let is_done = matches!(call.result, CallResult::Value { .. });
                if submits && is_done { Err(Reason::Asynchronous.into()) } else { Ok(()) }
            }
            _ => self.keep(kind, call, moment.pid),
        }
    }

    /// Calls that change descriptors, directories or mappings, but are not I/O.
    pub(super) fn keep(&mut self, kind: Kind, call: &Call<'_>, pid: u32) -> Result<(), Stop> {
        match kind {
            Kind::Duplicate => self.duplicate(call, pid),
            Kind::Control => self.control(call, pid),
            Kind::Link(naming) => self.link(call, pid, naming),
            Kind::OtherDescriptor => {
                if let CallResult::Value { number, .. } = call.result {
                    self.other_descriptor(pid, number);
                }
                Ok(())
            }
            Kind::DescriptorPair(argument) => {
                let pair = call.argument(argument)?.trim_start_matches('[');
                for descriptor in pair.split(", ").filter_map(line::descriptor) {
                    self.other_descriptor(pid, descriptor.number.into());
                }
                Ok(())
            }
            Kind::Seek => self.seek(call, pid),
            Kind::Unmap => {
                let (address, length) = (call.number(0)?, call.number(1)?);
                self.task(pid).memory.borrow_mut().unmap(address, length);
                Ok(())
            }
            Kind::Remap => {
                let (old, old_length, length) = (call.number(0)?, call.number(1)?, call.number(2)?);
                if let CallResult::Value { number, .. } = call.result {
                    let memory = Rc::clone(&self.task(pid).memory);
                    memory.borrow_mut().remap(old, old_length, number.cast_unsigned(), length);
                }
                Ok(())
            }
            Kind::ChangeDirectory => {
                if let CallResult::Value { .. } = call.result {
                    let path = self.path(pid, None, &call.path(0)?)?;
                    *self.task(pid).directory.borrow_mut() = path;
                }
                Ok(())
            }
            Kind::ChangeDirectoryDescriptor => {
                if let CallResult::Value { .. } = call.result {
                    let directory = self.directory(pid, call.descriptor(0)?)?;
                    *self.task(pid).directory.borrow_mut() = directory;
                }
                Ok(())
            }
            Kind::WorkingDirectory => {
                if let (CallResult::Value { .. }, Ok(path)) = (call.result, call.path(0)) {
                    self.settle(pid, path);
                }
                Ok(())
            }
            Kind::Execute => {
                if let CallResult::Value { .. } = call.result {
                    self.task(pid).execute();
                }
                Ok(())
            }
            Kind::Unshare => {
                if call.argument(0)?.contains("CLONE_FILES") {
                    self.task(pid).unshare_files();
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    pub(super) fn set_descriptor(
        &mut self,
        pid: u32,
        number: i32,
        description: Description,
        closes: bool,
    ) {
        let shared = Rc::new(RefCell::new(description));
        self.task(pid).table.borrow_mut().set(number, shared, closes);
    }

    pub(super) fn other_descriptor(&mut self, pid: u32, number: i64) {
        if let Ok(number) = i32::try_from(number) {
            let other = Description { file: None, path: None, position: 0, flags: 0 };
            self.set_descriptor(pid, number, other, false);
        }
    }

    /// What a descriptor refers to.
    pub(super) fn described(
        &mut self,
        pid: u32,
        descriptor: Descriptor<'_>,
        evidence: Evidence,
    ) -> Result<SharedDescription, Reason> {
        let number = descriptor.number;
        if let Some(known) = self.task(pid).table.borrow().get(number) {
            return Ok(known);
        }
        let path = line::noted_path(descriptor.note);
        let file = match &path {
            Some(path) if line::is_noted_block(descriptor.note) => {
                Some(self.file_at(path, FileKind::BlockDevice))
            }
            Some(path) if is_elsewhere(path) => None,
            Some(path) => Some(self.file_at(path, FileKind::Regular)),
            None if !descriptor.note.is_empty() => None,
            None if evidence == Evidence::File => Some(self.builder.file(FileKind::Regular, false)),
            None if STANDARD.contains(&number) => None,
            None => return Err(Reason::UnknownDescriptor),
        };
        let description = Description { file, path, position: 0, flags: 0 };
        self.set_descriptor(pid, number, description, false);
        let table = Rc::clone(&self.task(pid).table);
        let known = table.borrow().get(number);
        known.ok_or(Reason::UnknownDescriptor)
    }

    /// The file that a path names, which is made known.
    pub(super) fn file_at(&mut self, path: &[u8], kind: FileKind) -> File {
        if let Some(file) = self.paths.get(path) {
            return file;
        }
        let kind = if is_block_device(path) { FileKind::BlockDevice } else { kind };
        let file = self.builder.file(kind, false);
        self.paths.set(path.to_vec(), file);
        file
    }

    /// The working directory has become known.
    pub(super) fn settle(&mut self, pid: u32, directory: Vec<u8>) {
        let known = Rc::clone(&self.task(pid).directory);
        if known.borrow().is_empty() && directory.starts_with(b"/") {
            self.paths.settle(&directory);
        }
        *known.borrow_mut() = directory;
    }

    pub(super) fn directory(
        &mut self,
        pid: u32,
        descriptor: Descriptor<'_>,
    ) -> Result<Vec<u8>, Reason> {
        if descriptor.is_working_directory() {
            if let Some(path) = line::noted_path(descriptor.note) {
                self.settle(pid, path);
            }
            return Ok(self.task(pid).directory.borrow().clone());
        }
        let known = self.described(pid, descriptor, Evidence::None)?;
        let path = known.borrow().path.clone();
        path.ok_or(Reason::UnknownDescriptor)
    }

    pub(super) fn path(
        &mut self,
        pid: u32,
        from: Option<Descriptor<'_>>,
        path: &[u8],
    ) -> Result<Vec<u8>, Reason> {
        if path.starts_with(b"/") {
            return Ok(joined(b"", path));
        }
        let directory = match from {
            Some(descriptor) => self.directory(pid, descriptor)?,
            None => self.task(pid).directory.borrow().clone(),
        };
        Ok(joined(&directory, path))
    }

    /// The path whose arguments begin at `first`.
    pub(super) fn named(
        &mut self,
        call: &Call<'_>,
        pid: u32,
        naming: Naming,
        first: usize,
    ) -> Result<Vec<u8>, Reason> {
        match naming {
            Naming::Path => {
                let path = call.path(first)?;
                self.path(pid, None, &path)
            }
            Naming::At => {
                let path = call.path(first + 1)?;
                let from =
                    if path.starts_with(b"/") { None } else { Some(call.descriptor(first)?) };
                self.path(pid, from, &path)
            }
        }
    }

    pub(super) fn flags_of(&self, file: File) -> Flags {
        match self.builder.kind(file) {
            FileKind::Regular => Flags::default(),
            FileKind::Directory => Flags::DIRECTORY,
            FileKind::BlockDevice => Flags::BLOCK_DEVICE,
        }
    }

    pub(super) fn transfer(
        &mut self,
        call: &Call<'_>,
        moment: Moment,
        op: Op,
        shape: Shape,
    ) -> Result<(), Stop> {
        let Some(result) = outcome(call.result) else { return Ok(()) };
        let descriptor = call.descriptor(0)?;
        let evidence = if shape.is_positional { Evidence::of(call.result) } else { Evidence::None };
        let known = self.described(moment.pid, descriptor, evidence)?;
        let mut known = known.borrow_mut();
        let Some(file) = known.file else { return Ok(()) };
        let moved = u64::try_from(result).unwrap_or(0);
        let length = if shape.is_vector {
            let (bytes, is_complete) = line::vector_bytes(call.argument(1)?);
            if is_complete { bytes } else { bytes.max(moved) }
        } else {
            call.number(2)?
        };
        let mut flags = known.io_flags().with(self.flags_of(file));
        let mut is_append = op == Op::Write && known.is_append();
        if let Some(own) = call.arguments.get(4).filter(|_| shape.is_vector) {
            let own = value(own, flags::READ_WRITE);
            if own & flags::RWF_SYNC != 0 {
                flags = flags.with(Flags::SYNC);
            } else if own & flags::RWF_DSYNC != 0 {
                flags = flags.with(Flags::DATA_SYNC);
            }
            if own & flags::RWF_APPEND != 0 {
                flags = flags.with(Flags::APPEND);
                is_append = op == Op::Write;
            }
        }
        let given = if shape.is_positional { Some(call.number(3)?) } else { None };
        let given = given.filter(|offset| *offset != u64::MAX);
        let offset = match given {
            _ if is_append => self.builder.size_now(file),
            Some(offset) => offset,
            None => known.position,
        };
        if given.is_none() {
            flags = flags.with(Flags::AT_POSITION);
            known.position = offset.saturating_add(moved);
        }
        let length = length.max(moved);
        self.push(moment, Event { op, flags, file, offset, length, result, ..BLANK })
    }

    pub(super) fn open(
        &mut self,
        call: &Call<'_>,
        moment: Moment,
        naming: Naming,
        flag_names: &str,
    ) -> Result<(), Stop> {
        let pid = moment.pid;
        let mut bits = value(flag_names, flags::OPEN);
        let named = self.named(call, pid, naming, 0);
        let (number, note) = match call.result {
            CallResult::Value { number, note } => (number, note),
            CallResult::Error(error) => {
                let path = named?;
                if is_elsewhere(&path) {
                    return Ok(());
                }
                if error == ENOENT {
                    self.paths.set_absent(&path);
                }
                let result = -i64::from(error);
                let event = Event { op: Op::Open, result, detail: bits, ..BLANK };
                return self.push(moment, event);
            }
            CallResult::None => return Ok(()),
        };
        let closes_on_exec = bits & flags::O_CLOEXEC != 0;
        bits &= !flags::O_CLOEXEC;
        let descriptor = i32::try_from(number).map_err(|_| Reason::Number)?;
        let path = match line::noted_path(note) {
            Some(path) => path,
            None => named?,
        };
        let is_elsewhere = is_elsewhere(&path) && !line::is_noted_block(note);
        let file = if is_elsewhere { None } else { Some(self.opened(&path, bits)) };
        if let Some(file) = file
            && line::is_noted_block(note)
        {
            self.builder.set_kind(file, FileKind::BlockDevice);
        }
        let description = Description { file, path: Some(path), position: 0, flags: bits };
        self.set_descriptor(pid, descriptor, description, closes_on_exec);
        let Some(file) = file else { return Ok(()) };
        let event = Event {
            op: Op::Open,
            flags: self.flags_of(file),
            file,
            offset: self.builder.size_now(file),
            result: number,
            detail: bits,
            ..BLANK
        };
        self.push(moment, event)
    }

    /// The file that is opened, which may be a new one.
    pub(super) fn opened(&mut self, path: &[u8], bits: u64) -> File {
        if bits & flags::O_TMPFILE == flags::O_TMPFILE {
            return self.builder.file(FileKind::Regular, true);
        }
        let kind =
            if bits & flags::O_DIRECTORY == 0 { FileKind::Regular } else { FileKind::Directory };
        let creates =
            bits & flags::O_CREAT != 0 && (bits & flags::O_EXCL != 0 || self.paths.is_absent(path));
        if creates {
            let file = self.builder.file(kind, true);
            self.paths.set(path.to_vec(), file);
            return file;
        }
        let file = self.file_at(path, kind);
        if kind == FileKind::Directory {
            self.builder.set_kind(file, kind);
        }
        if bits & flags::O_TRUNC != 0 && bits & flags::O_ACCMODE != 0 {
            self.builder.empty(file);
        }
        file
    }

    pub(super) fn close(&mut self, call: &Call<'_>, moment: Moment) -> Result<(), Stop> {
        let number = call.descriptor(0)?.number;
        let Some(result) = outcome(call.result) else { return Ok(()) };
        let closed = self.task(moment.pid).table.borrow_mut().close(number);
        let Some(file) = closed.and_then(|closed| closed.borrow().file) else { return Ok(()) };
        let flags = self.flags_of(file);
        self.push(moment, Event { op: Op::Close, flags, file, result, ..BLANK })
    }

    pub(super) fn close_range(&mut self, call: &Call<'_>, moment: Moment) -> Result<(), Stop> {
        let CallResult::Value { .. } = call.result else { return Ok(()) };
        let flag_names = call.arguments.get(2).copied().unwrap_or_default();
        let task = self.task(moment.pid);
        if has(flag_names, "CLOSE_RANGE_UNSHARE") {
            task.unshare_files();
        }
        if has(flag_names, "CLOSE_RANGE_CLOEXEC") {
            return Ok(());
        }
        let closed = task.table.borrow_mut().close_range(call.number(0)?, call.number(1)?);
        for file in closed.into_iter().filter_map(|closed| closed.borrow().file) {
            let flags = self.flags_of(file);
            self.push(moment, Event { op: Op::Close, flags, file, ..BLANK })?;
        }
        Ok(())
    }

    pub(super) fn duplicate(&mut self, call: &Call<'_>, pid: u32) -> Result<(), Stop> {
        let CallResult::Value { number, .. } = call.result else { return Ok(()) };
        let closes = call.arguments.get(2).is_some_and(|names| has(names, "O_CLOEXEC"));
        self.copy_descriptor(call.descriptor(0)?, pid, number, closes)
    }

    pub(super) fn copy_descriptor(
        &mut self,
        from: Descriptor<'_>,
        pid: u32,
        to: i64,
        closes_on_exec: bool,
    ) -> Result<(), Stop> {
        let to = i32::try_from(to).map_err(|_| Reason::Number)?;
        let known = self.described(pid, from, Evidence::None);
        let mut table = self.task(pid).table.borrow_mut();
        match known {
            Ok(known) => table.set(to, known, closes_on_exec),
            Err(_) => drop(table.close(to)),
        }
        Ok(())
    }

    pub(super) fn control(&mut self, call: &Call<'_>, pid: u32) -> Result<(), Stop> {
        let CallResult::Value { number, .. } = call.result else { return Ok(()) };
        let descriptor = call.descriptor(0)?;
        let last = call.arguments.get(2).copied().unwrap_or_default();
        match call.argument(1)? {
            command @ ("F_DUPFD" | "F_DUPFD_CLOEXEC") => {
                let closes = command == "F_DUPFD_CLOEXEC";
                self.copy_descriptor(descriptor, pid, number, closes)?;
            }
            "F_SETFD" => {
                let closes = has(last, "FD_CLOEXEC");
                let table = Rc::clone(&self.task(pid).table);
                table.borrow_mut().set_closes_on_exec(descriptor.number, closes);
            }
            "F_SETFL" => {
                if let Ok(known) = self.described(pid, descriptor, Evidence::None) {
                    let changed = flags::O_APPEND | flags::O_DIRECT;
                    let mut known = known.borrow_mut();
                    known.flags = known.flags & !changed | value(last, flags::OPEN) & changed;
                }
            }
            _ => {}
        }
        Ok(())
    }

    pub(super) fn seek(&mut self, call: &Call<'_>, pid: u32) -> Result<(), Stop> {
        let CallResult::Value { number, .. } = call.result else { return Ok(()) };
        let known = self.described(pid, call.descriptor(0)?, Evidence::File)?;
        let position = match call.name {
            "_llseek" => pointed(call.argument(2)?)?.unwrap_or(0),
            _ => number.cast_unsigned(),
        };
        known.borrow_mut().position = position;
        let is_end = call.arguments.last() == Some(&"SEEK_END") && call.number(1)? == 0;
        let file = known.borrow().file;
        if let Some(file) =
            file.filter(|file| is_end && self.builder.kind(*file) == FileKind::Regular)
        {
            self.builder.learn_size(file, position);
        }
        Ok(())
    }

    /// An event about a descriptor that is the first argument.
    pub(super) fn simple(
        &mut self,
        call: &Call<'_>,
        moment: Moment,
        event: Event,
    ) -> Result<(), Stop> {
        let Some(result) = outcome(call.result) else { return Ok(()) };
        let descriptor = call.descriptor(0)?;
        let known = self.described(moment.pid, descriptor, Evidence::of(call.result))?;
        let Some(file) = known.borrow().file else { return Ok(()) };
        if event.op == Op::ReadDir {
            self.builder.set_kind(file, FileKind::Directory);
        }
        let flags = self.flags_of(file);
        self.push(moment, Event { flags, file, result, ..event })
    }

    pub(super) fn ranged(
        &mut self,
        call: &Call<'_>,
        moment: Moment,
        event: Event,
        place: Place,
    ) -> Result<(), Stop> {
        let names = match event.op {
            Op::SyncRange => flags::SYNC_RANGE,
            Op::Allocate => flags::ALLOCATE,
            _ => flags::ADVICE,
        };
        let detail = match place.detail {
            Some(argument) => value(call.argument(argument)?, names),
            None => 0,
        };
        let (offset, length) = (call.number(place.offset)?, call.number(place.offset + 1)?);
        self.simple(call, moment, Event { offset, length, detail, ..event })
    }

    pub(super) fn map(&mut self, call: &Call<'_>, moment: Moment) -> Result<(), Stop> {
        let CallResult::Value { number, .. } = call.result else { return Ok(()) };
        let address = number.cast_unsigned();
        let length = call.number(1)?;
        let memory = Rc::clone(&self.task(moment.pid).memory);
        let descriptor = call.descriptor(4)?;
        if descriptor.number < 0 {
            memory.borrow_mut().unmap(address, length);
            return Ok(());
        }
        let known = self.described(moment.pid, descriptor, Evidence::File)?;
        let Some(file) = known.borrow().file else { return Ok(()) };
        let offset = call.number(5)?;
        let protection = value(call.argument(2)?, flags::PROTECTION);
        let kind = value(call.argument(3)?, flags::MAP);
        if kind & flags::MAP_TYPE == flags::MAP_PRIVATE {
            memory.borrow_mut().unmap(address, length);
        } else {
            memory.borrow_mut().map(address, length, file, offset);
        }
        let detail = kind << 8 | protection;
        let flags = self.flags_of(file);
        self.push(moment, Event { op: Op::Map, flags, file, offset, length, detail, ..BLANK })
    }

    pub(super) fn sync_mapping(&mut self, call: &Call<'_>, moment: Moment) -> Result<(), Stop> {
        let Some(result) = outcome(call.result) else { return Ok(()) };
        // `MS_ASYNC` does nothing on Linux.
        if !has(call.argument(2)?, "MS_SYNC") {
            return Ok(());
        }
        let (address, length) = (call.number(0)?, call.number(1)?);
        let found = self.task(moment.pid).memory.borrow().at(address);
        let (file, offset) = found.ok_or(Reason::UnknownMapping)?;
        self.push(moment, Event { op: Op::Msync, file, offset, length, result, ..BLANK })
    }

    /// Offset of a copy: the given one, or the descriptor's position, which then advances.
    pub(super) fn copied(
        &mut self,
        pid: u32,
        descriptor: Descriptor<'_>,
        given: Option<u64>,
        moved: u64,
    ) -> Result<Option<(File, u64)>, Reason> {
        let known = self.described(pid, descriptor, Evidence::None)?;
        let mut known = known.borrow_mut();
        let offset = given.unwrap_or(known.position);
        if given.is_none() {
            known.position = offset.saturating_add(moved);
        }
        Ok(known.file.map(|file| (file, offset)))
    }

    pub(super) fn send_file(&mut self, call: &Call<'_>, moment: Moment) -> Result<(), Stop> {
        let Some(result) = outcome(call.result) else { return Ok(()) };
        let moved = u64::try_from(result).unwrap_or(0);
        let given = pointed(call.argument(2)?)?;
        let source = self.copied(moment.pid, call.descriptor(1)?, given, moved)?;
        let Some((file, offset)) = source else { return Ok(()) };
        let length = call.number(3)?.max(moved);
        let flags = self.flags_of(file);
        let event = Event { op: Op::SendFile, flags, file, offset, length, result, ..BLANK };
        self.push(moment, event)
    }

    pub(super) fn copy_range(&mut self, call: &Call<'_>, moment: Moment) -> Result<(), Stop> {
        let Some(result) = outcome(call.result) else { return Ok(()) };
        let moved = u64::try_from(result).unwrap_or(0);
        let (from, to) = (pointed(call.argument(1)?)?, pointed(call.argument(3)?)?);
        let source = self.copied(moment.pid, call.descriptor(0)?, from, moved)?;
        let target = self.copied(moment.pid, call.descriptor(2)?, to, moved)?;
        let (Some((file, offset)), Some((target, target_offset))) = (source, target) else {
            return Ok(());
        };
        let length = call.number(4)?.max(moved);
        let event = Event {
            op: Op::CopyRange,
            flags: self.flags_of(file),
            file,
            offset,
            length,
            result,
            detail: target.into(),
            ..BLANK
        };
        self.push(moment, event)?;
        self.builder.produce(target, target_offset, target_offset.saturating_add(moved));
        Ok(())
    }

    /// Between a pipe and a file.
    pub(super) fn splice(&mut self, call: &Call<'_>, moment: Moment) -> Result<(), Stop> {
        let Some(result) = outcome(call.result) else { return Ok(()) };
        let moved = u64::try_from(result).unwrap_or(0);
        let length = call.number(4)?.max(moved);
        for (first, op) in [(0, Op::SendFile), (2, Op::Write)] {
            let given = pointed(call.argument(first + 1)?)?;
            let found = self.copied(moment.pid, call.descriptor(first)?, given, moved)?;
            if let Some((file, offset)) = found {
                let flags = self.flags_of(file);
                let event = Event { op, flags, file, offset, length, result, ..BLANK };
                self.push(moment, event)?;
            }
        }
        Ok(())
    }

    pub(super) fn spawn(
        &mut self,
        call: &Call<'_>,
        text: &str,
        moment: Moment,
    ) -> Result<(), Stop> {
        let CallResult::Value { number, .. } = call.result else { return Ok(()) };
        let child = u32::try_from(number).map_err(|_| Reason::Number)?;
        if child == 0 {
            return Ok(());
        }
        if !self.tasks.contains_key(&child) {
            let task = self.task(moment.pid).child(text);
            self.tasks.insert(child, task);
        }
        // The parent has the lower number.
        self.thread(moment.pid);
        let detail = self.thread(child).into();
        self.push(moment, Event { op: Op::Spawn, detail, ..BLANK })
    }
}

pub(super) fn mode<'a>(answer: Option<&&'a str>) -> Option<&'a str> {
    let answer = answer?;
    line::field(answer, "st_mode").or_else(|| line::field(answer, "stx_mode"))
}

/// Argument layout of a call that transfers data.
#[derive(Clone, Copy)]
pub(super) struct Shape {
    is_vector: bool,
    is_positional: bool,
}

/// Which arguments hold an offset, the length behind it, and flags.
#[derive(Clone, Copy)]
pub(super) struct Place {
    offset: usize,
    detail: Option<usize>,
}
