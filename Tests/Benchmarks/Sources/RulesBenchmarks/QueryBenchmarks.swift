import BenchmarkKit
import VestaRules

private let documents = RulesPath("/databases/(default)/documents")
private let ada: RulesValue = ["uid": "ada", "token": ["sub": "ada"]]

private func compiled(_ text: String) -> Ruleset? {
  try? Ruleset(
    "rules_version = '2';\nservice cloud.firestore {\nmatch /databases/{database}/documents {\n\(text)\n}\n}\n",
    for: .firestore)
}

// MARK: Proofs by hand

/// The parts of a proof that engineers write who check the filters of clients themselves.
///
/// They hold for filters of any shape, and read each of its comparisons once for each question.
extension RulesQuery.Filter {
  /// Whether every document that the filter finds has a value in a field.
  func proves(_ field: [String], equals wanted: RulesValue) -> Bool {
    switch self {
    case .field(let path, .equal, let value): path == field && value == wanted
    case .field(let path, .isIn, .list(let values)):
      path == field && !values.isEmpty && values.allSatisfy { $0 == wanted }
    case .field: false
    case .all(let filters): filters.contains { $0.proves(field, equals: wanted) }
    case .any(let filters): !filters.isEmpty && filters.allSatisfy { $0.proves(field, equals: wanted) }
    }
  }

  /// Whether every document that the filter finds has a number in a field that is not below a bound.
  func proves(_ field: [String], atLeast bound: Double) -> Bool {
    switch self {
    case .field(let path, .equal, let value), .field(let path, .greaterOrEqual, let value),
      .field(let path, .greater, let value):
      path == field && value.number.map { $0 >= bound } ?? false
    case .field(let path, .isIn, .list(let values)):
      path == field && !values.isEmpty && values.allSatisfy { $0.number.map { $0 >= bound } ?? false }
    case .field: false
    case .all(let filters): filters.contains { $0.proves(field, atLeast: bound) }
    case .any(let filters): !filters.isEmpty && filters.allSatisfy { $0.proves(field, atLeast: bound) }
    }
  }

  /// Whether every document that the filter finds has a number in a field that is below a bound.
  func proves(_ field: [String], below bound: Double) -> Bool {
    switch self {
    case .field(let path, .equal, let value), .field(let path, .lessOrEqual, let value):
      path == field && value.number.map { $0 < bound } ?? false
    case .field(let path, .less, let value): path == field && value.number.map { $0 <= bound } ?? false
    case .field(let path, .isIn, .list(let values)):
      path == field && !values.isEmpty && values.allSatisfy { $0.number.map { $0 < bound } ?? false }
    case .field: false
    case .all(let filters): filters.contains { $0.proves(field, below: bound) }
    case .any(let filters): !filters.isEmpty && filters.allSatisfy { $0.proves(field, below: bound) }
    }
  }
}

extension RulesValue {
  fileprivate var number: Double? {
    switch self {
    case .int(let number): Double(number)
    case .float(let number): number
    default: nil
    }
  }
}

/// Whether a query asks for the documents of a collection of the database, and not for a group of collections.
private func isOf(_ collection: String, _ query: RulesQuery) -> Bool {
  let parent = query.parent.segments
  return !query.isGroup && query.collection == collection && parent.count == 3 && parent[0] == "databases"
    && parent[2] == "documents"
}

// MARK: Lines

var query: Benchmark? {
  let rules = compiled("match /notes/{id} { allow list: if resource.data.owner == request.auth.uid; }")
  let query = RulesQuery("notes", below: documents, filter: .field(["owner"], .equal, "ada"))
  return line("rules-query", "the proof of a query", microseconds: 5, rules, query) { query in
    guard isOf("notes", query), let uid = ada.at("uid") else { return false }
    return query.filter?.proves(["owner"], equals: uid) ?? false
  }
}

var wideQuery: Benchmark? {
  let rules = compiled("match /notes/{id} { allow list: if resource.data.n >= 0 && resource.data.n < 100; }")
  let values = RulesValue.list((0..<30).map { .int($0) })
  let query = RulesQuery("notes", below: documents, filter: .field(["n"], .isIn, values))
  return line("rules-query-in", "the proof of `in` with 30 values", microseconds: 60, rules, query) { query in
    guard isOf("notes", query), let filter = query.filter else { return false }
    return filter.proves(["n"], atLeast: 0) && filter.proves(["n"], below: 100)
  }
}

private func line(
  _ name: String, _ label: String, microseconds: Double, _ ruleset: Ruleset?, _ query: RulesQuery,
  byHand: @escaping @Sendable (RulesQuery) -> Bool
) -> Benchmark? {
  guard let ruleset else { return nil }
  precondition(ruleset.decide(query, auth: ada).isAllowed && byHand(query), name)
  return Benchmark(
    name: name, bar: .both(figure: microseconds * 1_000, ratio: 10),
    ours: (label, { sum(20_000) { ruleset.decide(query, auth: ada).isAllowed ? 1 : 0 } }),
    other: ("a proof by hand", { sum(20_000) { byHand(query) ? 1 : 0 } }),
    samples: { samples(20_000) { ruleset.decide(query, auth: ada).isAllowed ? 1 : 0 } },
    otherSamples: { samples(20_000) { byHand(query) ? 1 : 0 } })
}
