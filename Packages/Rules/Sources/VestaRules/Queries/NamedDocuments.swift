import VestaBytes

extension Ruleset {
  /// Decides about a query: by its filter, and where that proves nothing, by the documents that the query names.
  ///
  /// The emulator does the same: `where(documentId(), 'in', ids)` is allowed where the rules allow to list each of
  /// these documents, whatever else the filter says. A document that does not exist has no `resource`.
  func decide(
    _ query: RulesQuery, auth: RulesValue?, time: RulesValue?, documents: any RulesDocuments,
    budget: inout RulesBudget, recorder: EvaluationRecorder?
  ) -> RulesDecision {
    let before = budget
    let proof = prove(query, auth: auth, time: time, documents: documents, budget: &budget, recorder: recorder)
    guard case .denied = proof.verdict, let paths = query.namedDocuments(limit: limits.alternatives) else {
      return proof
    }
    let found: [RulesValue]
    switch NamedDocuments(paths, documents) {
    case .known(let known): found = known
    case .unread(let unread): return RulesDecision(.needs(unread.map { _ in .get }, unread), .list)
    case .unavailable: return proof
    }
    budget = before
    var last = proof
    for (path, document) in zip(paths, found) {
      let request = RulesRequest(
        .list, path, auth: auth, query: .some(query.variable), time: time, existing: document)
      // Each is a decision of its own but for the documents that the rules look up, as of the writes of a commit.
      (budget.expressions, budget.work) = (before.expressions, before.work)
      last = decide(request, path.matched, nil, documents, &budget, recorder: recorder)
      guard last.isAllowed else { return last }
    }
    return last
  }
}

/// The documents that a query names, as rules see them.
private enum NamedDocuments {
  /// The values of `resource`; null for documents that do not exist.
  case known([RulesValue])
  /// The paths of documents that have to be read first.
  case unread([RulesPath])
  /// One of them cannot be read.
  case unavailable

  init(_ paths: [RulesPath], _ documents: any RulesDocuments) {
    var (known, unread) = ([RulesValue](), [RulesPath]())
    for path in paths {
      switch documents.lookUp(.get, path) {
      case .found(let document): known.append(.map(document))
      case .missing: known.append(.null)
      case .notYetRead: unread.append(path)
      case .unavailable, .noSuchFunction:
        self = .unavailable
        return
      }
    }
    self = unread.isEmpty ? .known(known) : .unread(unread)
  }
}

extension RulesQuery {
  /// The documents that it names; `nil` where it names none, too many, or some that are not in its collection.
  fileprivate func namedDocuments(limit: Int) -> [RulesPath]? {
    guard let names, !names.isEmpty, names.count <= limit, names.allSatisfy(isInCollection) else { return nil }
    return names
  }

  private func isInCollection(_ path: RulesPath) -> Bool {
    let (segments, above) = (path.segments, parent.segments)
    guard segments.count >= above.count + 2, isGroup || segments.count == above.count + 2 else { return false }
    return zip(segments, above).allSatisfy { UTF8Order.equal($0, $1) }
      && UTF8Order.equal(segments[segments.count - 2], collection)
  }
}
