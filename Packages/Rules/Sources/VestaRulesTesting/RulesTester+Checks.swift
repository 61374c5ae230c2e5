public import VestaRules

/// A write of a test.
public enum RulesWrite: Sendable {
  /// Creates a document, or replaces the fields of one that exists.
  case set(String, RulesValue)
  /// Changes fields of a document, and keeps the others.
  case update(String, RulesValue)
  /// Deletes a document.
  case delete(String)

  var path: String {
    switch self {
    case .set(let path, _), .update(let path, _), .delete(let path): path
    }
  }

  /// The fields of the document after the write; nil when it is deleted.
  func applied(to fields: RulesValue?) -> RulesValue? {
    switch self {
    case .set(_, let new): return new
    case .update(_, let new):
      guard case .map(let changes) = new, case .map(let old)? = fields else { return new }
      return .map(RulesMap(old.members + changes.members))
    case .delete: return nil
    }
  }
}

extension RulesTester {
  func check(_ isExpected: Bool, _ method: RulesMethod, _ path: String, _ user: RulesUser) throws(RulesTestFailure) {
    let whole = RulesPath.document(path)
    let request = RulesRequest(
      method, whole, auth: user.value, time: .timestamp(time), existing: resource(documents[path], whole) ?? .null)
    let answers = answers(after: documents)
    guard coverage.decide(request, documents: answers).isAllowed != isExpected else { return }
    throw RulesTestFailure(isExpected, ruleset.trace(request, documents: answers))
  }

  func check(_ isExpected: Bool, _ query: RulesQuery, _ user: RulesUser) throws(RulesTestFailure) {
    let answers = answers(after: documents)
    let now = RulesValue.timestamp(time)
    let decision = coverage.decide(query, auth: user.value, time: now, documents: answers)
    guard decision.isAllowed != isExpected else { return }
    throw RulesTestFailure(isExpected, ruleset.trace(query, auth: user.value, time: now, documents: answers))
  }

  /// Checks writes that are committed together: those of one document are one, from the state before all of them to the
  /// state after all of them.
  func check(_ isExpected: Bool, _ writes: [RulesWrite], _ user: RulesUser) throws(RulesTestFailure) {
    var after = documents
    var firsts: [RulesWrite] = []
    for write in writes {
      if !firsts.contains(where: { $0.path == write.path }) { firsts.append(write) }
      after[write.path] = write.applied(to: after[write.path])
    }
    let requests = firsts.map { request($0, user, after) }
    let answers = answers(after: after)
    let isSingle = writes.count == 1
    var budget = isSingle ? ruleset.budget : RulesBudget.commit(limits: ruleset.limits)
    var last: RulesTrace?
    for request in requests {
      budget.beginWrite(request.path)
      var copy = budget
      let isAllowed = coverage.decide(request, documents: answers, budget: &budget).isAllowed
      if isAllowed, isExpected { continue }
      last = ruleset.trace(request, documents: answers, budget: &copy)
      if !isAllowed {
        guard isExpected, let last else { return }
        throw RulesTestFailure(isExpected, last)
      }
    }
    if !isExpected { throw RulesTestFailure(isExpected, last) }
  }

  /// The request about the document of a write, the first one of it, with the documents after all writes.
  private func request(_ write: RulesWrite, _ user: RulesUser, _ after: [String: RulesValue]) -> RulesRequest {
    let path = RulesPath.document(write.path)
    let (old, new) = (documents[write.path], after[write.path])
    let method: RulesMethod
    switch write {
    case _ where new == nil: method = .delete
    // Clients demand that the document is there.
    case .update: method = .update
    default: method = old == nil ? .create : .update
    }
    return RulesRequest(
      method, path, auth: user.value, resource: resource(new, path) ?? .null, time: .timestamp(time),
      existing: resource(old, path) ?? .null)
  }

  private func answers(after: [String: RulesValue]) -> TestDocuments {
    TestDocuments(before: documents, after: after, reading: reading)
  }

  private func resource(_ fields: RulesValue?, _ path: RulesPath) -> RulesValue? {
    guard case .map(let data)? = fields else { return nil }
    return .map(.document(at: path, data: data))
  }
}

/// The documents of a test, before and after its writes.
struct TestDocuments: RulesDocuments {
  let before: [String: RulesValue]
  let after: [String: RulesValue]
  var reading: DocumentsToRead?

  func lookUp(_ function: RulesLookupFunction, _ path: RulesPath) -> RulesLookup {
    let root = RulesTester.root.segments
    guard path.segments.starts(with: root) else { return .missing }
    let name = path.segments.dropFirst(root.count).joined(separator: "/")
    reading?.note(name)
    guard case .map(let data)? = (function.isAfter ? after : before)[name] else { return .missing }
    return .found(.document(at: path, data: data))
  }
}
