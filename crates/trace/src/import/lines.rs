//! Lines of a text of any length, in bounded memory.

use std::io::{self, BufRead};

use super::outcome::Reason;

/// Longer lines are skipped.
const LONGEST_LINE: usize = 1 << 20;

pub(super) struct Lines<R> {
    input: R,
    buffer: Vec<u8>,
    /// Of the line that was read last, counted from 1.
    pub(super) number: u64,
}

impl<R: BufRead> Lines<R> {
    pub(super) const fn new(input: R) -> Self {
        Self { input, buffer: Vec::new(), number: 0 }
    }

    /// The next line, without its end; `None` after the last.
    pub(super) fn next(&mut self) -> io::Result<Option<Result<&str, Reason>>> {
        self.buffer.clear();
        let mut is_cut = false;
        let mut is_any = false;
        loop {
            let bytes = match self.input.fill_buf() {
                Ok(bytes) => bytes,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            if bytes.is_empty() {
                break;
            }
            is_any = true;
            let end = bytes.iter().position(|byte| *byte == b'\n');
            let part = &bytes[..end.unwrap_or(bytes.len())];
            if self.buffer.len() + part.len() > LONGEST_LINE {
                is_cut = true;
            } else if !is_cut {
                self.buffer.extend_from_slice(part);
            }
            let taken = end.map_or(bytes.len(), |end| end + 1);
            self.input.consume(taken);
            if end.is_some() {
                break;
            }
        }
        if !is_any {
            return Ok(None);
        }
        self.number += 1;
        if is_cut {
            return Ok(Some(Err(Reason::TooLong)));
        }
        let line = self.buffer.strip_suffix(b"\r").unwrap_or(&self.buffer);
        Ok(Some(std::str::from_utf8(line).map_err(|_| Reason::NotText)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_line_does_not_hide_the_next() {
        let mut text = vec![b'x'; LONGEST_LINE + 1];
        text.extend(b"\nnext\r\n\xff\nlast");
        let mut lines = Lines::new(io::BufReader::with_capacity(100, text.as_slice()));
        assert_eq!(lines.next().unwrap(), Some(Err(Reason::TooLong)));
        assert_eq!(lines.next().unwrap(), Some(Ok("next")));
        assert_eq!(lines.next().unwrap(), Some(Err(Reason::NotText)));
        assert_eq!(lines.next().unwrap(), Some(Ok("last")));
        assert_eq!(lines.number, 4);
        assert_eq!(lines.next().unwrap(), None);
    }
}
