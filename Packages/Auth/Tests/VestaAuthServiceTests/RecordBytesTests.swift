import Testing
import VestaAuthBackend
import VestaBytes

@testable import VestaAuthService

/// The bytes of stored records: a row that an earlier version wrote is read for ever.
@Suite struct RecordBytesTests {
  private func check<Record: FieldRecord & Equatable>(_ record: Record, _ hex: String) throws {
    let bytes = try RecordCodec.encode(record)
    #expect(Hex.encode(bytes) == hex, "\(Record.self) has other bytes than before: its old rows cannot be read")
    #expect(try RecordCodec.decode(Record.self, from: bytes) == record)
  }

  @Test func `accounts`() throws {
    var user = UserRecord(localID: "u1", createdAt: 13)
    (user.email, user.emailVerified, user.displayName, user.photoURL) = ("e2", true, "d4", "p5")
    (user.phoneNumber, user.passwordHash, user.signerKeyID, user.passwordUpdatedAt) = ("+6", "h7", "s8", 9)
    (user.validSince, user.epoch, user.disabled, user.lastLoginAt, user.lastRefreshAt) = (10, 11, true, 14, 15)
    (user.customAuth, user.customAttributes, user.initialEmail, user.emailLinkSignIn) = (true, "c17", "i18", true)
    user.factors = [
      .init(id: "f1", phoneNumber: "+2", totpSecret: [3], totpStep: 4, displayName: "d5", enrolledAt: 6)
    ]
    user.providers = [
      .init(
        providerID: "p1", rawID: "r2", federatedID: "f3", email: "e4", displayName: "d5", photoURL: "u6",
        phoneNumber: "+7", screenName: "s8")
    ]
    (user.sessionCount, user.recoveries) = (22, [.init(hash: [23], expiresAt: 24)])
    try check(
      user,
      "02037a03027531050265320602090264340b0270350d022b360f0268371102733812121414161618021a1a1c1c1e1e20"
        + "0223036331372503693138260229130302663105022b3207010308080b0264350c0c2b20030270310502723207026633"
        + "090265340b0264350d0275360f022b37110273382c2c2f050301170430")
    try check(UserRecord(localID: "u", createdAt: 1), "0203050301751a02")
    var other = UserRecord(localID: "u", createdAt: 1)
    other.passkeys = [.init(credentialID: "c1", name: "n2", publicKey: [3], signCount: 4, createdAt: 5)]
    try check(other, "0203160301751a02310f0302633105026e3207010308080a0a")
  }

  @Test func `sessions and tickets`() throws {
    var facts = SessionFacts()
    (facts.provider, facts.authTime, facts.claims) = ("p1", 2, "{}")
    facts.secondFactor = SessionFacts.SecondFactor(identifier: "i", provider: "totp")
    try check(SessionRecord(epoch: 1, facts: facts), "020315020205027031060409027b7d0b01690d04746f7470")
    var ticket = TicketRecord(.phoneCode, tenant: "t2", expiresAt: 3)
    (ticket.localID, ticket.epoch, ticket.email, ticket.newEmail) = ("u4", 5, "e6", "n7")
    (ticket.wasVerified, ticket.requestType, ticket.phoneNumber, ticket.codeHash) = (true, "r9", "+10", [11])
    (ticket.failures, ticket.totpSecret, ticket.factorID, ticket.facts) = (12, [13], "f14", facts)
    try check(
      ticket,
      "02034e030970686f6e65436f6465050274320606090275340a0a0d0265360f026e3710021302723915032b313017010b"
        + "18181b010d1d036631341f1503027031040407027b7d09090301690504746f7470")
    let purposes: [TicketRecord.Purpose] = [
      .oobCode, .phoneCode, .temporaryProof, .mfaPending, .mfaPhoneEnrollment, .mfaTotpEnrollment, .mfaPhoneSignIn,
      .passkeyEnrollment, .passkeySignIn,
    ]
    let names = [
      "oobCode", "phoneCode", "temporaryProof", "mfaPending", "mfaPhoneEnrollment", "mfaTotpEnrollment",
      "mfaPhoneSignIn", "passkeyEnrollment", "passkeySignIn",
    ]
    #expect(purposes.map(\.rawValue) == names)
  }

  private static let on = (
    config: "020338031902020402060208020a020d094d414e4441544f52590e02100204020602090264340b13020e041006020802"
      + "0a020c020f012110021202",
    tenant: "02031e030174051902020402060208020a020d094d414e4441544f52590e021002"
  )
  private static let off = (
    config: "020314030a0d0844495341424c45440b06020e04100f00", tenant: "02030c050a0d0844495341424c4544"
  )

  @Test func `settings, with every switch on and with every switch off`() throws {
    for isOn in [true, false] {
      var config = ProjectConfig()
      (config.signIn.allowsPasswords, config.signIn.allowsEmailLinks) = (isOn, isOn)
      (config.signIn.allowsAnonymous, config.signIn.allowsPhone, config.signIn.isDisabled) = (isOn, isOn, isOn)
      (config.signIn.allowsPhoneFactors, config.signIn.allowsTotpFactors) = (isOn, isOn)
      config.signIn.mfaState = isOn ? .mandatory : .disabled
      (config.allowsDuplicateEmails, config.hidesEmails) = (isOn, isOn)
      config.authorizedDomains = isOn ? ["d4"] : []
      (config.passwordPolicy.minimumLength, config.passwordPolicy.maximumLength) = (7, 8)
      (config.passwordPolicy.requiresLowercase, config.passwordPolicy.requiresUppercase) = (isOn, isOn)
      (config.passwordPolicy.requiresNumeric, config.passwordPolicy.requiresNonAlphanumeric) = (isOn, isOn)
      config.passwordPolicy.allowedNonAlphanumericCharacters = isOn ? "!" : ""
      (config.passwordPolicy.isEnforced, config.passwordPolicy.forcesUpgradeOnSignIn) = (isOn, isOn)
      let rows = isOn ? Self.on : Self.off
      try check(ConfigRecord(config: config), rows.config)
      try check(TenantRecord(displayName: isOn ? "t" : nil, signIn: config.signIn), rows.tenant)
    }
  }

  @Test func `identity providers`() throws {
    var provider = IdentityProvider(id: "", displayName: "d1", isEnabled: true, clientID: "c3", clientSecret: "s4")
    (provider.issuer, provider.responseTypes) = ("i5", [.token, .code])
    provider.saml = SAMLSettings(
      entityID: "e7", signInURL: "u8", certificates: ["c9"], signsRequests: true, serviceEntityID: "s11",
      callbackURL: "u12")
    provider.apple = AppleSettings(teamID: "t13", keyID: "k14", privateKey: "p15", bundleIDs: ["b16"])
    try check(
      IdentityProviderRecord(provider),
      "02034b03026431040207026333090273340b0269350d04636f64650d05746f6b656e0f02653711027538130263391402170373313119"
        + "037531321b037431331d036b31341f037031352103623136")
    try check(IdentityProviderRecord(IdentityProvider(id: "")), "020300")
  }

  @Test func `keys`() throws {
    let key = SigningKeysRecord.Key(id: "i1", pem: "p2", createdAt: 3, retiredAt: 4)
    try check(
      SigningKeysRecord(current: key, previous: [key]), "02031c030c030269310502703206060808050c030269310502703206060808"
    )
    try check(ServiceAccountRecord(clientEmail: "e1", keyID: "k2", pem: "p3"), "02030c0302653105026b3207027033")
  }
}
