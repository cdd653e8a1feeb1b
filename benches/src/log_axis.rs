//! Horizontal bars on a logarithmic axis, as parts of an SVG that is readable on light and dark pages.

use std::fmt::Write as _;

/// The colour of text and lines.
pub const GREY: &str = "#808080";
/// The height of a bar with the space below it.
pub const BAR: f64 = 12.0;

/// An axis that starts at 1.
#[derive(Clone, Copy, Debug)]
pub struct LogAxis {
    /// Where the bars start.
    pub left: f64,
    /// The top of the lines.
    pub top: f64,
    /// The height of the picture. Labels of the axis stand at its end.
    pub height: f64,
    /// The width of a factor of ten.
    pub decade_width: f64,
}

impl LogAxis {
    /// Draws the line and the label of a power of ten.
    pub fn decade(&self, svg: &mut String, power: usize, label: &str) {
        let x = self.left + self.decade_width * power as f64;
        let _ = writeln!(
            svg,
            "<line x1=\"{x:.1}\" y1=\"{}\" x2=\"{x:.1}\" y2=\"{:.1}\" stroke=\"{GREY}\" stroke-opacity=\"0.35\"/>\
             <text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{label}</text>",
            self.top,
            self.height - 26.0,
            self.height - 10.0
        );
    }

    /// Writes the name of a group of bars to their left; `middle` is the height of its middle.
    pub fn name(&self, svg: &mut String, middle: f64, name: &str) {
        let _ = writeln!(
            svg,
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{name}</text>",
            self.left - 10.0,
            middle + 4.0
        );
    }

    /// Draws a bar with its top at `y`, and a text behind it.
    pub fn bar(&self, svg: &mut String, y: f64, value: f64, colour: &str, text: &str) {
        let width = self.decade_width * value.max(1.0).log10();
        let _ = writeln!(
            svg,
            "<rect x=\"{}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{:.1}\" rx=\"2\" fill=\"{colour}\"/>\
             <text x=\"{:.1}\" y=\"{:.1}\" font-size=\"10\">{text}</text>",
            self.left,
            BAR - 2.0,
            self.left + width + 5.0,
            y + BAR - 3.0
        );
    }
}
