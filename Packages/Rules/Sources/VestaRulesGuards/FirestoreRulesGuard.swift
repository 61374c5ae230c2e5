public import VestaConcurrency
public import VestaFirestoreBackend
public import VestaRules
public import VestaServiceInterop

/// Decides about documents of Firestore by a rules file.
///
/// Setting a document that is there is an update, and one that is not a creation, whatever the write says of it; a
/// verification is a get. All writes of a commit share the budget of documents that rules look up.
public final class FirestoreRulesGuard: FirestoreGuard {
  private let rules: RulesInForce<Ruleset>
  /// Where outcomes are counted; `nil` for rules that do not explain themselves.
  private let reports: RulesReports?

  /// A guard that denies everything until it has rules.
  public convenience init(_ ruleset: Ruleset? = nil) { self.init(RulesInForce(ruleset)) }

  init(_ rules: RulesInForce<Ruleset>, _ reports: RulesReports? = nil) { (self.rules, self.reports) = (rules, reports) }

  /// The answer of a decision.
  ///
  /// - Throws: `PERMISSION_DENIED` with the statements that did not allow the call, where rules explain themselves.
  private func answer(_ decision: RulesDecision) throws -> Bool {
    if !decision.isAllowed, reports != nil {
      throw FirestoreServiceError(.permissionDenied, "\n\(decision.message)")
    }
    return decision.isAllowed
  }

  /// The rules that decisions are made by now; `nil` for none.
  public var current: Ruleset? { rules.current }

  /// Compiles rules, and puts them in force if they compile.
  ///
  /// - Returns: The warnings.
  /// - Throws: `RulesetError` with all errors; the rules in force are unchanged.
  @discardableResult
  public func replace(with source: String) async throws(RulesetError) -> [RulesIssue] {
    try await rules.replace { () throws(RulesetError) in try Ruleset(source, for: .firestore) }.warnings
  }

  /// Calls back after each replacement of the rules.
  public func observe(_ changed: @escaping @Sendable () -> Void) -> ListenerRegistration { rules.observe(changed) }

  /// Whether the rules allow a get.
  public nonisolated(nonsending) func mayGet(
    _ name: String, _ document: Document?, state: any FirestoreGuardState, at time: Timestamp, context: CallContext
  ) async throws -> Bool {
    guard let rules = RulesOfDecision(rules, reports) else { return false }
    let path = RulesPath(resource: name)
    let request = RulesRequest(
      .get, path, auth: context.auth, time: .timestamp(RulesTimestamp(time)), existing: RulesValue(document, at: path))
    var budget = rules.ruleset.budget
    let lookups = CommitLookups(state, name, [])
    return try answer(try await rules.decide(request, &budget) { try await lookups.answer($0, $1) })
  }

  /// Whether the filter of a query proves the rules for all documents that it can return.
  public nonisolated(nonsending) func mayList(
    _ query: FirestoreGuardedQuery, state: any FirestoreGuardState, at time: Timestamp, context: CallContext
  ) async throws -> Bool {
    guard let rules = RulesOfDecision(rules, reports), let asked = RulesQuery(query) else { return false }
    var budget = rules.ruleset.budget
    let lookups = CommitLookups(state, query.parent, [])
    let decision = try await rules.decide(
      asked, auth: context.auth, time: .timestamp(RulesTimestamp(time)), &budget
    ) { try await lookups.answer($0, $1) }
    return try answer(decision)
  }

  /// Whether the rules allow all writes of a commit.
  public nonisolated(nonsending) func mayCommit(
    _ writes: [FirestoreGuardedWrite], state: any FirestoreGuardState, at time: Timestamp, context: CallContext
  ) async throws -> Bool {
    guard let first = writes.first else { return true }
    guard let rules = RulesOfDecision(rules, reports) else { return false }
    var budget = writes.count == 1 ? rules.ruleset.budget : RulesBudget.commit(limits: rules.ruleset.limits)
    let lookups = CommitLookups(state, first.name, writes)
    for write in writes {
      let path = RulesPath(resource: write.name)
      var request = RulesRequest(
        write.method, path, auth: context.auth, time: .timestamp(RulesTimestamp(time)),
        existing: RulesValue(write.before, at: path))
      if write.kind == .change { request.resource = RulesValue(write.after, at: path) }
      budget.beginWrite(path)
      let decision = try await rules.decide(request, &budget) { try await lookups.answer($0, $1) }
      guard try answer(decision) else { return false }
    }
    return true
  }
}

extension FirestoreGuardedWrite {
  /// The method that rules are asked about.
  fileprivate var method: RulesMethod {
    switch kind {
    case .verification: .get
    case .deletion: .delete
    case .change: before == nil ? .create : .update
    }
  }
}

/// The documents that rules of Firestore look up: those of the transaction, and after it those that are written.
struct CommitLookups {
  private let state: any FirestoreGuardState
  /// A resource name of the project.
  private let name: String
  private let after: [String: Document?]

  init(_ state: any FirestoreGuardState, _ name: String, _ writes: [FirestoreGuardedWrite]) {
    (self.state, self.name) = (state, name)
    guard !writes.isEmpty else {
      after = [:]
      return
    }
    after = Dictionary(
      writes.filter { $0.kind != .verification }.map { ($0.name, $0.after) }, uniquingKeysWith: { $1 })
  }

  nonisolated(nonsending) func answer(
    _ function: RulesLookupFunction, _ path: RulesPath
  ) async throws -> RulesLookup {
    let segments = RulesPath(self.name).segments
    guard segments.count > 1, let name = path.resourceName(in: segments[1]) else { return .unavailable }
    let document: Document?
    if function.isAfter, let written = after[name] {
      document = written
    } else {
      document = try await state.document(name)
    }
    return document.map { .found(.document(at: path, data: RulesMap($0.fields))) } ?? .missing
  }
}
