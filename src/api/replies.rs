//! The replies of the operations, as the service writes them and as pages and tests read them.

pub use super::corpus::NodeLink;
pub use super::endpoints::browse::{BrowseReply, Child};
pub use super::endpoints::changes::{ChangeItem, ChangesReply};
pub use super::endpoints::check::CheckReply;
pub use super::endpoints::code_bodies::{CodeBodiesReply, CodeBodyReply};
pub use super::endpoints::coverage::{CoverageReply, CoveredBodyReply, JurisdictionReply};
pub use super::endpoints::gis_at::{PointReply, ZoneAtPointReply};
pub use super::endpoints::gis_tile::TileReply;
pub use super::endpoints::gis_zones::{CategoryReply, SourceReply, TilesReply, ZoneReply, ZonesReply};
pub use super::endpoints::history::{EditionReply, HistoryReply};
pub use super::endpoints::node::{NodeReply, NoteReply, Provenance, WordingReply};
pub use super::endpoints::node_diff::{DatedWording, DiffReply};
pub use super::endpoints::purchase::PurchaseReply;
pub use super::endpoints::references::{NodeReferences, ReferenceList, ReferencesReply};
pub use super::endpoints::resolve::{LinkedCandidate, ResolveReply};
pub use super::endpoints::search::{FacetsReply, JurisdictionCount, NotHere, SearchReply, SearchResultItem, TagCount};
pub use super::endpoints::suggest::{SuggestReply, SuggestionReply};
pub use super::endpoints::verify_quote::VerifyReply;
pub use super::endpoints::watch_reports::{WatchReportReply, WatchReportsReply, WatchedChangeReply};
pub use super::endpoints::watches::{WatchReply, WatchesReply};
