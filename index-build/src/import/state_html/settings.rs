//! `[source.options]` of the format `state-html`: the differences between the releases of this family.

use serde::Deserialize;

use crate::import::options::{FromOptions, read};
use crate::pattern::Pattern;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct StateHtmlOptions {
    /// Classes of the `h2` elements, outermost first. Empty is an element without a class.
    levels: Option<Vec<String>>,
    /// Matches the heading of a section. The first group is the number.
    section: Option<Pattern>,
    /// Matches the words that begin the source credit, usually in bold. The text of its group
    /// belongs to the credit.
    credit: Option<Pattern>,
    /// Matches headings that begin annotations.
    annotations: Option<Pattern>,
    /// The label template of list items, with `{}` for the letter or number.
    label: Option<LabelForms>,
    /// Whether the forms of `label` begin with letters. A numbered outermost list then uses the second form.
    #[serde(default)]
    letters_first: bool,
    /// Matches paragraphs that the publisher's page has in place of an image or another file.
    images: Option<Pattern>,
    /// Matches the paths of documents that belong to another code body.
    skip: Option<Pattern>,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum LabelForms {
    Same(String),
    /// From the outermost list inwards.
    ByDepth(Vec<String>),
}

/// The options, with defaults for those that a plan does not set.
#[derive(Debug)]
pub(crate) struct StateHtmlSettings {
    pub(super) levels: Vec<String>,
    pub(super) section: Pattern,
    pub(super) credit: Pattern,
    pub(super) annotations: Pattern,
    pub(super) labels: Vec<String>,
    pub(super) letters_first: bool,
    pub(super) images: Pattern,
    skip: Option<Pattern>,
}

const ANNOTATIONS: &str = r"(?i)^(?:annotations?$|editor.s notes?|(?:compact )?cross.references?|law reviews?|effective date|michie|case notes|official comment|virginia comment|.*\bcomments?$|research references|opinions of|circuit court opinions|the (?:19|20)\d\d\b|for related discussion|prior uniform statutory|proposed amendments?\b|defeat of proposed|(?:amendments?|enactment) ratified|annotations from|definitional cross|uniform statutory|section set out twice|analysis$|the number of this section|applicability\. —|constitutionality\. —)";

/// What this family of pages has in place of an image or a file.
const IMAGES: &str = "^(?:Click to view|Display Image)$";

impl FromOptions for StateHtmlSettings {
    fn from_options(options: &toml::Table) -> Result<Self, String> {
        let options: StateHtmlOptions = read(options)?;
        let section =
            options.section.unwrap_or_else(|| Pattern::fixed(r"^(?:§§?|Section) ?(\d[\w.:-]*?)\.?(?: |,|–|$)"));
        if section.captures_len() < 2 {
            return Err("option 'section': it has no group; put parentheses around the number".into());
        }
        let labels = match options.label {
            None => vec!["{}.".into()],
            Some(LabelForms::Same(label)) => vec![label],
            Some(LabelForms::ByDepth(labels)) if labels.is_empty() => {
                return Err("option 'label': the list is empty".into());
            }
            Some(LabelForms::ByDepth(labels)) => labels,
        };
        if let Some(label) = labels.iter().find(|label| label.matches("{}").count() != 1) {
            return Err(format!("option 'label': '{label}' must contain {{}} once, such as '({{}})'"));
        }
        let classes = ["oneh2", "twoh2", "threeh2", "fourh2", "fiveh2"].map(str::to_owned).to_vec();
        Ok(Self {
            levels: options.levels.unwrap_or(classes),
            section,
            credit: options.credit.unwrap_or_else(|| Pattern::fixed(r"^History\.")),
            annotations: options.annotations.unwrap_or_else(|| Pattern::fixed(ANNOTATIONS)),
            labels,
            letters_first: options.letters_first,
            images: options.images.unwrap_or_else(|| Pattern::fixed(IMAGES)),
            skip: options.skip,
        })
    }

    fn skip(&self) -> Option<&Pattern> {
        self.skip.as_ref()
    }
}
