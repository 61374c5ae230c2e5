import VestaBytes
import VestaRules

/// A ruleset with its cases.
struct Batch {
  struct Malformed: Error {}

  let id: String
  let service: String
  let topic: String
  let rules: JSONValue
  let documents: JSONObject
  let data: JSONValue
  let errorsRecorded: Bool
  let cases: [Case]

  init(_ json: JSONObject) throws {
    guard let id = json["id"]?.text, let service = json["service"]?.text, let cases = json["cases"]?.elements else {
      throw Malformed()
    }
    self.id = id
    self.service = service
    topic = json["topic"]?.text ?? "none"
    rules = json["rules"] ?? .null
    documents = json["documents"]?.members ?? JSONObject()
    data = json["data"] ?? .null
    errorsRecorded = json["errorsRecorded"] == .bool(true)
    self.cases = try cases.map { element in
      guard let members = element.members else { throw Malformed() }
      return try Case(members)
    }
  }

  /// The result of a case; nil for a kind that this runner does not know.
  func result(of testCase: Case) -> CaseResult? {
    switch service {
    case "cloud.firestore": return SourceBatch(self, .firestore).result(of: testCase)
    case "firebase.storage": return SourceBatch(self, .storage).result(of: testCase)
    case let name where name.contains("database"): return DatabaseBatch(self).result(of: testCase)
    default: return nil
    }
  }
}

/// A case of a batch.
struct Case {
  let id: String
  let kind: String
  let expect: String
  let json: JSONObject

  init(_ json: JSONObject) throws {
    guard let id = json["id"]?.text, let kind = json["kind"]?.text else { throw Batch.Malformed() }
    self.id = id
    self.kind = kind
    self.json = json
    expect = json["expect"]?.text ?? ""
  }
}

extension JSONValue {
  var text: String? {
    if case .string(let text) = self { return text }
    return nil
  }

  var elements: [JSONValue]? {
    if case .array(let elements) = self { return elements }
    return nil
  }

  var members: JSONObject? {
    if case .object(let members) = self { return members }
    return nil
  }

  var whole: Int? {
    if case .integer(let number) = self { return Int(number) }
    return nil
  }
}
