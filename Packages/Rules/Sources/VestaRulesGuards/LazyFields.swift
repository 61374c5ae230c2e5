import Synchronization
import VestaBytes
import VestaFirestoreBackend
import VestaRules
import VestaServiceInterop

/// The fields of a document, each turned into a value of the rules when it is looked at.
///
/// Large lists, and values that may have one inside, are kept once they were turned, so that rules that look at one
/// again and again pay for it once.
// Sound: the kept values are touched only by the thread that has taken the flag; other threads do without them.
final class FirestoreFields: RulesFields, @unchecked Sendable {
  /// The number of elements from which a list is kept.
  private static let large = 32

  private let map: MapValue
  private let isTaken = Atomic(false)
  private var keptMembers: [RulesMap.Member]?
  private var keptValues: [(name: String, value: RulesValue)] = []

  init(_ map: MapValue) { self.map = map }

  var count: Int { map.count }

  func value(of name: String) -> RulesValue? {
    guard let value = map[name] else { return .none }
    guard FirestoreFields.isKept(value) else { return RulesValue(value) }
    let known = exclusively { keptValues.first { UTF8Order.equal($0.name, name) }?.value }
    if let found = known, let found { return found }
    let made = RulesValue(value)
    exclusively { keptValues.append((name, made)) }
    return made
  }

  /// Whether a value is kept: a large list, and a map or a list of maps, which may have one inside.
  private static func isKept(_ value: borrowing VestaFirestoreBackend.Value) -> Bool {
    switch value {
    case .map: true
    case .array(let list): list.count >= large || list.contains { if case .map = $0 { true } else { false } }
    default: false
    }
  }

  var members: [RulesMap.Member] {
    if let known = exclusively({ keptMembers }), let known { return known }
    let members = map.map { RulesMap.Member($0.name, RulesValue($0.value)) }
    exclusively { keptMembers = members }
    return members
  }

  /// Runs a body alone; nil, and it has not run, where another thread runs one.
  @discardableResult
  private func exclusively<Result>(_ body: () -> Result) -> Result? {
    guard isTaken.compareExchange(expected: false, desired: true, ordering: .acquiring).exchanged else { return nil }
    defer { isTaken.store(false, ordering: .releasing) }
    return body()
  }
}

/// A document as rules see it: `data`, `id` and `__name__`.
final class DocumentFields: RulesFields {
  private let path: RulesPath
  private let data: FirestoreFields

  init(_ document: Document, at path: RulesPath) { (self.path, data) = (path, FirestoreFields(document.fields)) }

  let count = 3

  func value(of name: String) -> RulesValue? {
    switch name {
    case "data": .map(RulesMap(data))
    case "id": .string(path.segments.last ?? "")
    case "__name__": .path(path)
    default: .none
    }
  }

  var members: [RulesMap.Member] {
    ["__name__", "data", "id"].map { RulesMap.Member($0, value(of: $0) ?? .null) }
  }
}

/// A user as rules see them: `uid` and `token`.
final class UserFields: RulesFields {
  private let user: VerifiedUser
  private let names: [String]

  /// - Parameter saysProvider: Whether there is the member `provider`, as in the rules of databases.
  init(_ user: VerifiedUser, saysProvider: Bool = false) {
    self.user = user
    names = saysProvider ? ["provider", "token", "uid"] : ["token", "uid"]
  }

  var count: Int { names.count }

  func value(of name: String) -> RulesValue? {
    switch name {
    case "uid": .string(user.uid)
    case "token": .map(RulesMap(ClaimFields(user.claims)))
    case "provider" where names.count > 2:
      (user.claims["firebase"]?.object?["sign_in_provider"]?.string).map { .string($0) } ?? .null
    default: .none
    }
  }

  var members: [RulesMap.Member] {
    names.map { RulesMap.Member($0, value(of: $0) ?? .null) }
  }
}

/// The claims of a token.
final class ClaimFields: RulesFields {
  private let claims: JSONObject

  init(_ claims: JSONObject) { self.claims = claims }

  var count: Int { claims.count }

  func value(of name: String) -> RulesValue? { claims[name].map { RulesValue($0) } }

  var members: [RulesMap.Member] { RulesMap(claims).members }
}
