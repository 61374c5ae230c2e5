import VestaBytes

/// The rules of a Realtime Database, compiled.
///
/// `.read` and `.write` cascade: the first one that is true on the way from the root grants. `.validate` does not: all
/// that concern a write have to hold, at its ancestors, at its place, and at all that is written below it.
///
/// ```swift
/// let rules = try DatabaseRuleset(#"{"rules": {"notes": {"$id": {".read": "auth.uid === $id"}}}}"#)
/// rules.allowsRead(["notes", "ada"], auth: .map(["uid": .string("ada")]), data: DatabaseTree.missing)  // true
/// ```
public struct DatabaseRuleset: Sendable {
  /// The rules of a node.
  struct Rules: Sendable {
    private var read: DatabaseExpression?
    private var write: DatabaseExpression?
    private var validate: DatabaseExpression?

    subscript(kind: DatabaseRuleKind) -> DatabaseExpression? {
      get {
        switch kind {
        case .read: read
        case .write: write
        case .validate: validate
        }
      }
      set {
        switch kind {
        case .read: read = newValue
        case .write: write = newValue
        case .validate: validate = newValue
        }
      }
    }
  }

  /// A node of the rules.
  final class Node: Sendable {
    let rules: Rules
    let indexes: [String]
    let children: [UTF8String: Node]
    let wildcard: Node?

    init(
      rules: Rules, indexes: [String], children: [UTF8String: Node], wildcard: Node?
    ) {
      self.rules = rules
      self.indexes = indexes
      self.children = children
      self.wildcard = wildcard
    }
  }

  /// The compiled form, behind one reference.
  final class Code: Sendable {
    let source: String
    let root: Node
    /// The document, for the places of its rules.
    let document: SourceText
    /// All rules, in the order of writing.
    let rules: [DatabaseExpression]
    let tuning: RulesTuning

    init(source: String, root: Node, document: SourceText, rules: [DatabaseExpression], tuning: RulesTuning) {
      self.source = source
      self.root = root
      self.document = document
      self.rules = rules
      self.tuning = tuning
    }
  }

  /// The text that was compiled, comments included.
  public var source: String { code.source }
  let code: Code

  /// Compiles rules.
  ///
  /// - Throws: ``RulesetError`` with all errors, with the messages of the check at upload.
  public init(_ source: String, limits: RulesLimits = RulesLimits()) throws(RulesetError) {
    let text = SourceText(source)
    guard text.bytes.count <= limits.databaseSourceSize else {
      throw RulesetError([RulesIssue(.error, "The source is larger than \(limits.databaseSourceSize) bytes.", at: nil)])
    }
    var compiler = DatabaseCompiler(text, limits.tuning)
    let root = compiler.compile()
    guard compiler.issues.isEmpty else { throw RulesetError(compiler.issues.sorted(by: RulesIssue.precedes)) }
    code = Code(source: source, root: root, document: text, rules: compiler.rules, tuning: limits.tuning)
  }

  /// The children of a path that are declared to be indexed there.
  public func indexes(at path: [String]) -> [String] { walk(path).nodes.last.flatMap { $0?.indexes } ?? [] }

  /// The nodes of the rules on the way to a path, the root first, and the captured names.
  func walk(_ path: [String]) -> DatabaseWay {
    var way = DatabaseWay(nodes: [code.root], captures: [], counts: [0])
    way.nodes.reserveCapacity(path.count + 1)
    way.counts.reserveCapacity(path.count + 1)
    var parent: Node? = code.root
    for name in path {
      let literal = parent.flatMap { $0.children.isEmpty ? nil : $0.children[UTF8String(name)] }
      if literal == nil { way.captures.append(name) }
      parent = literal ?? parent?.wildcard
      way.nodes.append(parent)
      way.counts.append(way.captures.count)
    }
    return way
  }
}

/// The nodes of the rules on the way to a path, the root first.
struct DatabaseWay {
  var nodes: [DatabaseRuleset.Node?]
  /// The names that were captured on the way.
  var captures: [String]
  /// The number of captures that each node sees.
  var counts: [Int]
}

/// The facts by which a request to the Realtime Database is judged: one object, as every rule that is asked has them.
final class DatabaseContext {
  let auth: RulesValue
  let now: Double
  let query: DatabaseRulesQuery
  private let before: any DatabaseRulesData
  let after: any DatabaseRulesData
  /// Where the decision is recorded.
  let recorder: DatabaseTraceRecorder?

  init(
    auth: RulesValue, now: Double, query: DatabaseRulesQuery = DatabaseRulesQuery(), before: any DatabaseRulesData,
    after: any DatabaseRulesData, recorder: DatabaseTraceRecorder? = nil
  ) {
    (self.auth, self.now, self.query, self.before, self.after) = (auth, now, query, before, after)
    self.recorder = recorder
  }

  /// The number of answers that mean nothing yet.
  var missed: Int { before.missedCount &+ after.missedCount }

  // The states are asked where they are: a choice of one would copy it.

  func node(_ path: [String], isAfter: Bool) -> DatabaseRulesNode {
    if isAfter { return after.node(at: path) }
    return before.node(at: path)
  }

  func allExist(_ names: [String], below path: [String], isAfter: Bool) -> Bool {
    if isAfter { return after.allExist(names, below: path) }
    return before.allExist(names, below: path)
  }
}

extension DatabaseRulesQuery {
  func value(of name: String) -> DatabaseScalar {
    switch name {
    case "orderByKey": return .bool(order == .key)
    case "orderByValue": return .bool(order == .value)
    case "orderByPriority": return .bool(order == .priority)
    case "orderByChild":
      if case .child(let path) = order { return .string(path) }
      return .null
    case "startAt": return startAt
    case "endAt": return endAt
    case "equalTo": return equalTo
    case "limitToFirst": return limitToFirst.map { .number(Double($0)) } ?? .null
    case "limitToLast": return limitToLast.map { .number(Double($0)) } ?? .null
    default: return .null
    }
  }
}
