/// A rules file of Firestore or Storage, compiled for one of them.
///
/// A ruleset is a value that any number of threads use at once. Nothing that a rules file or a request contains makes
/// a decision throw, trap or run beyond its budget.
///
/// ```swift
/// let ruleset = try Ruleset(source, for: .firestore)
/// let path = RulesPath("/databases/(default)/documents/notes/n1")
/// ruleset.decide(RulesRequest(.get, path)).isAllowed
/// ```
public struct Ruleset: Sendable {
  /// The service that the ruleset decides for.
  public var service: RulesService { code.service }
  /// The implementation that decisions follow.
  public var dialect: RulesDialect { code.dialect }
  /// The bounds.
  public var limits: RulesLimits { code.limits }
  /// The version of the language, 1 or 2.
  public var version: Int { code.version }
  /// The warnings of the compiler.
  public var warnings: [RulesIssue] { code.warnings }
  /// The text that was compiled, comments included.
  public var text: String { String(decoding: code.source.bytes, as: UTF8.self) }
  let code: RulesCode
  /// Whether values of `debug()` are kept back, in decisions that are made once more.
  var isQuiet = false
  var source: SourceText { code.source }
  var tree: SyntaxTree { code.tree }
  var program: Program { code.program }

  /// Compiles a rules file.
  ///
  /// - Parameters:
  ///   - source: The text.
  ///   - service: The service whose blocks count.
  ///   - dialect: The implementation that decisions follow.
  ///   - limits: The bounds.
  ///   - debugged: Receives each value of `debug()` and its place, for development: the function exists then, also in
  ///     production's dialect. It may be called more than once for a decision whose documents have to be read first.
  /// - Throws: ``RulesetError`` with all errors and warnings. A file for other services alone is no error: it denies
  ///   everything.
  public init(
    _ source: String, for service: RulesService, dialect: RulesDialect = .production,
    limits: RulesLimits = RulesLimits(), debugged: (@Sendable (RulesValue, RulesPosition) -> Void)? = nil
  ) throws(RulesetError) {
    let text = SourceText(source)
    guard text.bytes.count <= limits.sourceSize else {
      throw RulesetError([RulesIssue(.error, "The source is larger than \(limits.sourceSize) bytes.", at: nil)])
    }
    let (tree, issues) = try Ruleset.checkedTree(of: text, limits)
    let compiled = Compiler.compile(tree, service: service, tuning: limits.tuning)
    let version = tree.version == "1" ? 1 : 2
    code = RulesCode(
      source: text, tree: tree, program: compiled.program,
      table: MatchTable(compiled.matches, version: version), service: service, dialect: dialect, limits: limits,
      version: version, warnings: issues, debugged: debugged)
  }

  /// The tree of a file, and its warnings.
  private static func checkedTree(
    of text: SourceText, _ limits: RulesLimits
  ) throws(RulesetError) -> (tree: SyntaxTree, warnings: [RulesIssue]) {
    var (tree, issues) = Parser.parse(text, limits: limits)
    if issues.isEmpty { issues = Checker.check(tree, source: text, limits: limits) }
    if tree.version == nil || tree.version == "1" {
      let message = "Ruleset uses old version (version [1]). Please update to the latest version (version [2])."
      issues.append(RulesIssue(.warning, message, at: nil))
    }
    issues.sort(by: RulesIssue.precedes)
    guard !issues.contains(where: { $0.severity == .error }) else { throw RulesetError(issues) }
    if tree.version == nil { tree.version = "1" }
    return (tree, issues)
  }

  /// The budget of a request that is not a commit.
  public var budget: RulesBudget { RulesBudget(accesses: dialect.accesses(service, limits), limits: limits) }

  // MARK: Decisions

  /// Decides about a request, with a separate budget.
  public func decide(_ request: RulesRequest, documents: any RulesDocuments = NoRulesDocuments()) -> RulesDecision {
    var budget = self.budget
    return decide(request, documents: documents, budget: &budget)
  }

  /// Decides about a request.
  ///
  /// - Parameters:
  ///   - request: The request.
  ///   - documents: The documents that rules look up.
  ///   - budget: The rest of the request's budget, shared by the writes of a commit.
  public func decide(
    _ request: RulesRequest, documents: any RulesDocuments, budget: inout RulesBudget
  ) -> RulesDecision {
    decide(request, request.path.matched, nil, documents, &budget, recorder: nil)
  }

  /// Decides whether a query is allowed: whether the rules allow every document that it can return.
  ///
  /// The filter is taken apart into alternatives, and each has to be allowed by what it says about its documents; what
  /// it does not say counts as an error. No document that the query returns is read for that. Where it names its
  /// documents, and proves nothing, these are looked up, and each has to be allowed by itself.
  public func decide(
    _ query: RulesQuery, auth: RulesValue?, time: RulesValue? = nil, documents: any RulesDocuments = NoRulesDocuments()
  ) -> RulesDecision {
    var budget = self.budget
    return decide(query, auth: auth, time: time, documents: documents, budget: &budget, recorder: nil)
  }

  /// Decides about a query with the budget of a caller.
  public func decide(
    _ query: RulesQuery, auth: RulesValue?, time: RulesValue?, documents: any RulesDocuments, budget: inout RulesBudget
  ) -> RulesDecision {
    decide(query, auth: auth, time: time, documents: documents, budget: &budget, recorder: nil)
  }

  /// Whether the filter of a query proves the rules for every document that it can return.
  func prove(
    _ query: RulesQuery, auth: RulesValue?, time: RulesValue?, documents: any RulesDocuments,
    budget: inout RulesBudget, recorder: EvaluationRecorder?
  ) -> RulesDecision {
    let denied = RulesDecision(.denied, .list)
    let segments = MatchedPath.segments(query.segments)
    if recorder == nil, allowsQuickly(query, segments, auth: auth, &budget) { return RulesDecision(.allowed, .list) }
    let path = RulesPath(query.parent.segments + [query.collection])
    // Few rules read `request.query`, whose maps would cost as much as the proof.
    let variable: RulesValue? = code.program.readsQuery ? .some(query.variable) : .none
    let request = RulesRequest(.list, path, auth: auth, query: variable, time: time, existing: nil)
    if recorder == nil, let decision = decideJoined(query, request, segments, documents, &budget) { return decision }
    guard let alternatives = query.filter.map({ $0.alternatives(limit: limits.alternatives) }) ?? [[]] else {
      return denied
    }
    var last = denied
    // A filter that no document satisfies proves every comparison with a document; what else the rules ask of the
    // caller has to hold.
    if alternatives.isEmpty {
      return decide(request, segments, QueryFacts(unsatisfiable: limits), documents, &budget, recorder: recorder)
    }
    for alternative in alternatives {
      last = decide(alternative, request, segments, documents, &budget, recorder)
      guard last.isAllowed else { return last }
    }
    return last
  }

  /// The decision on all alternatives of a query at once, which differ in the values of some fields alone; `nil` where
  /// they have to be decided one by one.
  private func decideJoined(
    _ query: RulesQuery, _ request: RulesRequest, _ segments: MatchedPath, _ documents: any RulesDocuments,
    _ budget: inout RulesBudget
  ) -> RulesDecision? {
    guard let (conditions, count) = query.filter?.joined(limit: limits.alternatives) else { return nil }
    let before = budget
    let decision = decide(request, segments, QueryFacts(conditions, limits), documents, &budget, recorder: nil)
    // Each alternative counts.
    let used = (before.expressions - budget.expressions) * count
    if decision.verdict != .denied, !decision.isAllowed || used <= before.expressions {
      budget.expressions = before.expressions - used
      return decision
    }
    budget = before
    return nil
  }

  /// The decision on an alternative of a query.
  private func decide(
    _ alternative: [QueryCondition], _ request: RulesRequest, _ segments: MatchedPath,
    _ documents: any RulesDocuments, _ budget: inout RulesBudget, _ recorder: EvaluationRecorder?
  ) -> RulesDecision {
    // Most rules only compare numbers: one decision is enough then, unless its values are to be shown.
    if recorder == nil, let open = alternative.withOpenNumbers {
      let before = budget
      let decision = decide(request, segments, QueryFacts(open, limits), documents, &budget, recorder: nil)
      if decision.verdict != .denied { return decision }
      budget = before
    }
    return decideReadings(of: alternative, request, segments, documents, &budget, recorder)
  }

  /// The decision on an alternative in all readings of its numbers: the first that is not allowed, or the last.
  private func decideReadings(
    of alternative: [QueryCondition], _ request: RulesRequest, _ segments: MatchedPath,
    _ documents: any RulesDocuments, _ budget: inout RulesBudget, _ recorder: EvaluationRecorder?
  ) -> RulesDecision {
    let (readings, left) = (alternative.readings(limit: limits.readings), budget.expressions)
    var last = decide(request, segments, QueryFacts(readings[0], limits), documents, &budget, recorder: recorder)
    for reading in readings.dropFirst() {
      guard last.isAllowed else { return last }
      // Another reading of the same alternative: it uses none of the budget of the others.
      let rest = budget.expressions
      budget.expressions = left
      last = decide(request, segments, QueryFacts(reading, limits), documents, &budget, recorder: nil)
      budget.expressions = rest
    }
    return last
  }

  func decide(
    _ request: RulesRequest, _ path: MatchedPath, _ facts: QueryFacts?, _ documents: any RulesDocuments,
    _ budget: inout RulesBudget, recorder: EvaluationRecorder?
  ) -> RulesDecision {
    // Listing needs version 2 in Storage.
    guard service != .storage || version >= 2 || request.method != .list else {
      return RulesDecision(.denied, request.method)
    }
    var evaluation = Evaluation(
      self, request, path, documents: documents, facts: facts, budget: budget, recorder: recorder)
    let decision = evaluation.decide()
    budget = evaluation.budget
    return decision
  }
}

/// The compiled form of a rules file, behind one reference.
final class RulesCode: Sendable {
  let source: SourceText
  let tree: SyntaxTree
  let program: Program
  let table: MatchTable
  let service: RulesService
  let dialect: RulesDialect
  let limits: RulesLimits
  let version: Int
  let warnings: [RulesIssue]
  /// Receives the values of `debug()`.
  let debugged: (@Sendable (RulesValue, RulesPosition) -> Void)?
  /// The shortcuts of methods that are decided alike for every document, by the numbers of the methods.
  let everywhere: [Shortcut?]
  /// For each match the statements about a get, in their quick form; nil where one has none.
  let quickGets: [QuickStatements?]
  /// The same of statements about queries.
  let quickLists: [QuickStatements?]
  /// The same of statements about creations, updates and deletions.
  let quickCreations: [QuickStatements?]
  let quickUpdates: [QuickStatements?]
  let quickDeletions: [QuickStatements?]

  init(
    source: SourceText, tree: SyntaxTree, program: Program, table: MatchTable, service: RulesService,
    dialect: RulesDialect, limits: RulesLimits, version: Int, warnings: [RulesIssue],
    debugged: (@Sendable (RulesValue, RulesPosition) -> Void)?
  ) {
    self.source = source
    self.tree = tree
    self.program = program
    self.table = table
    self.service = service
    self.dialect = dialect
    self.limits = limits
    self.version = version
    self.warnings = warnings
    self.debugged = debugged
    func quick(_ method: RulesMethod, where isQuick: (QuickCondition) -> Bool = { _ in true }) -> [QuickStatements?] {
      table.matches.map { match in
        let allows = match.allows.filter { $0.names(method) }
        let quick = allows.compactMap { QuickCompiler.condition(of: $0, about: method, in: match, program, limits) }
        return quick.count == allows.count && quick.allSatisfy { isQuick($0.condition) } ? QuickStatements(quick) : nil
      }
    }
    quickGets = quick(.get)
    quickCreations = quick(.create)
    quickUpdates = quick(.update)
    quickDeletions = quick(.delete)
    // Whether a document is there is no fact about the documents of a query.
    quickLists = quick(.list) { !$0.asksForResource }
    everywhere = RulesMethod.allCases.map { table.shortcut(everywhereFor: $0, below: limits.expressions) }
  }
}

extension RulesCode {
  /// For each match the quick form of the statements about a method.
  func quick(_ method: RulesMethod) -> [QuickStatements?] {
    switch method {
    case .get: quickGets
    case .list: quickLists
    case .create: quickCreations
    case .update: quickUpdates
    case .delete: quickDeletions
    }
  }
}

/// The errors and warnings of a rules file that cannot be used.
public struct RulesetError: Error, Sendable, CustomStringConvertible {
  /// The issues, by their places.
  public let issues: [RulesIssue]

  /// An error.
  public init(_ issues: [RulesIssue]) { self.issues = issues }

  /// The issues, a line each.
  public var description: String { issues.map(\.description).joined(separator: "\n") }
}
