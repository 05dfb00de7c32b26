//! Reads the fields of JSON objects. It continues after a fault, and records each fault with the
//! path of its field.

use std::cell::{Cell, RefCell};

use hornbook_base::invisible;
use serde_json::{Map, Value};

/// The maximum number of faults that are listed.
pub const FAULTS_MAX: usize = 100;

/// A fault in one field.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FieldError {
    /// The path of the field, such as `people[1].address.zip`.
    pub field: String,
    pub message: String,
}

#[derive(Default)]
pub(super) struct FieldErrors {
    found: RefCell<Vec<FieldError>>,
    unlisted_count: Cell<usize>,
}

impl FieldErrors {
    fn add(&self, field: String, message: String) {
        let mut found = self.found.borrow_mut();
        if found.len() < FAULTS_MAX {
            found.push(FieldError { field, message });
        } else {
            self.unlisted_count.set(self.unlisted_count.get() + 1);
        }
    }

    /// The faults in the order in which the fields were read. If there are more than listed, a last
    /// entry gives their number.
    pub(super) fn into_list(self) -> Vec<FieldError> {
        let mut found = self.found.into_inner();
        if self.unlisted_count.get() > 0 {
            let message = format!("{} more errors are not listed; correct these first", self.unlisted_count.get());
            found.push(FieldError { field: String::new(), message });
        }
        found
    }
}

/// The maximum length of a text in characters, and whether it may have several lines.
#[derive(Clone, Copy)]
pub(super) struct Length {
    most: usize,
    takes_lines: bool,
}

impl Length {
    pub(super) const fn line(most: usize) -> Self {
        Self { most, takes_lines: false }
    }

    /// A text that may have several lines.
    pub(super) const fn paragraph(most: usize) -> Self {
        Self { most, takes_lines: true }
    }
}

/// The fields of one object, and the path to the object.
pub(super) struct ObjectFields<'a> {
    object: &'a Map<String, Value>,
    path: String,
    faults: &'a FieldErrors,
    known: RefCell<Vec<&'static str>>,
}

impl<'a> ObjectFields<'a> {
    pub(super) fn root_fields(object: &'a Map<String, Value>, faults: &'a FieldErrors) -> Self {
        Self { object, path: String::new(), faults, known: RefCell::default() }
    }

    fn inner(&self, object: &'a Map<String, Value>, path: String) -> Self {
        Self { object, path, faults: self.faults, known: RefCell::default() }
    }

    fn path_of(&self, name: &str) -> String {
        if self.path.is_empty() { name.to_owned() } else { format!("{}.{name}", self.path) }
    }

    pub(super) fn fault(&self, name: &str, message: impl Into<String>) {
        self.faults.add(self.path_of(name), message.into());
    }

    /// Whether the field was given, valid or not. Null counts as not given.
    pub(super) fn has(&self, name: &str) -> bool {
        self.object.get(name).is_some_and(|value| !value.is_null())
    }

    fn value(&self, name: &'static str) -> Option<&'a Value> {
        self.known.borrow_mut().push(name);
        self.object.get(name).filter(|value| !value.is_null())
    }

    /// Returns `value`, and adds a fault if the field was not given: no intake can do without it.
    pub(super) fn needed<T>(&self, name: &str, value: Option<T>) -> Option<T> {
        if value.is_none() && !self.has(name) {
            self.fault(name, "is missing");
        }
        value
    }

    pub(super) fn needed_text(&self, name: &'static str, length: Length) -> Option<String> {
        let text = self.text(name, length);
        self.needed(name, text)
    }

    pub(super) fn text(&self, name: &'static str, length: Length) -> Option<String> {
        let value = self.value(name)?;
        self.text_at(value, name, length)
    }

    fn text_at(&self, value: &Value, name: &str, Length { most, takes_lines }: Length) -> Option<String> {
        let Some(text) = value.as_str().map(str::trim) else {
            self.fault(name, "must be text");
            return None;
        };
        let chars = text.chars().count();
        if chars == 0 {
            self.fault(name, "is empty; omit the field if there is no value");
        } else if chars > most {
            self.fault(name, format!("has {chars} characters; the maximum is {most}"));
        } else if let Some(fault) = text.split(|c| takes_lines && c == '\n').find_map(invisible::name_error) {
            self.fault(name, fault);
        } else {
            return Some(text.to_owned());
        }
        None
    }

    pub(super) fn flag(&self, name: &'static str) -> Option<bool> {
        let value = self.value(name)?;
        if !value.is_boolean() {
            self.fault(name, "must be true or false");
        }
        value.as_bool()
    }

    pub(super) fn whole_number(&self, name: &'static str, most: u64) -> Option<u64> {
        let value = self.value(name)?;
        let number = value.as_u64().filter(|number| (1..=most).contains(number));
        if number.is_none() {
            self.fault(name, format!("must be a whole number from 1 to {most}"));
        }
        number
    }

    pub(super) fn percent(&self, name: &'static str) -> Option<f64> {
        let value = self.value(name)?;
        let percent = value.as_f64().filter(|percent| *percent > 0.0 && *percent <= 100.0);
        if percent.is_none() {
            self.fault(name, "must be a number above 0 and up to 100");
        }
        percent
    }

    /// One of a few words, in upper or lower case.
    pub(super) fn choice<T: Copy>(&self, name: &'static str, all: &[T], word: fn(T) -> &'static str) -> Option<T> {
        let value = self.value(name)?;
        let found =
            value.as_str().and_then(|text| all.iter().find(|one| word(**one).eq_ignore_ascii_case(text.trim())));
        if found.is_none() {
            self.fault(name, one_of(all, word));
        }
        found.copied()
    }

    /// A list of such words; each word may be given once.
    pub(super) fn choices<T: Copy + PartialEq>(
        &self,
        name: &'static str,
        all: &[T],
        word: fn(T) -> &'static str,
    ) -> Vec<T> {
        let mut chosen = Vec::new();
        for (at, value) in self.list(name, all.len()).iter().enumerate() {
            let text = value.as_str().unwrap_or_default().trim();
            match all.iter().find(|one| word(**one).eq_ignore_ascii_case(text)) {
                None => self.fault(&format!("{name}[{at}]"), one_of(all, word)),
                Some(one) if chosen.contains(one) => self.fault(&format!("{name}[{at}]"), "is given twice"),
                Some(one) => chosen.push(*one),
            }
        }
        chosen
    }

    /// The texts of a list, with their positions in it.
    pub(super) fn texts(&self, name: &'static str, most: usize, length: Length) -> Vec<(usize, String)> {
        let values = self.list(name, most).iter().enumerate();
        let text = |(at, value)| Some((at, self.text_at(value, &format!("{name}[{at}]"), length)?));
        values.filter_map(text).collect()
    }

    /// The entries of a list. Empty if the field is not a list, or if the list is too long.
    fn list(&self, name: &'static str, most: usize) -> &'a [Value] {
        let Some(value) = self.value(name) else { return &[] };
        let Some(list) = value.as_array() else {
            self.fault(name, "must be a list");
            return &[];
        };
        if list.is_empty() {
            self.fault(name, "is an empty list; omit the field if there is no value");
        }
        if list.len() > most {
            self.fault(name, format!("has {} entries; the maximum is {most}", list.len()));
            return &[];
        }
        list
    }

    /// Reads a list of objects. An invalid entry is None, so that the others keep their positions.
    pub(super) fn objects<T>(
        &self,
        name: &'static str,
        most: usize,
        read: impl Fn(&ObjectFields<'_>) -> Option<T>,
    ) -> Vec<Option<T>> {
        let entries = self.list(name, most).iter().enumerate();
        entries.map(|(at, value)| self.object_at(value, &format!("{name}[{at}]"), &read)).collect()
    }

    /// Reads an object. The outer None means that it was not given; the inner None means that it is invalid.
    pub(super) fn object<T>(
        &self,
        name: &'static str,
        read: impl Fn(&ObjectFields<'_>) -> Option<T>,
    ) -> Option<Option<T>> {
        self.value(name).map(|value| self.object_at(value, name, &read))
    }

    fn object_at<T>(&self, value: &'a Value, name: &str, read: &impl Fn(&ObjectFields<'_>) -> Option<T>) -> Option<T> {
        let Some(object) = value.as_object() else {
            self.fault(name, "must be an object");
            return None;
        };
        let inner = self.inner(object, self.path_of(name));
        let made = read(&inner);
        inner.refuse_unknown();
        made
    }

    /// Adds a fault for each field that nothing has read: its name is misspelt.
    pub(super) fn refuse_unknown(&self) {
        let known = self.known.borrow();
        for name in self.object.keys().filter(|name| !known.contains(&name.as_str())) {
            // The name is text from the caller and may be long.
            let short: String = name.chars().take(40).collect();
            self.fault(&short, format!("is unknown; the fields here are {}", known.join(", ")));
        }
    }
}

fn one_of<T: Copy>(all: &[T], word: fn(T) -> &'static str) -> String {
    let words: Vec<&str> = all.iter().map(|one| word(*one)).collect();
    format!("must be one of {}", words.join(", "))
}
