//! Exports traces to other formats.

pub mod fio_log;
pub mod parquet;
