//! Reads when a wording is law, as its source states it: dates, or a publisher's remark such as
//! `Effective until July 1, 2022`.
//!
//! Every importer parses remarks with this module and passes the result on. No importer decides
//! what is law: that depends on the day, and `hornbook_corpus::validity` decides it for all
//! sources. A remark that is not fully understood gives no date. It makes the validity of the
//! wording uncertain and is kept in the publisher's words.

use hornbook_corpus::outline::Status;
use serde::{Deserialize, Serialize};

use crate::pattern::Pattern;
use crate::values::is_date;

/// The remark of a wording that is law except while temporary amendments are in force. Its source names no day.
pub(crate) const PERMANENT: &str = "Permanent wording";

/// The time in which a wording is law, as a source states it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Effect {
    /// The first day on which it is law, as `2022-07-01`.
    pub from: Option<String>,
    /// The first day on which it is no longer law.
    pub to: Option<String>,
    /// Its status from that day on: `expired` unless the source states another.
    pub then: Option<Status>,
    /// The publisher's words, without the surrounding brackets.
    pub remark: Option<String>,
    /// The remark is not fully understood, so the days are unknown.
    pub uncertain: bool,
}

impl Effect {
    pub(crate) fn starting(from: Option<String>) -> Self {
        Self { from, ..Self::default() }
    }

    /// A wording whose validity depends on something that its source describes without giving a date.
    pub(crate) fn unknown(remark: impl Into<String>) -> Self {
        Self { remark: Some(remark.into()), uncertain: true, ..Self::default() }
    }

    /// Whether the source states anything about its validity.
    pub fn is_stated(&self) -> bool {
        *self != Self::default()
    }

    /// Whether it states a first or last day, or that the days are unknown.
    pub(crate) fn has_limits(&self) -> bool {
        self.uncertain || self.from.is_some() || self.to.is_some()
    }

    /// Combines the effect of a node with that of its container. The result begins with the later
    /// beginning and ends with the earlier end, unless the node's own remark states the end. It is
    /// uncertain if the node has no remark and ends after its container, or if it would end before
    /// it begins.
    #[must_use]
    pub(crate) fn within(self, container: &Self) -> Self {
        if self.uncertain || !container.has_limits() {
            return self;
        }
        let outlives = self.remark.is_none() && container.to.is_some() && self.to > container.to;
        let begins_later = self.from < container.from;
        let ends_earlier = self.to.is_none() && container.to.is_some();
        let from = if begins_later { container.from.clone() } else { self.from };
        let (to, then) = if ends_earlier { (container.to.clone(), container.then) } else { (self.to, self.then) };
        let never = from.is_some() && to.is_some() && from >= to;
        let uncertain = container.uncertain || outlives || never;
        let is_said_by_container = uncertain || begins_later || ends_earlier;
        let remarks = self.remark.into_iter().chain(container.remark.clone().filter(|_| is_said_by_container));
        let remarks: Vec<String> = remarks.collect();
        let remark = (!remarks.is_empty()).then(|| remarks.join("; "));
        if uncertain {
            return Self { remark, uncertain, ..Self::default() };
        }
        Self { from, to, then, remark, uncertain }
    }

    /// Combines two remarks on one wording. The result is uncertain if they give different days for
    /// the same limit.
    #[must_use]
    pub(crate) fn and(self, other: Self) -> Self {
        let both = |a: &Option<String>, b: &Option<String>| a.is_some() && b.is_some() && a != b;
        let contradict = both(&self.from, &other.from) || both(&self.to, &other.to);
        let remarks: Vec<String> = self.remark.into_iter().chain(other.remark).collect();
        let remark = (!remarks.is_empty()).then(|| remarks.join("; "));
        if self.uncertain || other.uncertain || contradict {
            return Self { remark, uncertain: true, ..Self::default() };
        }
        Self {
            from: self.from.or(other.from),
            to: self.to.or(other.to),
            then: self.then.or(other.then),
            remark,
            uncertain: false,
        }
    }
}

/// The days that a remark states: from, to, and the status that follows.
type StatedDays = (Option<String>, Option<String>, Option<Status>);

/// A pattern for remarks, and the meaning of its dates, in the order in which they are written.
struct RemarkPattern {
    /// Matches the whole remark, in any case. `DATE` is replaced by a pattern for dates.
    pattern: &'static str,
    days: fn(&[String]) -> Option<StatedDays>,
}

/// Every pattern of remark that is understood.
const REMARK_PATTERNS: [RemarkPattern; 20] = [
    RemarkPattern {
        pattern: r"(?:effective(?: on| as of| from| beginning| on and after| from and after)?|(?:on|from) and after) DATE",
        days: |dates| Some((Some(dates[0].clone()), None, None)),
    },
    RemarkPattern {
        pattern: r"(?:effective )?(?:until|till|before|prior to) DATE",
        days: |dates| Some((None, Some(dates[0].clone()), None)),
    },
    RemarkPattern {
        pattern: r"(?:effective )?until DATE[.,;] (?:recodified|renumbered|transferred) (?:as|to) [A-Z§][\w.:§ -]{2,60}",
        days: |dates| Some((None, Some(dates[0].clone()), Some(Status::Transferred))),
    },
    RemarkPattern {
        pattern: r"(?:effective )?through DATE",
        days: |dates| Some((None, Some(day_after(&dates[0])?), None)),
    },
    RemarkPattern {
        pattern: r"effective(?: from)? DATE,?;?(?: and)? (?:(?:effective )?until|till|to|expires|expiring)(?: on)? DATE",
        days: |dates| (dates[0] < dates[1]).then(|| (Some(dates[0].clone()), Some(dates[1].clone()), None)),
    },
    RemarkPattern {
        pattern: r"effective(?: from)? DATE,? through DATE",
        days: |dates| {
            let to = day_after(&dates[1]).filter(|to| dates[0] < *to)?;
            Some((Some(dates[0].clone()), Some(to), None))
        },
    },
    RemarkPattern {
        pattern: r"(?:expires|expired|terminates|expiration)(?: effective| on|:)? DATE",
        days: |dates| Some((None, Some(dates[0].clone()), Some(Status::Expired))),
    },
    RemarkPattern {
        // By a wording that this copy may lack.
        pattern: r"superseded(?: effective| on)? DATE",
        days: |dates| Some((None, Some(dates[0].clone()), Some(Status::Uncertain))),
    },
    RemarkPattern {
        pattern: r"(?:repealed|repeal),? (?:effective|on)(?: on)? DATE",
        days: |dates| Some((None, Some(dates[0].clone()), Some(Status::Repealed))),
    },
    RemarkPattern {
        pattern: r"(?:repealed|expires),? (?:effective )?after DATE",
        days: |dates| Some((None, Some(day_after(&dates[0])?), Some(Status::Repealed))),
    },
    RemarkPattern {
        pattern: r"repealed effective DATE; effective until DATE",
        days: |dates| follows(&dates[1], &dates[0]).then(|| (None, Some(dates[0].clone()), Some(Status::Repealed))),
    },
    RemarkPattern {
        pattern: r"renumbered (?:to|from) [^,]+, effective DATE",
        days: |dates| Some((Some(dates[0].clone()), None, None)),
    },
    // A pair of wordings, each of which names the day of the other.
    RemarkPattern {
        pattern: r"effective until DATE\. for \w+ effective DATE, see below",
        days: |dates| follows(&dates[0], &dates[1]).then(|| (None, Some(dates[1].clone()), None)),
    },
    RemarkPattern {
        pattern: r"effective DATE\. for \w+ effective until DATE, see above",
        days: |dates| follows(&dates[1], &dates[0]).then(|| (Some(dates[0].clone()), None, None)),
    },
    RemarkPattern {
        pattern: r"effective DATE,? and repealed(?: on)? DATE",
        days: |dates| {
            (dates[0] < dates[1]).then(|| (Some(dates[0].clone()), Some(dates[1].clone()), Some(Status::Repealed)))
        },
    },
    RemarkPattern {
        pattern: r"repealed(?: on)? DATE",
        days: |dates| Some((None, Some(dates[0].clone()), Some(Status::Repealed))),
    },
    RemarkPattern {
        pattern: r"(?:(?:first|last) )?(?:sub(?:section|paragraph|division)|paragraph|clause)s?(?: \([^;]*?)? repealed(?: effective| on)? DATE",
        days: |dates| Some((None, Some(dates[0].clone()), Some(Status::Uncertain))),
    },
    // The earlier wording returns on that day, but the source does not print it.
    RemarkPattern {
        pattern: r"repeal and reenactment on DATE",
        days: |dates| Some((None, Some(dates[0].clone()), Some(Status::Uncertain))),
    },
    // A repeal that another act took back.
    RemarkPattern {
        pattern: r"repeal(?: and reenactment)?(?: of section)? on DATE,? by .{2,120},? deleted by .{2,60}",
        days: |_| Some((None, None, None)),
    },
    // A proposed amendment changes nothing.
    RemarkPattern { pattern: r"proposed amendment", days: |_| Some((None, None, None)) },
];

/// Reads a remark without its brackets. None if it is not about the time in which a wording is law.
pub(crate) fn read(remark: &str) -> Option<Effect> {
    let remark = remark.trim();
    if !is_about_validity(remark) {
        return None;
    }
    let words = remark.split_whitespace().collect::<Vec<_>>().join(" ");
    let Some((from, to, then)) = REMARK_PATTERNS.iter().find_map(|form| form.read(without_lead_and_tail(&words)))
    else {
        return Some(Effect::unknown(remark));
    };
    Some(Effect { from, to, then, remark: Some(remark.to_owned()), uncertain: false })
}

impl RemarkPattern {
    fn read(&self, words: &str) -> Option<StatedDays> {
        let whole = Pattern::fixed(&format!("(?i)^{}$", self.pattern).replace("DATE", DATE));
        let found = whole.captures(words)?;
        // A date that is not a calendar day makes the remark uncertain.
        let dates: Option<Vec<String>> = found.iter().skip(1).flatten().map(|date| date_in(date.as_str())).collect();
        (self.days)(&dates?)
    }
}

/// Whether a wording that is law until `last` is followed by one that is law from `next` on. Some
/// sources name the same day in both, others the last day of the first.
fn follows(last: &str, next: &str) -> bool {
    last == next || day_after(last).is_some_and(|day| day == next)
}

/// A remark without its introduction and its trailing reference or act:
/// `Section 753 effective until July 1, 2022; see also ...`, `Section repealed July 1, 2022. L 2020, c 4, §2.`
fn without_lead_and_tail(words: &str) -> &str {
    let words = Pattern::fixed(
        r"(?i)^(?:note: |editor.s note: )?(?:this version of )?(?:this )?(?:section|sec\.|§|article|chapter|subchapter|part|title)(?: [\w.:-]*\d[\w.:-]*)?(?: is)? ",
    )
    .find(words)
    .map_or(words, |lead| &words[lead.end()..]);
    let tail = Pattern::fixed(concat!(
        r"[;,.]? (?i:see,? also),? .*$|\. L (?:Sp )?\d{4},? c \d[^.]*\.?$",
        // A reference to a note that explains the day.
        r"|(?:[;,.]| ?[—–-]) ?(?i:see (?:the )?(?:[\w/’']+ ){0,3}notes?)\.?$",
        r"|,? (?i:this section (?:will|shall) read(?: as follows)?:?)$",
    ));
    let end = tail.find(words).map_or(words.len(), |tail| tail.start());
    words[..end].trim_end_matches(['.', ';', ',', ' '])
}

/// Whether a remark is about the time in which a wording is law, judged by its first words, which
/// never begin the law itself.
fn is_about_validity(remark: &str) -> bool {
    let begins = Pattern::fixed(concat!(
        r"(?i)^(?:effective\b|contingent|delayed (?:effective|expiration)|expires\b|expired,? (?:effective|on)|expiration\b",
        r"|terminates\b|superseded \d|until\b|through (?:January|February|March|April|May|June|July|August|September|October|November|December)",
        r"|(?:(?:first|last) )?(?:sub(?:section|paragraph|division)|paragraph|clause)s?(?: \([^;]*)? repealed (?:effective|on)\b",
        r"|(?:on|from) and after \w+ \d{1,2},? \d{4},? this section (?:shall|will) read\b",
        r"|repeal(?:ed)?,? (?:effective|on)\b|repealed \d{1,2}/|renumbered (?:to|from) [^,]+, effective\b",
        r"|for (?:contingent |delayed )?(?:effective|expiration|termination|repeal)\b|for contingent\b",
        r"|see (?:editor.s notes?|effective date)\b|proposed amendment\b",
        r"|(?:note: |editor.s note: )?(?:this version of )?(?:this )?(?:section|§)(?: [\w.:-]*\d[\w.:-]*)? (?:is )?",
        r"(?:effective|expires|terminates|repealed,? (?:effective|upon|(?:on )?[A-Z][a-z]+ \d+))\b",
        r"|repeal (?:and reenactment |of section )+on\b",
        r"|text of (?:sub)?section (?:effective|until)\b",
        // Several acts of one session, each unaware of the others: every wording is law, as far as possible.
        r"|as amended by \d{4} c \d)",
    ));
    begins.is_match(remark)
}

/// Reads the remarks in brackets before and after a heading. Also returns the heading without them.
pub(crate) fn of_heading(heading: &str) -> (Effect, String) {
    let (mut effect, mut rest) = (Effect::default(), heading.trim());
    while let Some((found, after)) = leading(rest) {
        (effect, rest) = (effect.and(found), after);
    }
    let mut behind = Effect::default();
    while let Some((found, before)) = trailing(rest) {
        (behind, rest) = (found.and(behind), before);
    }
    (effect.and(behind), rest.to_owned())
}

fn leading(heading: &str) -> Option<(Effect, &str)> {
    let close = if heading.starts_with('(') { ')' } else { heading.starts_with('[').then_some(']')? };
    let (remark, rest) = heading[1..].split_once(close)?;
    let rest = rest.trim_start_matches(['.', ' ']);
    // A heading that consists only of a remark keeps it, because it has no other words.
    (!rest.is_empty()).then(|| Some((read(remark)?, rest)))?
}

fn trailing(heading: &str) -> Option<(Effect, &str)> {
    let bare = heading.trim_end_matches(['.', ' ']);
    let open = if bare.ends_with(')') { '(' } else { bare.ends_with(']').then_some('[')? };
    let (before, remark) = bare[..bare.len() - 1].rsplit_once(open)?;
    let before = before.trim_end();
    (!before.is_empty()).then(|| Some((read(remark)?, before)))?
}

/// Reads whether a part of a text is law at another time than the rest, so that the whole section is
/// not known for any day.
pub(crate) fn of_text(text: &str) -> Effect {
    if !["ffective", "xpires", "xpiration", "[Repeal", " repealed "].iter().any(|word| text.contains(word)) {
        return Effect::default();
    }
    let of_part = Pattern::fixed(concat!(
        r"\b(?:Sub(?:section|division|paragraph|sec\.|div\.)s?|Paragraphs?) ?\(\w[^.;]{0,40}\) ",
        r"(?:(?:as currently|contingently|repealed|until|and) )*effective\b[^.;\]]*(?:; see [^.;\]]*)?",
        r"|[(\[](?:(?:Effective|Repealed effective|Expires)(?: until| through| from| on)? [A-Z][a-z]{2,8}\.? \d",
        r"|Contingent(?:ly)? (?:effective|expiration)|For (?:contingent )?(?:effective|expiration|repeal) date)[^)\]]*[)\]]",
        r"|\[(?:Sub(?:section|division|paragraph)|Paragraph|Clause|Definition) (?:deleted )?effective\b[^\]]*\]",
    ));
    match of_part.find(text) {
        Some(words) => Effect::unknown(words.as_str().trim_matches(['(', ')', '[', ']', ' '])),
        None => end_of_part(text).unwrap_or_default(),
    }
}

/// The first day on which a part of a text ends, if a remark in the text states it: `(b) [Repeal and
/// reenactment on June 30, 2028. L 2023, c 148.] A person ...`. What is law from that day on is uncertain.
fn end_of_part(text: &str) -> Option<Effect> {
    let form = Pattern::fixed(&format!(
        r"\[((?:Repeal and reenactment on|(?:Sub(?:section|division|paragraph)|Paragraph|Clause|Definition) repealed(?: on)?) {DATE}[^\]]*)\]"
    ));
    let ends = form.captures_iter(text).filter(|found| !found[1].contains(" deleted by "));
    let first = ends.map(|found| (date_in(&found[2]), found[1].to_owned())).min()?;
    let (Some(day), remark) = first else { return Some(Effect::unknown(first.1)) };
    Some(Effect { to: Some(day), then: Some(Status::Uncertain), remark: Some(remark), ..Effect::default() })
}

/// The remark in the heading of an order, which has no section number: `Expires by its own terms on
/// December 31, 2027 unless extended by the Governor.`
pub(crate) fn within_heading(heading: &str) -> Effect {
    let form = Pattern::fixed(r"\b((?:Terminates|Expires|Effective until) [^.(\[]*\b(?:19|20)\d\d\b[^.(\[]*)\.");
    form.captures(heading).and_then(|found| read(&found[1])).unwrap_or_default()
}

pub(crate) const DATE: &str = r"((?:[A-Z][a-z]{2,8}\.? \d{1,2},? \d{4})|\d{4}-\d\d-\d\d|\d{1,2}/\d{1,2}/\d{2,4})";

/// The first date in words such as `Effective July 1, 2027` or `eff. Sept. 1, 2027`, as `2027-07-01`.
pub(crate) fn date_in(words: &str) -> Option<String> {
    const MONTHS: [&str; 12] = [
        "january",
        "february",
        "march",
        "april",
        "may",
        "june",
        "july",
        "august",
        "september",
        "october",
        "november",
        "december",
    ];
    if let Some(date) = Pattern::fixed(r"^\d{4}-\d\d-\d\d$").find(words) {
        return Some(date.as_str().to_owned()).filter(|date| is_date(date));
    }
    // A two-digit year is read as a year of this century, up to 49; others are not understood.
    if let Some(date) = Pattern::fixed(r"^(\d{1,2})/(\d{1,2})/(?:20)?([0-4]\d)$").captures(words) {
        let [month, day] = [1, 2].map(|group| date[group].parse::<u32>().unwrap_or_default());
        return Some(format!("20{}-{month:02}-{day:02}", &date[3])).filter(|date| is_date(date));
    }
    let date = Pattern::fixed(r"([A-Za-z]{3,9})\.? (\d{1,2}),? (\d{4})").captures(words)?;
    let month = 1 + MONTHS.iter().position(|month| month.starts_with(&date[1].to_ascii_lowercase()))?;
    let day: u32 = date[2].parse().ok()?;
    Some(format!("{}-{month:02}-{day:02}", &date[3])).filter(|date| is_date(date))
}

pub(crate) fn day_after(date: &str) -> Option<String> {
    let date: jiff::civil::Date = date.parse().ok()?;
    date.tomorrow().ok().map(|next| next.to_string())
}

#[cfg(test)]
mod tests;
