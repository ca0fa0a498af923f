// main.swift: every acknowledged note is there. Try it:
//   swiftc -o /tmp/notes main.swift FaultlineCheck.swift
//   faultline explore --setup 'touch notes' --workload 'sh ../notes.sh' --check-loop /tmp/notes

import Foundation

checkLoop { _, output in
  let there = try String(contentsOfFile: "notes", encoding: .utf8).split(separator: "\n")
  let acknowledged = try String(contentsOfFile: output, encoding: .utf8).split(separator: "\n")
  for number in acknowledged where !there.contains("note \(number)") {
    return "note \(number) was acknowledged and is lost"
  }
  return nil
}
