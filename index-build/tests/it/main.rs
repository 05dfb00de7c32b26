//! The builder from outside: one program of tests over whole snapshots.

mod common;
mod damage;
mod real_law;
mod references;
mod repeatable;
mod sample;
mod zoning_real;
