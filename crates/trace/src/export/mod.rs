//! Exports traces to other formats.

pub mod fio_log;
