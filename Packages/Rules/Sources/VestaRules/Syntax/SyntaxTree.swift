typealias NodeID = Int

/// The operators of two operands that always evaluate both.
enum BinaryOperator: String, Sendable, CaseIterable {
  case add = "+"
  case subtract = "-"
  case multiply = "*"
  case divide = "/"
  case remainder = "%"
  case less = "<"
  case lessOrEqual = "<="
  case greater = ">"
  case greaterOrEqual = ">="
  case equal = "=="
  case notEqual = "!="
  case contained = "in"
}

/// A part of a path expression.
enum PathPart: Sendable {
  case literal(String)
  case expression(NodeID)
}

extension PathPart {
  /// The expression between `$(` and `)`; nil for a literal.
  var expression: NodeID? {
    if case .expression(let node) = self { return node }
    return nil
  }
}

/// An expression as it is written.
///
/// Chains of `&&` and of `||` are one node.
enum SyntaxKind: Sendable {
  case literal(RulesValue)
  case name(String)
  case list([NodeID])
  case map([(key: NodeID, value: NodeID)])
  case path([PathPart])
  case not(NodeID)
  case negate(NodeID)
  case binary(BinaryOperator, NodeID, NodeID)
  case isType(NodeID, String)
  case all([NodeID])
  case any([NodeID])
  case conditional(NodeID, NodeID, NodeID)
  case member(NodeID, String)
  case index(NodeID, NodeID)
  case slice(NodeID, NodeID, NodeID)
  case call(String, [NodeID])
  case method(NodeID, String, [NodeID])
}

struct SyntaxNode: Sendable {
  var kind: SyntaxKind
  /// Where an error of this expression is: its first token, or the operator of two operands.
  var anchor: Span
  /// The whole expression.
  var extent: Span
  /// Of a call the name of the function, which is where a failed lookup is.
  var name: Span?
}

/// A name at a place.
struct NamedSpan: Sendable {
  let name: String
  let span: Span
}

struct LetSyntax: Sendable {
  let name: NamedSpan
  let value: NodeID
}

struct FunctionSyntax: Sendable {
  let name: NamedSpan
  let parameters: [NamedSpan]
  let lets: [LetSyntax]
  let result: NodeID
  let scope: Int
  let extent: Span
}

/// A segment of the path of a match.
enum SegmentSyntax: Sendable {
  case literal(String)
  case capture(NamedSpan)
  case glob(NamedSpan, at: Span)

  var isGlob: Bool {
    if case .glob = self { true } else { false }
  }
}

struct AllowSyntax: Sendable {
  let methods: [RulesMethod]
  /// The condition; none means always.
  let condition: NodeID?
  let extent: Span
}

/// A file, a service or a match: what declares functions, and for a match its path and its statements.
struct ScopeSyntax: Sendable {
  enum Kind: Sendable {
    case file
    case service(String)
    case match
  }

  let kind: Kind
  let parent: Int?
  var path: [SegmentSyntax] = []
  var pathSpan = Span(0, 0)
  var functions: [Int] = []
  var allows: [AllowSyntax] = []
  var matches: [Int] = []
  var extent = Span(0, 0)
}

/// A parsed file.
struct SyntaxTree: Sendable {
  var version: String?
  var nodes: [SyntaxNode] = []
  var functions: [FunctionSyntax] = []
  /// The file is the first one; a scope stands after its parent.
  var scopes: [ScopeSyntax] = [ScopeSyntax(kind: .file, parent: nil)]

  /// The nodes directly below a node, in the order of writing.
  func children(of node: NodeID) -> [NodeID] {
    switch nodes[node].kind {
    case .literal, .name: []
    case .list(let items), .all(let items), .any(let items), .call(_, let items): items
    case .map(let pairs): pairs.flatMap { [$0.key, $0.value] }
    case .path(let parts): parts.compactMap(\.expression)
    case .not(let inner), .negate(let inner), .isType(let inner, _), .member(let inner, _): [inner]
    case .binary(_, let left, let right), .index(let left, let right): [left, right]
    case .conditional(let a, let b, let c), .slice(let a, let b, let c): [a, b, c]
    case .method(let target, _, let arguments): [target] + arguments
    }
  }

  /// The number of matches that a scope is in, itself included.
  func matchDepth(of scope: Int) -> Int {
    var (depth, current) = (0, Optional(scope))
    while let index = current {
      if case .match = scopes[index].kind { depth += 1 }
      current = scopes[index].parent
    }
    return depth
  }
}
