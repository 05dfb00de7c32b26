//! `include`: what an answer with a provision contains besides its law.

use schemars::Schema;
use serde_json::Value;

use crate::api::parameters::{AnyOf, Choice, Param};

pub(in crate::api) const INCLUDE: Param<Option<AnyOf<IncludedPart>>> =
    Param::optional("include", "what comes with the law; law alone: nothing else; default: everything");

/// A part of an answer. The law is always in it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::api) enum IncludedPart {
    Law,
    Notes,
    Credits,
    References,
    Wordings,
}

impl IncludedPart {
    const ALL: [Self; 5] = [Self::Law, Self::Notes, Self::Credits, Self::References, Self::Wordings];

    pub(super) fn name(self) -> &'static str {
        Self::NAMES[self as usize]
    }

    /// The members of a node with this part, if the part is whole members.
    const fn members(self) -> &'static [&'static str] {
        match self {
            Self::Law | Self::Wordings => &[],
            Self::Notes => &["notes"],
            Self::Credits => &["sourceCredit", "formerly", "parallelCitations"],
            Self::References => &["references"],
        }
    }
}

impl Choice for IncludedPart {
    const NAMES: &'static [&'static str] = &["law", "notes", "credits", "references", "wordings"];

    fn at(place: usize) -> Option<Self> {
        Self::ALL.get(place).copied()
    }
}

/// The members of another wording that are left out with the wordings.
pub(super) const WORDING_MEMBERS: [&str; 4] = ["text", "sourceCredit", "notes", "sourceUrl"];

/// Makes the members that may be left out optional in the schema of a node.
pub(super) fn optional_in_node(schema: &mut Schema) {
    make_optional(schema, &IncludedPart::ALL.map(IncludedPart::members).concat());
}

/// The same for another wording of a node.
pub(super) fn optional_in_wording(schema: &mut Schema) {
    make_optional(schema, &WORDING_MEMBERS);
}

fn make_optional(schema: &mut Schema, names: &[&str]) {
    if let Some(required) = schema.get_mut("required").and_then(Value::as_array_mut) {
        required.retain(|name| !name.as_str().is_some_and(|name| names.contains(&name)));
    }
}

/// The parts that a call wants.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::api) struct Included([bool; IncludedPart::ALL.len()]);

impl Included {
    pub(super) const ALL: Self = Self([true; IncludedPart::ALL.len()]);

    /// Everything, if the call names no part.
    pub(super) fn of(named: Option<Vec<IncludedPart>>) -> Self {
        named.map_or(Self::ALL, |named| {
            Self(IncludedPart::ALL.map(|part| part == IncludedPart::Law || named.contains(&part)))
        })
    }

    pub(super) fn has(self, part: IncludedPart) -> bool {
        self.0[part as usize]
    }

    /// The names of the parts that are left out, of those that the node has.
    pub(super) fn left_out(self, exist: &[(IncludedPart, bool)]) -> Vec<&'static str> {
        exist.iter().filter(|(part, exists)| *exists && !self.has(*part)).map(|(part, _)| part.name()).collect()
    }

    /// The members of a node that are left out.
    pub(super) fn members_left_out(self) -> impl Iterator<Item = &'static str> {
        IncludedPart::ALL.into_iter().filter(move |part| !self.has(*part)).flat_map(IncludedPart::members).copied()
    }

    /// A name for these parts in the version of an answer. Contains no comma, because commas separate versions.
    pub(super) fn mark(self) -> String {
        if self == Self::ALL {
            return String::new();
        }
        let letters = IncludedPart::ALL.into_iter().filter(|part| self.has(*part)).map(|part| &part.name()[..1]);
        format!("-{}", letters.collect::<String>())
    }
}
