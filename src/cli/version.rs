//! `hornbook --version`: which source, features and target this program was compiled from.

use std::sync::LazyLock;

/// The version, and a line for each of these. The build script knows the commit of releases only.
static LONG_VERSION: LazyLock<String> = LazyLock::new(|| {
    let commit = option_env!("BUILD_COMMIT").unwrap_or("not known");
    let features = [("encoder", cfg!(feature = "encoder")), ("postgres", cfg!(feature = "postgres"))];
    let features: Vec<&str> = features.into_iter().filter(|(_, is_on)| *is_on).map(|(name, _)| name).collect();
    let features = if features.is_empty() { "none".to_owned() } else { features.join(", ") };
    format!("{}\ncommit: {commit}\nfeatures: {features}\ntarget: {}", env!("CARGO_PKG_VERSION"), env!("BUILD_TARGET"))
});

pub(super) fn long_version() -> &'static str {
    &LONG_VERSION
}
