//! A picture of a whole layer for browsers without scripts: an SVG of the tiles at the largest zoom
//! at which the layer fits.

use std::fmt::Write;
use std::sync::Arc;
use std::time::Instant;

use bytes::Bytes;
use hornbook_base::byte_cache::{ByteCache, ByteSize};
use hornbook_base::hex;
use hornbook_corpus::zoning::tiles::address::{BUFFER, GRID, TileAddress, Vertex, ZOOM_MAX};
use hornbook_corpus::zoning::tiles::grid;
use maud::{Markup, html};
use sha2::{Digest, Sha256};

use super::layer_text::has_hatching;
use super::legend::{self, DARK, LIGHT};
use crate::api::error::ApiError;
use crate::api::replies::{TileReply, ZonesReply};
use crate::api::visitors::VisitorAction;
use crate::single_flight::SingleFlight;
use crate::web::page_context::{OpenPage, OperationCall, OperationReply};

/// Maximum length of the longer side of the layer, in pixels, without margins.
const SIDE_MAX: i32 = 640;

/// The margin around the layer, in pixels.
const MARGIN: i32 = 8;

/// Grid units per pixel, and pixels per tile side.
const PIXEL: i32 = 4;
const TILE_SIDE: i32 = GRID / PIXEL;

/// Pixels by which a tile overlaps its neighbours. Without the overlap, a browser that scales the
/// picture would show gaps between tiles.
const OVERLAP: i32 = 1;
const _: () = assert!(OVERLAP * PIXEL < BUFFER, "tiles contain shapes beyond their edge up to this distance");

/// The colour scheme of the picture.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum ColourScheme {
    Light,
    Dark,
}

impl ColourScheme {
    pub(super) fn named(name: &str) -> Option<Self> {
        match name {
            "light" => Some(Self::Light),
            "dark" => Some(Self::Dark),
            _ => None,
        }
    }

    const fn colours(self) -> &'static [&'static str] {
        match self {
            Self::Light => &LIGHT,
            Self::Dark => &DARK,
        }
    }

    const fn ink(self) -> &'static str {
        match self {
            Self::Light => "#211e1a",
            Self::Dark => "#e9e2d4",
        }
    }
}

/// The section of the world that the picture shows.
struct PictureExtent {
    z: u8,
    /// In pixels at this zoom.
    west: i32,
    north: i32,
    width: i32,
    height: i32,
}

impl PictureExtent {
    fn of([west, south, east, north]: [f64; 4]) -> Self {
        let corners = |z: u8| (grid::project(z, west, north), grid::project(z, east, south));
        let fits = |z: &u8| {
            let (Vertex { x: west, y: north }, Vertex { x: east, y: south }) = corners(*z);
            (east - west).max(south - north) <= SIDE_MAX * PIXEL
        };
        let z = (0..=ZOOM_MAX).rev().find(fits).unwrap_or(0);
        let (upper, lower) = corners(z);
        let (west, north) = (upper.x / PIXEL - MARGIN, upper.y / PIXEL - MARGIN);
        Self { z, west, north, width: lower.x / PIXEL + MARGIN - west, height: lower.y / PIXEL + MARGIN - north }
    }

    fn tiles(&self) -> impl Iterator<Item = TileAddress> {
        let last = |from: i32, size: i32| (from + size) / TILE_SIDE;
        let (columns, rows) = (
            self.west.max(0) / TILE_SIDE..=last(self.west, self.width),
            self.north.max(0) / TILE_SIDE..=last(self.north, self.height),
        );
        let z = u32::from(self.z);
        let number = |at: i32| u32::try_from(at).unwrap_or(0);
        rows.flat_map(move |y| columns.clone().filter_map(move |x| TileAddress::new(z, number(x), number(y))))
    }
}

/// Maximum number of bytes in one generation of the cache.
const BYTES_MAX: usize = 8 << 20;

/// The key of a picture: snapshot, layer and colour scheme.
type PictureKey = (String, String, ColourScheme);

/// A picture with its version.
#[derive(Clone)]
pub(super) struct Picture {
    pub(super) svg: Bytes,
    pub(super) version: String,
}

impl ByteSize for Picture {
    fn byte_size(&self) -> usize {
        self.svg.len() + self.version.len()
    }
}

/// A cache of pictures. Concurrent requests for the same picture draw it once, on a thread for
/// heavy work.
pub(super) struct Pictures {
    drawn: ByteCache<PictureKey, Picture>,
    makers: Arc<SingleFlight<PictureKey>>,
}

impl Pictures {
    pub(super) fn new() -> Self {
        Self { drawn: ByteCache::new(BYTES_MAX), makers: SingleFlight::new() }
    }

    pub(super) async fn get(
        &self,
        opened: &mut OpenPage<'_>,
        short_code: &str,
        look: ColourScheme,
    ) -> Result<Picture, ApiError> {
        // This call refuses readers who may not see the layer, even if the picture is already in
        // the cache.
        let of = [("shortCode", short_code)];
        let zones = opened
            .call(OperationCall { wish: VisitorAction::MapPart, of: &of, ..OperationCall::read("gis-zones", &[]) })
            .await?;
        let key = (opened.corpus.id().to_owned(), short_code.to_owned(), look);
        if let Some(picture) = self.drawn.get(&key) {
            return Ok(picture);
        }
        let _turn = self.makers.turn(key.clone()).await.ok_or_else(ApiError::overloaded)?;
        if let Some(picture) = self.drawn.get(&key) {
            return Ok(picture);
        }
        let frame = PictureExtent::of(zones.read::<ZonesReply<'_>>()?.bbox);
        let mut tiles = Vec::new();
        for tile in frame.tiles() {
            let [z, x, y] = [tile.z().to_string(), tile.x().to_string(), tile.y().to_string()];
            let of = [("shortCode", short_code), ("z", &z), ("x", &x), ("y", &y)];
            tiles.push((
                tile,
                opened
                    .call(OperationCall {
                        wish: VisitorAction::MapPart,
                        of: &of,
                        ..OperationCall::read("gis-tile", &[])
                    })
                    .await?,
            ));
        }
        let began = Instant::now();
        let picture = opened.shell.service.heavy(move || picture(&frame, &zones, &tiles, look)).await?;
        opened.add_stage("draw", began.elapsed());
        self.drawn.put(key, picture.clone());
        Ok(picture)
    }
}

fn picture(
    frame: &PictureExtent,
    zones: &OperationReply,
    tiles: &[(TileAddress, OperationReply)],
    look: ColourScheme,
) -> Result<Picture, ApiError> {
    let layer: ZonesReply<'_> = zones.read()?;
    let tiles = tiles.iter().map(|(at, news)| Ok(drawn(frame, *at, &news.read()?, &layer, look)));
    let tiles = tiles.collect::<Result<Vec<_>, ApiError>>()?;
    let PictureExtent { width, height, .. } = frame;
    let picture = html! {
        svg xmlns="http://www.w3.org/2000/svg" width=(width) height=(height) viewBox={ "0 0 " (width) " " (height) } {
            (legend::definitions(look.ink()))
            @for tile in tiles { (tile) }
        }
    };
    let svg = Bytes::from(picture.into_string());
    let version = hex::encode(&Sha256::digest(&svg)[..16]);
    Ok(Picture { svg, version })
}

/// A tile as a nested SVG that slightly overlaps the neighbouring tiles.
fn drawn(
    frame: &PictureExtent,
    at: TileAddress,
    tile: &TileReply<'_>,
    layer: &ZonesReply<'_>,
    look: ColourScheme,
) -> Markup {
    let corner = |number: u32| i32::try_from(number).unwrap_or(0) * TILE_SIDE - OVERLAP;
    let side = TILE_SIDE + 2 * OVERLAP;
    let is_hatched = has_hatching(layer);
    let mut shapes = vec![String::new(); layer.categories.len()];
    let mut pending = String::new();
    for ((zone, category), rings) in tile.zones.iter().zip(&tile.categories).zip(&tile.rings) {
        let is_pending = is_hatched && layer.zones.get(*zone).is_some_and(|zone| zone.is_pending());
        let path: String = rings.iter().map(|ring| outlined(ring)).collect();
        if is_pending {
            pending += &path;
        }
        if let Some(shape) = shapes.get_mut(*category) {
            *shape += &path;
        }
    }
    html! {
        svg x=(corner(at.x()) - frame.west) y=(corner(at.y()) - frame.north) width=(side) height=(side)
            viewBox={ (-OVERLAP) " " (-OVERLAP) " " (side) " " (side) } {
            @for (category, shape) in shapes.iter().enumerate().filter(|(_, shape)| !shape.is_empty()) {
                // The fill is set on the group and not on the path, so that the `use` element below
                // can fill the same path with the pattern.
                g fill=(look.colours()[legend::colour(category)]) stroke=(look.ink()) stroke-width=".3" {
                    path id={ "c" (at.x()) "-" (at.y()) "-" (category) } d=(shape) {}
                }
                @if legend::pattern(category) > 0 {
                    use href={ "#c" (at.x()) "-" (at.y()) "-" (category) } fill={ "url(#p" (legend::pattern(category)) ")" } {}
                }
            }
            @if !pending.is_empty() { path d=(pending) fill="url(#hatch)" {} }
        }
    }
}

/// A ring in whole pixels. A ring smaller than a pixel is drawn as one pixel.
fn outlined(steps: &[i32]) -> String {
    let mut path = String::new();
    let (mut x, mut y) = (0, 0);
    let mut drawn: Option<(i32, i32)> = None;
    for step in steps.as_chunks::<2>().0 {
        (x, y) = (x + step[0], y + step[1]);
        let pixel = (x.div_euclid(PIXEL), y.div_euclid(PIXEL));
        match drawn {
            None => {
                let _ = write!(path, "M{} {}", pixel.0, pixel.1);
            }
            Some(last) if last == pixel => continue,
            Some(last) => {
                let _ = write!(path, "l{} {}", pixel.0 - last.0, pixel.1 - last.1);
            }
        }
        drawn = Some(pixel);
    }
    match path.matches('l').count() {
        _ if path.is_empty() => path,
        0 | 1 => path + "h1v1h-1z",
        _ => path + "z",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_layer_fits_its_picture_at_the_last_zoom_that_it_can() {
        let PictureExtent { z, width, height, .. } = PictureExtent::of([-87.94, 41.64, -87.52, 42.02]);
        assert!(width.max(height) <= SIDE_MAX + 2 * MARGIN + 1 && width.max(height) > SIDE_MAX / 2, "{width} {height}");
        assert_eq!(z, 9);
        assert!(PictureExtent::of([-87.94, 41.64, -87.52, 42.02]).tiles().count() <= 9);
        assert_eq!(PictureExtent::of([0.0, 0.0, 0.0, 0.0]).z, ZOOM_MAX, "a point");
        assert!(PictureExtent::of([-180.0, -90.0, 180.0, 90.0]).tiles().count() <= 4, "the world");
    }

    #[test]
    fn small_rings_keep_a_pixel() {
        assert_eq!(outlined(&[0, 0, 40, 0, 0, 40]), "M0 0l10 0l0 10z");
        assert_eq!(outlined(&[41, 41, 1, 0, 0, 1]), "M10 10h1v1h-1z");
        assert_eq!(outlined(&[]), "");
    }
}
