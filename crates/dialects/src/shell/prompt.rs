//! Detects prompts that are pasted with a command.

/// Length of the prompt at the start of a line in bytes, including blanks before and after it; 0 if
/// there is none. A single `#` is one only if `hash` is set: in a script it begins a comment.
pub(super) fn length(line: &str, hash: bool) -> usize {
    let indent = line.len() - line.trim_start().len();
    let rest = &line[indent..];
    let found = of_windows(rest).or_else(|| alone(rest, hash)).or_else(|| of_host(rest));
    found.map_or(0, |end| {
        let behind = &rest[end..];
        indent + end + (behind.len() - behind.trim_start_matches([' ', '\t']).len())
    })
}

/// `C:\Users\a>`, `PS C:\>`, `PS>`.
fn of_windows(line: &str) -> Option<usize> {
    let path = line.strip_prefix("PS ").or_else(|| line.strip_prefix("PS>").map(|_| &line[2..]));
    let is_drive = |text: &str| {
        let bytes = text.as_bytes();
        bytes.len() > 2 && bytes[0].is_ascii_alphabetic() && bytes[1..].starts_with(b":\\")
    };
    let path = path.or_else(|| is_drive(line).then_some(line))?;
    let end = path.find('>')?;
    // Quoted text and options belong to a command.
    let is_path = !path[..end].contains(['"', '\'', '|', '&']) && !path[..end].contains(" -");
    is_path.then(|| line.len() - path.len() + end + 1)
}

/// `$`, `%` or `>`, followed by a blank.
fn alone(line: &str, hash: bool) -> Option<usize> {
    let mark = line.chars().next()?;
    let behind = &line[mark.len_utf8()..];
    let is_mark = matches!(mark, '$' | '%' | '>' | '\u{276f}' | '\u{279c}' | '\u{bb}' | '\u{3bb}')
        || mark == '#' && hash;
    if !is_mark || !behind.starts_with([' ', '\t']) {
        return None;
    }
    // `➜  ~ fio`: a directory follows.
    if mark == '\u{279c}' {
        let word = behind.trim_start();
        let directory = word.split_whitespace().next()?;
        let end = line.len() - word.len() + directory.len();
        return Some(if word.trim() == directory { mark.len_utf8() } else { end });
    }
    Some(mark.len_utf8())
}

/// `user@host:~$`, `[root@host ~]#`, `bash-5.1#` or `host:~ #`, followed by a blank.
fn of_host(line: &str) -> Option<usize> {
    const LONGEST_WORDS: usize = 5;
    // The name of an environment may come first: `(venv) user@host:~$`.
    let named = line.strip_prefix('(').and_then(|rest| rest.split_once(") "));
    let rest = named.map_or(line, |(_, rest)| rest);
    let first = rest.split_whitespace().next()?;
    let is_shell = ["bash-", "sh-", "zsh-", "ksh-"].iter().any(|shell| first.starts_with(shell));
    let is_host = first.contains('@') && !first.starts_with(['-', '/', '@'])
        || first.starts_with('[')
        || first.contains(":~")
        || first.contains(":/");
    if !is_shell && !is_host || first.contains('=') {
        return None;
    }
    let mut at = line.len() - rest.len();
    for word in rest.split(' ').take(LONGEST_WORDS) {
        at += word.len();
        if word.ends_with(['$', '#', '%', '>']) && line[at..].starts_with(' ') {
            return Some(at);
        }
        if word.starts_with('-') {
            return None;
        }
        at += 1;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::length;

    #[test]
    fn what_shells_print_before_a_command_is_known() {
        let prompts = [
            "$ ",
            "% ",
            "> ",
            "# ",
            "  $ ",
            "PS C:\\> ",
            "PS C:\\Users\\a b> ",
            "PS> ",
            "C:\\>",
            "C:\\Program Files\\diskspd> ",
            "d:\\tools>",
            "user@host:~$ ",
            "root@h:~# ",
            "root@host:/mnt/my data# ",
            "[root@host ~]# ",
            "[user@host dir]$ ",
            "bash-5.1# ",
            "sh-4.4$ ",
            "(venv) user@host:~$ ",
            "user@Mac ~ % ",
            "host:~ # ",
            "host:/mnt # ",
            "\u{276f} ",
            "\u{279c} ~ ",
            "\u{279c}  data ",
            "root@c1:/# ",
            "ubuntu@ip-10-0-0-1:~$ ",
        ];
        for prompt in prompts {
            for command in ["fio --name=a", "sudo fio --name=a > out", "diskspd -b4K x"] {
                let line = format!("{prompt}{command}");
                assert_eq!(length(&line, true), prompt.len(), "{line}");
            }
        }
    }

    #[test]
    fn a_command_is_not_a_prompt() {
        for line in [
            "fio --name=a",
            "sudo fio --name=a # all",
            "C:\\tools\\diskspd.exe -b4K x > out.txt",
            "user=1 fio --name=a",
            "ssh root@host fio --name=a",
            "/bin/fio x@y:~$ z",
            "",
            "$x",
            "numactl -N 0 fio",
            "\"C:\\a b\\diskspd.exe\" -b4K x > y",
        ] {
            assert_eq!(length(line, true), 0, "{line}");
        }
        assert_eq!(length("# fio --name=a", false), 0);
    }
}
