import VestaBytes
import VestaEngineInterop
import VestaEventsInterop
import VestaStoreInterop

/// The events of accounts: the records of a call's changes, and their form for functions.
enum UserEvents {
  /// The events that the engine offers.
  static var offer: EventOffer {
    EventOffer(
      service: "firebaseauth.googleapis.com", keys: Keys.outbox, types: [.userCreated, .userDeleted],
      data: { record in
        EventData(data(of: try RecordCodec.decode(UserRecord.self, from: record.payload), tenant: record.scope))
      })
  }

  /// An account without its secrets, which no function gets.
  static func payload(of user: UserRecord) throws -> [UInt8] {
    var user = user
    user.passwordHash = nil
    user.signerKeyID = nil
    user.factors = []
    user.recoveries = []
    return try RecordCodec.encode(user)
  }

  private static func data(of user: UserRecord, tenant: String) -> JSONObject {
    var data: JSONObject = ["uid": .string(user.localID)]
    data["email"] = user.email.map { .string($0) }
    data["emailVerified"] = .bool(user.emailVerified)
    data["displayName"] = user.displayName.map { .string($0) }
    data["photoURL"] = user.photoURL.map { .string($0) }
    data["phoneNumber"] = user.phoneNumber.map { .string($0) }
    data["disabled"] = .bool(user.disabled)
    data["tenantId"] = tenant.isEmpty ? nil : .string(tenant)
    var metadata: JSONObject = ["createdAt": time(user.createdAt)]
    metadata["lastSignedInAt"] = user.lastLoginAt.map { time($0) }
    data["metadata"] = .object(metadata)
    data["customClaims"] = user.customAttributes.flatMap { try? JSONValue(json: $0) }
    data["providerData"] = .array(user.providers.map { .object(Self.data(of: $0)) })
    return data
  }

  private static func data(of provider: UserRecord.Provider) -> JSONObject {
    var data: JSONObject = ["providerId": .string(provider.providerID), "uid": .string(provider.rawID)]
    data["email"] = provider.email.map { .string($0) }
    data["displayName"] = provider.displayName.map { .string($0) }
    data["photoURL"] = provider.photoURL.map { .string($0) }
    data["phoneNumber"] = provider.phoneNumber.map { .string($0) }
    return data
  }

  private static func time(_ milliseconds: Int64) -> JSONValue {
    .string(RFC3339.text(microseconds: milliseconds * 1_000))
  }
}

extension AuthWriteCall {
  /// Keeps an account, and records the event of a new one.
  ///
  /// - Throws: `AuthServiceError` when an address, a number or a provider's user belongs to another account.
  func save(_ user: UserRecord, replacing old: UserRecord?) async throws {
    try await transaction.save(user, replacing: old, tenant: tenant)
    if old == nil { try await record(.userCreated, user) }
  }

  /// Deletes an account with its index rows and its sessions, and records the event.
  func remove(_ user: UserRecord) async throws {
    try await transaction.remove(user, tenant: tenant)
    try await record(.userDeleted, user)
  }

  private func record(_ type: EventType, _ user: UserRecord) async throws {
    guard let interest = core.events.interest(in: cause) else { return }
    let functions = interest.functions(for: type, scope: tenant.rawValue, path: user.localID)
    guard !functions.isEmpty else { return }
    let draft = EventDraft(
      type, scope: tenant.rawValue, path: user.localID, functions: functions, actor: cause.actor,
      payload: try UserEvents.payload(of: user))
    try await core.events.append([draft], in: transaction)
  }
}
