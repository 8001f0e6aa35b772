//! How a screen may look.

/// How a screen may look. The default is plain text of 100 columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style {
    /// Whether warnings and failures are coloured.
    pub color: bool,
    /// Columns. Below [`Style::WIDTH_MIN`] the tables would no longer be tables, above
    /// [`Style::WIDTH_MAX`] prose is hard to read: outside of both, the nearer one is taken.
    pub width: u16,
}

impl Style {
    /// Fewest columns that are written for.
    pub const WIDTH_MIN: u16 = 80;

    /// Most columns that are written for.
    pub const WIDTH_MAX: u16 = 100;

    pub(super) fn columns(self) -> u16 {
        self.width.clamp(Self::WIDTH_MIN, Self::WIDTH_MAX)
    }
}

impl Default for Style {
    fn default() -> Self {
        Self { color: false, width: Self::WIDTH_MAX }
    }
}
