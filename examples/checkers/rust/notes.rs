// notes.rs: every acknowledged note is there. Try it:
//   rustc -o /tmp/notes notes.rs
//   faultline explore --setup 'touch notes' --workload 'sh ../notes.sh' --check-loop /tmp/notes
mod faultline_check;
use faultline_check::{check_loop, Verdict};

fn main() {
    check_loop(|_, output| {
        let there = std::fs::read_to_string("notes").expect("notes");
        for number in std::fs::read_to_string(output).expect("output").lines() {
            let note = format!("note {}", number);
            if !there.lines().any(|line| line == note) {
                return Verdict::Broken(format!("note {} was acknowledged and is lost", number));
            }
        }
        Verdict::Held
    })
}
