//! Tests of requests at lengths other than full.

use crate::length::Length;
use crate::{Study, Values};

/// Returns a study with one matrix that has `keys`.
fn study(keys: &str) -> Study {
    let text = format!(
        "name = \"made\"\ntitle = \"Made\"\nquestion = \"What?\"\n[[matrix]]\n{keys}\n\
         [[hypothesis]]\nid = \"H1\"\nclaim = \"It is so.\"\ntest = \"slope\"\nbelow = 0\n"
    );
    Study::parse(&text).unwrap_or_else(|mistakes| panic!("{mistakes:?}"))
}

/// `study check` accepts such a study, so planning must succeed at every length.
#[test]
fn a_shorter_length_may_leave_out_the_mechanism_of_an_option() {
    let study = study(
        "mechanism = [\"pipe\", \"unix-stream\"]\nbuffer = \"512..4KiB\"\n\
         quick = { mechanism = \"unix-stream\" }\npipe.capacity = [\"4KiB\", \"64KiB\"]",
    );
    let names = |length| {
        let request = study.matrices[0].request(&Values::default(), length).unwrap();
        let names: Vec<String> =
            request.mechanisms.iter().map(|asked| asked.name().to_owned()).collect();
        (names, request.options.len())
    };
    assert_eq!(names(Length::Full), (vec!["pipe".to_owned(), "unix-stream".to_owned()], 1));
    assert_eq!(names(Length::Quick), (vec!["unix-stream".to_owned()], 0));
}
