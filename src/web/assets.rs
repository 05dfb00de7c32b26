//! The stylesheet and the scripts of the pages: compiled in, each at an address that has its hash, so that browsers keep
//! it for good and a new version is never mixed with an old page. `assets/` has the files.

use std::sync::LazyLock;

use ::http::Response;
use ::http::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderValue};
use bytes::Bytes;
use sha2::{Digest, Sha256};

use super::errors;
use super::visitor::Visitor;
use crate::door::{Answering, Door, DoorAnswer, Limit, Methods, Visit};
use crate::hex;

const ASSETS_PATH: &str = "/assets/";

/// Bytes of a hash that stand in an address.
const HASH_BYTES: usize = 8;

/// One file.
pub(super) struct Asset {
    name: &'static str,
    media_type: &'static str,
    text: &'static str,
    /// Beginning of the hash of the text.
    hash: String,
}

impl Asset {
    fn new(name: &'static str, media_type: &'static str, text: &'static str) -> Self {
        Self { name, media_type, text, hash: hex::encode(&Sha256::digest(text)[..HASH_BYTES]) }
    }

    /// Where browsers find it.
    pub(super) fn path(&self) -> String {
        format!("{ASSETS_PATH}{}/{}", self.hash, self.name)
    }
}

macro_rules! assets {
    ($($(#[$meaning:meta])* $name:ident: $file:literal, $media_type:expr;)*) => {
        $($(#[$meaning])* pub(super) static $name: LazyLock<Asset> =
            LazyLock::new(|| Asset::new($file, $media_type, include_str!(concat!("assets/", $file))));)*

        static ALL: &[&LazyLock<Asset>] = &[$(&$name),*];
    };
}

const CSS: &str = "text/css; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";
const SVG: &str = "image/svg+xml";

assets! {
    STYLE: "hornbook.css", CSS;
    /// The choice between light and dark. It runs before the page is drawn.
    THEME: "theme.js", SCRIPT;
    /// Copying, printing, previews and keys of reading pages.
    READING: "reading.js", SCRIPT;
    ICON: "icon.svg", SVG;
}

/// Changes whenever an asset does.
pub(super) static VERSION: LazyLock<String> = LazyLock::new(|| {
    let mut all = Sha256::new();
    ALL.iter().for_each(|asset| all.update(asset.text));
    hex::encode(&all.finalize()[..HASH_BYTES])
});

/// The door at which they are.
pub struct Assets;

impl Door for Assets {
    fn is_at(&self, path: &str) -> bool {
        path.starts_with(ASSETS_PATH)
    }

    fn methods(&self, _path: &str) -> Methods {
        Methods::Get
    }

    fn limit(&self) -> Limit {
        Limit::ByAddress
    }

    fn answer<'a>(&'a self, visit: Visit<'a>) -> Answering<'a> {
        Box::pin(async move { serve(visit.path, visit.id) })
    }
}

fn serve(path: &str, request_id: &str) -> DoorAnswer {
    let wanted = path.strip_prefix(ASSETS_PATH).and_then(|rest| rest.split_once('/'));
    let found = wanted.and_then(|(hash, name)| ALL.iter().find(|asset| asset.hash == hash && asset.name == name));
    let Some(asset) = found else { return errors::not_found(&Visitor::Anonymous, request_id) };
    let mut response = Response::new(Bytes::from_static(asset.text.as_bytes()));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(asset.media_type));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("public, max-age=31536000, immutable"));
    response.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_asset_is_at_the_address_with_its_hash_and_nowhere_else() {
        for asset in ALL {
            let answer = serve(&asset.path(), "");
            assert_eq!(answer.response.status(), 200, "{}", asset.name);
            assert_eq!(answer.response.body(), asset.text);
        }
        for path in ["/assets/", "/assets/hornbook.css", "/assets/0000000000000000/hornbook.css"] {
            assert_eq!(serve(path, "").response.status(), 404, "{path}");
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
