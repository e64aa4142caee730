//! Parquet tables with a row for each event, for programs such as `DuckDB` and pandas.

use std::io::{self, Read, Write};
use std::sync::Arc;

use parquet::basic::Encoding;
use parquet::data_type::{ByteArray, ByteArrayType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::{WriterProperties, WriterVersion};
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;

use crate::event::{Event, NO_FILE};
use crate::file::{Error, Reader};

/// The columns. Times are in nanoseconds since the recording began. The meaning of `detail` depends on
/// the operation: for a wake-up, it is the thread that is woken.
const SCHEMA: &str = "
message events {
  required binary op (STRING);
  optional int64 file;
  required int64 thread;
  required int64 start_ns;
  required int64 latency_ns;
  required int64 offset;
  required int64 bytes;
  required int64 result;
  required int64 flags;
  required int64 cpu_ns;
  required int64 run_delay_ns;
  required int64 detail;
}";
/// Columns that every event has, after the first two.
const PLAIN: [fn(&Event) -> i64; 10] = [
    |event| event.thread.into(),
    |event| event.start_ns().cast_signed(),
    |event| event.latency_ns.cast_signed(),
    |event| event.offset.cast_signed(),
    |event| event.length.cast_signed(),
    |event| event.result,
    |event| event.flags.0.into(),
    |event| event.cpu_ns.cast_signed(),
    |event| event.run_delay_ns.cast_signed(),
    |event| event.detail.cast_signed(),
];
/// Events that are written together.
const ROWS: usize = 1 << 18;

/// Writes all events, and returns how many.
///
/// # Errors
/// If the trace cannot be read, or the table cannot be written.
pub fn export<R: Read, W: Write + Send>(reader: &mut Reader<R>, output: W) -> Result<u64, Error> {
    let mut table = Table::new(output)?;
    let mut rows = Vec::new();
    while let Some(events) = reader.chunk()? {
        rows.extend(events);
        if rows.len() >= ROWS {
            table.add(&rows)?;
            rows.clear();
        }
    }
    if !rows.is_empty() {
        table.add(&rows)?;
    }
    table.finish()
}

struct Table<W: Write + Send> {
    writer: SerializedFileWriter<W>,
    rows: u64,
}

impl<W: Write + Send> Table<W> {
    fn new(output: W) -> Result<Self, Error> {
        let schema = Arc::new(parse_message_type(SCHEMA).map_err(failed)?);
        let properties = WriterProperties::builder()
            .set_writer_version(WriterVersion::PARQUET_2_0)
            .set_created_by(concat!("iotax ", env!("CARGO_PKG_VERSION")).to_owned())
            .set_dictionary_enabled(false)
            .set_column_dictionary_enabled("op".into(), true)
            .set_encoding(Encoding::DELTA_BINARY_PACKED)
            .set_column_encoding("op".into(), Encoding::DELTA_LENGTH_BYTE_ARRAY);
        let properties = Arc::new(properties.build());
        let writer = SerializedFileWriter::new(output, schema, properties).map_err(failed)?;
        Ok(Self { writer, rows: 0 })
    }

    fn add(&mut self, events: &[Event]) -> Result<(), Error> {
        let mut group = self.writer.next_row_group().map_err(failed)?;
        let ops: Vec<ByteArray> = events.iter().map(|event| event.op.name().into()).collect();
        let mut column = next_column(&mut group)?;
        column.typed::<ByteArrayType>().write_batch(&ops, None, None).map_err(failed)?;
        column.close().map_err(failed)?;

        let has_file = |event: &&Event| event.file != NO_FILE;
        let files: Vec<i64> =
            events.iter().filter(has_file).map(|event| event.file.into()).collect();
        let levels: Vec<i16> = events.iter().map(|event| i16::from(has_file(&event))).collect();
        let mut column = next_column(&mut group)?;
        column.typed::<Int64Type>().write_batch(&files, Some(&levels), None).map_err(failed)?;
        column.close().map_err(failed)?;

        for value in PLAIN {
            let values: Vec<i64> = events.iter().map(value).collect();
            let mut column = next_column(&mut group)?;
            column.typed::<Int64Type>().write_batch(&values, None, None).map_err(failed)?;
            column.close().map_err(failed)?;
        }
        group.close().map_err(failed)?;
        self.rows += events.len() as u64;
        Ok(())
    }

    fn finish(self) -> Result<u64, Error> {
        self.writer.close().map_err(failed)?;
        Ok(self.rows)
    }
}

fn next_column<'a, W: Write + Send>(
    group: &'a mut SerializedRowGroupWriter<'_, W>,
) -> Result<parquet::file::writer::SerializedColumnWriter<'a>, Error> {
    Ok(group.next_column().map_err(failed)?.expect("the schema has as many columns"))
}

fn failed(error: ParquetError) -> Error {
    Error::Io(io::Error::other(error))
}
