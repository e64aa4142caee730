//! Colour for a terminal, or none.

use anstyle::{AnsiColor, Style};

use crate::words::Tone;

/// Paints, if asked to. Only the eight basic colours: the terminal's theme decides what they
/// look like, and the words say the same without them.
#[derive(Debug, Clone, Copy)]
pub(super) struct Paint {
    pub(super) colour: bool,
}

impl Paint {
    pub(super) fn bold(self, text: &str) -> String {
        self.with(Style::new().bold(), text)
    }

    pub(super) fn dim(self, text: &str) -> String {
        self.with(Style::new().dimmed(), text)
    }

    pub(super) fn alarm(self, text: &str) -> String {
        self.with(AnsiColor::Yellow.on_default().bold(), text)
    }

    pub(super) fn tone(self, tone: Tone, text: &str) -> String {
        match tone {
            Tone::Plain => text.to_owned(),
            Tone::Worse => self.with(AnsiColor::Red.on_default(), text),
            Tone::Better => self.with(AnsiColor::Green.on_default(), text),
            Tone::Same => self.with(AnsiColor::Cyan.on_default(), text),
            Tone::Open => self.with(AnsiColor::Yellow.on_default(), text),
        }
    }

    fn with(self, style: Style, text: &str) -> String {
        if self.colour { format!("{style}{text}{style:#}") } else { text.to_owned() }
    }
}
