//! The real program: administered with and without a running server, backed up under load, and
//! killed repeatedly while clients call it over HTTP.
//!
//! `HORNBOOK_TEST_KILLS` sets how often it is killed under load; the default is 12.

mod commands;
mod fixture;
mod kills;
mod restore;
