//! Checking documents: judged briefs, with the right answer marked at each citation and quotation.

mod judged;

#[path = "../support/sample.rs"]
mod sample;
