//! Studies with a mistake in them: each is told with its line, its key and what would be right.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::laboratory::Laboratory;

/// A study without a mistake, with some of everything in it.
pub(crate) const GOOD: &str = r#"name = "base"
title = "A base for mistakes"
question = "Which mistakes are told?"
source = "our own"

[sampling]
repetitions = 10
deadline = 20
seed = 7

[[matrix]]
name = "streams"
mechanism = ["pipe", "unix-stream", "tcp"]
buffer = "512..64KiB"
workload = "stream"
mode = "2proc"
placement = ["same", "split"]
kernel_buffer = "default"
total = "1MiB"
touch = ["none", "both"]
instrument = ["rusage", "counters"]
events = ["instructions", "cycles"]
pipe.capacity = ["default", "1MiB"]
quick = { buffer = "512,64KiB", total = "64KiB" }

[[matrix]]
name = "answers"
mechanism = "unix-dgram"
buffer = [8, 64]
workload = "request-reply"
reply = "8"
messages = 1000
instrument = "syscalls"

[[hypothesis]]
id = "H1"
claim = "A pipe is faster than a socket."
test = "faster-than"
metric = "bandwidth"
where = { matrix = "streams", placement = "same" }
first = { mechanism = "pipe", pipe.capacity = "default" }
second = { mechanism = ["unix-stream", "tcp"] }
of_second = "best"
at = "levels"
level = 0.01
correction = "holm"
need = 0.75
published = "63 % faster"
beside = { statistic = "student", correction = "none" }

[[hypothesis]]
id = "H2"
claim = "A large message costs about twice a small one."
test = "ratio-within"
metric = { instrument = "syscalls", role = "sender", syscall = "sendmsg|sendto", field = "total_ns", per = "message", unit = "ns" }
over = "mechanism"
where = { matrix = "answers" }
first = { buffer = 64 }
second = { buffer = 8 }
above = 1.5
below = 3

[[hypothesis]]
id = "H3"
claim = "A pipe wins from 4 KiB on."
test = "always-from"
where = { matrix = "streams" }
first = { mechanism = "pipe" }
second = { mechanism = "tcp" }
from = "4KiB"
"#;

/// One mistake: what is replaced by what, where it is told and in which words.
pub(crate) struct Broken {
    pub(crate) from: &'static str,
    pub(crate) to: &'static str,
    /// What first stands in the line that is told.
    line_of: &'static str,
    key: &'static str,
    words: &'static [&'static str],
}

const fn broken(
    (from, to): (&'static str, &'static str),
    (line_of, key): (&'static str, &'static str),
    words: &'static [&'static str],
) -> Broken {
    Broken { from, to, line_of, key, words }
}

/// What is no TOML.
const WRITTEN_AMISS: &[Broken] = &[
    broken(
        ("title = \"A base for mistakes\"", "title = \"A base for mistakes"),
        ("title =", "TOML"),
        &["quote"],
    ),
    broken(
        ("source = \"our own\"", "source = \"C:\\temp\\quota\""),
        ("source =", "TOML"),
        &["escape", "single quotes"],
    ),
    broken(
        ("source = \"our own\"", "source = \"our own\"\ntitle = \"Twice\""),
        ("title = \"Twice\"", "TOML"),
        &["duplicate key", "`title`", "keep one"],
    ),
    broken(
        ("workload = \"stream\"", "workload = stream"),
        ("workload = stream", "TOML"),
        &["`stream`", "put words in double quotes"],
    ),
    broken(("mode = \"2proc\"", "mode \"2proc\""), ("mode ", "TOML"), &["KEY = VALUE"]),
    broken(("mode = \"2proc\"", "mode = "), ("mode =", "TOML"), &["KEY = VALUE"]),
    broken(("[sampling]", "[sampling"), ("[sampling", "TOML"), &["]"]),
    broken(
        ("buffer = [8, 64]", "buffer = [8 64]"),
        ("buffer = [8", "TOML"),
        &["commas between items"],
    ),
    broken(
        ("first = { buffer = 64 }", "first = { buffer = 64"),
        ("second = { buffer = 8 }", "TOML"),
        &["commas", "}"],
    ),
    broken(("seed = 7", "seed = 007"), ("seed = 007", "TOML"), &["leading zero"]),
];

/// Keys that are none, that are missing, and that are given what they cannot be.
const KEYS: &[Broken] = &[
    broken(("title =", "titel ="), ("titel", "titel"), &["no such key", "`title`"]),
    broken(
        ("name = \"base\"", "name = \"two words\""),
        ("name", "name"),
        &["`two words`", "letters"],
    ),
    broken(
        ("question = \"Which mistakes are told?\"\n", ""),
        ("name", "question"),
        &["missing", "text in quotes"],
    ),
    broken(
        ("question = \"Which mistakes are told?\"", "question = \"\""),
        ("question", "question"),
        &["text in quotes"],
    ),
    broken(("source = \"our own\"", "source = 2015"), ("source", "source"), &["text in quotes"]),
    broken(
        ("[sampling]", "[samplings]"),
        ("[samplings]", "samplings"),
        &["no such key", "`sampling`"],
    ),
    broken(
        ("[sampling]", "[[sampling]]"),
        ("[[sampling]]", "sampling"),
        &["one of it", "write [sampling]"],
    ),
    broken(
        ("repetitions = 10", "repetitons = 10"),
        ("repetitons", "sampling.repetitons"),
        &["`repetitions`"],
    ),
    broken(
        ("repetitions = 10", "repetitions = 0"),
        ("repetitions", "sampling.repetitions"),
        &["`0`", "1 to 100000"],
    ),
    broken(
        ("repetitions = 10", "repetitions = \"ten\""),
        ("repetitions", "sampling.repetitions"),
        &["`ten`", "whole number"],
    ),
    broken(
        ("repetitions = 10", "repetitions = 10\nuntil_ci = 2"),
        ("repetitions", "sampling.repetitions"),
        &["until_ci", "keep one"],
    ),
    broken(("seed = 7", "seed = -7"), ("seed", "sampling.seed"), &["`-7`", "whole number"]),
    broken(("seed = 7", "most_s = 7"), ("most_s", "sampling.most_s"), &["until_ci"]),
    broken(("deadline = 20", "deadline = 1e9"), ("deadline", "sampling.deadline"), &["86400"]),
    broken(("deadline = 20", "deadline = nan"), ("deadline", "sampling.deadline"), &["86400"]),
    broken(
        ("deadline = 20", "deadline = true"),
        ("deadline", "sampling.deadline"),
        &["true or false", "a number"],
    ),
    broken(("name = \"streams\"", "nane = \"streams\""), ("nane", "matrix[1].nane"), &["`name`"]),
    broken(("id = \"H1\"\n", ""), ("[[hypothesis]]", "hypothesis[1].id"), &["missing", "id ="]),
    broken(
        ("claim = \"A pipe is faster than a socket.\"\n", ""),
        ("[[hypothesis]]", "hypothesis[1].claim"),
        &["missing"],
    ),
    broken(
        ("test = \"faster-than\"\n", ""),
        ("[[hypothesis]]", "hypothesis[1].test"),
        &["missing", "faster-than"],
    ),
    broken(
        ("first = { mechanism = \"pipe\" }\n", ""),
        ("[[hypothesis]]\nid = \"H3\"", "hypothesis[3].first"),
        &["missing"],
    ),
    broken(
        ("from = \"4KiB\"\n", ""),
        ("[[hypothesis]]\nid = \"H3\"", "hypothesis[3].from"),
        &["missing", "a size"],
    ),
];

/// Matrices.
const MATRICES: &[Broken] = &[
    broken(
        ("[[matrix]]\nname = \"answers\"", "[matrix]\nname = \"answers\""),
        ("[matrix]\nname = \"answers\"", "TOML"),
        &["duplicate key", "write [[matrix]]"],
    ),
    broken(
        ("mechanism = \"unix-dgram\"\n", ""),
        ("[[matrix]]\nname = \"answers\"", "matrix[2].mechanism"),
        &["missing", "mechanism ="],
    ),
    broken(
        ("buffer = [8, 64]\n", ""),
        ("[[matrix]]\nname = \"answers\"", "matrix[2].buffer"),
        &["missing", "buffer ="],
    ),
    broken(
        ("mechanism = \"unix-dgram\"", "mechanism = \"unix-dgam\""),
        ("mechanism = \"unix-dgam\"", "matrix[2].mechanism"),
        &["`unix-dgam`", "`unix-dgram`"],
    ),
    broken(
        ("\"unix-stream\", \"tcp\"]\nbuffer", "\"unix-stream\", \"zzz\"]\nbuffer"),
        ("mechanism = [\"pipe\"", "matrix[1].mechanism"),
        &["`zzz`", "known are"],
    ),
    broken(
        ("mechanism = [\"pipe\", \"unix-stream\", \"tcp\"]", "mechanism = []"),
        ("mechanism = []", "matrix[1].mechanism"),
        &["a list", "level"],
    ),
    broken(
        ("buffer = [8, 64]", "buffer = [8, [64]]"),
        ("buffer = [8", "matrix[2].buffer"),
        &["a list of levels"],
    ),
    broken(
        ("buffer = \"512..64KiB\"", "buffer = \"512..64kib\""),
        ("buffer = \"512", "matrix[1].buffer"),
        &["`64kib`", "KiB"],
    ),
    broken(
        ("buffer = \"512..64KiB\"", "buffer = \"64KiB..512\""),
        ("buffer = \"64KiB", "matrix[1].buffer"),
        &["ends before", "FROM..TO"],
    ),
    broken(
        ("buffer = \"512..64KiB\"", "buffer = \"512..\""),
        ("buffer = \"512..\"", "matrix[1].buffer"),
        &["no end", "FROM..TO"],
    ),
    broken(
        ("buffer = [8, 64]", "buffer = [8, 0]"),
        ("buffer = [8", "matrix[2].buffer"),
        &["`0`", "at least 1 byte"],
    ),
    broken(
        ("workload = \"stream\"", "workload = \"strem\""),
        ("workload = \"strem\"", "matrix[1].workload"),
        &["`strem`", "`stream`"],
    ),
    broken(
        ("mode = \"2proc\"", "mode = \"2pro\""),
        ("mode", "matrix[1].mode"),
        &["`2pro`", "`2proc`"],
    ),
    broken(
        ("placement = [\"same\", \"split\"]", "placement = [\"same\", \"splti\"]"),
        ("placement", "matrix[1].placement"),
        &["`splti`", "split"],
    ),
    broken(
        ("kernel_buffer = \"default\"", "kernel_buffer = \"some\""),
        ("kernel_buffer", "matrix[1].kernel_buffer"),
        &["`some`", "match"],
    ),
    broken(
        ("total = \"1MiB\"", "total = \"lots\""),
        ("total", "matrix[1].total"),
        &["`lots`", "KiB"],
    ),
    broken(
        ("total = \"1MiB\"", "total = \"1MiB\"\nmessages = 5"),
        ("messages", "matrix[1].messages"),
        &["total", "keep one"],
    ),
    broken(
        ("messages = 1000", "messages = 1.5"),
        ("messages", "matrix[2].messages"),
        &["`1.5`", "whole number"],
    ),
    broken(
        ("touch = [\"none\", \"both\"]", "touch = [\"none\", \"boht\"]"),
        ("touch", "matrix[1].touch"),
        &["`boht`", "`both`"],
    ),
    broken(
        ("total = \"1MiB\"", "total = \"1MiB\"\npayload = \"compressible:0\""),
        ("payload", "matrix[1].payload"),
        &["`0`", "1 to 100"],
    ),
    broken(
        ("workload = \"request-reply\"\n", ""),
        ("reply", "matrix[2].reply"),
        &["request-reply"],
    ),
    broken(
        ("instrument = [\"rusage\", \"counters\"]", "instrument = [\"rusage\", \"couners\"]"),
        ("instrument", "matrix[1].instrument"),
        &["`couners`", "`counters`"],
    ),
    broken(
        ("instrument = [\"rusage\", \"counters\"]", "instrument = \"rusage\""),
        ("events", "matrix[1].events"),
        &["counters"],
    ),
    broken(
        ("events = [\"instructions\", \"cycles\"]", "events = [\"instrutions\"]"),
        ("events", "matrix[1].events"),
        &["instrutions", "instructions"],
    ),
    broken(
        ("pipe.capacity", "pipe.capcity"),
        ("pipe.capcity", "matrix[1].pipe.capcity"),
        &["`capcity`", "`capacity`"],
    ),
    broken(
        ("pipe.capacity", "pip.capacity"),
        ("pip.capacity", "matrix[1].pip.capacity"),
        &["`pip`", "`pipe`"],
    ),
    broken(
        ("pipe.capacity", "futex.spin"),
        ("futex.spin", "matrix[1].futex.spin"),
        &["futex", "mechanism"],
    ),
    broken(
        ("pipe.capacity = [\"default\", \"1MiB\"]", "pipe.capacity = { x = 1 }"),
        ("pipe.capacity", "matrix[1].pipe.capacity"),
        &["a table", "a value"],
    ),
    broken(("quick = {", "quik = {"), ("quik", "matrix[1].quik"), &["no such key", "`quick`"]),
    broken(
        ("quick = { buffer = \"512,64KiB\"", "quick = { buffer = \"512,64kib\""),
        ("quick", "matrix[1].quick.buffer"),
        &["`64kib`", "KiB"],
    ),
    broken(
        ("quick = { buffer = \"512,64KiB\"", "quick = { bufer = \"512,64KiB\""),
        ("quick", "matrix[1].quick.bufer"),
        &["`buffer`"],
    ),
    broken(
        ("total = \"64KiB\" }", "messages = 10 }"),
        ("quick", "matrix[1].quick.messages"),
        &["total"],
    ),
    broken(
        ("name = \"answers\"", "name = \"streams\""),
        ("[[matrix]]\nname = \"streams\"\nmechanism = \"unix-dgram\"", "matrix"),
        &["`streams`", "name of its own"],
    ),
    broken(
        (
            "buffer = \"512..64KiB\"",
            "buffer = \"1..4096:4096\"\npayload = [\"constant\", \"random\", \"compressible:2\", \"compressible:3\", \"compressible:4\", \"compressible:5\"]",
        ),
        ("[[matrix]]\nname = \"streams\"", "matrix[1]"),
        &["cells", "100000 are the most"],
    ),
    broken(
        ("buffer = \"512..64KiB\"", "buffer = \"1..99999:99999\""),
        ("buffer", "matrix[1].buffer"),
        &["99999 sizes", "4096 are the most"],
    ),
];

/// Hypotheses.
const HYPOTHESES: &[Broken] = &[
    broken(
        ("test = \"faster-than\"", "test = \"faster-then\""),
        ("test", "hypothesis[1].test"),
        &["`faster-then`", "`faster-than`"],
    ),
    broken(
        ("test = \"faster-than\"", "test = \"zzz\""),
        ("test", "hypothesis[1].test"),
        &["`zzz`", "known are"],
    ),
    broken(
        ("metric = \"bandwidth\"", "metric = \"bandwith\""),
        ("metric", "hypothesis[1].metric"),
        &["`bandwith`", "`bandwidth`"],
    ),
    broken(
        ("metric = \"bandwidth\"", "metric = 5"),
        ("metric", "hypothesis[1].metric"),
        &["`5`", "known are"],
    ),
    broken(
        ("metric = \"bandwidth\"", "metric = \"sender_sys_ns\""),
        ("metric", "hypothesis[1].metric"),
        &["`sender_sys_ns`", "`sender_system_ns`"],
    ),
    broken(
        ("{ instrument = \"syscalls\", role", "{ instrument = \"sycalls\", role"),
        ("metric = {", "hypothesis[2].metric"),
        &["`sycalls`", "`syscalls`"],
    ),
    broken(
        ("{ instrument = \"syscalls\", role", "{ instrument = \"strace\", role"),
        ("metric = {", "hypothesis[2].metric"),
        &["no matrix", "strace"],
    ),
    broken(("field = \"total_ns\", ", ""), ("metric = {", "hypothesis[2].metric"), &["field"]),
    broken(
        ("unit = \"ns\" }", "unit = \"ns\", better = \"more\" }"),
        ("metric = {", "hypothesis[2].metric"),
        &["`more`", "higher or lower"],
    ),
    broken(
        ("over = \"mechanism\"", "over = \"mechansim\""),
        ("over", "hypothesis[2].over"),
        &["mechansim", "`mechanism`"],
    ),
    broken(
        ("where = { matrix = \"answers\" }", "where = { matrix = \"answer\" }"),
        ("where = { matrix = \"answer\" }", "hypothesis[2].where.matrix"),
        &["answer", "`answers`"],
    ),
    broken(
        ("where = { matrix = \"answers\" }", "where = { matrx = \"answers\" }"),
        ("where = { matrx", "hypothesis[2].where.matrx"),
        &["`matrix`"],
    ),
    broken(
        ("where = { matrix = \"answers\" }", "where = {}"),
        ("where = {}", "hypothesis[2].where"),
        &["no cases"],
    ),
    broken(
        ("where = { matrix = \"answers\" }", "where = \"answers\""),
        ("where = \"answers\"", "hypothesis[2].where"),
        &["{ mechanism = \"pipe\" }"],
    ),
    broken(
        ("first = { buffer = 64 }", "first = { buffer = 65 }"),
        ("first = { buffer", "hypothesis[2].first.buffer"),
        &["65", "64"],
    ),
    broken(
        ("first = { buffer = 64 }", "first = { buffer = 8 }"),
        ("second = { buffer", "hypothesis[2].second"),
        &["same cases"],
    ),
    broken(
        ("pipe.capacity = \"default\" }", "pipe.capacity = \"2MiB\" }"),
        ("first", "hypothesis[1].first.pipe.capacity"),
        &["2097152", "1048576"],
    ),
    broken(
        ("pipe.capacity = \"default\" }", "tcp.nodelay = \"on\" }"),
        ("first", "hypothesis[1].first.tcp.nodelay"),
        &["no matrix has the factor"],
    ),
    broken(
        ("second = { mechanism = [\"unix-stream\", \"tcp\"] }", "second = { mechanism = [] }"),
        ("second", "hypothesis[1].second.mechanism"),
        &["a level"],
    ),
    broken(
        ("of_second = \"best\"", "of_second = \"worst\""),
        ("of_second", "hypothesis[1].of_second"),
        &["`worst`", "each, best"],
    ),
    broken(
        ("at = \"levels\"", "at = \"level\""),
        ("at =", "hypothesis[1].at"),
        &["`level`", "`levels`"],
    ),
    broken(("level = 0.01", "level = 5"), ("level = 5", "hypothesis[1].level"), &["`5`", "to 0.5"]),
    broken(
        ("correction = \"holm\"", "correction = \"bonferroni\""),
        ("correction", "hypothesis[1].correction"),
        &["`bonferroni`", "holm"],
    ),
    broken(("need = 0.75", "need = 75"), ("need", "hypothesis[1].need"), &["`75`", "to 1"]),
    broken(
        ("beside = { statistic = \"student\"", "beside = { statistic = \"studnt\""),
        ("beside", "hypothesis[1].beside.statistic"),
        &["`studnt`", "`student`"],
    ),
    broken(
        ("beside = { statistic", "beside = { share"),
        ("beside", "hypothesis[1].beside.share"),
        &["no such key"],
    ),
    broken(
        ("from = \"4KiB\"", "from = \"4kib\""),
        ("from = ", "hypothesis[3].from"),
        &["`4kib`", "a size"],
    ),
    broken(
        ("from = \"4KiB\"", "from = \"4KiB\"\nabove = 2"),
        ("above = 2", "hypothesis[3].above"),
        &["always-from"],
    ),
    broken(
        ("above = 1.5\nbelow = 3\n", ""),
        ("[[hypothesis]]\nid = \"H2\"", "hypothesis[2].above"),
        &["no bound", "above, below or both"],
    ),
    broken(("above = 1.5", "above = 4"), ("above = 4", "hypothesis[2].above"), &["smaller"]),
    broken(
        ("id = \"H2\"", "id = \"H1\""),
        ("[[hypothesis]]\nid = \"H1\"\nclaim = \"A large", "hypothesis"),
        &["`H1`", "name of its own"],
    ),
];

fn all() -> impl Iterator<Item = &'static Broken> {
    WRITTEN_AMISS.iter().chain(KEYS).chain(MATRICES).chain(HYPOTHESES)
}

impl Broken {
    /// The good study with this mistake in it.
    pub(crate) fn text(&self) -> String {
        assert!(GOOD.contains(self.from), "{} is in the good study", self.from);
        GOOD.replacen(self.from, self.to, 1)
    }

    /// The line that must be told.
    fn line(&self) -> usize {
        let text = self.text();
        let at = text.find(self.line_of).unwrap_or_else(|| panic!("no `{}`", self.line_of));
        // A table begins with its heading.
        text[..at].matches('\n').count() + 1
    }
}

/// `text` as a file in `laboratory`.
fn file(laboratory: &Laboratory, text: impl AsRef<[u8]>) -> PathBuf {
    let path = laboratory.path("broken.toml");
    fs::write(&path, text).expect("a file");
    path
}

/// The mistakes that `study check --json` tells of the file at `path`; in words it must tell as many lines.
fn mistakes(laboratory: &Laboratory, path: &Path) -> Vec<Value> {
    let path = path.display();
    let json = laboratory.run(&format!("study check --json {path}")).expect(2);
    assert_eq!(json.stderr, "", "{path}");
    let told: Value = serde_json::from_str(&json.stdout).expect("JSON");
    let told = told["mistakes"].as_array().expect("a list").clone();
    let words = laboratory.run(&format!("study check {path}")).expect(2);
    assert_eq!(words.stdout, "");
    assert_eq!(words.stderr.lines().count(), told.len(), "{}", words.stderr);
    for (line, mistake) in words.stderr.lines().zip(&told) {
        let place = format!(
            "ipcperf: {path}: line {}: {}: ",
            mistake["line"],
            mistake["key"].as_str().unwrap()
        );
        assert!(line.starts_with(&place), "{line}");
        assert!(line.ends_with(mistake["remedy"].as_str().unwrap()), "{line}");
        assert!(line.chars().count() < 900, "{line}");
    }
    told
}

#[test]
fn the_good_study_has_no_mistakes() {
    let laboratory = Laboratory::open();
    let path = file(&laboratory, GOOD);
    laboratory.run(&format!("study check {}", path.display())).expect(0);
}

#[test]
fn each_of_many_mistakes_is_told_with_its_line_key_and_remedy() {
    let laboratory = Laboratory::open();
    let mut wrong = Vec::new();
    for broken in all() {
        let told = mistakes(&laboratory, &file(&laboratory, broken.text()));
        let words = serde_json::to_string(&told).expect("text").replace("\\\"", "\"");
        let is_right = told.len() == 1
            && told[0]["line"] == broken.line()
            && told[0]["key"] == broken.key
            && broken.words.iter().all(|word| words.contains(word));
        if !is_right {
            let (line, key, from, to) = (broken.line(), broken.key, broken.from, broken.to);
            wrong.push(format!(
                "{from} -> {to}\n  wanted {line} {key} {:?}\n  told {words}",
                broken.words
            ));
        }
    }
    assert!(all().count() >= 50);
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn several_mistakes_are_told_at_once_by_line() {
    let laboratory = Laboratory::open();
    let text = GOOD.replace("titel", "title").replacen("repetitions = 10", "repetitions = 0", 1);
    let text = text.replacen("mode = \"2proc\"", "mode = \"2pro\"", 1);
    let text = text.replacen("test = \"ratio-within\"", "test = \"ratio\"", 1);
    let text = text.replacen("id = \"H3\"", "di = \"H3\"", 1);
    let told = mistakes(&laboratory, &file(&laboratory, text));
    let keys: Vec<&str> = told.iter().filter_map(|one| one["key"].as_str()).collect();
    assert_eq!(
        keys,
        ["sampling.repetitions", "matrix[1].mode", "hypothesis[2].test", "hypothesis[3].di"]
    );
}

#[test]
fn every_command_that_takes_a_study_tells_the_same() {
    let laboratory = Laboratory::open();
    let path = file(&laboratory, GOOD.replacen("mode = \"2proc\"", "mode = \"2pro\"", 1));
    let path = path.display();
    let wanted = laboratory.run(&format!("study check {path}")).expect(2).stderr;
    for command in ["study show", "study plan", "study run", "plan"] {
        let told = laboratory.run(&format!("{command} {path}")).expect(2);
        assert_eq!(told.stderr, wanted, "{command}");
        assert_eq!(told.stdout, "", "{command}");
    }
}

/// Of what there may be several, one pair of brackets makes one table.
#[test]
fn a_heading_in_the_wrong_brackets_is_told_with_the_right_ones() {
    let laboratory = Laboratory::open();
    for (good, wrong) in [("[[matrix]]", "[matrix]"), ("[[hypothesis]]", "[hypothesis]")] {
        let end = GOOD.find(good).expect("the first") + good.len();
        let next = GOOD[end..].find("\n[[").map_or(GOOD.len(), |at| end + at + 1);
        let text = format!("{}{}", &GOOD[..end], &GOOD[end..next]).replacen(good, wrong, 1);
        let told = mistakes(&laboratory, &file(&laboratory, text));
        assert_eq!(told.len(), 1, "{told:?}");
        assert_eq!(told[0]["remedy"], format!("write {good}"));
    }
}

#[test]
fn what_is_no_study_at_all_is_told_in_one_line() {
    let laboratory = Laboratory::open();
    let told = |bytes: &[u8]| {
        let told = mistakes(&laboratory, &file(&laboratory, bytes));
        assert_eq!(told.len(), 1, "{told:?}");
        told[0].to_string()
    };
    assert!(told(b"").contains("study new"));
    assert!(told(b" \n\n").contains("empty"));
    assert!(told(b"name = \"a\"\n\n\xff\xfe = 1\n").contains("UTF-8"));
    assert!(told(b"name = \"a\"\n\n\xff\xfe = 1\n").contains("\"line\":3"));
    assert!(told(include_bytes!("files/three-mechanisms.jsonl")).contains("study judge"));
    assert!(told(&vec![b'#'; 2 << 20]).contains("longer than a study"));
    assert!(told(&vec![b'['; 1 << 19]).contains("TOML"));
}

#[test]
fn a_file_that_cannot_be_read_is_named() {
    let laboratory = Laboratory::open();
    for (name, word) in [
        ("/", "directory"),
        ("/nowhere/study.toml", "No such file"),
        ("pipe-or-sokcet", "`pipe-or-socket`"),
        ("/dev/zero", "longer than a study"),
        ("/proc/self/exe", "longer than a study"),
    ] {
        for json in ["", " --json"] {
            let told = laboratory.run(&format!("study check {name}{json}")).expect(2);
            let words = format!("{}{}", told.stderr, told.stdout);
            assert!(words.contains(word), "{name}: {words}");
        }
    }
}

/// What takes long to look at is refused before it is.
#[test]
fn absurd_files_are_refused_soon() {
    let laboratory = Laboratory::open();
    let numbers = |count: u32| (1..=count).map(|n| n.to_string()).collect::<Vec<_>>().join(",");
    let many = numbers(60_000);
    for (from, to) in [
        ("\"512..64KiB\"", format!("\"{many}\"")),
        ("\"512..64KiB\"", format!("\"{}\"", "1..4096:4096,".repeat(20_000))),
        ("touch = [\"none\", \"both\"]", format!("reply = \"{many}\"")),
        ("[\"default\", \"1MiB\"]", format!("\"{many}\"")),
        ("{ buffer = 64 }", format!("{{ buffer = \"{many}\" }}")),
        ("seed = 7", "[[matrix]]\n".repeat(50_000)),
        ("seed = 7", "[[hypothesis]]\n".repeat(50_000)),
        ("seed = 7", "x = 1\n".repeat(100_000)),
        ("seed = 7", format!("seed = {}7", "[".repeat(100_000))),
        ("seed = 7", "a.b.c = \n\"".repeat(50_000)),
    ] {
        let told = mistakes(&laboratory, &file(&laboratory, GOOD.replacen(from, &to, 1)));
        assert!(!told.is_empty(), "{from}");
    }
}

fn schema() -> jsonschema::Validator {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/study.schema.json");
    let schema: Value = serde_json::from_slice(&fs::read(path).expect("the schema")).expect("JSON");
    jsonschema::validator_for(&schema).expect("a schema")
}

fn json(text: &str) -> Value {
    let table: toml::Table = text.parse().expect("TOML");
    serde_json::to_value(table).expect("JSON")
}

/// The files in `studies/`.
pub(crate) fn studies() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../studies");
    let files = fs::read_dir(folder).expect("the studies").map(|file| file.expect("a file").path());
    let files: Vec<PathBuf> = files.collect();
    assert!(files.len() >= 6);
    files
}

#[test]
fn editors_are_told_that_the_studies_are_right() {
    let schema = schema();
    let ours = studies().into_iter().map(|path| fs::read_to_string(path).expect("a study"));
    for text in ours.chain([GOOD.to_owned()]) {
        let errors: Vec<String> = schema
            .iter_errors(&json(&text))
            .map(|error| format!("{} {error}", error.instance_path()))
            .collect();
        assert!(errors.is_empty(), "{}: {errors:?}", text.lines().next().unwrap_or_default());
    }
}

/// A schema knows no machine and no other key: it cannot tell all, but much.
#[test]
fn editors_are_told_of_many_mistakes() {
    let schema = schema();
    let readable = KEYS
        .iter()
        .chain(MATRICES)
        .chain(HYPOTHESES)
        .filter(|one| one.text().parse::<toml::Table>().is_ok());
    let (wrong, missed): (Vec<_>, Vec<_>) =
        readable.partition(|one| !schema.is_valid(&json(&one.text())));
    let missed: Vec<&str> = missed.iter().map(|one| one.to).collect();
    assert!(wrong.len() >= 40, "{} told, not: {missed:#?}", wrong.len());
}
