/// Why a run ended before its time. What was measured until then is on disk.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Results could not be written.
    #[error(transparent)]
    Record(#[from] iotax_record::Error),
}
