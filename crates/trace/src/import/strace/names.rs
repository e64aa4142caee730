//! Calls that concern names and attributes.

use std::io::Write;

use super::calls::{Class, ENOENT, Evidence, mode, outcome};
use super::flags::has;
use super::kind::Naming;
use super::line::{self, Call, CallResult};
use super::paths::is_elsewhere;
use super::{BLANK, Importer, Moment, Stop};
use crate::event::{Event, File, Flags, NO_FILE, Op};
use crate::head::FileKind;

impl<W: Write> Importer<'_, W> {
    /// An event about the file that the first arguments name. It has none if the call failed.
    pub(super) fn about_path(
        &mut self,
        call: &Call<'_>,
        moment: Moment,
        naming: Naming,
        event: Event,
    ) -> Result<(), Stop> {
        let Some(result) = outcome(call.result) else { return Ok(()) };
        let path = self.named(call, moment.pid, naming, 0)?;
        if is_elsewhere(&path) {
            return Ok(());
        }
        if let CallResult::Error(error) = call.result {
            if error == ENOENT {
                self.paths.set_absent(&path);
            }
            return self.push(moment, Event { file: NO_FILE, result, ..event });
        }
        let file = self.file_at(&path, FileKind::Regular);
        let flags = self.flags_of(file);
        self.push(moment, Event { flags, file, result, ..event })
    }

    pub(super) fn rename(
        &mut self,
        call: &Call<'_>,
        moment: Moment,
        naming: Naming,
    ) -> Result<(), Stop> {
        let Some(result) = outcome(call.result) else { return Ok(()) };
        let old = self.named(call, moment.pid, naming, 0)?;
        let new = self.named(call, moment.pid, naming, naming.width())?;
        if is_elsewhere(&old) {
            return Ok(());
        }
        let event = Event { op: Op::Rename, result, ..BLANK };
        if let CallResult::Error(_) = call.result {
            return self.push(moment, event);
        }
        let file = self.file_at(&old, FileKind::Regular);
        let flag_names = call.arguments.get(2 * naming.width()).copied().unwrap_or_default();
        let replaced = if has(flag_names, "RENAME_EXCHANGE") {
            let other = self.file_at(&new, FileKind::Regular);
            self.paths.set(new, file);
            self.paths.set(old, other);
            Some(other)
        } else {
            self.paths.remove(&old);
            self.paths.move_below(&old, &new);
            self.paths.set(new, file).filter(|replaced| *replaced != file)
        };
        let detail = replaced.map_or(0, |replaced| u64::from(replaced) + 1);
        self.push(moment, Event { flags: self.flags_of(file), file, detail, ..event })
    }

    pub(super) fn unlink(
        &mut self,
        call: &Call<'_>,
        moment: Moment,
        naming: Naming,
        is_directory: bool,
    ) -> Result<(), Stop> {
        let Some(result) = outcome(call.result) else { return Ok(()) };
        let path = self.named(call, moment.pid, naming, 0)?;
        if is_elsewhere(&path) {
            return Ok(());
        }
        let event = Event { op: Op::Unlink, result, ..BLANK };
        if let CallResult::Error(_) = call.result {
            return self.push(moment, event);
        }
        let kind = if is_directory { FileKind::Directory } else { FileKind::Regular };
        let file = self.file_at(&path, kind);
        self.builder.set_kind(file, kind);
        self.paths.remove(&path);
        self.push(moment, Event { flags: self.flags_of(file), file, ..event })
    }

    pub(super) fn make_directory(
        &mut self,
        call: &Call<'_>,
        moment: Moment,
        naming: Naming,
    ) -> Result<(), Stop> {
        let Some(result) = outcome(call.result) else { return Ok(()) };
        let path = self.named(call, moment.pid, naming, 0)?;
        if is_elsewhere(&path) {
            return Ok(());
        }
        let event = Event { op: Op::Mkdir, flags: Flags::DIRECTORY, result, ..BLANK };
        if let CallResult::Error(_) = call.result {
            return self.push(moment, event);
        }
        let file = self.builder.file(FileKind::Directory, true);
        self.paths.set(path, file);
        self.push(moment, Event { file, ..event })
    }

    /// A second name of a file.
    pub(super) fn link(&mut self, call: &Call<'_>, pid: u32, naming: Naming) -> Result<(), Stop> {
        let CallResult::Value { .. } = call.result else { return Ok(()) };
        let old = self.named(call, pid, naming, 0)?;
        let new = self.named(call, pid, naming, naming.width())?;
        if !is_elsewhere(&old) {
            let file = self.file_at(&old, FileKind::Regular);
            self.paths.set(new, file);
        }
        Ok(())
    }

    pub(super) fn stat(
        &mut self,
        call: &Call<'_>,
        moment: Moment,
        naming: Naming,
        answer: Option<usize>,
    ) -> Result<(), Stop> {
        let answer = answer.and_then(|behind| call.arguments.get(naming.width() + behind));
        let name = call.argument(naming.width() - 1)?;
        if naming == Naming::At && matches!(name, "\"\"" | "NULL") {
            // Without a path it is about the descriptor.
            if call.descriptor(0)?.is_working_directory() {
                return Ok(());
            }
            return self.stat_descriptor(call, moment, answer);
        }
        let event = Event { op: Op::Stat, ..BLANK };
        let CallResult::Value { .. } = call.result else {
            return self.about_path(call, moment, naming, event);
        };
        let path = self.named(call, moment.pid, naming, 0)?;
        if is_elsewhere(&path) {
            return Ok(());
        }
        let kind = match Class::of(mode(answer)) {
            Class::File(kind) => kind,
            Class::Unknown => FileKind::Regular,
            Class::Other => return Ok(()),
        };
        let file = self.file_at(&path, kind);
        self.learn(file, answer);
        self.push(moment, Event { file, flags: self.flags_of(file), ..event })
    }

    pub(super) fn stat_descriptor(
        &mut self,
        call: &Call<'_>,
        moment: Moment,
        answer: Option<&&str>,
    ) -> Result<(), Stop> {
        let Some(result) = outcome(call.result) else { return Ok(()) };
        let class = Class::of(mode(answer));
        let descriptor = call.descriptor(0)?;
        if let Class::Other = class {
            self.other_descriptor(moment.pid, descriptor.number.into());
            return Ok(());
        }
        let evidence = if let Class::File(_) = class { Evidence::File } else { Evidence::None };
        let known = self.described(moment.pid, descriptor, evidence)?;
        let Some(file) = known.borrow().file else { return Ok(()) };
        self.learn(file, answer);
        let flags = self.flags_of(file);
        self.push(moment, Event { op: Op::Stat, flags, file, result, ..BLANK })
    }

    /// Stores what `stat` returned for a file.
    pub(super) fn learn(&mut self, file: File, answer: Option<&&str>) {
        let Class::File(kind) = Class::of(mode(answer)) else { return };
        self.builder.set_kind(file, kind);
        let size = answer.and_then(|answer| {
            line::field(answer, "st_size").or_else(|| line::field(answer, "stx_size"))
        });
        if let Some(size) = size.and_then(line::number)
            && kind == FileKind::Regular
        {
            self.builder.learn_size(file, size);
        }
    }
}
