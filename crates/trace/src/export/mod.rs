//! Traces for other programs.

pub mod fio_log;
