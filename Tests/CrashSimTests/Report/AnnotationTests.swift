// AnnotationTests.swift: GitHub gets file, line and title, in one line, whatever they hold.

import Testing

@testable import Findings

@Suite("Annotations")
struct AnnotationTests {
  @Test("a finding stands beside its scenario's line")
  func finding() {
    let text = Annotation(file: "s.yaml", line: 7).error(of: HTMLFixture.finding())
    #expect(text.hasPrefix("::error file=s.yaml,line=7,title=faultline%3A lost%3A a row::"))
    #expect(text.hasSuffix("%0Afaultline replay fl1-x"))
  }

  @Test("an explored program has no file")
  func program() {
    let text = Annotation(file: CaseReport.exploredName, line: nil).error("m", title: "t")
    #expect(text == "::error title=t::m")
  }

  @Test("no text ends the command or a property")
  func hostile() {
    let text = Annotation(file: "a,line=1::b%\n.yaml", line: 2).error(
      "x\r\n::error::y%", title: "\n,")
    #expect(
      text == "::error file=a%2Cline=1%3A%3Ab%25%0A.yaml,line=2,title=%0A%2C::x%0D%0A::error::y%25")
  }
}
