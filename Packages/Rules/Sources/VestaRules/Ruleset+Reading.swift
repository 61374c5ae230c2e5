extension Ruleset {
  /// The verdict about a get, where few values of the request decide it.
  ///
  /// - Parameters:
  ///   - name: The resource name of the document.
  ///   - resource: The document, or its absence.
  ///   - caller: The caller.
  ///   - request: The type that knows their values.
  /// - Returns: `nil` where the request has to be decided in full.
  @inlinable
  public func quickVerdict<Request: QuickRulesRequest>(
    get name: String, _ resource: Request.Resource, by caller: Request.Caller, _ request: Request.Type
  ) -> Bool? {
    quickVerdict(.get, name, resource, written: resource, by: caller, request)
  }

  /// The verdict about a creation, an update or a deletion, where few values of the request decide it.
  ///
  /// - Parameters:
  ///   - method: The method.
  ///   - name: The resource name of the document.
  ///   - resource: The document before the write, or its absence.
  ///   - written: The document after a creation or an update; looked at for those alone.
  ///   - caller: The caller.
  ///   - request: The type that knows their values.
  /// - Returns: `nil` where the request has to be decided in full.
  @inlinable
  public func quickVerdict<Request: QuickRulesRequest>(
    _ method: RulesMethod, _ name: String, _ resource: Request.Resource, written: Request.Resource,
    by caller: Request.Caller, _ request: Request.Type
  ) -> Bool? {
    // What depends on the types is inlined where they are known; the rest is no generic code, which would look each
    // value up in tables.
    quickVerdict(
      method, name, isSignedIn: request.isSignedIn(caller), hasResource: request.exists(resource)
    ) { question in
      switch question {
      case .uid: request.uid(of: caller)
      case .claim(let name): request.claim(name, of: caller)
      case .field(let name): request.field(name, of: resource)
      case .writtenField(let name): request.field(name, of: written)
      }
    }
  }

  @usableFromInline
  func quickVerdict(
    _ method: RulesMethod, _ name: String, isSignedIn: Bool, hasResource: Bool,
    _ ask: (QuickRulesQuestion) -> RulesValue?
  ) -> Bool? {
    // A query is about many documents.
    guard method != .list, let (places, match) = code.table.only(name) else { return nil }
    let matches = code.quick(method)
    var left = limits.expressions
    switch match {
    case .none: return false
    case .one(let match):
      return matches[match]?
        .allow(
          isSignedIn: isSignedIn, hasResource: hasResource, name, places, left: &left,
          upTo: limits.tuning.quickString, ask)
    case .several: break
    }
    let bindings = code.table.bindings(of: .resource(ResourceSegments(name, places)))
    for index in 0..<bindings.count {
      guard let match = bindings[index]?.match, let statements = matches[match],
        let allow = statements.allow(
          isSignedIn: isSignedIn, hasResource: hasResource, name, places, left: &left,
          upTo: limits.tuning.quickString, ask)
      else { return nil }
      if allow { return true }
    }
    return false
  }

  /// Decides about a request whose documents have to be read first.
  ///
  /// The decision is made with what is known; what it needs is read, and it is made again, until it needs nothing. A
  /// budget counts as if it had been made once.
  ///
  /// - Parameters:
  ///   - request: The request.
  ///   - budget: The budget of the request, shared by the writes of a commit.
  ///   - read: Reads a document; an answer `notYetRead` counts as a failed lookup.
  /// - Throws: The error of `read`; the budget is then unchanged.
  public func decide<Failure: Error>(
    _ request: RulesRequest, budget: inout RulesBudget,
    read: (RulesLookupFunction, RulesPath) async throws(Failure) -> RulesLookup
  ) async throws(Failure) -> RulesDecision {
    var known = KnownDocuments()
    return try await decided(&budget, &known, read) { decide(request, documents: $0, budget: &$1) }
  }

  /// Decides about a query whose rules look up documents that have to be read first.
  ///
  /// - Throws: The error of `read`; the budget is then unchanged.
  public func decide<Failure: Error>(
    _ query: RulesQuery, auth: RulesValue?, time: RulesValue?, budget: inout RulesBudget,
    read: (RulesLookupFunction, RulesPath) async throws(Failure) -> RulesLookup
  ) async throws(Failure) -> RulesDecision {
    var known = KnownDocuments()
    return try await decided(&budget, &known, read) {
      decide(query, auth: auth, time: time, documents: $0, budget: &$1)
    }
  }

  fileprivate func decided<Failure: Error>(
    _ budget: inout RulesBudget, _ known: inout KnownDocuments,
    _ read: (RulesLookupFunction, RulesPath) async throws(Failure) -> RulesLookup,
    _ decide: (KnownDocuments, inout RulesBudget) -> RulesDecision
  ) async throws(Failure) -> RulesDecision {
    while true {
      var attempt = budget
      let decision = decide(known, &attempt)
      guard case .needs(let functions, let paths) = decision.verdict else {
        budget = attempt
        return decision
      }
      for (function, path) in zip(functions, paths) { known.add(try await read(function, path), function, path) }
    }
  }
}

extension RulesCoverage {
  /// Decides about a request whose documents have to be read first, and counts the outcomes once.
  ///
  /// - Throws: The error of `read`; nothing is counted then.
  public func decide<Failure: Error>(
    _ request: RulesRequest, budget: inout RulesBudget,
    read: (RulesLookupFunction, RulesPath) async throws(Failure) -> RulesLookup
  ) async throws(Failure) -> RulesDecision {
    var (known, counted) = (KnownDocuments(), budget)
    let decision = try await quiet.decided(&budget, &known, read) {
      quiet.decide(request, documents: $0, budget: &$1)
    }
    _ = decide(request, documents: known, budget: &counted)
    return decision
  }

  /// Decides about a query whose rules look up documents that have to be read first, and counts the outcomes once.
  ///
  /// - Throws: The error of `read`; nothing is counted then.
  public func decide<Failure: Error>(
    _ query: RulesQuery, auth: RulesValue?, time: RulesValue?, budget: inout RulesBudget,
    read: (RulesLookupFunction, RulesPath) async throws(Failure) -> RulesLookup
  ) async throws(Failure) -> RulesDecision {
    var known = KnownDocuments()
    let decision = try await quiet.decided(&budget, &known, read) {
      quiet.decide(query, auth: auth, time: time, documents: $0, budget: &$1)
    }
    _ = decide(query, auth: auth, time: time, documents: known)
    return decision
  }
}

extension RulesCoverage {
  /// The rules for decisions that are made again to be counted.
  private var quiet: Ruleset {
    var ruleset = ruleset
    ruleset.isQuiet = true
    return ruleset
  }
}

/// The documents that were read for a decision.
private struct KnownDocuments: RulesDocuments {
  var answers: [RulesLookupFunction: [RulesPath: RulesLookup]] = [:]

  func lookUp(_ function: RulesLookupFunction, _ path: RulesPath) -> RulesLookup {
    answers[function]?[path] ?? .notYetRead
  }

  /// Adds the answer of a read; a document that could not be read is unavailable from then on.
  mutating func add(_ answer: RulesLookup, _ function: RulesLookupFunction, _ path: RulesPath) {
    let isUnread = if case .notYetRead = answer { true } else { false }
    answers[function, default: [:]][path] = isUnread ? .unavailable : answer
  }
}
