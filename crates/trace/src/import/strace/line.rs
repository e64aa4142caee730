//! The syntax of a line: who, when, which call, its arguments and its result.

use crate::import::errno;
use crate::import::outcome::Reason;

/// Smaller times are relative: as absolute times they would be soon after 1970.
const FIRST_ABSOLUTE_S: u64 = 100_000_000;
/// What strace prints for the working directory of `*at` calls.
const AT_FDCWD: i32 = -100;

/// A line about a task.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Line<'a> {
    /// `None` if strace follows a single task.
    pub(super) pid: Option<u32>,
    pub(super) time: Time,
    pub(super) text: Text<'a>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Time {
    /// Nanoseconds since 1970.
    Absolute(u64),
    /// Nanoseconds since midnight.
    OfDay(u64),
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Text<'a> {
    /// A call that returned, or a part of one.
    Call(&'a str),
    Unfinished(&'a str),
    Resumed {
        name: &'a str,
        rest: &'a str,
    },
    Exited,
    /// A signal or a message.
    Other,
}

/// A message of strace itself.
pub(super) fn attached(line: &str) -> Option<u32> {
    let line = line.strip_prefix("strace: ").unwrap_or(line);
    let (pid, rest) = line.strip_prefix("Process ")?.split_once(' ')?;
    rest.starts_with("attached").then(|| pid.parse().ok()).flatten()
}

/// Whether it is a message of strace, rather than a line of a task.
pub(super) fn is_message(line: &str) -> bool {
    line.trim().is_empty() || line.starts_with("strace: ") || line.starts_with("Process ")
}

pub(super) fn parse(line: &str) -> Result<Line<'_>, Reason> {
    let line = line.trim_start();
    let (pid, rest) = if let Some(rest) = line.strip_prefix("[pid") {
        let (pid, rest) = rest.split_once(']').ok_or(Reason::Malformed)?;
        (Some(pid.trim().parse().map_err(|_| Reason::Malformed)?), rest)
    } else {
        let word = line.split_once(' ').map_or(line, |(word, _)| word);
        match word.parse() {
            Ok(pid) => (Some(pid), &line[word.len()..]),
            Err(_) => (None, line),
        }
    };
    let (word, text) = rest.trim_start().split_once(' ').ok_or(Reason::Time)?;
    Ok(Line { pid, time: time(word)?, text: read_text(text.trim_start()) })
}

fn read_text(text: &str) -> Text<'_> {
    if text.starts_with("+++ exited") || text.starts_with("+++ killed") {
        return Text::Exited;
    }
    if text.starts_with("+++") || text.starts_with("---") {
        return Text::Other;
    }
    if let Some(resumed) = text.strip_prefix("<... ")
        && let Some((name, rest)) = resumed.split_once(" resumed>")
    {
        return Text::Resumed { name, rest };
    }
    let end = text.trim_end();
    for mark in ["<unfinished ...>", "<detached ...>"] {
        if let Some(begin) = end.strip_suffix(mark) {
            return Text::Unfinished(begin.trim_end());
        }
    }
    Text::Call(end)
}

fn time(word: &str) -> Result<Time, Reason> {
    let ns = |text| decimal_ns(text).ok_or(Reason::Time);
    if let Some((hours, rest)) = word.split_once(':') {
        let (minutes, seconds) = rest.split_once(':').ok_or(Reason::Time)?;
        if !seconds.contains('.') {
            return Err(Reason::Time);
        }
        let whole = |text: &str| text.parse::<u8>().map(u64::from).map_err(|_| Reason::Time);
        let minutes = whole(hours)? * 60 + whole(minutes)?;
        let seconds_ns = ns(seconds)?;
        if seconds_ns > 60_000_000_000 {
            return Err(Reason::Time);
        }
        return Ok(Time::OfDay(minutes * 60_000_000_000 + seconds_ns));
    }
    if !word.contains('.') {
        return Err(Reason::Time);
    }
    let time_ns = ns(word)?;
    if time_ns < FIRST_ABSOLUTE_S * 1_000_000_000 {
        return Err(Reason::RelativeTime);
    }
    Ok(Time::Absolute(time_ns))
}

/// Seconds with up to nine digits behind the point.
fn decimal_ns(text: &str) -> Option<u64> {
    let (whole, part) = text.split_once('.').unwrap_or((text, ""));
    let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if !is_number(whole) || !is_number(part) || part.len() > 9 {
        return None;
    }
    let part_ns = part.bytes().fold(0, |sum, digit| sum * 10 + u64::from(digit - b'0'));
    let scale = 10_u64.pow(u32::try_from(9 - part.len()).ok()?);
    whole.parse::<u64>().ok()?.checked_mul(1_000_000_000)?.checked_add(part_ns * scale)
}

/// A call that returned.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Call<'a> {
    pub(super) name: &'a str,
    pub(super) arguments: Vec<&'a str>,
    pub(super) result: CallResult<'a>,
    pub(super) latency_ns: Option<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CallResult<'a> {
    /// The text that `-y` adds.
    Value {
        number: i64,
        note: &'a str,
    },
    Error(i32),
    /// It will be called again, or its task ended.
    None,
}

/// The name of a call, without looking at the rest.
pub(super) fn name(text: &str) -> Option<&str> {
    let (name, _) = text.split_once('(')?;
    let is_name = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    (!name.is_empty() && name.bytes().all(is_name)).then_some(name)
}

impl<'a> Call<'a> {
    pub(super) fn parse(text: &'a str) -> Result<Self, Reason> {
        let name = name(text).ok_or(Reason::Malformed)?;
        let (arguments, rest) = split(&text[name.len() + 1..]).ok_or(Reason::Malformed)?;
        let rest = rest.trim_start().strip_prefix('=').ok_or(Reason::Malformed)?.trim();
        let (rest, latency_ns) = latency(rest);
        Ok(Self { name, arguments, result: result(rest)?, latency_ns })
    }

    pub(super) fn argument(&self, index: usize) -> Result<&'a str, Reason> {
        self.arguments.get(index).copied().ok_or(Reason::Malformed)
    }

    pub(super) fn number(&self, index: usize) -> Result<u64, Reason> {
        number(self.argument(index)?).ok_or(Reason::Number)
    }

    pub(super) fn descriptor(&self, index: usize) -> Result<Descriptor<'a>, Reason> {
        descriptor(self.argument(index)?).ok_or(Reason::Malformed)
    }

    pub(super) fn path(&self, index: usize) -> Result<Vec<u8>, Reason> {
        quoted(self.argument(index)?).ok_or(Reason::Malformed)
    }
}

/// The duration that `-T` appends, and the text before it.
pub(super) fn latency(text: &str) -> (&str, Option<u64>) {
    let found = text.strip_suffix('>').and_then(|text| text.rsplit_once('<'));
    match found.and_then(|(before, time)| Some((before.trim_end(), decimal_ns(time)?))) {
        Some((before, latency_ns)) if !before.is_empty() => (before, Some(latency_ns)),
        _ => (text, None),
    }
}

fn result(text: &str) -> Result<CallResult<'_>, Reason> {
    let word = text.split([' ', '<']).next().unwrap_or_default();
    if word == "?" {
        return Ok(CallResult::None);
    }
    let rest = &text[word.len()..];
    if word == "-1" {
        let name = rest.split_whitespace().next().unwrap_or_default();
        return Ok(errno::number(name).map_or(CallResult::None, CallResult::Error));
    }
    let number = number(word).ok_or(Reason::Number)?.cast_signed();
    let end = after_note(rest);
    Ok(CallResult::Value { number, note: rest[..end].trim_start_matches('<') })
}

/// Takes the arguments apart, up to the parenthesis that closes them; and what follows it.
fn split(text: &str) -> Option<(Vec<&str>, &str)> {
    let bytes = text.as_bytes();
    let mut arguments = Vec::new();
    let mut depth = 0_u32;
    let mut begin = 0;
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at] {
            b'"' => at += after_quoted(&text[at..])? - 1,
            b'<' if at > 0 && bytes[at - 1].is_ascii_alphanumeric() => {
                at += after_note(&text[at..]).max(1) - 1;
            }
            b'/' if bytes.get(at + 1) == Some(&b'*') => {
                at += text[at..].find("*/")? + 1;
            }
            b'(' | b'[' | b'{' => depth += 1,
            b')' if depth == 0 => {
                let last = text[begin..at].trim();
                if !last.is_empty() || !arguments.is_empty() {
                    arguments.push(last);
                }
                return Some((arguments, &text[at + 1..]));
            }
            b')' | b']' | b'}' => depth = depth.checked_sub(1)?,
            b',' if depth == 0 => {
                arguments.push(text[begin..at].trim());
                begin = at + 1;
            }
            _ => {}
        }
        at += 1;
    }
    None
}

/// The length of the string that begins here, with its quotes.
fn after_quoted(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut at = 1;
    loop {
        match bytes.get(at)? {
            b'\\' => at += 2,
            b'"' => return Some(at + 1),
            _ => at += 1,
        }
    }
}

/// The length of what `-y` says of a descriptor: `</path>`, `<TCP:[1->2]>`, `</dev/pts/0<char 1:2>>`;
/// 0 if there is nothing of that kind.
fn after_note(text: &str) -> usize {
    let bytes = text.as_bytes();
    if bytes.first() != Some(&b'<') || bytes.get(1) == Some(&b'<') {
        return 0;
    }
    let mut depth = 0;
    for (at, byte) in bytes.iter().enumerate() {
        match byte {
            b'<' => depth += 1,
            b'>' if bytes[at - 1] != b'-' => {
                depth -= 1;
                if depth == 0 {
                    return at + 1;
                }
            }
            _ => {}
        }
    }
    0
}

/// A number: decimal, hexadecimal or octal. Negative ones wrap, as in C.
pub(super) fn number(text: &str) -> Option<u64> {
    if let Some(digits) = text.strip_prefix("0x") {
        return u64::from_str_radix(digits, 16).ok();
    }
    match text.strip_prefix('-') {
        Some(digits) => digits.parse::<i64>().ok()?.checked_neg().map(i64::cast_unsigned),
        None if text == "NULL" => Some(0),
        None if text.len() > 1 && text.starts_with('0') => u64::from_str_radix(text, 8).ok(),
        None => text.parse().ok(),
    }
}

/// A descriptor, and what `-y` says of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Descriptor<'a> {
    pub(super) number: i32,
    pub(super) note: &'a str,
}

impl Descriptor<'_> {
    pub(super) const fn is_working_directory(self) -> bool {
        self.number == AT_FDCWD
    }
}

pub(super) fn descriptor(text: &str) -> Option<Descriptor<'_>> {
    let word = text.split('<').next()?;
    let rest = &text[word.len()..];
    let number = if word == "AT_FDCWD" { AT_FDCWD } else { word.parse().ok()? };
    let note = &rest[..after_note(rest)];
    Some(Descriptor { number, note: note.strip_prefix('<').unwrap_or(note) })
}

/// The path in what `-y` says, without an end such as `<char 1:3>` or ` (deleted)`.
pub(super) fn noted_path(note: &str) -> Option<Vec<u8>> {
    let path = note.strip_suffix('>').unwrap_or(note);
    let path = path.split('<').next()?;
    let path = path.strip_suffix(" (deleted)").unwrap_or(path);
    path.starts_with('/').then(|| unescaped(path))
}

/// Whether `-yy` calls it a block device.
pub(super) fn is_noted_block(note: &str) -> bool {
    note.contains("<block ")
}

/// The bytes of a quoted string; `None` if it is not one, or is truncated.
pub(super) fn quoted(text: &str) -> Option<Vec<u8>> {
    let end = text.starts_with('"').then(|| after_quoted(text))??;
    (end == text.len()).then(|| unescaped(&text[1..end - 1]))
}

fn unescaped(text: &str) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut bytes = text.bytes().peekable();
    while let Some(byte) = bytes.next() {
        if byte != b'\\' {
            out.push(byte);
            continue;
        }
        let Some(escape) = bytes.next() else { break };
        let mut digits = |radix: u8, most: u32, first: u8| {
            let mut number = first;
            for _ in 0..most {
                let digit = bytes.peek().and_then(|byte| {
                    char::from(*byte).to_digit(u32::from(radix)).and_then(|d| u8::try_from(d).ok())
                });
                let Some(digit) = digit else { break };
                number = number.wrapping_mul(radix).wrapping_add(digit);
                bytes.next();
            }
            number
        };
        out.push(match escape {
            b'n' => b'\n',
            b't' => b'\t',
            b'r' => b'\r',
            b'v' => 0x0b,
            b'f' => 0x0c,
            b'x' => digits(16, 2, 0),
            b'0'..=b'7' => digits(8, 2, escape - b'0'),
            other => other,
        });
    }
    out
}

/// The sum of the lengths in `[{iov_base="...", iov_len=5}, ...]`, and whether all are shown.
pub(super) fn vector_bytes(text: &str) -> (u64, bool) {
    let mut sum = 0_u64;
    let mut rest = text;
    let mut is_complete = true;
    while let Some(byte) = rest.bytes().next() {
        let step = if byte == b'"' {
            after_quoted(rest).unwrap_or(rest.len())
        } else if let Some(number) = rest.strip_prefix("iov_len=") {
            let digits = number.bytes().take_while(u8::is_ascii_digit).count();
            sum = sum.saturating_add(number[..digits].parse().unwrap_or(0));
            "iov_len=".len() + digits
        } else if rest.starts_with(", ...]") || rest.starts_with("...]") {
            is_complete = false;
            1
        } else {
            rest.chars().next().map_or(1, char::len_utf8)
        };
        rest = rest.get(step..).unwrap_or_default();
    }
    (sum, is_complete && text.starts_with('['))
}

/// The value of `name=` within `{...}`, up to the next comma or the end.
pub(super) fn field<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let mut rest = text;
    loop {
        let at = rest.find(name)?;
        let is_whole = matches!(rest[..at].bytes().last(), Some(b'{' | b' ' | b','));
        rest = &rest[at + name.len()..];
        if is_whole && let Some(value) = rest.strip_prefix('=') {
            return value.split([',', '}', ' ']).next();
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn call(text: &str) -> Call<'_> {
        Call::parse(text).unwrap()
    }

    #[test]
    fn tasks_are_named_in_three_ways() {
        let time = Time::Absolute(1_700_000_000_123_456_000);
        for (text, pid) in [
            ("1700000000.123456 close(3) = 0", None),
            ("[pid   77] 1700000000.123456 close(3) = 0", Some(77)),
            ("77    1700000000.123456 close(3) = 0", Some(77)),
        ] {
            assert_eq!(parse(text), Ok(Line { pid, time, text: Text::Call("close(3) = 0") }));
        }
        let of_day = parse("7 01:02:03.5 close(3) = 0").unwrap().time;
        assert_eq!(of_day, Time::OfDay(3_723_500_000_000));
        assert_eq!(parse("     0.000123 close(3) = 0"), Err(Reason::RelativeTime));
        assert_eq!(parse("01:02:03 close(3) = 0"), Err(Reason::Time));
        assert_eq!(attached("strace: Process 12 attached"), Some(12));
        assert_eq!(attached("strace: Process 12 attached with 3 threads"), Some(12));
        assert_eq!(attached("strace: Process 12 detached"), None);
    }

    #[test]
    fn arguments_are_taken_apart() {
        let read = call(r#"pread64(3</a, b\76>, "a\", b)"..., 5, 1<<3) = 5 <0.000012>"#);
        assert_eq!(read.arguments, [r"3</a, b\76>", r#""a\", b)"..."#, "5", "1<<3"]);
        assert_eq!(read.result, CallResult::Value { number: 5, note: "" });
        assert_eq!(read.latency_ns, Some(12_000));
        assert_eq!(read.descriptor(0).unwrap().number, 3);
        assert_eq!(noted_path(read.descriptor(0).unwrap().note).unwrap(), b"/a, b>");
        let socket = call("recvfrom(4<TCP:[127.0.0.1:1->127.0.0.1:2]>, NULL, 0, {a=[1, 2]}) = 0");
        assert_eq!(socket.arguments.len(), 4);
        let open = call(r#"openat(AT_FDCWD</home>, "x", O_RDONLY) = 3</home/x<block 8:0>> <0.1>"#);
        let CallResult::Value { number: 3, note } = open.result else { panic!("{open:?}") };
        assert_eq!((noted_path(note).unwrap(), is_noted_block(note)), (b"/home/x".to_vec(), true));
        assert!(open.descriptor(0).unwrap().is_working_directory());
        assert_eq!(call("sync() = 0").arguments, Vec::<&str>::new());
        assert_eq!(call("close(3) = -1 EBADF (Bad (file))").result, CallResult::Error(9));
        assert_eq!(call("read(3, ) = ? ERESTARTSYS (To be restarted)").result, CallResult::None);
        let deleted = call("close(3</tmp/x (deleted)>) = 0");
        assert_eq!(noted_path(deleted.descriptor(0).unwrap().note).unwrap(), b"/tmp/x");
    }

    #[test]
    fn details_are_found() {
        let vector = r#"[{iov_base="iov_len=9", iov_len=10}, {iov_base=""..., iov_len=20}]"#;
        assert_eq!(vector_bytes(vector), (30, true));
        assert_eq!(vector_bytes("[{iov_base=0x1, iov_len=10}, ...]"), (10, false));
        let stat = "{st_mode=S_IFREG|0644, st_size=4096, ...}";
        assert_eq!(field(stat, "st_size"), Some("4096"));
        assert_eq!(field(stat, "size"), None);
        assert_eq!(quoted(r#""a\n\101\x42\0""#).unwrap(), b"a\nAB\0");
        assert_eq!(quoted(r#""abc"..."#), None);
        assert_eq!(
            (number("-1"), number("0x10"), number("0644")),
            (Some(u64::MAX), Some(16), Some(0o644))
        );
    }

    proptest! {
        #[test]
        fn no_line_panics(line in "\\PC*") {
            let _ = parse(&line);
            let _ = Call::parse(&line);
            let _ = (vector_bytes(&line), field(&line, "a"), quoted(&line), noted_path(&line));
        }

        #[test]
        fn no_call_panics(text in r#"[a-z]{1,3}\([0-9a\\"<>,\[\]{}()/* =-]{0,40}"#) {
            let _ = Call::parse(&text);
            let _ = descriptor(&text);
        }
    }
}
