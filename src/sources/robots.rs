//! Reads `robots.txt` as RFC 9309 specifies.

use std::time::Duration;

/// The product name of our user agent.
const OUR_NAME: &str = "hornbook";
/// Maximum number of bytes that are read. RFC 9309 requires a limit of at least 500 KiB.
pub(crate) const ROBOTS_BYTES_MAX: usize = 512 << 10;
/// The longest delay between requests that a host may ask for.
const DELAY_MAX: Duration = Duration::from_secs(60);

/// The rules of one host for us.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Robots {
    rules: Vec<Rule>,
    delay: Option<Duration>,
}

#[derive(Clone, Debug, PartialEq)]
struct Rule {
    is_allowed: bool,
    pattern: String,
}

/// The rules of one group, and its user agents.
#[derive(Default)]
struct Group {
    names_us: bool,
    names_all: bool,
    /// Another `User-agent` line after these begins a new group.
    has_rules: bool,
    robots: Robots,
}

impl Robots {
    /// The rules of the groups that name us, or else of those for all programs.
    pub(crate) fn parse(text: &str) -> Self {
        let mut groups = vec![Group::default()];
        for line in text.trim_start_matches('\u{feff}').lines() {
            let line = line.split('#').next().unwrap_or_default();
            let Some((field, value)) = line.split_once(':') else { continue };
            let (field, value) = (field.trim().to_ascii_lowercase(), value.trim());
            if field == "user-agent" && groups.last().is_some_and(|group| group.has_rules) {
                groups.push(Group::default());
            }
            if let Some(group) = groups.last_mut() {
                group.take(&field, value);
            }
        }
        let named = groups.iter().any(|group| group.names_us);
        let ours = groups.into_iter().filter(|group| if named { group.names_us } else { group.names_all });
        ours.fold(Self::default(), |mut all, group| {
            all.rules.extend(group.robots.rules);
            all.delay = all.delay.max(group.robots.delay);
            all
        })
    }

    /// Rules that forbid every path.
    pub(crate) fn refuse_all() -> Self {
        Self { rules: vec![Rule { is_allowed: false, pattern: "/".to_owned() }], delay: None }
    }

    /// The longest matching pattern decides; of equally long ones, the one that allows.
    pub(crate) fn allows(&self, path: &str) -> bool {
        let matching = self.rules.iter().filter(|rule| matches(&rule.pattern, path));
        matching.max_by_key(|rule| (rule.pattern.len(), rule.is_allowed)).is_none_or(|rule| rule.is_allowed)
    }

    /// The delay between requests that the host asks for.
    pub(crate) fn delay(&self) -> Duration {
        self.delay.unwrap_or_default()
    }
}

impl Group {
    fn take(&mut self, field: &str, value: &str) {
        match field {
            "user-agent" => {
                let name = value.split('/').next().unwrap_or_default();
                self.names_us |= name.eq_ignore_ascii_case(OUR_NAME);
                self.names_all |= value == "*";
            }
            "allow" | "disallow" => {
                self.has_rules = true;
                // An empty value is no rule: 'Disallow:' allows everything.
                if !value.is_empty() {
                    let rule = Rule { is_allowed: field == "allow", pattern: value.to_owned() };
                    self.robots.rules.push(rule);
                }
            }
            "crawl-delay" => {
                self.has_rules = true;
                let seconds = value.parse::<f64>().ok().filter(|seconds| seconds.is_finite() && *seconds >= 0.0);
                let delay = seconds.map(|seconds| Duration::from_secs_f64(seconds.min(DELAY_MAX.as_secs_f64())));
                self.robots.delay = self.robots.delay.max(delay);
            }
            _ => {}
        }
    }
}

/// `*` stands for any characters, `$` at the end for the end of the path.
fn matches(pattern: &str, path: &str) -> bool {
    let (pattern, is_anchored) = pattern.strip_suffix('$').map_or((pattern, false), |pattern| (pattern, true));
    let mut parts = pattern.split('*');
    let Some(mut rest) = parts.next().and_then(|first| path.strip_prefix(first)) else { return false };
    let parts: Vec<&str> = parts.collect();
    for (number, part) in parts.iter().enumerate() {
        if is_anchored && number + 1 == parts.len() {
            return rest.ends_with(part);
        }
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    !is_anchored || rest.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_rule_decides() {
        let robots = Robots::parse(
            "# a comment\nUser-agent: *\nDisallow: /private # not for us\nAllow: /private/law\nDisallow: /*.pdf$\nDisallow:\n",
        );
        for (path, allowed) in [
            ("/", true),
            ("/private", false),
            ("/private/x", false),
            ("/private/law/1.zip", true),
            ("/a/b.pdf", false),
            ("/a/b.pdf?x", true),
            ("/a/b.pdf.zip", true),
        ] {
            assert_eq!(robots.allows(path), allowed, "{path}");
        }
    }

    #[test]
    fn a_group_that_names_us_counts_instead_of_that_for_all() {
        let text =
            "User-agent: other\nUser-agent: HornBook/1\nDisallow: /a\nCrawl-delay: 2.5\n\nUser-agent: *\nDisallow: /\n";
        let robots = Robots::parse(text);
        assert!(robots.allows("/b") && !robots.allows("/a"));
        assert_eq!(robots.delay(), Duration::from_millis(2500));
        assert!(!Robots::parse("User-agent: *\nDisallow: /\n").allows("/b"));
        assert!(Robots::parse("User-agent: other\nDisallow: /\n").allows("/b"), "a group for others is not ours");
    }

    #[test]
    fn what_is_no_robots_file_forbids_nothing() {
        for text in ["", "<html>not found</html>", "Disallow", "User-agent: *\nDisallow:\nCrawl-delay: -1\n"] {
            let robots = Robots::parse(text);
            assert!(robots.allows("/x") && robots.delay() == Duration::ZERO, "{text}");
        }
        assert_eq!(Robots::parse("User-agent: *\nCrawl-delay: 1e300").delay(), DELAY_MAX);
        assert!(!Robots::refuse_all().allows("/x"));
    }

    #[test]
    fn patterns_match_from_the_beginning() {
        for (pattern, path, expected) in [
            ("/a", "/ab", true),
            ("/a$", "/ab", false),
            ("/a$", "/a", true),
            ("/*/archive/*", "/o/r/archive/x.zip", true),
            ("/*b$", "/abab", true),
            ("*", "/x", true),
            ("/a*b*c", "/a1c2b3", false),
        ] {
            assert_eq!(matches(pattern, path), expected, "{pattern} {path}");
        }
    }
}
