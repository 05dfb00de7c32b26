//! The OpenAPI description as the pages read it: the response of an operation, and the page that
//! describes a response object.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::api::openapi;
use crate::api::operation::Route;
use crate::api::operations::OPERATIONS;
use crate::api::subject::Subject;

/// The object of all errors. The objects in it are described with it.
pub(super) const ERROR_OBJECT: &str = "Error";

const OBJECT_REFERENCE: &str = "#/components/schemas/";

pub(super) struct ApiDescription {
    document: Value,
    /// The page of each response object: that of the first operation whose call contains it.
    pages: BTreeMap<String, Subject>,
}

impl ApiDescription {
    pub(super) fn of(base_url: &str) -> Self {
        let document = openapi::document(base_url);
        let schemas = &document["components"]["schemas"];
        let mut pages = BTreeMap::new();
        place(ERROR_OBJECT, Subject::Errors, schemas, &mut pages);
        for operation in OPERATIONS {
            let Some(route) = operation.route else { continue };
            let described = described(&document, route);
            for part in [&described["responses"]["200"], &described["requestBody"]] {
                for name in referenced(part) {
                    place(name, operation.subject, schemas, &mut pages);
                }
            }
        }
        Self { pages, document }
    }

    /// The schema of the answer to a call, in this media type.
    pub(super) fn answer(&self, route: Route, media_type: &str) -> &Value {
        &described(&self.document, route)["responses"]["200"]["content"][media_type]["schema"]
    }

    /// The names of all response objects with the subject of their page, in alphabetical order.
    pub(super) fn objects(&self) -> impl Iterator<Item = (&str, Subject)> {
        self.pages.iter().map(|(name, subject)| (name.as_str(), *subject))
    }

    /// The response objects on the page of a subject.
    pub(super) fn objects_of(&self, subject: Subject) -> impl Iterator<Item = (&str, &Value)> {
        let schemas = &self.document["components"]["schemas"];
        self.objects().filter(move |(_, of)| *of == subject).map(move |(name, _)| (name, &schemas[name]))
    }

    /// The address of the description of a response object.
    pub(super) fn address(&self, object: &str) -> Option<String> {
        self.pages.get(object).map(|subject| format!("{}#object-{object}", subject.path()))
    }
}

fn described(document: &Value, route: Route) -> &Value {
    &document["paths"][route.path][route.method.as_str().to_ascii_lowercase()]
}

/// Places an object, and those in it, on the page of a subject, unless they have a page.
fn place(name: &str, subject: Subject, schemas: &Value, pages: &mut BTreeMap<String, Subject>) {
    if pages.contains_key(name) {
        return;
    }
    pages.insert(name.to_owned(), subject);
    for within in referenced(&schemas[name]) {
        place(within, subject, schemas, pages);
    }
}

/// The name of the object that a schema refers to.
pub(super) fn reference(schema: &Value) -> Option<&str> {
    schema["$ref"].as_str()?.strip_prefix(OBJECT_REFERENCE)
}

/// The names of the objects that a value refers to, at any depth.
fn referenced(value: &Value) -> Vec<&str> {
    let within: Vec<&Value> = match value {
        Value::Object(fields) => fields.values().collect(),
        Value::Array(items) => items.iter().collect(),
        _ => Vec::new(),
    };
    reference(value).into_iter().chain(within.into_iter().flat_map(referenced)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_object_of_the_description_has_a_page() {
        let description = ApiDescription::of("https://law.test");
        let schemas = description.document["components"]["schemas"].as_object().unwrap();
        let without: Vec<&String> = schemas.keys().filter(|name| description.address(name).is_none()).collect();
        assert!(without.is_empty(), "{without:?}");
        assert_eq!(description.objects().count(), schemas.len());
        assert_eq!(description.address("Violation").as_deref(), Some("/docs/errors#object-Violation"));
        assert_eq!(description.address("Node").as_deref(), Some("/docs/law#object-Node"));
    }
}
