import VestaPatterns

/// An expression of the Realtime Database's rules.
enum DatabaseSyntax: Sendable {
  case null
  case bool(Bool)
  case number(Double)
  case string(String)
  case pattern(Pattern)
  case array([NodeID])
  case auth
  case now
  case query
  case data
  case newData
  case root
  /// The capture with a number, outermost first.
  case capture(Int)
  case not(NodeID)
  case negate(NodeID)
  case binary(DatabaseOperator, NodeID, NodeID)
  case all([NodeID])
  case any([NodeID])
  case conditional(NodeID, NodeID, NodeID)
  /// A member of `auth` or `query`, or `length`.
  case member(NodeID, String)
  case index(NodeID, NodeID)
  case call(NodeID, DatabaseMethod, [NodeID])
}

extension DatabaseSyntax {
  /// The nodes directly below this one.
  var children: [NodeID] {
    switch self {
    case .array(let list), .all(let list), .any(let list): list
    case .not(let inner), .negate(let inner), .member(let inner, _): [inner]
    case .binary(_, let left, let right), .index(let left, let right): [left, right]
    case .conditional(let a, let b, let c): [a, b, c]
    case .call(let target, _, let arguments): [target] + arguments
    default: []
    }
  }
}

/// The operators that evaluate both operands.
enum DatabaseOperator: String, Sendable {
  case equal = "=="
  case notEqual = "!="
  case less = "<"
  case lessOrEqual = "<="
  case greater = ">"
  case greaterOrEqual = ">="
  case add = "+"
  case subtract = "-"
  case multiply = "*"
  case divide = "/"
  case remainder = "%"
}

/// The methods of snapshots and of strings.
enum DatabaseMethod: String, Sendable, CaseIterable {
  case val, child, parent, hasChild, hasChildren, exists, getPriority, isNumber, isString, isBoolean
  case contains, beginsWith, endsWith, replace, toLowerCase, toUpperCase, matches

  var isOfSnapshots: Bool {
    switch self {
    case .val, .child, .parent, .hasChild, .hasChildren, .exists, .getPriority, .isNumber, .isString, .isBoolean: true
    default: false
    }
  }
}

/// The type of an expression in the check at upload.
enum DatabaseType: Sendable, Equatable {
  case boolean, number, string, null, regex, array, snapshot, method(DatabaseMethod), value, auth, query, queryValue
  case mixed
  /// An operand that failed a check already.
  case error

  var isEquatable: Bool {
    switch self {
    case .boolean, .number, .string, .null, .value, .auth, .queryValue, .mixed, .error: true
    default: false
    }
  }

  var isOrdered: Bool {
    switch self {
    case .number, .string, .value, .auth, .queryValue, .mixed, .error: true
    default: false
    }
  }

  var isArithmetic: Bool { isOrdered && self != .string }
  var isBoolean: Bool { self == .boolean || self == .error }

  var isText: Bool {
    switch self {
    case .string, .value, .auth, .mixed, .error: true
    default: false
    }
  }
}

/// A kind of rule.
enum DatabaseRuleKind: String, Sendable {
  case read = ".read"
  case write = ".write"
  case validate = ".validate"
}

/// A checked expression.
struct DatabaseExpression: Sendable {
  var nodes: [DatabaseSyntax] = []
  var root: NodeID = 0
  /// The calls on snapshots that are taken apart, by their nodes; set when the expression is complete.
  var looks: [DatabaseLook?] = []
  /// Its number among all rules of the document.
  var number = 0
  /// Where it is written, for reports.
  var origin: DatabaseRuleOrigin?

  /// The outcome of a rule that is written as `true` or `false`; `nil` for others.
  var constant: Bool? {
    guard case .bool(let bool) = nodes[root] else { return nil }
    return bool
  }
}

/// Where a rule is written.
final class DatabaseRuleOrigin: Sendable {
  let kind: DatabaseRuleKind
  /// The names of the captures that the rule sees, outermost first.
  let captures: [String]
  /// The text of the rule.
  let text: [UInt8]
  /// The places of its nodes in the text.
  let extents: [Span]
  /// The places of its nodes in the document.
  let places: [Span]

  init(kind: DatabaseRuleKind, captures: [String], text: [UInt8], extents: [Span], places: [Span]) {
    self.kind = kind
    self.captures = captures
    self.text = text
    self.extents = extents
    self.places = places
  }

  /// The text of a node.
  func source(of node: NodeID) -> String {
    String(decoding: text[Int(extents[node].start)..<Int(extents[node].end)], as: UTF8.self)
  }
}
