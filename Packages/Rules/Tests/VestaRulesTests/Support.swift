@testable import VestaRules

/// The outcome of a condition.
enum Verdict: Equatable, CustomStringConvertible {
  case yes
  case no
  case error(String)

  var description: String {
    switch self {
    case .yes: "true"
    case .no: "false"
    case .error(let message): message
    }
  }
}

let notes = RulesPath("/databases/(default)/documents")

/// A ruleset with one statement for documents of the collection `c`, behind declarations.
func ruleset(
  _ condition: String, functions: String = "", dialect: RulesDialect = .production
) throws -> Ruleset {
  try Ruleset(
    """
    rules_version = '2';
    service cloud.firestore {
      match /databases/{database}/documents {
        \(functions)
        match /c/{id} { allow read, write: if \(condition); }
      }
    }
    """, for: .firestore, dialect: dialect)
}

/// The outcome of a condition for a document that exists.
func verdict(
  _ condition: String, functions: String = "", dialect: RulesDialect = .production,
  documents: any RulesDocuments = NoRulesDocuments()
) throws -> Verdict {
  let compiled = try ruleset(condition, functions: functions, dialect: dialect)
  let data: RulesMap = [
    "n": .int(5), "f": .float(2.5), "s": .string("text"), "list": .list([.int(1), .string("a")]), "nothing": .null,
    "m": .map(["a": .int(1), "b": .map(["c": .bool(true)])]),
  ]
  let request = RulesRequest(
    .get, RulesPath(notes.segments + ["c", "d1"]), auth: .map(["uid": .string("ada")]),
    time: .timestamp(RulesTimestamp(seconds: 1_700_000_000, nanoseconds: 5)),
    existing: .map(["data": .map(data), "id": .string("d1")]))
  return verdict(of: compiled.decide(request, documents: documents))
}

func verdict(of decision: RulesDecision) -> Verdict {
  if decision.isAllowed { return .yes }
  return decision.statements.first?.failure.map { .error($0.description) } ?? .no
}
