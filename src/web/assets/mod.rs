//! The stylesheet and the scripts of the pages, compiled in from `assets/`. Each address contains a
//! hash of the content, so browsers can cache assets for a year, and an old page never loads a new
//! version.

use std::sync::LazyLock;

use hornbook_base::hex;
use hornbook_check::REPORT_STYLE;
use hornbook_editions::DIFFERENCE_STYLE;
use sha2::{Digest, Sha256};

pub(super) const ASSETS_PATH: &str = "/assets/";

/// Number of hash bytes in an address.
const HASH_BYTES: usize = 8;

/// A compiled-in file.
pub(super) struct Asset {
    name: &'static str,
    pub(super) media_type: &'static str,
    pub(super) text: &'static str,
    /// The beginning of the hash of the text.
    hash: String,
}

impl Asset {
    fn new(name: &'static str, media_type: &'static str, text: &'static str) -> Self {
        Self { name, media_type, text, hash: hex::encode(&Sha256::digest(text)[..HASH_BYTES]) }
    }

    /// The path under which browsers load it.
    pub(super) fn path(&self) -> String {
        format!("{ASSETS_PATH}{}/{}", self.hash, self.name)
    }
}

macro_rules! assets {
    ($($(#[$meaning:meta])* $name:ident: $file:literal, $media_type:expr;)*) => {
        $($(#[$meaning])* pub(super) static $name: LazyLock<Asset> =
            LazyLock::new(|| Asset::new($file, $media_type, include_str!($file)));)*

        static ALL: &[&LazyLock<Asset>] = &[&REPORT, &DIFFERENCE, $(&$name),*];
    };
}

const CSS: &str = "text/css; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";
const SVG: &str = "image/svg+xml";

/// What the report on a document looks like, here and in a file of its own.
pub(super) static REPORT: LazyLock<Asset> = LazyLock::new(|| Asset::new("report.css", CSS, REPORT_STYLE));

/// What two wordings beside each other look like.
pub(super) static DIFFERENCE: LazyLock<Asset> = LazyLock::new(|| Asset::new("difference.css", CSS, DIFFERENCE_STYLE));

assets! {
    STYLE: "hornbook.css", CSS;
    /// Chooses between light and dark before the page is drawn. Also has the shortcut keys of all
    /// pages.
    SITE: "site.js", SCRIPT;
    /// Completions in the search box of a page or of its header, and arrow keys for completions and results.
    SEARCH: "search.js", SCRIPT;
    /// Copying, printing, previews and shortcut keys of reading pages.
    READING: "reading.js", SCRIPT;
    /// Opens levels of the contents in place.
    TREE: "tree.js", SCRIPT;
    /// Takes documents that are dropped on the page.
    CHECK: "check.js", SCRIPT;
    /// Calls operations from the documentation.
    DOCS: "docs.js", SCRIPT;
    /// Loads, draws and searches tiles of zoning maps.
    ZONING_TILES: "zoning-tiles.js", SCRIPT;
    /// Moves zoning maps, and finds and selects zones.
    ZONING: "zoning.js", SCRIPT;
    /// Copies a new key.
    SETTINGS: "settings.js", SCRIPT;
    ICON: "icon.svg", SVG;
}

/// A hash of all assets. It changes whenever an asset changes.
pub(super) static VERSION: LazyLock<String> = LazyLock::new(|| {
    let mut all = Sha256::new();
    ALL.iter().for_each(|asset| all.update(asset.text));
    hex::encode(&all.finalize()[..HASH_BYTES])
});

/// The asset at a path, if there is one.
pub(super) fn asset_at(path: &str) -> Option<&'static Asset> {
    let (hash, name) = path.strip_prefix(ASSETS_PATH)?.split_once('/')?;
    ALL.iter().find(|asset| asset.hash == hash && asset.name == name).map(|asset| &***asset)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_asset_is_at_the_address_with_its_hash_and_nowhere_else() {
        for asset in ALL {
            assert_eq!(asset_at(&asset.path()).map(|found| found.name), Some(asset.name));
        }
        for path in ["/assets/", "/assets/hornbook.css", "/assets/0000000000000000/hornbook.css"] {
            assert!(asset_at(path).is_none(), "{path}");
        }
    }

    #[test]
    fn assets_load_nothing_from_elsewhere() {
        for asset in ALL {
            assert!(!asset.text.replace("http://www.w3.org/2000/svg", "").contains("://"), "{}", asset.name);
            assert!(!asset.text.contains("@import"), "{}", asset.name);
        }
    }
}
