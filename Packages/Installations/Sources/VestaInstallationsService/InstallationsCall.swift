import VestaBytes
import VestaInstallationsBackend
import VestaServiceInterop
import VestaStoreInterop

/// One call in one transaction.
struct InstallationsCall {
  let transaction: any StoreTransaction
  let options: InstallationsServiceOptions
  /// Microseconds since 1970.
  let now: Int64

  private var rows: InstallationRows { InstallationRows(reader: transaction) }

  func create(_ request: CreateInstallationRequest) async throws -> CreatedInstallation {
    guard (1...options.tuning.longestAppID).contains(request.appID.utf8.count) else {
      throw InstallationsServiceError(
        .invalidArgument, "The appId is missing, or has more than \(options.tuning.longestAppID) bytes.")
    }
    var id = request.id ?? ""
    // Who knows an id is not its owner: an id that is taken is left to the client that has its secret.
    while try await !isFree(id) { id = SystemRandom.installationID() }
    let secret = InstallationSecrets.text(of: id)
    var record = InstallationRecord()
    (record.secret, record.appID, record.createTime) = (InstallationSecrets.digest(secret), request.appID, now)
    let token = try await add(to: &record, of: id)
    return CreatedInstallation(id: id, refreshToken: secret, token: token)
  }

  func generateToken(id: String, secret: String) async throws -> InstallationToken {
    guard var record = try await rows.record(id) else {
      throw InstallationsServiceError(.notFound, "The installation does not exist, or not any more.")
    }
    try check(secret, record)
    return try await add(to: &record, of: id)
  }

  func delete(id: String, secret: String) async throws {
    guard let record = try await rows.record(id) else { return }
    try check(secret, record)
    try await transaction.delete(InstallationRows.key(id))
  }

  private func isFree(_ id: String) async throws -> Bool {
    guard InstallationID.isValid(id) else { return false }
    return try await transaction.get(InstallationRows.key(id)) == nil
  }

  private func check(_ secret: String, _ record: InstallationRecord) throws {
    guard InstallationSecrets.digest(secret) == record.secret else {
      throw InstallationsServiceError(.unauthenticated, "The refresh token is not that of the installation.")
    }
  }

  /// Adds a token, and writes the row.
  private func add(to record: inout InstallationRecord, of id: String) async throws -> InstallationToken {
    let text = InstallationSecrets.text(of: id)
    var token = InstallationRecord.Token()
    token.digest = InstallationSecrets.digest(text)
    let (end, overflows) = now.addingReportingOverflow(options.tokenLifetime.microseconds)
    token.end = overflows ? .max : end
    record.tokens.removeAll { $0.end <= now }
    record.tokens = record.tokens.suffix(max(0, options.tuning.maximumTokens - 1)) + [token]
    try await transaction.put(record.fieldBytes(), for: InstallationRows.key(id))
    return InstallationToken(text: text, lifetime: options.tokenLifetime)
  }
}

/// Reads the rows: `"installation"`, id is an ``InstallationRecord``.
struct InstallationRows {
  let reader: any StoreReader

  static func key(_ id: String) -> [UInt8] { KeyEncoder(.string("installation"), .string(id)).bytes }

  func record(_ id: String) async throws -> InstallationRecord? {
    guard let bytes = try await reader.get(Self.key(id)) else { return nil }
    do {
      return try InstallationRecord(fieldBytes: bytes)
    } catch {
      throw InstallationsServiceError(.dataLoss, "The row of the installation \(id) is damaged: \(error)")
    }
  }

  /// The installation of a token, which begins with its id.
  func owner(of token: String, now: Int64) async throws -> VerifiedInstallation {
    let id = String(token.prefix { $0 != "." })
    if InstallationID.isValid(id), let record = try await record(id) {
      let digest = InstallationSecrets.digest(token)
      if record.tokens.contains(where: { $0.digest == digest && $0.end > now }) {
        return VerifiedInstallation(id: id, appID: record.appID)
      }
    }
    throw InstallationsServiceError(.unauthenticated, "The token of the installation is not valid, or not any more.")
  }
}

/// An installation.
struct InstallationRecord: FieldRecord {
  /// A token that is valid until its end.
  struct Token: FieldRecord {
    var digest: [UInt8] = []
    var end: Int64 = 0

    mutating func visit(_ visitor: inout some RecordVisitor) throws {
      try visitor.field(1, &digest)
      try visitor.field(2, &end)
    }
  }

  /// The digest of the refresh token.
  var secret: [UInt8] = []
  var appID = ""
  var createTime: Int64 = 0
  /// The oldest first.
  var tokens: [Token] = []

  mutating func visit(_ visitor: inout some RecordVisitor) throws {
    try visitor.field(1, &secret)
    try visitor.field(2, &appID)
    try visitor.field(3, &createTime)
    try visitor.field(4, &tokens)
    if visitor.isReading, secret.isEmpty { throw BytesError(.malformed, "It has no secret.") }
  }
}

/// Texts that cannot be guessed.
enum InstallationSecrets {
  /// A new secret of an installation, of 256 bits.
  static func text(of id: String) -> String { "\(id).\(Base64.url.encode(SystemRandom.bytes(32)))" }

  /// The stored form of a secret.
  ///
  /// It needs no salt and no slow digest, as it is random.
  static func digest(_ text: String) -> [UInt8] { SHA256.digest(Array(text.utf8)) }
}
