//! One operation in each file: the types of its answer, what only it checks, and its work.

pub(super) mod browse;
pub(super) mod checkout;
pub(super) mod code_bodies;
pub(super) mod coverage;
pub(super) mod formation_status;
pub(super) mod gis;
pub(super) mod gis_at;
pub(super) mod me;
pub(super) mod node;
pub(super) mod nodes;
pub(super) mod references;
pub(super) mod resolve;
pub(super) mod search;
pub(super) mod suggest;
