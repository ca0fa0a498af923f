// faultline_check.rs: a checker in Rust that stays, for `faultline explore --check-loop`.
// Copy this file beside your checker. It needs Rust 1.56 or newer and no crates.
//
//   mod faultline_check;
//   use faultline_check::{check_loop, Verdict};
//   fn main() {
//       check_loop(|_directory, _output| Verdict::Held) // or Broken("why"), or Noticed("why")
//   }
//
// The judge gets the crash state and a file with what was acknowledged. A panic means that the state
// is broken. What a judge opens it closes: the next state comes into the same directory. Print to
// standard error: standard output is for the answers.
use std::collections::HashMap;
use std::io::{BufRead, Write};
use std::path::Path;

/// What a judge says about a state.
#[allow(dead_code)]
pub enum Verdict {
    Held,
    Broken(String),
    /// The program has noticed the damage.
    Noticed(String),
}

/// Answers each request on standard input until there are no more.
pub fn check_loop(judge: impl Fn(&Path, &Path) -> Verdict + std::panic::RefUnwindSafe) {
    let home = std::env::current_dir().expect("a working directory");
    for line in std::io::stdin().lock().lines() {
        let request = strings(&line.expect("a line"));
        for (name, value) in &request {
            if name.starts_with("FAULTLINE_") {
                std::env::set_var(name, value);
            }
        }
        let (directory, output) = (Path::new(&request["directory"]), Path::new(&request["output"]));
        std::env::set_current_dir(directory).expect("the state");
        let verdict = std::panic::catch_unwind(|| judge(directory, output));
        std::env::set_current_dir(&home).expect("the first directory");
        let answer = match verdict {
            Ok(Verdict::Held) => "held".to_string(),
            Ok(Verdict::Broken(words)) => format!("broken {}", words),
            Ok(Verdict::Noticed(words)) => format!("noticed {}", words),
            Err(_) => "broken the checker panicked".to_string(),
        };
        let words: Vec<&str> = answer.split_whitespace().collect();
        let mut out = std::io::stdout();
        writeln!(out, "{}", words.join(" ")).and_then(|_| out.flush()).expect("an answer");
    }
}

/// The strings of a line of JSON whose values are strings, or objects of strings.
fn strings(line: &str) -> HashMap<String, String> {
    let mut pairs = HashMap::new();
    let mut name: Option<String> = None;
    let mut rest = line.chars();
    while let Some(next) = rest.next() {
        match next {
            '{' => name = None,
            '"' => {
                let mut text = String::new();
                while let Some(c) = rest.next() {
                    match c {
                        '"' => break,
                        '\\' => match rest.next() {
                            Some('n') => text.push('\n'),
                            Some('t') => text.push('\t'),
                            Some('r') => text.push('\r'),
                            Some('u') => {
                                let digits: String = rest.by_ref().take(4).collect();
                                let code = u32::from_str_radix(&digits, 16).unwrap_or(0xfffd);
                                text.push(char::from_u32(code).unwrap_or('\u{fffd}'));
                            }
                            Some(other) => text.push(other),
                            None => break,
                        },
                        other => text.push(other),
                    }
                }
                match name.take() {
                    None => name = Some(text),
                    Some(known) => {
                        pairs.insert(known, text);
                    }
                }
            }
            _ => {}
        }
    }
    pairs
}
