//! Tests the builder from outside: one test program for whole snapshots.

mod account;
mod acts_real;
mod bounds;
mod cfr;
mod cfr_real;
mod common;
mod corpora;
mod crosswalk_real;
mod damage;
mod edition_days;
#[cfg(feature = "encoder")]
mod encoder;
mod extracts;
mod golden;
mod hashed_sources;
mod html_words;
mod imported;
mod law_in_time;
mod loss;
mod municipal_html;
mod mutations;
#[cfg(not(feature = "encoder"))]
mod no_encoder;
mod open_law;
mod open_law_golden;
mod open_law_others;
mod open_law_references;
mod open_law_small;
mod open_law_source;
mod open_law_words;
mod page_json;
mod plain_text;
mod plan_fit;
mod read_by_eye;
mod real_counts;
mod real_law;
mod references;
mod repeatable;
mod sample;
mod state_html;
mod state_json;
mod state_json_words;
mod state_key_compare;
mod state_plans;
mod state_readings;
mod stray_words;
mod stripped;
mod table_spans;
#[cfg(feature = "encoder")]
mod tiny_encoder;
mod uslm;
mod uslm_details;
mod uslm_real;
mod wordings_real;
mod words;
mod zoning_real;

#[path = "../../../fuzz/damage.rs"]
mod damages;
#[path = "../../../fuzz/walk.rs"]
#[expect(dead_code, reason = "the fuzz target uses the other half")]
mod walk;
