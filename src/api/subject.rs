//! The subjects of the documentation. Each operation belongs to one, and the documentation has a page
//! for each.

/// Path of the documentation for people.
pub const DOCS_PATH: &str = "/docs";

/// A subject of the documentation.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Subject {
    Account,
    Search,
    Law,
    Changes,
    Watching,
    Checks,
    Browsing,
    Zoning,
    Formation,
    FormationOrders,
    Agents,
    /// No operation is about errors alone: its page describes those of all operations.
    Errors,
}

impl Subject {
    /// All subjects in the order in which they are read.
    pub const ALL: [Self; 12] = [
        Self::Account,
        Self::Search,
        Self::Law,
        Self::Changes,
        Self::Watching,
        Self::Checks,
        Self::Browsing,
        Self::Zoning,
        Self::Formation,
        Self::FormationOrders,
        Self::Agents,
        Self::Errors,
    ];

    /// Its name in addresses.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Account => "keys",
            Self::Search => "search",
            Self::Law => "law",
            Self::Changes => "changes",
            Self::Watching => "watching",
            Self::Checks => "checks",
            Self::Browsing => "browsing",
            Self::Zoning => "zoning",
            Self::Formation => "formation",
            Self::FormationOrders => "formation-orders",
            Self::Agents => "agents",
            Self::Errors => "errors",
        }
    }

    /// The path of its page.
    pub fn path(self) -> String {
        format!("{DOCS_PATH}/{}", self.name())
    }

    pub const fn title(self) -> &'static str {
        match self {
            Self::Account => "Keys, credits and limits",
            Self::Search => "Search",
            Self::Law => "Provisions and citations",
            Self::Changes => "Changes of the law",
            Self::Watching => "Watching the law",
            Self::Checks => "Documents and quotations",
            Self::Browsing => "Contents and coverage",
            Self::Zoning => "Zoning",
            Self::Formation => "Company formation: requirements",
            Self::FormationOrders => "Company formation: orders",
            Self::Agents => "Agents: the Model Context Protocol",
            Self::Errors => "Errors and headers",
        }
    }

    /// What its page explains, in one sentence.
    pub const fn summary(self) -> &'static str {
        match self {
            Self::Account => "How to send a key, what a call costs, and how to buy credits.",
            Self::Search => "Find provisions by meaning and by words, and complete what a person types.",
            Self::Law => "Read a provision with its source, resolve a citation, and follow references.",
            Self::Changes => "What changed since a day, what became of a provision, and its words on two days.",
            Self::Watching => "Get a report of what a newer edition changed in the law that you watch.",
            Self::Checks => "Check whether a document cites law that exists, and quotes it word for word.",
            Self::Browsing => "Which jurisdictions and codes are here, and the contents of each code.",
            Self::Zoning => "Zoning layers: the zone at a point, the zones of a layer, and maps.",
            Self::Formation => {
                "What a state requires of a new company, with the source of each figure, and industry codes."
            }
            Self::FormationOrders => {
                "Hand over the intake of a company to the person who accepts and pays it, and follow the order."
            }
            Self::Agents => "How to connect agents, and the tools that they get.",
            Self::Errors => "Every error with what to do, and the headers of responses.",
        }
    }
}
