// SiteFinder.swift: walks a file's syntax and finds what can be changed so that it still compiles,
// most of the time: what does not compile is left out by the runner, by the compiler's errors.
// Nothing within preconditions, texts, `#if` and descriptions: no test is meant to see that.

import SwiftSyntax

final class SiteFinder: SyntaxVisitor {
  private(set) var candidates: [Candidate] = []
  private let converter: SourceLocationConverter
  private var functions: [String] = []

  /// Names of calls whose arguments, and which themselves, stay as they are.
  private static let untouched: Set<String> = [
    "precondition", "preconditionFailure", "fatalError", "assert", "assertionFailure",
    "withExtendedLifetime", "checkInvariants", "print",
  ]
  private static let flipped = [
    "<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "==",
  ]
  private static let moved = ["<": "<=", "<=": "<", ">": ">=", ">=": ">"]
  private static let turned = ["+": "-", "-": "+", "&+": "&-", "&-": "&+"]
  private static let literalNeighbours: Set<String> = [
    "<", "<=", ">", ">=", "==", "!=", "+", "-", "&+", "&-", "%", "/", "*", "<<", ">>",
  ]

  init(file: String, tree: Syntax) {
    converter = SourceLocationConverter(fileName: file, tree: tree)
    super.init(viewMode: .sourceAccurate)
  }

  // MARK: Where nothing is changed

  override func visit(_ node: IfConfigDeclSyntax) -> SyntaxVisitorContinueKind { .skipChildren }
  override func visit(_ node: StringLiteralExprSyntax) -> SyntaxVisitorContinueKind {
    .skipChildren
  }
  override func visit(_ node: AttributeSyntax) -> SyntaxVisitorContinueKind { .skipChildren }

  override func visit(_ node: FunctionCallExprSyntax) -> SyntaxVisitorContinueKind {
    Self.untouched.contains(Self.name(called: node)) ? .skipChildren : .visitChildren
  }

  override func visit(_ node: FunctionDeclSyntax) -> SyntaxVisitorContinueKind {
    guard !["hash", "checkInvariants"].contains(node.name.text) else { return .skipChildren }
    functions.append(node.name.text)
    return .visitChildren
  }
  override func visitPost(_ node: FunctionDeclSyntax) {
    if functions.last == node.name.text { functions.removeLast() }
  }

  override func visit(_ node: InitializerDeclSyntax) -> SyntaxVisitorContinueKind {
    functions.append("init")
    return .visitChildren
  }
  override func visitPost(_ node: InitializerDeclSyntax) { functions.removeLast() }

  override func visit(_ node: VariableDeclSyntax) -> SyntaxVisitorContinueKind {
    let isDescription = node.bindings.contains {
      $0.pattern.trimmedDescription.lowercased().hasSuffix("description")
    }
    return isDescription ? .skipChildren : .visitChildren
  }

  // MARK: Expressions

  override func visit(_ node: InfixOperatorExprSyntax) -> SyntaxVisitorContinueKind {
    guard let token = node.operator.as(BinaryOperatorExprSyntax.self)?.operator.text else {
      return .visitChildren
    }
    let left = node.leftOperand.trimmedDescription
    let right = node.rightOperand.trimmedDescription
    let isNilTest = right == "nil" || left == "nil"
    if isNilTest, let after = ["==": "false", "!=": "true"][token] {
      add(.nilTestDropped, expression: node, after: after)
      return .visitChildren
    }
    if let other = Self.flipped[token] {
      add(.comparisonFlipped, expression: node, after: "\(left) \(other) \(right)")
    }
    if let other = Self.moved[token] {
      add(.boundMoved, expression: node, after: "\(left) \(other) \(right)")
    }
    if token == "&&" || token == "||" {
      add(.andOr, expression: node, after: "\(left) \(token == "&&" ? "||" : "&&") \(right)")
    }
    let isText = [left, right].contains { $0.contains("\"") || $0.hasPrefix("[") }
    if let other = Self.turned[token], !isText {
      add(.plusMinus, expression: node, after: "\(left) \(other) \(right)")
    }
    if token == "..<", Self.isPlain(node.leftOperand), Self.isPlain(node.rightOperand) {
      add(.boundMoved, span: node.rightOperand, after: "\(right) - 1") {
        "(\($0) && \(left) < \(right) ? \(right) - 1 : \(right))"
      }
    }
    return .visitChildren
  }

  override func visit(_ node: IntegerLiteralExprSyntax) -> SyntaxVisitorContinueKind {
    guard let infix = node.parent?.as(InfixOperatorExprSyntax.self),
      let token = infix.operator.as(BinaryOperatorExprSyntax.self)?.operator.text,
      Self.literalNeighbours.contains(token), let value = Int(node.literal.text)
    else { return .skipChildren }
    add(.boundMoved, span: node, after: "\(value + 1)") { "(\($0) ? \(value + 1) : \(value))" }
    return .skipChildren
  }

  override func visit(_ node: PrefixOperatorExprSyntax) -> SyntaxVisitorContinueKind {
    if node.operator.text == "!" {
      add(.negationDropped, expression: node, after: node.expression.trimmedDescription)
    }
    return .visitChildren
  }

  override func visit(_ node: ReturnStmtSyntax) -> SyntaxVisitorContinueKind {
    if let answer = node.expression?.as(BooleanLiteralExprSyntax.self) {
      let other = answer.literal.text == "true" ? "false" : "true"
      add(.answerFlipped, span: answer, after: other) {
        "(\($0) ? \(other) : \(answer.literal.text))"
      }
    }
    return .visitChildren
  }

  // MARK: Statements

  override func visit(_ node: GuardStmtSyntax) -> SyntaxVisitorContinueKind {
    if node.conditions.allSatisfy({ $0.condition.is(ExprSyntax.self) }) {
      let all = node.conditions.map { "(\($0.condition.trimmedDescription))" }
      add(.returnDropped, span: node.conditions, after: "true") {
        "\($0) || (\(all.joined(separator: " && ")))"
      }
    }
    return .visitChildren
  }

  override func visit(_ node: IfExprSyntax) -> SyntaxVisitorContinueKind {
    // An `if` that is an `else if`, or has an else, only loses its branch.
    let leaves = node.body.statements.last.map {
      let item = $0.item
      return item.is(ReturnStmtSyntax.self) || item.is(ThrowStmtSyntax.self)
        || item.is(ContinueStmtSyntax.self) || item.is(BreakStmtSyntax.self)
    }
    add(leaves == true ? .returnDropped : .branchDropped, span: node.conditions, after: "false") {
      "!\($0), \(node.conditions.trimmedDescription)"
    }
    return .visitChildren
  }

  override func visit(_ node: CodeBlockItemListSyntax) -> SyntaxVisitorContinueKind {
    let items = Array(node)
    // The one expression of a body may be its value.
    guard items.count > 1 || node.parent?.parent?.is(IfExprSyntax.self) == true else {
      return .visitChildren
    }
    for (index, item) in items.enumerated() {
      guard let kind = Self.kind(of: item) else { continue }
      let text = item.item.trimmedDescription
      if !(kind == .statementDropped && functions.last == "init") {
        add(kind, span: item.item, after: "") { "if !\($0) { \(text) }" }
      }
      guard index + 1 < items.count, Self.kind(of: items[index + 1]) != nil else { continue }
      let next = items[index + 1].item.trimmedDescription
      let end = Self.span(of: items[index + 1].item).upperBound
      let span = Self.span(of: item.item).lowerBound..<end
      append(
        .statementsSwapped, span, at: item.item, before: "\(text); \(next)",
        after: "\(next); \(text)"
      ) { "if \($0) { \(next)\n \(text) } else { \(text)\n \(next) }" }
    }
    return .visitChildren
  }

  /// What leaving this statement out would be, nil where it must stay.
  private static func kind(of item: CodeBlockItemSyntax) -> MutantKind? {
    guard var expression = item.item.as(ExprSyntax.self) else { return nil }
    while true {
      if let inner = expression.as(TryExprSyntax.self) {
        guard inner.questionOrExclamationMark == nil else { return nil }
        expression = inner.expression
      } else if let inner = expression.as(UnsafeExprSyntax.self) {
        expression = inner.expression
      } else {
        break
      }
    }
    if let infix = expression.as(InfixOperatorExprSyntax.self) {
      if infix.operator.is(AssignmentExprSyntax.self) {
        return infix.leftOperand.is(DiscardAssignmentExprSyntax.self) ? nil : .statementDropped
      }
      let token = infix.operator.as(BinaryOperatorExprSyntax.self)?.operator.text ?? ""
      return ["+=", "-=", "|=", "&=", "^="].contains(token) ? .statementDropped : nil
    }
    guard let call = expression.as(FunctionCallExprSyntax.self) else { return nil }
    let name = name(called: call).lowercased()
    guard !untouched.contains(where: { $0.lowercased() == name }) else { return nil }
    let isSync = ["sync", "barrier", "flush", "durable"].contains { name.contains($0) }
    return isSync ? .syncDropped : .callDropped
  }

  // MARK: Adding

  private static func name(called call: FunctionCallExprSyntax) -> String {
    if let member = call.calledExpression.as(MemberAccessExprSyntax.self) {
      return member.declName.baseName.text
    }
    return call.calledExpression.trimmedDescription
  }

  private static func isPlain(_ node: ExprSyntax) -> Bool {
    node.is(DeclReferenceExprSyntax.self) || node.is(IntegerLiteralExprSyntax.self)
      || node.is(MemberAccessExprSyntax.self)
  }

  private static func span(of node: some SyntaxProtocol) -> Range<Int> {
    node.positionAfterSkippingLeadingTrivia
      .utf8Offset..<node.endPositionBeforeTrailingTrivia.utf8Offset
  }

  private func add(_ kind: MutantKind, expression: some SyntaxProtocol, after: String) {
    let text = expression.trimmedDescription
    add(kind, span: expression, after: after) { "(\($0) ? \(after) : \(text))" }
  }

  private func add(
    _ kind: MutantKind, span node: some SyntaxProtocol, after: String,
    replacement: @escaping (String) -> String
  ) {
    append(
      kind, Self.span(of: node), at: node, before: node.trimmedDescription, after: after,
      replacement: replacement)
  }

  private func append(
    _ kind: MutantKind, _ span: Range<Int>, at node: some SyntaxProtocol, before: String,
    after: String, replacement: @escaping (String) -> String
  ) {
    let line = converter.location(for: node.positionAfterSkippingLeadingTrivia).line
    candidates.append(
      Candidate(
        kind: kind, span: span, line: line, function: functions.last ?? "", before: before,
        after: after, replacement: replacement))
  }
}
