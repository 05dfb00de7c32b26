//! The output of `hornbook --help`: the commands grouped by purpose.

use std::fmt::Write;

use clap::Command;

/// Every visible command, once.
const GROUPS: [(&str, &[&str]); 8] = [
    ("Bring law here", &["sources", "fetch", "update"]),
    ("Make a snapshot", &["example", "build", "verify", "inspect", "diff", "snapshot"]),
    ("Use a snapshot", &["search", "resolve", "suggest", "check"]),
    ("Run the service", &["serve", "mcp", "reload", "healthcheck", "config"]),
    ("Manage customers", &["inbox", "account", "key", "grant", "purchase", "order", "ledger"]),
    ("Keep the state safe", &["backup", "restore", "state", "audit"]),
    ("Measure", &["eval", "bench"]),
    ("Set up the shell", &["completions", "man"]),
];

/// Lists the commands in groups instead of one list.
pub(super) fn grouped(command: Command) -> Command {
    let mut list = String::new();
    for (title, names) in GROUPS {
        // Writing to a string cannot fail.
        let _ = writeln!(list, "{title}:");
        for name in names {
            let about = command.find_subcommand(name).and_then(Command::get_about).map(ToString::to_string);
            let _ = writeln!(list, "  {name:<12} {}", about.unwrap_or_default());
        }
        list.push('\n');
    }
    let template = format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{list}Options of every command:\n{{options}}\n\n\
         'hornbook COMMAND --help' explains a command. 'hornbook config explain' lists the settings.\n"
    );
    command.help_template(template)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::command_line;

    #[test]
    fn clap_accepts_the_command_line() {
        command_line().debug_assert();
    }

    #[test]
    fn every_command_is_in_one_group_and_every_group_lists_commands() {
        let mut grouped: Vec<&str> = GROUPS.iter().flat_map(|(_, names)| names.iter().copied()).collect();
        let command = command_line();
        let shown = command.get_subcommands().filter(|command| !command.is_hide_set());
        let mut shown: Vec<&str> = shown.map(Command::get_name).collect();
        grouped.sort_unstable();
        shown.sort_unstable();
        assert_eq!(grouped, shown);
        let help = command_line().render_help().to_string();
        for line in [
            "Make a snapshot:\n  example      Write an example to start from: a plan and law of your own\n",
            "--actor <NAME>",
            "[default: data]",
        ] {
            assert!(help.contains(line), "no '{line}' in:\n{help}");
        }
    }

    /// Collects the commands and arguments that have no help. `path` contains the names of the
    /// parent commands.
    fn without_help(command: &Command, path: &str, found: &mut Vec<String>) {
        let path = format!("{path} {}", command.get_name());
        if command.get_about().is_none() {
            found.push(path.clone());
        }
        for argument in command.get_arguments().filter(|argument| argument.get_help().is_none()) {
            found.push(format!("{path}: {}", argument.get_id()));
        }
        command.get_subcommands().for_each(|command| without_help(command, &path, found));
    }

    #[test]
    fn every_command_and_every_argument_has_help() {
        let mut found = Vec::new();
        without_help(&command_line(), "", &mut found);
        assert_eq!(found, Vec::<String>::new());
    }

    /// A summary fits on its line, begins with a capital letter and has no full stop, as is usual
    /// in help texts.
    #[test]
    fn summaries_are_short_and_alike() {
        fn check(command: &Command) {
            let about = command.get_about().map(ToString::to_string).unwrap_or_default();
            assert!(about.len() <= 80 && !about.ends_with('.') && !about.contains('\n'), "{about}");
            assert!(about.starts_with(|c: char| c.is_uppercase()), "{about}");
            command.get_subcommands().for_each(check);
        }
        check(&command_line());
    }
}
