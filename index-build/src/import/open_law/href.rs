//! The files that `xi:include` names: paths relative to the document, within the source.

/// The path of the file that a document references. References outside the source are refused.
pub(super) fn resolve(document: &str, href: &str) -> Result<String, String> {
    let refused =
        |why: &str| Err(format!("it includes '{href}', which {why}; only files of the source can be included"));
    if href.is_empty() {
        return Err("the include has no target; 'href' must name a file".to_owned());
    }
    if href.starts_with('/') || href.contains('\\') || href.contains(':') {
        return refused("is not a relative path");
    }
    if href.contains(['?', '#', '%']) || href.chars().any(char::is_control) {
        return refused("is not the plain name of a file");
    }
    let mut parts: Vec<&str> = document.split('/').filter(|part| !matches!(*part, "" | ".")).collect();
    parts.pop();
    for part in href.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.pop().is_none() => return refused("is outside the source"),
            ".." => {}
            part => parts.push(part),
        }
    }
    let root = if document.starts_with('/') { "/" } else { "" };
    Ok(format!("{root}{}", parts.join("/")))
}

#[cfg(test)]
mod tests {
    use super::resolve;

    #[test]
    fn paths_stay_within_the_source() {
        let from = "dc/titles/3/index.xml";
        assert_eq!(resolve(from, "./sections/3-101.xml").unwrap(), "dc/titles/3/sections/3-101.xml");
        assert_eq!(resolve(from, "../4/index.xml").unwrap(), "dc/titles/4/index.xml");
        assert_eq!(resolve("/data/dc/index.xml", "a.xml").unwrap(), "/data/dc/a.xml");
        for bad in [
            "",
            "/etc/passwd",
            "../../../../etc/passwd",
            "file:///etc/passwd",
            "https://example.org/x.xml",
            "a\\b.xml",
            "x.xml#part",
            "%2e%2e/x.xml",
            "a\nb",
        ] {
            assert!(resolve(from, bad).is_err(), "{bad}");
        }
    }
}
