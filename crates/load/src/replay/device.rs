//! Recordings of a single block device, which can be replayed on a device instead of in files.

use iotax_trace::{File, FileKind};

use super::survey::{FileFacts, Recording, Survey};

/// Why a recording cannot be replayed on a file or device.
pub(super) const ONLY_IN_A_DIRECTORY: &str = "only the I/O of a single block device can be replayed on a file or device, and this recording \
     uses other files; name a directory";

/// The block device, if all recorded I/O is on it. Opens and look-ups of the device fit.
pub(super) fn sole_device(survey: &Survey) -> Option<(File, &FileFacts)> {
    let mut used = (0..).zip(&survey.files).filter(|(_, file)| file.has_event());
    let one = used.next().filter(|(_, file)| file.state.kind == FileKind::BlockDevice)?;
    let has_its_name = !one.1.is_removed && !one.1.is_renamed;
    (has_its_name && used.next().is_none()).then_some(one)
}

impl Recording {
    /// If all its I/O is on a single block device: the bytes that it uses of that device.
    pub(super) fn device_bytes(&self) -> Option<u64> {
        sole_device(&self.survey).map(|(_, device)| device.extent_bytes)
    }

    /// Whether it changes any file or device.
    pub(super) fn writes(&self) -> bool {
        let changes = |file: &FileFacts| {
            file.is_written || file.is_created() || file.is_removed || file.is_renamed
        };
        self.survey.files.iter().any(changes)
    }
}
