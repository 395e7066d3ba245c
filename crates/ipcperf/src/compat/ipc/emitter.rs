//! Output of fields as text, JSON or XML, in the layout of libxo. It is produced piece by piece, so that a benchmark of
//! hours prints each iteration as it ends.

use serde_json::Value;

use super::datum::{Field, FieldValue, Fields};
use super::style::{Format, Layout, Style};

/// Producer of the output; [`Emitter::finish`] produces the last piece.
#[derive(Debug)]
pub(super) struct Emitter {
    style: Style,
    out: String,
    /// Whether each open object or list has content, the outermost first.
    open_items: Vec<Content>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Content {
    Empty,
    NonEmpty,
}

impl Emitter {
    /// Creates an emitter at the start of the output.
    pub(super) fn new(style: Style) -> Self {
        let mut new = Self { style, out: String::new(), open_items: Vec::new() };
        if style.format == Format::Json {
            new.open("{");
        }
        new
    }

    /// Adds `fields` with the name `name`; in text, below `heading`.
    pub(super) fn container(&mut self, name: &str, heading: &str, fields: &Fields) {
        match self.style.format {
            Format::Text => self.out += &fields.text(heading),
            Format::Json => {
                self.next();
                self.open(&format!("{}: {{", quoted(name)));
                fields.0.iter().for_each(|field| self.json_field(field));
                self.close("}");
            }
            Format::Xml => self.xml_element(name, fields),
        }
    }

    /// Opens the list `name`, to which each following [`Emitter::instance`] belongs.
    pub(super) fn open_list(&mut self, name: &str) {
        if self.style.format == Format::Json {
            self.next();
            self.open(&format!("{}: [", quoted(name)));
        }
    }

    /// Adds `fields` as an item of a list: named `name` in XML, below `name:` in text.
    pub(super) fn instance(&mut self, name: &str, fields: &Fields) {
        match self.style.format {
            Format::Text => self.out += &fields.text(&format!("{name}:")),
            Format::Json => self.json_instance(fields),
            Format::Xml => self.xml_element(name, fields),
        }
    }

    /// Closes the list.
    pub(super) fn close_list(&mut self) {
        if self.style.format == Format::Json {
            self.close("]");
        }
    }

    /// Returns the output since the last call.
    pub(super) fn take(&mut self) -> String {
        std::mem::take(&mut self.out)
    }

    /// Returns the last piece of the output.
    pub(super) fn finish(mut self) -> String {
        match (self.style.format, self.style.layout) {
            (Format::Json, _) => {
                self.close("}");
                self.out.push('\n');
            }
            (Format::Xml, Layout::Compact) => self.out.push('\n'),
            (Format::Xml, Layout::Pretty) | (Format::Text, _) => {}
        }
        self.out
    }

    fn json_instance(&mut self, fields: &Fields) {
        self.next();
        self.open("{");
        fields.0.iter().for_each(|field| self.json_field(field));
        self.close("}");
    }

    fn json_field(&mut self, field: &Field) {
        let name = quoted(&field.name);
        let colon = if self.style.layout == Layout::Pretty { ": " } else { ":" };
        self.next();
        match &field.value {
            FieldValue::Number(text) => self.out += &format!("{name}{colon}{text}"),
            FieldValue::Text(text) => self.out += &format!("{name}{colon}{}", quoted(text)),
            FieldValue::List(one, all) => {
                self.open(&format!("{name}: ["));
                for &number in all {
                    self.json_instance(&Fields(vec![Field::count(one, number, "")]));
                }
                self.close("]");
            }
        }
    }

    fn open(&mut self, text: &str) {
        self.out += text;
        self.open_items.push(Content::Empty);
    }

    /// Starts the next item of the innermost open object or list.
    fn next(&mut self) {
        let before = self.open_items.last_mut();
        let before = before.map(|content| std::mem::replace(content, Content::NonEmpty));
        let comma = if before == Some(Content::NonEmpty) { "," } else { "" };
        match (self.style.layout, comma) {
            (Layout::Pretty, _) => self.out += &format!("{comma}\n{}", self.indent()),
            (Layout::Compact, "") => {}
            // A space follows objects and lists, but not values.
            (Layout::Compact, _) if self.out.ends_with(['}', ']']) || self.out.is_empty() => {
                self.out += ", ";
            }
            (Layout::Compact, _) => self.out.push(','),
        }
    }

    fn close(&mut self, text: &str) {
        let content = self.open_items.pop();
        if self.style.layout == Layout::Pretty && content == Some(Content::NonEmpty) {
            self.out += &format!("\n{}", self.indent());
        }
        self.out += text;
    }

    fn indent(&self) -> String {
        "  ".repeat(self.open_items.len())
    }

    fn xml_element(&mut self, name: &str, fields: &Fields) {
        let (indent, end) = match self.style.layout {
            Layout::Compact => ("", ""),
            Layout::Pretty => ("  ", "\n"),
        };
        self.out += &format!("<{name}>{end}");
        for field in &fields.0 {
            let name = &field.name;
            match &field.value {
                FieldValue::Number(text) | FieldValue::Text(text) => {
                    self.out += &format!("{indent}<{name}>{}</{name}>{end}", escaped(text));
                }
                FieldValue::List(one, all) => {
                    for number in all {
                        let field = format!("{indent}{indent}<{one}>{number}</{one}>{end}");
                        self.out += &format!("{indent}<{one}>{end}{field}{indent}</{one}>{end}");
                    }
                }
            }
        }
        self.out += &format!("</{name}>{end}");
    }
}

fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the output of a configuration and two iterations.
    fn printed(format: Format, layout: Layout) -> String {
        let list = Field {
            name: "sizes".to_owned(),
            value: FieldValue::List("size", vec![4, 8]),
            unit: "",
        };
        let configuration = Fields(vec![Field::text("model", "A\"<b"), list]);
        let datum = |ns| {
            Fields(vec![Field::number("rate", 1.5, 2, " KB"), Field::seconds("time", ns, " s")])
        };
        let mut emitter = Emitter::new(Style { format, layout });
        let mut all = String::new();
        emitter.container("host", "Host:", &configuration);
        emitter.open_list("samples");
        for ns in [1, 2] {
            all += &emitter.take();
            emitter.instance("datum", &datum(ns));
        }
        emitter.close_list();
        all + &emitter.finish()
    }

    #[test]
    fn text_has_headings_and_units() {
        let datum = |ns| format!("datum:\n  rate: 1.50 KB\n  time: 0.00000000{ns} s\n");
        let wanted = format!("Host:\n  model: A\"<b\n  sizes: 4, 8\n{}{}", datum(1), datum(2));
        assert_eq!(printed(Format::Text, Layout::Pretty), wanted);
    }

    #[test]
    fn json_is_that_of_libxo_in_one_line_and_in_many() {
        let compact = printed(Format::Json, Layout::Compact);
        let wanted = "{\"host\": {\"model\":\"A\\\"<b\",\"sizes\": [{\"size\":4}, {\"size\":8}]}, \"samples\": \
                      [{\"rate\":1.50,\"time\":\"0.000000001\"}, {\"rate\":1.50,\"time\":\"0.000000002\"}]}\n";
        assert_eq!(compact, wanted);
        let pretty = printed(Format::Json, Layout::Pretty);
        let parse = |text: &str| serde_json::from_str::<Value>(text).unwrap();
        assert_eq!(parse(&pretty), parse(&compact));
        assert!(pretty.starts_with("{\n  \"host\": {\n    \"model\": \"A\\\"<b\",\n    \"sizes\": [\n      {\n        \"size\": 4\n"));
        assert!(pretty.ends_with("      \"time\": \"0.000000002\"\n    }\n  ]\n}\n"), "{pretty}");
    }

    #[test]
    fn xml_has_an_element_for_each_and_none_for_lists() {
        let compact = printed(Format::Xml, Layout::Compact);
        let wanted = "<host><model>A\"&lt;b</model><size><size>4</size></size><size><size>8</size></size></host>\
                      <datum><rate>1.50</rate><time>0.000000001</time></datum>\
                      <datum><rate>1.50</rate><time>0.000000002</time></datum>\n";
        assert_eq!(compact, wanted);
        let pretty = printed(Format::Xml, Layout::Pretty);
        assert!(pretty.contains("<datum>\n  <rate>1.50</rate>\n"), "{pretty}");
    }
}
