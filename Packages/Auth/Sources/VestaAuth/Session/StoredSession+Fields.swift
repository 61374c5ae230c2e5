import VestaAuthFields
import Foundation

extension StoredSession {
  private static let start = Array("VESTASN2".utf8)

  /// The session as it is kept: fields, whose numbers never change their meaning.
  func encoded() -> [UInt8] {
    var fields = FieldWriter(after: Self.start)
    fields.put(1, user.write)
    fields.put(2, tokens.idToken)
    fields.put(3, tokens.refreshToken)
    fields.put(4, date: tokens.expiration)
    return fields.bytes
  }

  /// Reads what `encoded()` wrote, or an earlier version as JSON; `nil` when it is something else.
  static func decoded(_ bytes: [UInt8]) -> StoredSession? {
    guard bytes.starts(with: start) else {
      let session = try? JSONDecoder().decode(Self.self, from: Data(bytes))
      return session?.version == 1 ? session : nil
    }
    return try? StoredSession(FieldReader(bytes.dropFirst(start.count)))
  }

  private init?(_ fields: FieldReader) throws {
    var (user, idToken, refreshToken, expiration) = (UserRecord?.none, String?.none, String?.none, Date?.none)
    var fields = fields
    while let field = try fields.next() {
      switch field.number {
      case 1: user = try UserRecord(try field.fields())
      case 2: idToken = try field.text()
      case 3: refreshToken = try field.text()
      case 4: expiration = try field.date()
      default: break
      }
    }
    guard let user, let idToken, let refreshToken, let expiration else { return nil }
    self.init(user: user, tokens: TokenSet(idToken: idToken, refreshToken: refreshToken, expiration: expiration))
  }
}

extension UserRecord {
  fileprivate func write(to fields: inout FieldWriter) {
    fields.put(1, uid)
    fields.put(2, email)
    fields.put(3, isEmailVerified)
    fields.put(4, displayName)
    fields.put(5, photoURL)
    fields.put(6, phoneNumber)
    fields.put(7, tenantID)
    fields.put(8, isAnonymous)
    fields.put(9, date: creationDate)
    fields.put(10, date: lastSignInDate)
    for provider in providers { fields.put(11, provider.write) }
    for factor in factors { fields.put(12, factor.write) }
  }

  fileprivate init(_ fields: FieldReader) throws {
    self.init(uid: "")
    var fields = fields
    while let field = try fields.next() {
      switch field.number {
      case 1: uid = try field.text()
      case 2: email = try field.text()
      case 3: isEmailVerified = try field.bool()
      case 4: displayName = try field.text()
      case 5: photoURL = try field.text()
      case 6: phoneNumber = try field.text()
      case 7: tenantID = try field.text()
      case 8: isAnonymous = try field.bool()
      case 9: creationDate = try field.date()
      case 10: lastSignInDate = try field.date()
      case 11: providers.append(try ProviderRecord(try field.fields()))
      case 12: factors.append(try FactorRecord(try field.fields()))
      default: break
      }
    }
    guard !uid.isEmpty else { throw FieldError() }
  }
}

extension ProviderRecord {
  fileprivate func write(to fields: inout FieldWriter) {
    fields.put(1, providerID)
    fields.put(2, uid)
    fields.put(3, displayName)
    fields.put(4, photoURL)
    fields.put(5, email)
    fields.put(6, phoneNumber)
  }

  fileprivate init(_ fields: FieldReader) throws {
    self.init(providerID: "", uid: "")
    var fields = fields
    while let field = try fields.next() {
      switch field.number {
      case 1: providerID = try field.text()
      case 2: uid = try field.text()
      case 3: displayName = try field.text()
      case 4: photoURL = try field.text()
      case 5: email = try field.text()
      case 6: phoneNumber = try field.text()
      default: break
      }
    }
  }
}

extension FactorRecord {
  fileprivate func write(to fields: inout FieldWriter) {
    fields.put(1, uid)
    fields.put(2, displayName)
    fields.put(3, date: enrollmentDate)
    fields.put(4, phoneNumber)
  }

  fileprivate init(_ fields: FieldReader) throws {
    self.init(uid: "", enrollmentDate: Date(timeIntervalSinceReferenceDate: 0))
    var fields = fields
    while let field = try fields.next() {
      switch field.number {
      case 1: uid = try field.text()
      case 2: displayName = try field.text()
      case 3: enrollmentDate = try field.date()
      case 4: phoneNumber = try field.text()
      default: break
      }
    }
  }
}

extension FieldWriter {
  /// Writes a moment, exactly.
  fileprivate mutating func put(_ field: UInt64, date: Date?) {
    put(field, optional: date.map { Int64(bitPattern: $0.timeIntervalSinceReferenceDate.bitPattern) })
  }
}

extension FieldReader.Field {
  /// The field as a moment.
  fileprivate func date() throws(FieldError) -> Date {
    let seconds = Double(bitPattern: UInt64(bitPattern: try int()))
    guard seconds.isFinite else { throw FieldError() }
    return Date(timeIntervalSinceReferenceDate: seconds)
  }
}
