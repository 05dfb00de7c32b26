//! The addresses of tiles, and the meaning of their coordinates.

/// Number of units along the side of a tile. Maps draw a tile 512 pixels wide, so a unit is a quarter of a pixel.
pub const GRID: i32 = 2048;

/// Shapes are cut off this far outside the tile, so that cut edges are not visible.
pub const BUFFER: i32 = 64;

/// The highest zoom that has tiles. Beyond it, maps enlarge the tiles of this zoom.
pub const ZOOM_MAX: u8 = 18;

/// The address of a tile.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct TileAddress {
    z: u8,
    x: u32,
    y: u32,
}

impl TileAddress {
    /// Returns `None` if there is no such tile.
    pub fn new(z: u32, x: u32, y: u32) -> Option<Self> {
        let z = u8::try_from(z).ok().filter(|z| *z <= ZOOM_MAX)?;
        let side = 1 << z;
        (x < side && y < side).then_some(Self { z, x, y })
    }

    /// The nearest existing tile.
    pub(super) fn clamped(z: u8, x: u32, y: u32) -> Self {
        let z = z.min(ZOOM_MAX);
        let last = (1 << z) - 1;
        Self { z, x: x.min(last), y: y.min(last) }
    }

    pub const fn z(self) -> u8 {
        self.z
    }

    pub const fn x(self) -> u32 {
        self.x
    }

    pub const fn y(self) -> u32 {
        self.y
    }
}

/// A vertex, in units of the grid from the north-west corner of the tile.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Vertex {
    pub x: i32,
    pub y: i32,
}

/// A ring without its closing vertex. On the screen outer rings run clockwise and holes counter-clockwise.
pub type TileRing = Vec<Vertex>;
