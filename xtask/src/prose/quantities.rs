//! Checks that only the crate `quantity` rounds numbers and adds units.

use anyhow::Result;
use proc_macro2::TokenTree;

use super::List;
use super::allowed::QUANTITIES;
use crate::code::{crates, text_of};

/// Units after a placeholder; `B` and `s` only as separate words.
const UNITS: [&str; 29] = [
    "ns", "µs", "us", "ms", "s", "min", "h", "days", "B", "KiB", "MiB", "GiB", "TiB", "kB", "MB",
    "GB", "%", "IOPS", "KiB/s", "MiB/s", "GiB/s", "MB/s", "Mbit/s", "Gbit/s", "bit/s",
    "requests/s", "ops/s", "B/s", "GB/s",
];

/// Lists formats of quantities outside of the crate `quantity`.
pub(crate) fn quantities() -> Result<()> {
    let mut list = List::of(&QUANTITIES);
    for (room, files) in crates()?.iter().filter(|(room, _)| *room != "quantity") {
        for (file, code) in files {
            list.see(room, file, made_by_hand(code));
        }
    }
    list.conclude(
        "these quantities are formatted by hand; use the functions of the `quantity` \
                   crate",
    )
}

/// Literals that round a value or add a unit.
fn made_by_hand(code: &[TokenTree]) -> Vec<String> {
    let mut found = Vec::new();
    for token in code {
        match token {
            TokenTree::Group(group) => {
                found.extend(made_by_hand(&group.stream().into_iter().collect::<Vec<_>>()));
            }
            literal => found.extend(text_of(literal).filter(|text| is_quantity(text))),
        }
    }
    found
}

/// `{:.1}`, `{latency:.3} ms`, `{} KiB`.
fn is_quantity(text: &str) -> bool {
    let text = text.replace("{{", "(").replace("}}", ")");
    text.split('{').skip(1).any(|part| {
        let Some((what, rest)) = part.split_once('}') else { return false };
        let is_rounded = what.split_once(':').is_some_and(|(_, form)| {
            form.split_once('.').is_some_and(|(_, digits)| digits.starts_with(char::is_numeric))
        });
        let next = rest.strip_prefix(' ').unwrap_or_default();
        let next = next.split(|c: char| c.is_whitespace() || ",.;:)[{".contains(c)).next();
        is_rounded || next.is_some_and(|unit| UNITS.contains(&unit))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::code::code;

    #[test]
    fn a_quantity_by_hand_is_found() {
        let found = [
            "fn f() { format!(\"{:.1}\", 1.0) }",
            "fn f() { format!(\"took {ms:.3} ms\") }",
            "fn f() { format!(\"{} KiB, at most\", 4) }",
            "fn f() { format!(\"{share} %.\") }",
            "fn f() { g(\"{iops} IOPS\") }",
            "#[error(\"nothing within {} s\", 3)] struct A;",
        ];
        for text in found {
            assert_eq!(made_by_hand(&code(text)).len(), 1, "{text}");
        }
    }

    #[test]
    fn what_others_made_what_is_typed_and_what_is_no_quantity_is_not() {
        let harmless = [
            "fn f() { format!(\"took {}\", time(1.0)) }",
            "fn f() { format!(\"{s}s, {us}us, size={gib}G\") }",
            "fn f() { format!(\"{value:.decimals$}\") }",
            "fn f() { format!(\"{:>8} {{:.1}}\", 1) }",
            "fn f() { format!(\"{stack} sets them apart\") }",
            "#[cfg(test)] fn f() { format!(\"{} ms\", 1) }",
        ];
        for text in harmless {
            assert_eq!(made_by_hand(&code(text)), [""; 0], "{text}");
        }
    }
}
