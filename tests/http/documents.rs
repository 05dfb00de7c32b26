//! Documents and probes: open to all, and as the table says.

use hornbook::api::operations::{Access, OPERATIONS, Per};

use crate::house::{House, generous};

#[test]
fn probes_and_documents_need_no_key() {
    let house = House::open(generous());
    assert_eq!(house.get_with("/healthz", &[]).json()["status"], "live");
    assert_eq!(house.get_with("/readyz", &[]).json()["status"], "ready");
    let discovery = house.get_with("/api/v1", &[]);
    assert_eq!(discovery.body, house.get_with("/.well-known/hornbook.json", &[]).body);
    let discovery = discovery.json();
    assert_eq!(discovery["version"], "v1");
    assert_eq!(discovery["openapi"], "https://law.example/api/v1/openapi.json");
    assert_eq!(discovery["endpoints"].as_array().unwrap().len(), OPERATIONS.len());
    let gis = discovery["endpoints"].as_array().unwrap().iter().find(|endpoint| endpoint["name"] == "gis").unwrap();
    assert_eq!((&gis["cost"], &gis["scopesAnyOf"][0]), (&5.into(), &"gis".into()));
}

#[test]
fn the_openapi_document_describes_every_operation_and_refers_to_nothing_missing() {
    let house = House::open(generous());
    let answered = house.get_with("/api/v1/openapi.json", &[]);
    let document = answered.json();
    assert_eq!((&document["openapi"], &document["info"]["version"]), (&"3.1.0".into(), &"1.0.0".into()));
    for operation in OPERATIONS {
        let described = &document["paths"][operation.path]["get"];
        assert_eq!(described["operationId"], operation.name);
        assert_eq!(described["parameters"].as_array().unwrap().len(), operation.parameters.len());
        for error in operation.all_errors() {
            assert!(described["responses"][error.status().to_string()].is_object(), "{} {error:?}", operation.name);
        }
    }
    let text = answered.text();
    for reference in text.split("\"#/").skip(1).map(|rest| rest.split('"').next().unwrap()) {
        assert!(document.pointer(&format!("/{reference}")).is_some(), "{reference} is missing");
    }
}

#[test]
fn the_readme_has_the_table_as_it_is() {
    let rows = OPERATIONS.iter().map(|operation| {
        let (scopes, credits) = match operation.access {
            Access::Open => ("none".to_owned(), "0".to_owned()),
            Access::Metered { any_of, cost } => {
                let per = if cost.per == Per::Call { String::new() } else { format!(" per {}", cost.per.as_str()) };
                (any_of.names().collect::<Vec<_>>().join(", "), format!("{}{per}", cost.credits))
            }
        };
        format!("| `{}` | {} | {scopes} | {credits} |\n", operation.path, operation.summary)
    });
    let table: String = rows.collect();
    let readme = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/README.md")).unwrap();
    assert!(readme.contains(&table), "put this into README.md:\n{table}");
}
