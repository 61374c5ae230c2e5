import VestaCryptoInterop
import VestaStoreInterop

/// Every key that the service keeps; nothing else writes keys.
///
/// | key | value |
/// |---|---|
/// | `01 name` | the project's settings, its signing keys, its service account |
/// | `02 tenant` | a tenant |
/// | `03 signer-key-id` | a signer key of imported password hashes |
/// | `04 tenant provider` | an identity provider that owners have set up |
/// | `10 tenant user` | an account |
/// | `11 tenant e-mail` | the user id of the account that has it |
/// | `12 tenant phone` | the user id of the account that has it |
/// | `13 tenant provider raw-id` | the user id of the account that it is linked to |
/// | `14 tenant e-mail user` | nothing: a provider of that account knows it by this address |
/// | `15 tenant user`, `15 tenant user second-factor`, `15 tenant slot` | the guesses for that account, its second factor, an address without an account; in stores of several processes |
/// | `16 limit name` | the tries of a recipient, a phone or a network address; in stores of several processes |
/// | `17 tenant e-mail user` | nothing: that account had this address first |
/// | `18 tenant passkey` | the user id of the account that has it |
/// | `20 tenant user hash` | the session of that account whose refresh token has that SHA-256 |
/// | `30 hash` | the ticket of the secret with that SHA-256 |
/// | `31 time hash` | nothing: a ticket expires then |
/// | `40 …` | events; see `EventOutbox` |
///
/// A table's byte is first, then the parts as `KeyEncoder` writes them. The tenant of the project's own users is the
/// empty string, so tenants never see one another's keys.
enum Keys {
  enum Table: UInt8, CaseIterable {
    case meta = 0x01
    case tenant = 0x02
    case signerKey = 0x03
    case identityProvider = 0x04
    case user = 0x10
    case email = 0x11
    case phone = 0x12
    case provider = 0x13
    case providerEmail = 0x14
    case guesses = 0x15
    case limit = 0x16
    case initialEmail = 0x17
    case passkey = 0x18
    case session = 0x20
    case ticket = 0x30
    case ticketExpiry = 0x31
    case outbox = 0x40

    /// The beginning of the table's keys: one byte, before the parts that the key codec writes.
    var prefix: KeyEncoder { KeyEncoder(continuing: [rawValue]) }
  }

  static let config = Table.meta.prefix.text("config").bytes
  static let signingKeys = Table.meta.prefix.text("signing-keys").bytes
  static let serviceAccount = Table.meta.prefix.text("service-account").bytes

  static func tenant(_ tenant: TenantKey) -> [UInt8] { Table.tenant.prefix.tenant(tenant).bytes }
  static let tenants = Table.tenant.prefix.range
  static let outbox = Table.outbox.prefix.bytes

  static func signerKey(_ id: String) -> [UInt8] { Table.signerKey.prefix.text(id).bytes }

  static func identityProvider(_ tenant: TenantKey, _ providerID: String) -> [UInt8] {
    Table.identityProvider.prefix.tenant(tenant).text(providerID).bytes
  }
  static func identityProviders(_ tenant: TenantKey) -> KeyRange {
    Table.identityProvider.prefix.tenant(tenant).range
  }
  /// The provider's id in a key of `identityProvider`.
  static func providerID(ofIdentityProvider key: [UInt8]) throws -> String {
    try RecordCodec.part("identityProvider") {
      var key = KeyDecoder(key, from: 1)
      _ = try key.string()
      return try key.string()
    }
  }

  static func user(_ tenant: TenantKey, _ localID: String) -> [UInt8] {
    Table.user.prefix.tenant(tenant).text(localID).bytes
  }
  static func users(_ tenant: TenantKey) -> KeyRange { Table.user.prefix.tenant(tenant).range }

  static func email(_ tenant: TenantKey, _ email: String) -> [UInt8] {
    Table.email.prefix.tenant(tenant).text(email).bytes
  }
  static func phone(_ tenant: TenantKey, _ number: String) -> [UInt8] {
    Table.phone.prefix.tenant(tenant).text(number).bytes
  }
  static func provider(_ tenant: TenantKey, _ providerID: String, _ rawID: String) -> [UInt8] {
    Table.provider.prefix.tenant(tenant).text(providerID).text(rawID).bytes
  }
  static func providerEmail(_ tenant: TenantKey, _ email: String, _ localID: String) -> [UInt8] {
    Table.providerEmail.prefix.tenant(tenant).text(email).text(localID).bytes
  }
  static func providerEmails(_ tenant: TenantKey, _ email: String) -> KeyRange {
    Table.providerEmail.prefix.tenant(tenant).text(email).range
  }

  static func initialEmail(_ tenant: TenantKey, _ email: String, _ localID: String) -> [UInt8] {
    Table.initialEmail.prefix.tenant(tenant).text(email).text(localID).bytes
  }
  static func initialEmails(_ tenant: TenantKey, _ email: String) -> KeyRange {
    Table.initialEmail.prefix.tenant(tenant).text(email).range
  }
  /// - Parameter id: The canonical id.
  static func passkey(_ tenant: TenantKey, _ id: String) -> [UInt8] {
    Table.passkey.prefix.tenant(tenant).text(id).bytes
  }
  /// The user id in a key of `initialEmail`.
  static func localID(ofInitialEmail key: [UInt8]) throws -> String {
    var key = KeyDecoder(key, from: 1)
    _ = try key.string()
    _ = try key.string()
    return try key.string()
  }

  static func guesses(_ tenant: TenantKey, of localID: String) -> [UInt8] {
    Table.guesses.prefix.tenant(tenant).text(localID).bytes
  }
  static func factorGuesses(_ tenant: TenantKey, of localID: String) -> [UInt8] {
    Table.guesses.prefix.tenant(tenant).text(localID).text("second-factor").bytes
  }
  /// - Parameter slot: One of a fixed number, which addresses without an account share.
  static func guesses(_ tenant: TenantKey, ofAbsent slot: Int64) -> [UInt8] {
    Table.guesses.prefix.tenant(tenant).number(slot).bytes
  }
  static func allGuesses(_ tenant: TenantKey, of localID: String) -> KeyRange {
    Table.guesses.prefix.tenant(tenant).text(localID).range
  }

  static func limit(_ kind: SharedLimit, _ name: String) -> [UInt8] {
    Table.limit.prefix.number(kind.rawValue).text(String(name.prefix(512))).bytes
  }
  static let limits = Table.limit.prefix.range

  static func session(_ tenant: TenantKey, _ localID: String, _ hash: [UInt8]) -> [UInt8] {
    Table.session.prefix.tenant(tenant).text(localID).hash(hash).bytes
  }
  static func sessions(_ tenant: TenantKey, _ localID: String) -> KeyRange {
    Table.session.prefix.tenant(tenant).text(localID).range
  }

  static func ticket(_ hash: [UInt8]) -> [UInt8] { Table.ticket.prefix.hash(hash).bytes }
  static func ticketExpiry(_ time: Int64, _ hash: [UInt8]) -> [UInt8] {
    Table.ticketExpiry.prefix.number(time).hash(hash).bytes
  }
  static func expiredTickets(at time: Int64) -> KeyRange {
    KeyRange(from: Table.ticketExpiry.prefix.bytes, to: Table.ticketExpiry.prefix.number(time).bytes)
  }

  /// The hash in a key of `ticketExpiry`.
  static func hash(ofExpiry key: [UInt8]) throws -> [UInt8] {
    var key = KeyDecoder(key, from: 1)
    _ = try key.int()
    return try key.bytes()
  }

  /// All that belongs to a tenant, but its tickets, which lead nowhere without their users.
  static func everything(of tenant: TenantKey) -> [KeyRange] {
    [
      Table.identityProvider, .user, .email, .phone, .provider, .providerEmail, .initialEmail, .passkey, .guesses,
      .session,
    ].map { $0.prefix.tenant(tenant).range }
  }

  /// A key for people: `user("", "abc")`; bytes that are no key of ours in hexadecimal.
  static func describe(_ key: [UInt8]) -> String {
    guard let table = key.first.flatMap(Table.init),
      let elements = try? KeyDecoder.elements(of: Array(key.dropFirst()))
    else { return Hex.encode(key) }
    let parts = elements.map { element in
      switch element {
      case .string(let text): "\"\(text)\""
      case .int(let number): String(number)
      case .bytes(let bytes): Hex.encode(bytes)
      default: "?"
      }
    }
    return "\(table)(\(parts.joined(separator: ", ")))"
  }
}

extension KeyEncoder {
  /// The key followed by a tenant.
  fileprivate func tenant(_ tenant: TenantKey) -> KeyEncoder { text(tenant.rawValue) }

  /// The key followed by a string.
  fileprivate func text(_ text: String) -> KeyEncoder {
    var key = self
    key.append(string: text)
    return key
  }

  /// The key followed by a number.
  fileprivate func number(_ number: Int64) -> KeyEncoder {
    var key = self
    key.append(int: number)
    return key
  }

  /// The key followed by a hash.
  fileprivate func hash(_ hash: [UInt8]) -> KeyEncoder {
    var key = self
    key.append(bytes: hash)
    return key
  }
}
