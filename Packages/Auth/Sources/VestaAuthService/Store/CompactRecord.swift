import VestaAuthFields

/// A record that is kept as fields instead of JSON, because every sign-in reads and writes it.
protocol CompactRecord {
  /// Writes the record; the numbers of its fields never change their meaning.
  func write(to fields: inout FieldWriter)

  /// Reads what `write(to:)` wrote; fields that are not known are passed over.
  init(_ fields: FieldReader) throws
}

extension UserRecord: CompactRecord {
  func write(to fields: inout FieldWriter) {
    fields.put(1, localID)
    fields.put(2, email)
    fields.put(3, emailVerified)
    fields.put(4, displayName)
    fields.put(5, photoURL)
    fields.put(6, phoneNumber)
    fields.put(7, passwordHash)
    fields.put(8, signerKeyID)
    fields.put(9, optional: passwordUpdatedAt)
    fields.put(10, optional: validSince)
    fields.put(11, epoch)
    fields.put(12, disabled)
    fields.put(13, createdAt)
    fields.put(14, optional: lastLoginAt)
    fields.put(15, optional: lastRefreshAt)
    fields.put(16, customAuth)
    fields.put(17, customAttributes)
    fields.put(18, initialEmail)
    fields.put(19, emailLinkSignIn)
    for factor in factors { fields.put(20, factor.write) }
    for provider in providers { fields.put(21, provider.write) }
    fields.put(22, sessionCount)
    for recovery in recoveries { fields.put(23, recovery.write) }
  }

  init(_ fields: FieldReader) throws {
    self.init(localID: "", createdAt: 0)
    var fields = fields
    while let field = try fields.next() {
      switch field.number {
      case 1: localID = try field.text()
      case 2: email = try field.text()
      case 3: emailVerified = try field.bool()
      case 4: displayName = try field.text()
      case 5: photoURL = try field.text()
      case 6: phoneNumber = try field.text()
      case 7: passwordHash = try field.text()
      case 8: signerKeyID = try field.text()
      case 9: passwordUpdatedAt = try field.int()
      case 10: validSince = try field.int()
      case 11: epoch = try field.int()
      case 12: disabled = try field.bool()
      case 13: createdAt = try field.int()
      case 14: lastLoginAt = try field.int()
      case 15: lastRefreshAt = try field.int()
      case 16: customAuth = try field.bool()
      case 17: customAttributes = try field.text()
      case 18: initialEmail = try field.text()
      case 19: emailLinkSignIn = try field.bool()
      case 20: factors.append(try Factor(try field.fields()))
      case 21: providers.append(try Provider(try field.fields()))
      case 22: sessionCount = try field.int()
      case 23: recoveries.append(try Recovery(try field.fields()))
      default: break
      }
    }
  }
}

extension UserRecord.Provider {
  fileprivate func write(to fields: inout FieldWriter) {
    fields.put(1, providerID)
    fields.put(2, rawID)
    fields.put(3, federatedID)
    fields.put(4, email)
    fields.put(5, displayName)
    fields.put(6, photoURL)
    fields.put(7, phoneNumber)
    fields.put(8, screenName)
  }

  fileprivate init(_ fields: FieldReader) throws {
    self.init(providerID: "", rawID: "")
    var fields = fields
    while let field = try fields.next() {
      switch field.number {
      case 1: providerID = try field.text()
      case 2: rawID = try field.text()
      case 3: federatedID = try field.text()
      case 4: email = try field.text()
      case 5: displayName = try field.text()
      case 6: photoURL = try field.text()
      case 7: phoneNumber = try field.text()
      case 8: screenName = try field.text()
      default: break
      }
    }
  }
}

extension UserRecord.Factor {
  fileprivate func write(to fields: inout FieldWriter) {
    fields.put(1, id)
    fields.put(2, phoneNumber)
    fields.put(3, totpSecret)
    fields.put(4, optional: totpStep)
    fields.put(5, displayName)
    fields.put(6, enrolledAt)
  }

  fileprivate init(_ fields: FieldReader) throws {
    self.init(id: "", enrolledAt: 0)
    var fields = fields
    while let field = try fields.next() {
      switch field.number {
      case 1: id = try field.text()
      case 2: phoneNumber = try field.text()
      case 3: totpSecret = try field.bytes()
      case 4: totpStep = try field.int()
      case 5: displayName = try field.text()
      case 6: enrolledAt = try field.int()
      default: break
      }
    }
  }
}

extension UserRecord.Recovery {
  fileprivate func write(to fields: inout FieldWriter) {
    fields.put(1, hash)
    fields.put(2, expiresAt)
  }

  fileprivate init(_ fields: FieldReader) throws {
    self.init(hash: [], expiresAt: 0)
    var fields = fields
    while let field = try fields.next() {
      switch field.number {
      case 1: hash = try field.bytes()
      case 2: expiresAt = try field.int()
      default: break
      }
    }
  }
}

extension SessionRecord: CompactRecord {
  func write(to fields: inout FieldWriter) {
    fields.put(1, epoch)
    fields.put(2, facts.provider)
    fields.put(3, facts.authTime)
    fields.put(4, facts.claims)
    fields.put(5, facts.secondFactor?.identifier)
    fields.put(6, facts.secondFactor?.provider)
  }

  init(_ fields: FieldReader) throws {
    self.init(epoch: 0, facts: SessionFacts(provider: "", authTime: 0))
    var factor = SessionFacts.SecondFactor(identifier: "", provider: "")
    var fields = fields
    while let field = try fields.next() {
      switch field.number {
      case 1: epoch = try field.int()
      case 2: facts.provider = try field.text()
      case 3: facts.authTime = try field.int()
      case 4: facts.claims = try field.text()
      case 5: factor.identifier = try field.text()
      case 6: factor.provider = try field.text()
      default: break
      }
    }
    if !factor.provider.isEmpty { facts.secondFactor = factor }
  }
}
