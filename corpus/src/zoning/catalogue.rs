//! The folder `zoning/` of a snapshot: each layer's response in three encodings, and `layers.json`, which lists them.
//!
//! `CatalogueWriter` writes it, `ZoningLayers` opens it. Opening parses the catalogue, maps the bodies and compares
//! only their sizes, so its cost does not depend on the number of vertices. The manifest's hashes cover the contents.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use flate2::Compression;
use flate2::write::GzEncoder;
use memmap2::Mmap;
use serde::{Deserialize, Serialize};

use crate::ids::{NodeId, ShortCode};
use crate::section_file::{SectionFileError, map_file};
use crate::zoning::feature_lookup::{LayerFeatures, LayerReadError};
use crate::zoning::labels::{self, FeatureLabel};
use crate::zoning::layer::{CitationQuality, Layer, LayerSource, LayerStatus, PlaceholderReason, ZoneCitation};
use crate::zoning::shape::BoundingBox;
use crate::zoning::tiles::legend::Legend;

/// The format version of `layers.json` and of the bodies that this program writes and reads.
pub const FORMAT_VERSION: u32 = 1;

const CATALOGUE_NAME: &str = "layers.json";
/// Maximum size of the catalogue. It is far above the size of any real one: a layer takes a few kilobytes.
const CATALOGUE_BYTES_MAX: u64 = 64 << 20;

/// An encoding in which a body is stored, ready to send.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum StoredEncoding {
    Identity,
    Zstd,
    Gzip,
}

impl StoredEncoding {
    pub const ALL: [Self; 3] = [Self::Identity, Self::Zstd, Self::Gzip];

    /// The file of a layer's body in this encoding, inside the folder.
    pub fn file_name(self, short_code: &ShortCode) -> String {
        match self {
            Self::Identity => format!("{short_code}.json"),
            Self::Zstd => format!("{short_code}.json.zst"),
            Self::Gzip => format!("{short_code}.json.gz"),
        }
    }

    fn encode(self, body: &[u8]) -> io::Result<Vec<u8>> {
        match self {
            Self::Identity => Ok(body.to_vec()),
            Self::Zstd => encode_zstd(body),
            Self::Gzip => {
                // The header contains no time, so the same body always gives the same bytes.
                let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
                encoder.write_all(body)?;
                encoder.finish()
            }
        }
    }
}

/// The window size is fixed at 8 MiB for every level, because browsers refuse a larger window.
const ZSTD_WINDOW_LOG: u32 = 23;
/// For a real city, the result is within 3 % of that of level 19, in less than half the time. Level 12 is ten times
/// faster, but its result is a fifth larger.
const ZSTD_LEVEL: i32 = 17;

fn encode_zstd(body: &[u8]) -> io::Result<Vec<u8>> {
    let mut encoder = zstd::stream::Encoder::new(Vec::new(), ZSTD_LEVEL)?;
    encoder.window_log(ZSTD_WINDOW_LOG)?;
    encoder.set_pledged_src_size(Some(body.len() as u64))?;
    encoder.write_all(body)?;
    encoder.finish()
}

/// The size of a body in each encoding, in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BodySizes {
    pub identity: u64,
    pub zstd: u64,
    pub gzip: u64,
}

impl BodySizes {
    pub const fn of(&self, encoding: StoredEncoding) -> u64 {
        match encoding {
            StoredEncoding::Identity => self.identity,
            StoredEncoding::Zstd => self.zstd,
            StoredEncoding::Gzip => self.gzip,
        }
    }
}

/// A zone to which features of a layer belong.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ZoneEntry {
    pub code: String,
    pub name: Option<String>,
    pub category: Option<String>,
    pub citation: Option<String>,
    pub node_id: Option<NodeId>,
    pub features: usize,
}

/// A zone whose features cite no node, and the reason.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PlaceholderEntry {
    pub code: String,
    pub features: usize,
    pub citation: Option<String>,
    pub reason: PlaceholderReason,
    /// Codes with a similar spelling in the table of zones.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub near: Vec<String>,
}

/// The data about a layer that is available without opening its body.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct LayerEntry {
    pub short_code: ShortCode,
    pub status: LayerStatus,
    pub citation_quality: CitationQuality,
    pub feature_count: usize,
    pub vertex_count: usize,
    pub bbox: BoundingBox,
    pub zones: Vec<ZoneEntry>,
    pub placeholders: Vec<PlaceholderEntry>,
    pub source: LayerSource,
    pub sizes: BodySizes,
}

impl LayerEntry {
    fn new(layer: &Layer, sizes: BodySizes) -> Self {
        let counts = layer.feature_counts();
        let used = || layer.zones().iter().zip(&counts).filter(|(_, count)| **count > 0);
        let zones = used().map(|(zone, &features)| ZoneEntry {
            code: zone.code.clone(),
            name: zone.name.clone(),
            category: zone.category.clone(),
            citation: zone.citation.text().map(str::to_owned),
            node_id: zone.citation.node(),
            features,
        });
        let placeholders = used().filter_map(|(zone, &features)| match &zone.citation {
            ZoneCitation::Linked { .. } => None,
            ZoneCitation::Placeholder { citation, reason, near } => Some(PlaceholderEntry {
                code: zone.code.clone(),
                features,
                citation: citation.clone(),
                reason: *reason,
                near: near.clone(),
            }),
        });
        Self {
            short_code: layer.short_code().clone(),
            status: layer.status(),
            citation_quality: layer.citation_quality(),
            feature_count: layer.features().len(),
            vertex_count: layer.vertex_count(),
            bbox: layer.bounding_box(),
            zones: zones.collect(),
            placeholders: placeholders.collect(),
            source: layer.source().clone(),
            sizes,
        }
    }
}

#[derive(Serialize)]
struct CatalogueOut<'a> {
    format: u32,
    layers: &'a [LayerEntry],
}

#[derive(Deserialize)]
struct CatalogueIn {
    layers: Vec<LayerEntry>,
}

/// Only the version, so that another version is recognised even if all else changed.
#[derive(Deserialize)]
struct FormatOnly {
    format: u32,
}

/// Why a layer could not be stored, or the folder could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum ZoningCatalogueError {
    #[error("cannot {doing} {}: {source}", .path.display())]
    Io { path: PathBuf, doing: &'static str, source: io::Error },
    /// Two sources contain a layer for the same jurisdiction.
    #[error(
        "{short_code} has two zoning layers, {first} and {second}; \
         a jurisdiction can have only one: merge the files or remove one source from the plan"
    )]
    TwoLayers { short_code: ShortCode, first: String, second: String },
    #[error(
        "{} has format {found}, this version reads {}; \
         rebuild the snapshot with 'hornbook build', or use the version of hornbook that built it",
        .path.display(),
        FORMAT_VERSION
    )]
    Version { path: PathBuf, found: u32 },
    #[error(
        "{} is not a list of zoning layers: {source}; \
         copy the snapshot again or rebuild it with 'hornbook build'",
        .path.display()
    )]
    NotCatalogue { path: PathBuf, source: serde_json::Error },
    #[error("{} is damaged: {what}; copy the snapshot again or rebuild it with 'hornbook build'", .path.display())]
    Damaged { path: PathBuf, what: String },
    #[error(transparent)]
    Body(SectionFileError),
}

/// Writes the folder of a new snapshot: layers in any order, then the catalogue.
#[derive(Debug)]
pub struct CatalogueWriter {
    dir: PathBuf,
    entries: Vec<LayerEntry>,
}

impl CatalogueWriter {
    /// Creates the folder, which must not exist yet.
    pub fn create(dir: &Path) -> Result<Self, ZoningCatalogueError> {
        fs::create_dir(dir).map_err(|source| io_error(dir, "create", source))?;
        Ok(Self { dir: dir.to_owned(), entries: Vec::new() })
    }

    /// Stores a layer. Layers may be added in any order.
    pub fn add(&mut self, layer: &Layer) -> Result<&LayerEntry, ZoningCatalogueError> {
        if let Some(first) = self.entries.iter().find(|entry| entry.short_code == *layer.short_code()) {
            return Err(ZoningCatalogueError::TwoLayers {
                short_code: first.short_code.clone(),
                first: first.source.file.clone(),
                second: layer.source().file.clone(),
            });
        }
        let body = layer.body();
        let sizes = BodySizes {
            identity: self.write_body(layer, StoredEncoding::Identity, &body)?,
            zstd: self.write_body(layer, StoredEncoding::Zstd, &body)?,
            gzip: self.write_body(layer, StoredEncoding::Gzip, &body)?,
        };
        let place = self.entries.partition_point(|entry| entry.short_code < *layer.short_code());
        self.entries.insert(place, LayerEntry::new(layer, sizes));
        Ok(&self.entries[place])
    }

    fn write_body(&self, layer: &Layer, encoding: StoredEncoding, body: &[u8]) -> Result<u64, ZoningCatalogueError> {
        let path = self.dir.join(encoding.file_name(layer.short_code()));
        let bytes = encoding.encode(body).map_err(|source| io_error(&path, "compress", source))?;
        write_new(&path, &bytes)?;
        Ok(bytes.len() as u64)
    }

    /// Writes the catalogue in ascending order of short code, and returns its entries.
    pub fn finish(self) -> Result<Vec<LayerEntry>, ZoningCatalogueError> {
        let path = self.dir.join(CATALOGUE_NAME);
        let catalogue = CatalogueOut { format: FORMAT_VERSION, layers: &self.entries };
        let mut bytes = serde_json::to_vec_pretty(&catalogue)
            .map_err(|source| ZoningCatalogueError::NotCatalogue { path: path.clone(), source })?;
        bytes.push(b'\n');
        write_new(&path, &bytes)?;
        Ok(self.entries)
    }
}

fn write_new(path: &Path, bytes: &[u8]) -> Result<(), ZoningCatalogueError> {
    let write = || {
        let mut file = File::create_new(path)?;
        file.write_all(bytes)?;
        file.sync_all()
    };
    write().map_err(|source| io_error(path, "write", source))
}

fn io_error(path: &Path, doing: &'static str, source: io::Error) -> ZoningCatalogueError {
    ZoningCatalogueError::Io { path: path.to_owned(), doing, source }
}

/// All layers of a snapshot, open for reading. Cloning is cheap.
#[derive(Clone, Debug)]
pub struct ZoningLayers {
    layers: Arc<[ZoningLayer]>,
}

/// One layer: its entry and its mapped bodies.
#[derive(Debug)]
pub struct ZoningLayer {
    entry: LayerEntry,
    identity: Mmap,
    zstd: Mmap,
    gzip: Mmap,
    /// Read at the first lookup, so that a layer uses memory only if points are looked up.
    places: OnceLock<Result<LayerFeatures, LayerReadError>>,
    /// Created for the first map.
    legend: OnceLock<Result<Legend, LayerReadError>>,
    /// Read at the first search for one.
    labels: OnceLock<Result<Vec<FeatureLabel>, LayerReadError>>,
}

impl ZoningLayers {
    /// Opens the folder that `CatalogueWriter` wrote.
    pub fn open(dir: &Path) -> Result<Self, ZoningCatalogueError> {
        let path = dir.join(CATALOGUE_NAME);
        let entries = read_catalogue(&path)?;
        let is_sorted = entries.is_sorted_by(|a, b| a.short_code < b.short_code);
        if !is_sorted {
            let what = "its layers are not in the order of their codes, or one occurs twice".to_owned();
            return Err(ZoningCatalogueError::Damaged { path, what });
        }
        let layers: Result<Vec<_>, _> = entries.into_iter().map(|entry| ZoningLayer::open(dir, entry)).collect();
        Ok(Self { layers: layers?.into() })
    }

    pub fn layer(&self, short_code: &ShortCode) -> Option<&ZoningLayer> {
        let place = self.layers.binary_search_by(|layer| layer.entry.short_code.cmp(short_code)).ok()?;
        self.layers.get(place)
    }

    /// All layers in ascending order of short code, including drafts.
    pub fn iter(&self) -> std::slice::Iter<'_, ZoningLayer> {
        self.layers.iter()
    }
}

impl<'a> IntoIterator for &'a ZoningLayers {
    type Item = &'a ZoningLayer;
    type IntoIter = std::slice::Iter<'a, ZoningLayer>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl ZoningLayer {
    fn open(dir: &Path, entry: LayerEntry) -> Result<Self, ZoningCatalogueError> {
        let claims_too_much = (entry.citation_quality == CitationQuality::Linked) != entry.placeholders.is_empty();
        if claims_too_much {
            let what = format!("the citation quality of {} does not fit its placeholders", entry.short_code);
            return Err(ZoningCatalogueError::Damaged { path: dir.join(CATALOGUE_NAME), what });
        }
        let map = |encoding| map_body(dir, &entry, encoding);
        let (identity, zstd, gzip) =
            (map(StoredEncoding::Identity)?, map(StoredEncoding::Zstd)?, map(StoredEncoding::Gzip)?);
        let (places, legend, labels) = (OnceLock::new(), OnceLock::new(), OnceLock::new());
        Ok(Self { entry, identity, zstd, gzip, places, legend, labels })
    }

    pub fn entry(&self) -> &LayerEntry {
        &self.entry
    }

    /// The complete response of the zoning endpoint in an encoding.
    pub fn body(&self, encoding: StoredEncoding) -> &[u8] {
        match encoding {
            StoredEncoding::Identity => &self.identity,
            StoredEncoding::Zstd => &self.zstd,
            StoredEncoding::Gzip => &self.gzip,
        }
    }

    /// Its features, for lookups by position.
    pub fn places(&self) -> Result<&LayerFeatures, LayerReadError> {
        let read = || LayerFeatures::read(self.body(StoredEncoding::Identity)).map_err(|error| error.of(self.file()));
        self.places.get_or_init(read).as_ref().map_err(Clone::clone)
    }

    fn file(&self) -> String {
        StoredEncoding::Identity.file_name(&self.entry.short_code)
    }

    /// The zones and categories of its features, for maps.
    pub fn legend(&self) -> Result<&Legend, LayerReadError> {
        let make = || {
            let codes: Vec<&str> = self.entry.zones.iter().map(|zone| zone.code.as_str()).collect();
            Legend::of(self.places()?, &codes).map_err(|error| error.of(self.file()))
        };
        self.legend.get_or_init(make).as_ref().map_err(Clone::clone)
    }

    /// What its publisher wrote on its features.
    pub fn labels(&self) -> Result<&[FeatureLabel], LayerReadError> {
        let read = || {
            labels::read(self.body(StoredEncoding::Identity), self.places()?, self.legend()?)
                .map_err(|error| error.of(self.file()))
        };
        self.labels.get_or_init(read).as_deref().map_err(Clone::clone)
    }
}

fn map_body(dir: &Path, entry: &LayerEntry, encoding: StoredEncoding) -> Result<Mmap, ZoningCatalogueError> {
    let path = dir.join(encoding.file_name(&entry.short_code));
    let map = map_file(&path).map_err(ZoningCatalogueError::Body)?;
    let listed = entry.sizes.of(encoding);
    if map.len() as u64 != listed || map.is_empty() {
        let what = format!("it has {} bytes, but {CATALOGUE_NAME} lists {listed}", map.len());
        return Err(ZoningCatalogueError::Damaged { path, what });
    }
    Ok(map)
}

fn read_catalogue(path: &Path) -> Result<Vec<LayerEntry>, ZoningCatalogueError> {
    let mut bytes = Vec::new();
    File::open(path)
        .and_then(|file| file.take(CATALOGUE_BYTES_MAX + 1).read_to_end(&mut bytes))
        .map_err(|source| io_error(path, "read", source))?;
    if bytes.len() as u64 > CATALOGUE_BYTES_MAX {
        let what = format!("it has more than {CATALOGUE_BYTES_MAX} bytes");
        return Err(ZoningCatalogueError::Damaged { path: path.to_owned(), what });
    }
    let not_catalogue = |source| ZoningCatalogueError::NotCatalogue { path: path.to_owned(), source };
    let FormatOnly { format } = serde_json::from_slice(&bytes).map_err(not_catalogue)?;
    if format != FORMAT_VERSION {
        return Err(ZoningCatalogueError::Version { path: path.to_owned(), found: format });
    }
    let CatalogueIn { layers } = serde_json::from_slice(&bytes).map_err(not_catalogue)?;
    Ok(layers)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::zoning::samples::{layer, layer_of};

    fn written(dir: &Path) -> PathBuf {
        let folder = dir.join("zoning");
        let mut writer = CatalogueWriter::create(&folder).unwrap();
        writer.add(&layer("XB-LOWER", false)).unwrap();
        writer.add(&layer("XA-PORT-ARDEN", true)).unwrap();
        let entries = writer.finish().unwrap();
        assert!(entries.is_sorted_by(|a, b| a.short_code < b.short_code));
        folder
    }

    fn files(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
        let mut paths: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        paths.sort();
        paths.into_iter().map(|path| (path.clone(), fs::read(path).unwrap())).collect()
    }

    #[test]
    fn every_encoding_holds_the_reply_of_the_endpoint() {
        let dir = tempfile::tempdir().unwrap();
        let layers = ZoningLayers::open(&written(dir.path())).unwrap();
        let codes: Vec<&str> = layers.iter().map(|layer| layer.entry().short_code.as_str()).collect();
        assert_eq!(codes, ["XA-PORT-ARDEN", "XB-LOWER"]);
        assert!(layers.layer(&"XA-NOWHERE".parse().unwrap()).is_none());
        let arden = layers.layer(&"XA-PORT-ARDEN".parse().unwrap()).unwrap();
        let body = arden.body(StoredEncoding::Identity);
        assert_eq!(body, layer("XA-PORT-ARDEN", true).body());
        assert_eq!(zstd::decode_all(arden.body(StoredEncoding::Zstd)).unwrap(), body);
        let mut unzipped = Vec::new();
        flate2::read::GzDecoder::new(arden.body(StoredEncoding::Gzip)).read_to_end(&mut unzipped).unwrap();
        assert_eq!(unzipped, body);
        assert_eq!(arden.entry().citation_quality, CitationQuality::Linked);
        assert!(arden.entry().placeholders.is_empty());
        let lower = layers.layer(&"XB-LOWER".parse().unwrap()).unwrap();
        assert_eq!(lower.entry().citation_quality, CitationQuality::Pending);
        assert_eq!(lower.entry().placeholders[0].reason, PlaceholderReason::ProvisionNotHeld);
        assert_eq!(lower.entry().bbox, BoundingBox([0.0, 0.0, 30.0, 10.0]));
    }

    #[test]
    fn the_same_layers_give_the_same_bytes() {
        let (first, second) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let bytes = |dir: &Path| files(&written(dir)).into_iter().map(|(_, bytes)| bytes).collect::<Vec<_>>();
        assert_eq!(bytes(first.path()), bytes(second.path()));
    }

    #[test]
    fn a_jurisdiction_has_one_layer() {
        let dir = tempfile::tempdir().unwrap();
        let mut writer = CatalogueWriter::create(&dir.path().join("zoning")).unwrap();
        writer.add(&layer_of("XA-PORT-ARDEN", "old.geojson", true)).unwrap();
        let error = writer.add(&layer_of("XA-PORT-ARDEN", "new.geojson", true)).unwrap_err().to_string();
        assert!(error.contains("two zoning layers, old.geojson and new.geojson"), "{error}");
    }

    #[test]
    fn another_format_is_refused_with_both_versions() {
        let dir = tempfile::tempdir().unwrap();
        let folder = written(dir.path());
        fs::write(folder.join(CATALOGUE_NAME), r#"{"format":7,"later":true}"#).unwrap();
        let error = ZoningLayers::open(&folder).unwrap_err().to_string();
        assert!(error.contains("has format 7, this version reads 1"), "{error}");
    }

    #[test]
    fn a_cut_or_missing_file_is_refused_and_named_and_nothing_panics() {
        let dir = tempfile::tempdir().unwrap();
        let folder = written(dir.path());
        for (path, whole) in files(&folder) {
            let name = path.file_name().unwrap().to_str().unwrap();
            // The last byte of the catalogue is the line feed after the JSON. Without it nothing is missing.
            for length in (0..whole.len() - 1).step_by(5) {
                fs::write(&path, &whole[..length]).unwrap();
                let error = ZoningLayers::open(&folder).unwrap_err().to_string();
                assert!(error.contains(name), "{name} cut to {length}: {error}");
            }
            fs::remove_file(&path).unwrap();
            assert!(ZoningLayers::open(&folder).unwrap_err().to_string().contains(name));
            fs::write(&path, &whole).unwrap();
        }
        ZoningLayers::open(&folder).unwrap();
    }

    #[test]
    fn a_catalogue_that_claims_linked_beside_placeholders_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let folder = written(dir.path());
        let path = folder.join(CATALOGUE_NAME);
        let text = fs::read_to_string(&path).unwrap().replace("\"pending\"", "\"linked\"");
        fs::write(&path, text).unwrap();
        let error = ZoningLayers::open(&folder).unwrap_err().to_string();
        assert!(error.contains("citation quality of XB-LOWER"), "{error}");
    }
}
