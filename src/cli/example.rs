//! `hornbook example`: writes a small example to start from.

use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use serde_json::json;

use crate::cli::output::{print, print_json};
use crate::cli::{CommandResult, GlobalOptions};

/// Write an example to start from: a plan and law of your own
///
/// 'hornbook example own-law' writes a plan and three lines of law into the folder own-law. Change both to
/// your law, then build and serve it. Existing files are never overwritten.
#[derive(Debug, Args)]
pub(crate) struct Example {
    /// Which example
    name: ExampleName,

    /// Folder to write it into [default: a folder with the name of the example]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum ExampleName {
    /// A plan, and a title with two sections
    OwnLaw,
}

impl ExampleName {
    const fn folder(self) -> &'static str {
        match self {
            Self::OwnLaw => "own-law",
        }
    }

    /// Names and contents of the files. The first is the plan.
    const fn files(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Self::OwnLaw => &[
                ("plan.toml", include_str!("../../corpus/own-law/plan.toml")),
                ("code.jsonl", include_str!("../../corpus/own-law/code.jsonl")),
            ],
        }
    }
}

impl Example {
    pub(super) fn run(self, options: &GlobalOptions) -> CommandResult {
        let folder = self.out.unwrap_or_else(|| PathBuf::from(self.name.folder()));
        let files = self.name.files();
        let paths: Vec<PathBuf> = files.iter().map(|(name, _)| folder.join(name)).collect();
        // Nothing is written if a file is in the way.
        if let Some(existing) = paths.iter().find(|path| path.symlink_metadata().is_ok()) {
            return Err(in_the_way(existing).into());
        }
        fs::create_dir_all(&folder).map_err(|error| format!("cannot create {}: {error}", folder.display()))?;
        for (path, (_, content)) in paths.iter().zip(files) {
            write_new(path, content)?;
        }
        if options.json {
            return print_json(&json!({ "written": paths, "plan": paths[0] }));
        }
        let names: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
        let plan = &names[0];
        print(&format!(
            "wrote {}\n\nNext:\n  hornbook build {plan} --check    # reports every error, writes nothing\n  \
             hornbook build {plan}            # makes it the current snapshot\n  hornbook search 'dogs on a leash'\n  \
             hornbook serve\n",
            names.join(" and ")
        ))
    }
}

fn write_new(path: &Path, content: &str) -> Result<(), String> {
    let file = OpenOptions::new().write(true).create_new(true).open(path);
    file.and_then(|mut file| file.write_all(content.as_bytes())).map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => in_the_way(path),
        _ => format!("cannot write {}: {error}", path.display()),
    })
}

fn in_the_way(path: &Path) -> String {
    format!("{} already exists and stays as it is; choose another folder with --out", path.display())
}
