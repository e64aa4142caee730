//! Where lines end.

use textwrap::core::Word;
use textwrap::{Options, WordSeparator, WordSplitter};

/// Lines of this width, cut between words: `I/O` is one, and no name is cut at a hyphen.
pub(super) fn lines_of(width: usize) -> Options<'static> {
    Options::new(width)
        .word_separator(WordSeparator::AsciiSpace)
        .word_splitter(WordSplitter::NoHyphenation)
}

/// Words for [`WordSeparator::Custom`], and of long ones, which are paths or lists of choices, the
/// parts: a line may end with a slash or `|`, but half of `I/O` is no word.
pub fn parts_of_paths(line: &str) -> Box<dyn Iterator<Item = Word<'_>> + '_> {
    const LONG: usize = 24;
    let words = line.split_inclusive(' ');
    let parts = words.flat_map(|word| {
        let has_parts = word.len() > LONG;
        word.split_inclusive(move |c| has_parts && ['/', '|'].contains(&c))
    });
    Box::new(parts.map(Word::from))
}

#[cfg(test)]
mod tests {
    use textwrap::fill;

    use super::*;

    #[test]
    fn lines_end_between_words_only() {
        assert_eq!(fill("and one I/O alone", lines_of(9)), "and one\nI/O alone");
        assert_eq!(fill("aaaaaaaaaaaa", lines_of(9)), "aaaaaaaaa\naaa");
    }
}
