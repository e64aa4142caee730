//! Bounds on what is read, so that no text takes unbounded time or memory.

use std::sync::Arc;

use iotax_experiment::Error;

use crate::fio::place::TextPlace;

/// Bytes of text, with all included files.
const TEXT: usize = 4 << 20;
/// Settings, with those of `[global]` counted once per job.
const SETTINGS: usize = 1 << 16;
/// fio's own limit (`REAL_MAX_JOBS`).
const SECTIONS: usize = 4096;

/// What may still be read.
pub(super) struct Budget {
    text: usize,
    settings: usize,
    sections: usize,
}

impl Budget {
    pub(super) fn new() -> Self {
        Self { text: TEXT, settings: SETTINGS, sections: SECTIONS }
    }

    /// Counts the text of one more file or command line.
    pub(super) fn text(&mut self, text: &str) -> Result<(), Error> {
        self.text = self.text.checked_sub(text.len()).ok_or_else(|| {
            Error::syntax(
                format!(
                    "the text is longer than {}, with all included files",
                    iotax_quantity::size(TEXT as u64)
                ),
                "split it",
            )
        })?;
        Ok(())
    }

    /// Counts one more job with so many settings.
    pub(super) fn section(&mut self, place: &Arc<TextPlace>, settings: usize) -> Result<(), Error> {
        self.sections = self.sections.checked_sub(1).ok_or_else(|| {
            place.mark(Error::syntax(format!("more than {SECTIONS} jobs"), "fio takes no more"))
        })?;
        self.settings(place, settings)
    }

    /// Counts settings of a job.
    pub(super) fn settings(
        &mut self,
        place: &Arc<TextPlace>,
        settings: usize,
    ) -> Result<(), Error> {
        self.settings = self.settings.checked_sub(settings).ok_or_else(|| {
            place.mark(Error::syntax(
                format!("more than {SETTINGS} settings, those of [global] counted once per job"),
                "split it",
            ))
        })?;
        Ok(())
    }
}
