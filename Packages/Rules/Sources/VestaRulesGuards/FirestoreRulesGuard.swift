import VestaBytes
public import VestaConcurrency
public import VestaFirestoreBackend
public import VestaRules
public import VestaServiceInterop

/// Decides about documents of Firestore by a rules file.
///
/// Setting a document that is there is an update, and one that is not a creation, unless the write demands that it is
/// there, or is not; a verification is a get. Several writes of one document in a commit are asked about as one, with
/// the document before the commit and after it. All writes of a commit share the budget of the documents that rules
/// look up.
public final class FirestoreRulesGuard: FirestoreGuard {
  private let rules: RulesInForce<Ruleset>
  /// Where outcomes are counted; `nil` for rules that do not explain themselves.
  private let reports: SourceReports?

  /// A guard that denies everything until it has rules.
  public convenience init(_ ruleset: Ruleset? = nil) { self.init(RulesInForce(firestore: ruleset)) }

  init(_ rules: RulesInForce<Ruleset>, _ reports: SourceReports? = nil) {
    (self.rules, self.reports) = (rules, reports)
  }

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

  /// Whether the rules allow a get, where they look at no other document; `nil` where they do, and where outcomes are
  /// counted.
  public func mayGetAtOnce(
    _ name: String, _ document: Document?, at time: () -> Timestamp, context: CallContext
  ) -> Bool? {
    guard reports == nil else { return nil }
    if rules.allowsAnyGet(by: context) { return true }
    guard let ruleset = rules.current else { return false }
    if let verdict = ruleset.quickVerdict(get: name, document, by: context, QuickDocument.self) { return verdict }
    var budget = ruleset.budget
    let request = ruleset.request(.get, name, existing: document, at: time, context)
    let decision = ruleset.decide(request, documents: UnreadDocuments(), budget: &budget)
    if case .needs = decision.verdict { return nil }
    return decision.isAllowed
  }

  /// Whether the rules allow a get.
  public nonisolated(nonsending) func mayGet(
    _ name: String, _ document: Document?, state: any FirestoreGuardState, at time: Timestamp, context: CallContext
  ) async throws -> Bool {
    guard let rules = RulesOfDecision(rules, reports) else { return false }
    let request = rules.ruleset.request(.get, name, existing: document, at: { time }, context)
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
    if writes.isEmpty { return true }
    guard let rules = RulesOfDecision(rules, reports) else { return false }
    let ruleset = rules.ruleset
    // One for all writes; many commits need none.
    var shared: RulesBudget?
    // Where outcomes or the expressions of a commit are counted, every decision is made in full.
    let isCounted = reports != nil || ruleset.limits.commitExpressions != nil
    let effects = writes.count == 1 ? writes : FirestoreGuardedWrite.effects(of: writes)
    for index in effects.indices {
      if !isCounted, let verdict = ruleset.quickVerdict(effects[index], context) {
        guard verdict else { return false }
        continue
      }
      let write = effects[index]
      var request = ruleset.request(write.method, write.name, existing: write.before, at: { time }, context)
      switch write.kind {
      case .change: request.resource = RulesValue(write.after, at: request.path)
      // Null and not absent: one condition for all writes asks whether there is a document after them.
      case .deletion: request.resource = .null
      case .verification: break
      }
      var budget = shared.take() ?? (writes.count == 1 ? ruleset.budget : .commit(limits: ruleset.limits))
      budget.beginWrite(request.path)
      let lookups = CommitLookups(state, writes[0].name, writes)
      let decision = try await rules.decide(request, &budget) { try await lookups.answer($0, $1) }
      shared = budget
      guard try answer(decision) else { return false }
    }
    return true
  }
}

extension Ruleset {
  /// The verdict about a write of which few values decide, if any.
  fileprivate func quickVerdict(_ write: FirestoreGuardedWrite, _ context: CallContext) -> Bool? {
    let method = write.method
    if allowsEverywhere(method, isSignedIn: context.isUser) { return true }
    // A change without a document after it is none that rules know.
    guard write.kind != .change || write.after != nil else { return nil }
    return quickVerdict(method, write.name, write.before, written: write.after, by: context, QuickDocument.self)
  }

  /// A request about a document; it has a time where some rule reads it.
  fileprivate func request(
    _ method: RulesMethod, _ name: String, existing: Document?, at time: () -> Timestamp, _ context: CallContext
  ) -> RulesRequest {
    let path = RulesPath(resource: name)
    return RulesRequest(
      method, path, auth: context.auth, time: readsTime ? .timestamp(RulesTimestamp(time())) : .none,
      existing: RulesValue(existing, at: path))
  }
}

extension RulesInForce where Rules == Ruleset {
  /// Rules of Firestore; which gets they allow for every document is known without their lock.
  convenience init(firestore rules: Ruleset?) {
    self.init(rules) { rules in
      let forOthers: UInt8 = rules.allowsEverywhere(.get, isSignedIn: false) ? 1 : 0
      return forOthers | (rules.allowsEverywhere(.get, isSignedIn: true) ? 2 : 0)
    }
  }

  /// Whether every get of the caller is allowed; `false` also where that is not known.
  fileprivate func allowsAnyGet(by context: CallContext) -> Bool {
    let summary = summary
    return summary == 3 || (summary != 0 && summary == (context.isUser ? 2 : 1))
  }
}

/// A document and its caller as quick decisions look at them.
private enum QuickDocument: QuickRulesRequest {
  static func isSignedIn(_ caller: CallContext) -> Bool { caller.isUser }

  static func uid(of caller: CallContext) -> RulesValue? {
    if case .user(let user) = caller.caller { .string(user.uid) } else { .none }
  }

  static func claim(_ name: String, of caller: CallContext) -> RulesValue? {
    guard case .user(let user) = caller.caller else { return .none }
    return user.claims[name].map { RulesValue($0) }
  }

  static func exists(_ resource: Document?) -> Bool { if case .some = resource { true } else { false } }

  static func field(_ name: String, of resource: Document?) -> RulesValue? {
    resource?.fields[name].map { RulesValue($0) }
  }
}

/// Documents of which none is read yet.
private struct UnreadDocuments: RulesDocuments {
  func lookUp(_ function: RulesLookupFunction, _ path: RulesPath) -> RulesLookup { .notYetRead }
}

extension FirestoreGuardedWrite {
  /// The method that rules are asked about.
  fileprivate var method: RulesMethod {
    switch kind {
    case .verification: .get
    case .deletion: .delete
    case .change:
      switch precondition {
      case .exists(true), .updateTime: .update
      case .exists(false): .create
      case nil: before == nil ? .create : .update
      }
    }
  }

  /// The writes of a commit with those of one document taken together, at the place of the first.
  fileprivate static func effects(of writes: [FirestoreGuardedWrite]) -> [FirestoreGuardedWrite] {
    // By the bytes of names: two that only look alike are two documents, each with its own rules.
    var places: [UTF8String: Int] = [:]
    var effects: [FirestoreGuardedWrite] = []
    effects.reserveCapacity(writes.count)
    for write in writes {
      if write.kind != .verification {
        let name = UTF8String(write.name)
        if let place = places[name] {
          (effects[place].kind, effects[place].after) = (write.kind, write.after)
          continue
        }
        places[name] = effects.count
      }
      effects.append(write)
    }
    return effects
  }
}

/// The documents that rules of Firestore look up: as the transaction has read them, and after it as they are written.
struct CommitLookups {
  private let state: any FirestoreGuardState
  /// A resource name of the project.
  private let name: String
  private let writes: [FirestoreGuardedWrite]

  init(_ state: any FirestoreGuardState, _ name: String, _ writes: [FirestoreGuardedWrite]) {
    (self.state, self.name, self.writes) = (state, name, writes)
  }

  nonisolated(nonsending) func answer(
    _ function: RulesLookupFunction, _ path: RulesPath
  ) async throws -> RulesLookup {
    let segments = RulesPath(self.name).segments
    guard segments.count > 1, let name = path.resourceName(in: segments[1]) else { return .unavailable }
    let document: Document?
    // Of several writes to one document the last one counts.
    // Names are compared by bytes: strings that only look alike name different documents.
    let isWrite = { (write: FirestoreGuardedWrite) in write.kind != .verification && UTF8Order.equal(write.name, name) }
    if function.isAfter, let write = writes.last(where: isWrite) {
      document = write.after
    } else {
      document = try await state.document(name)
    }
    return document.map { .found(RulesMap(DocumentFields($0, at: path))) } ?? .missing
  }
}
