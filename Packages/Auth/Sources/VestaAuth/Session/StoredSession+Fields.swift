import Foundation
import VestaBytes

extension StoredSession {
  private static let start = Array("VESTASN2".utf8)

  /// The session as it is kept.
  func encoded() throws -> [UInt8] {
    try StoredFields(
      user: user, idToken: tokens.idToken, refreshToken: tokens.refreshToken, expiration: tokens.expiration
    )
    .fieldBytes(after: Self.start)
  }

  /// Reads what `encoded()` wrote, or an earlier version as JSON; `nil` when it is something else.
  static func decoded(_ bytes: [UInt8]) -> StoredSession? {
    guard bytes.starts(with: start) else {
      let session = try? JSONDecoder().decode(Self.self, from: Data(bytes))
      return session?.version == 1 ? session : nil
    }
    guard let fields = try? StoredFields(fieldBytes: bytes, from: start.count), !fields.user.uid.isEmpty,
      let idToken = fields.idToken, let refreshToken = fields.refreshToken, let expiration = fields.expiration
    else { return nil }
    return StoredSession(
      user: fields.user, tokens: TokenSet(idToken: idToken, refreshToken: refreshToken, expiration: expiration))
  }
}

/// The schema of a session; the numbers of fields never change their meaning.
private struct StoredFields: FieldRecord {
  var user = SessionUser(uid: "")
  var idToken: String?
  var refreshToken: String?
  var expiration: Date?

  mutating func visit(_ visitor: inout some RecordVisitor) throws {
    try visitor.field(1, &user)
    try visitor.field(2, &idToken)
    try visitor.field(3, &refreshToken)
    try visitor.date(4, &expiration)
  }
}

extension SessionUser: FieldRecord {
  init() { self.init(uid: "") }

  mutating func visit(_ visitor: inout some RecordVisitor) throws {
    try visitor.field(1, &uid)
    try visitor.field(2, &email)
    try visitor.field(3, &isEmailVerified)
    try visitor.field(4, &displayName)
    try visitor.field(5, &photoURL)
    try visitor.field(6, &phoneNumber)
    try visitor.field(7, &tenantID)
    try visitor.field(8, &isAnonymous)
    try visitor.date(9, &creationDate)
    try visitor.date(10, &lastSignInDate)
    try visitor.field(11, &providers)
    try visitor.field(12, &factors)
  }
}

extension ProviderRecord: FieldRecord {
  init() { self.init(providerID: "", uid: "") }

  mutating func visit(_ visitor: inout some RecordVisitor) throws {
    try visitor.field(1, &providerID)
    try visitor.field(2, &uid)
    try visitor.field(3, &displayName)
    try visitor.field(4, &photoURL)
    try visitor.field(5, &email)
    try visitor.field(6, &phoneNumber)
  }
}

extension FactorRecord: FieldRecord {
  init() { self.init(uid: "", enrollmentDate: Date(timeIntervalSinceReferenceDate: 0)) }

  mutating func visit(_ visitor: inout some RecordVisitor) throws {
    var date: Date? = enrollmentDate
    try visitor.field(1, &uid)
    try visitor.field(2, &displayName)
    try visitor.date(3, &date)
    try visitor.field(4, &phoneNumber)
    enrollmentDate = date ?? Date(timeIntervalSinceReferenceDate: 0)
  }
}

extension RecordVisitor {
  /// Visits a date, exactly.
  fileprivate mutating func date(_ number: UInt64, _ value: inout Date?) throws {
    var seconds = value?.timeIntervalSinceReferenceDate
    try field(number, &seconds)
    guard seconds?.isFinite ?? true else { throw BytesError(.malformed, "field \(number): no date") }
    value = seconds.map(Date.init(timeIntervalSinceReferenceDate:))
  }
}
