//! Pictures of the page in Chromium, light, dark and as wide as a phone, against those in
//! `tests/pictures/`. Left out where there is no `chromedriver`.
//!
//! Machines have different fonts, so texts are not compared letter by letter. The page is compared
//! region by region: where each region is and how large (its width is the page's own, its height
//! depends on fonts), the mean colours of a grid of cells in it, and how much is written there.
//! What is too small to see in that grid is for the other tests of the browser, which read texts.
//! The test changes the page too, and expects to see that; and it changes the fonts, and expects
//! not to.
//!
//! `BLESS=1 cargo test -p celero-serve --test it -- pictures` writes the pictures anew. Look at them.

use crate::browser::page;
use crate::web_driver::Browser;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value as Json, json};
use std::path::{Path, PathBuf};

/// The regions of the page.
const REGIONS: &[(&str, &str)] = &[
    ("top", ".top"),
    ("rule", ".editors .card:nth-child(1)"),
    ("request", ".editors .card:nth-child(2)"),
    ("verdict", "#verdict"),
    ("views", ".views"),
];
/// The size of a cell, in pixels: about ten letters, two lines.
const CELL: [u32; 2] = [80, 45];
/// The greatest difference of a mean colour in a cell, of 255: text in another font is up to half of that.
const MAX: f64 = 36.0;
/// The greatest mean of the differences of a region's cells.
const MEAN: f64 = 9.0;
/// The greatest difference of where a region begins across the page, and of its width, in pixels: scroll bars.
const ACROSS: f64 = 16.0;
/// The greatest factor between two heights of a region: fonts.
const DOWN: f64 = 1.35;
/// The greatest factor between how much is written in a region: the weight of fonts. Below
/// [`HARDLY`] of 255 nothing is.
const WRITTEN: f64 = 2.2;
const HARDLY: f64 = 1.0;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/pictures")
}

/// A look of the page: its size, its colours, and the view that is open.
struct Look {
    name: &'static str,
    size: (u32, u32),
    dark: bool,
    view: &'static str,
    /// The width of the picture in the repository.
    reduced: u32,
}

const LOOKS: &[Look] = &[
    Look { name: "light", size: (1360, 900), dark: false, view: "why", reduced: 340 },
    Look { name: "dark", size: (1360, 900), dark: true, view: "code", reduced: 340 },
    Look { name: "phone", size: (390, 1400), dark: false, view: "why", reduced: 130 },
];

/// What is seen of a page: its picture, and its regions, `[x, y, width, height]` in pixels.
struct Seen {
    picture: String,
    regions: Map<String, Json>,
}

fn see(browser: &Browser) -> Seen {
    let boxes = REGIONS.iter().map(|(name, selector)| {
        let script = format!("(() => {{ const {{ x, y, width, height }} = document.querySelector('{selector}').getBoundingClientRect(); return [x, y, width, height]; }})()");
        ((*name).to_owned(), browser.value(&script))
    });
    Seen { regions: boxes.collect(), picture: browser.picture() }
}

/// The picture in the repository with its regions.
fn expected(look: &Look) -> Option<Seen> {
    let picture = std::fs::read(folder().join(format!("{}.png", look.name))).ok()?;
    let regions = std::fs::read_to_string(folder().join("regions.json")).ok()?;
    let regions: Json = serde_json::from_str(&regions).unwrap();
    Some(Seen { picture: STANDARD.encode(picture), regions: regions[look.name].as_object()?.clone() })
}

/// Returns what differs, and the picture reduced. `judge` is a window with an empty page.
fn compare(judge: &Browser, look: &Look, seen: &Seen, expected: Option<&Seen>) -> (Vec<String>, String) {
    let answer = judge.call(
        include_str!("pictures.js").trim(),
        &json!({
            "picture": seen.picture,
            "reference": expected.map(|expected| &expected.picture),
            "regions": seen.regions,
            "expected": expected.map(|expected| &expected.regions),
            "cell": CELL,
            "width": look.reduced,
        }),
    );
    let mut different = Vec::new();
    for (name, found) in answer["regions"].as_object().unwrap() {
        let number = |json: &Json| json.as_f64().unwrap();
        let sides = |seen: &Seen| [0, 1, 2, 3].map(|side| number(&seen.regions[name][side]));
        let ([x, _, width, height], [x0, _, width0, height0]) = (sides(seen), sides(expected.unwrap()));
        if (x - x0).abs() > ACROSS || (width - width0).abs() > ACROSS {
            different.push(format!("{name}: from {x} and {width} wide; expected from {x0} and {width0} wide"));
        } else if height > height0 * DOWN || height0 > height * DOWN {
            different.push(format!("{name}: {height} high; expected {height0}"));
        }
        let (most, mean) = (number(&found["most"]), number(&found["mean"]));
        if std::env::var_os("PICTURES").is_some() {
            eprintln!(
                "{} {name}: {most:.1} at most, {mean:.1} in the mean; written {} for {}",
                look.name, found["written"], found["expected"]
            );
        }
        let (written, written0) = (number(&found["written"]), number(&found["expected"]));
        if written0 > HARDLY && !(written0 / WRITTEN..written0 * WRITTEN).contains(&written) {
            different
                .push(format!("{name}: pixels differ from their surroundings by {written:.1}; expected {written0:.1}"));
        }
        if most > MAX || mean > MEAN {
            different.push(format!("{name}: colours differ by {most:.1} at most and {mean:.1} in the mean, of 255"));
        }
    }
    (different, answer["reduced"].as_str().unwrap().to_owned())
}

/// Opens the page with the same content on every machine: what is measured is hidden.
fn open(look: &Look) -> Option<Browser> {
    let (width, height) = look.size;
    let browser = page(width, height, look.dark)?;
    let phone = width < 500;
    let metrics = json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": phone });
    browser.devtools("Emulation.setDeviceMetricsOverride", &metrics);
    browser.click(&format!("#tab-{}", look.view));
    browser.value("document.activeElement.blur()");
    for selector in ["#facts", "#build"] {
        browser.value(&format!("document.querySelector('{selector}').style.visibility = 'hidden'"));
    }
    browser.value("scrollTo(0, 0)");
    Some(browser)
}

/// Changes of the page that somebody would see, each with the regions that show it.
const CHANGES: &[(&str, &str, &[&str])] = &[
    (
        "the verdict has the colours of an error",
        "document.querySelector('#verdict').className = 'verdict error'",
        &["verdict"],
    ),
    ("a region is not shown", "document.querySelector('.views').style.visibility = 'hidden'", &["views"]),
    (
        "the style sheet is missing",
        "document.styleSheets[0].disabled = true",
        &["top", "rule", "request", "verdict", "views"],
    ),
];

fn looks_as_before(look: &Look) {
    let Some(browser) = open(look) else { return };
    let judge = Browser::open(300, 300, false).unwrap();
    let seen = see(&browser);
    let expected = expected(look);
    let is_blessed = std::env::var_os("BLESS").is_some();
    let (different, reduced) = compare(&judge, look, &seen, expected.as_ref().filter(|_| !is_blessed));
    if is_blessed {
        bless(look, &seen, &reduced);
        return;
    }
    assert!(expected.is_some(), "there is no picture `{}`: write it with BLESS=1, and look at it", look.name);
    if !different.is_empty() {
        let kept = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{}-now.png", look.name));
        std::fs::write(&kept, STANDARD.decode(&seen.picture).unwrap()).unwrap();
        panic!("{} looks different; it looks as in {}\n{}", look.name, kept.display(), different.join("\n"));
    }
    // Other fonts.
    browser.value("document.body.style.fontFamily = 'serif'");
    browser.value("document.documentElement.style.setProperty('--mono', 'monospace')");
    assert_eq!(compare(&judge, look, &see(&browser), expected.as_ref()).0, Vec::<String>::new(), "with other fonts");
    for (what, script, regions) in CHANGES {
        browser.value(&format!("({script}, 0)"));
        let (different, _) = compare(&judge, look, &see(&browser), expected.as_ref());
        for region in *regions {
            assert!(different.iter().any(|one| one.starts_with(region)), "{what}, but not in {region}: {different:?}");
        }
    }
}

/// Writes a picture and its regions. Tests of other looks may write at the same time.
fn bless(look: &Look, seen: &Seen, reduced: &str) {
    static WRITING: std::sync::Mutex<()> = std::sync::Mutex::new(());
    let _one = WRITING.lock().unwrap();
    std::fs::create_dir_all(folder()).unwrap();
    std::fs::write(folder().join(format!("{}.png", look.name)), STANDARD.decode(reduced).unwrap()).unwrap();
    let file = folder().join("regions.json");
    let known = std::fs::read_to_string(&file).unwrap_or("{}".to_owned());
    let mut known: Map<String, Json> = serde_json::from_str(&known).unwrap();
    known.insert(look.name.to_owned(), Json::Object(seen.regions.clone()));
    std::fs::write(&file, serde_json::to_string_pretty(&known).unwrap() + "\n").unwrap();
}

#[test]
fn pictures_in_light_colours() {
    looks_as_before(&LOOKS[0]);
}

#[test]
fn pictures_in_dark_colours() {
    looks_as_before(&LOOKS[1]);
}

#[test]
fn pictures_on_a_phone() {
    looks_as_before(&LOOKS[2]);
}
