public import VestaConcurrency
public import VestaDatabaseBackend
public import VestaRules
public import VestaServiceInterop

/// Decides about a Realtime Database by its rules.
///
/// Rules read the tree as they go: a decision is made with the nodes that are known, nodes that it missed are read, and
/// it is made again, until it misses none.
public final class DatabaseRulesGuard: DatabaseGuard {
  private let rules: RulesInForce<DatabaseRuleset>
  /// Where outcomes are counted; `nil` for rules that do not explain themselves.
  private let reports: DatabaseReports?

  /// A guard that denies everything until it has rules.
  public convenience init(_ ruleset: DatabaseRuleset? = nil) { self.init(RulesInForce(ruleset)) }

  init(_ rules: RulesInForce<DatabaseRuleset>, _ reports: DatabaseReports? = nil) {
    (self.rules, self.reports) = (rules, reports)
  }

  /// The rules of a decision, and where its outcomes are counted.
  private var rulesOfDecision: (ruleset: DatabaseRuleset, coverage: DatabaseRulesCoverage?)? {
    if let coverage = reports?.coverage(of: rules) { return (coverage.ruleset, coverage) }
    return rules.current.map { ($0, nil) }
  }

  /// The rules that decisions are made by now; `nil` for none.
  public var current: DatabaseRuleset? { rules.current }

  /// Compiles rules, and puts them in force if they compile.
  ///
  /// - Throws: `RulesetError` with the messages of the check at upload; the rules in force are unchanged.
  public func replace(with source: String) async throws(RulesetError) {
    try await rules.replace { () throws(RulesetError) in try DatabaseRuleset(source) }
  }

  /// Calls back after each replacement of the rules.
  public func observe(_ changed: @escaping @Sendable () -> Void) -> ListenerRegistration { rules.observe(changed) }

  /// Whether the rules allow a read.
  public nonisolated(nonsending) func mayRead(
    _ read: DatabaseGuardedRead, state: any DatabaseGuardState, context: CallContext
  ) async throws -> Bool {
    guard let (ruleset, coverage) = rulesOfDecision else { return false }
    let data = KnownNodes(state)
    let (query, now) = (DatabaseRulesQuery(read.spec), Double(read.time))
    while true {
      let decision = ruleset.decideRead(read.path.names, auth: context.databaseAuth, query: query, now: now, data: data)
      guard !(try await data.readMissed()) else { continue }
      // Counted once, when all that it looks at is known.
      coverage?.decideRead(read.path.names, auth: context.databaseAuth, query: query, now: now, data: data)
      return decision.isAllowed
    }
  }

  /// Whether the rules allow a write.
  public nonisolated(nonsending) func mayWrite(
    _ write: DatabaseGuardedWrite, before: any DatabaseGuardState, after: any DatabaseGuardState, context: CallContext
  ) async throws -> Bool {
    guard let (ruleset, coverage) = rulesOfDecision else { return false }
    // A priority is a part of its node and no child, which a `$name` would stand for.
    let paths = write.values.map { value in
      (value.path.back?.isPriority == true ? value.path.parent ?? value.path : value.path).names
    }
    let (before, after) = (KnownNodes(before), KnownNodes(after, written: write.values))
    let now = Double(write.time)
    while true {
      let decision = ruleset.decideWrite(paths, auth: context.databaseAuth, now: now, before: before, after: after)
      let hasMissedBefore = try await before.readMissed()
      let hasMissedAfter = try await after.readMissed()
      guard !hasMissedBefore, !hasMissedAfter else { continue }
      coverage?.decideWrite(paths, auth: context.databaseAuth, now: now, before: before, after: after)
      return decision.isAllowed
    }
  }
}

/// The nodes of a state that rules have asked for so far.
private final class KnownNodes: DatabaseRulesData {
  private let state: any DatabaseGuardState
  /// The nodes of a write, by path: they are at hand, and need not be read.
  private let written: [(path: [String], node: DatabaseNode)]
  private var nodes: [[String]: DatabaseRulesNode] = [:]
  private var missed: [[String]] = []
  var missedCount: Int { missed.count }

  init(_ state: any DatabaseGuardState, written: [DatabasePathValue] = []) {
    self.state = state
    self.written = written.filter { $0.path.back?.isPriority != true }.map { ($0.path.names, $0.node) }
  }

  private func writtenNode(at path: [String]) -> DatabaseNode? {
    for value in written where path.starts(with: value.path) {
      return value.node[DatabasePath(path.dropFirst(value.path.count).map { DatabaseKey($0) })]
    }
    return nil
  }

  func node(at path: [String]) -> DatabaseRulesNode {
    if let node = writtenNode(at: path) { return DatabaseRulesNode(DatabaseGlance(node)) }
    if let node = nodes[path] { return node }
    missed.append(path)
    return .missing
  }

  func childNames(at path: [String]) -> [String] {
    var names: [String] = []
    writtenNode(at: path)?.forEachChild { key, _ in names.append(key.text) }
    return names
  }

  /// Reads the nodes that were missed; whether there were any.
  nonisolated(nonsending) func readMissed() async throws -> Bool {
    let paths = missed
    missed = []
    for path in paths where nodes[path] == nil {
      nodes[path] = DatabaseRulesNode(try await state.glance(at: DatabasePath(path.map { DatabaseKey($0) })))
    }
    return !paths.isEmpty
  }
}

extension DatabasePath {
  fileprivate var names: [String] { keys.map(\.text) }
}

extension DatabaseRulesNode {
  fileprivate init(_ glance: DatabaseGlance) {
    self =
      switch glance {
      case .empty: .missing
      case .leaf(let leaf, let priority): .leaf(DatabaseScalar(leaf), priority: DatabaseScalar(priority))
      case .parent(let priority): .parent(priority: DatabaseScalar(priority))
      }
  }
}

extension DatabaseScalar {
  fileprivate init(_ leaf: DatabaseLeaf?) {
    switch leaf {
    case .bool(let bool)?: self = .bool(bool)
    case .int(let number)?: self = .number(Double(number))
    case .double(let number)?: self = .number(number)
    case .string(let text)?: self = .string(text)
    // Values of the server are filled in before rules are asked.
    case .timestamp?, .incrementInt?, .incrementDouble?, nil: self = .null
    }
  }
}

extension DatabaseRulesQuery.Order {
  fileprivate init(_ index: DatabaseIndex) {
    self =
      switch index {
      case .priority: .priority
      case .key: .key
      case .value: .value
      case .child(let path): .child(path.text)
      }
  }
}

extension DatabaseRulesQuery {
  /// The parameters of a query; of everything none.
  fileprivate init(_ spec: DatabaseQuerySpec) {
    guard !spec.isDefault else {
      self.init()
      return
    }
    self.init(Order(spec.index))
    if let start = spec.start, let end = spec.end, start == end, start.isInclusive {
      equalTo = DatabaseScalar(start.value.leaf)
    } else {
      startAt = DatabaseScalar(spec.start?.value.leaf)
      endAt = DatabaseScalar(spec.end?.value.leaf)
    }
    switch spec.limit?.side {
    case .first?: limitToFirst = spec.limit?.count
    case .last?: limitToLast = spec.limit?.count
    case nil: break
    }
  }
}
