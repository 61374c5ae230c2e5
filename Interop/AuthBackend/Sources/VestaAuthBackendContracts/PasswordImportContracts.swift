public import VestaAuthBackend
import VestaBytes
import VestaServiceInterop
public import VestaTesting

/// A service without accounts that imports accounts with password hashes, and whose users sign in.
///
/// The service has to compute real hashes: the contract has vectors of other programs.
public struct PasswordImportSubject: Sendable {
  /// The calls of clients.
  public var backend: any AuthBackend
  /// Imports accounts.
  public var importUsers: @Sendable (BatchCreateRequest) async throws -> BatchCreateResponse

  /// A service.
  public init(_ backend: any AuthBackend, _ administration: any AuthAdminBackend) {
    self.backend = backend
    importUsers = { try await administration.batchCreate($0, context: .owner) }
  }
}

/// The promise of `AuthAdminBackend.batchCreate` for every way to hash passwords as checks: a user who was imported
/// signs in with the password, and with no other one.
public enum PasswordImportContracts {
  /// All promises; each wants a fresh subject.
  public static let all: [Contract<PasswordImportSubject>] = [
    Contract("the password of a hash by Firebase's scrypt signs in") { subject in
      let hash = ImportHash.scrypt(signerKey: try bytes(key), saltSeparator: [7], rounds: 8, memoryCost: 14)
      try await check([(hash, published)], subject)
    },
    Contract("the password of a hash by scrypt signs in, whatever the length of the hash") { subject in
      let hash = ImportHash.standardScrypt(costLog2: 4, blockSize: 8, parallelism: 1)
      try await check(scrypt.map { (hash, $0) }, subject)
    },
    Contract("the password of a hash by PBKDF2 with SHA-256 signs in") { subject in
      try await check([(.pbkdf2SHA256(rounds: 7), "jOGm+S45Z1u51N9GlxBM9ruvEuANb4YTEVbKC7qRXFw=")], subject)
    },
    Contract("the password of a hash by PBKDF2 with SHA-1 signs in") { subject in
      try await check([(.pbkdf2SHA1(rounds: 7), "pw8oE59lVg/3RUuZgZWd6FHx65s=")], subject)
    },
    Contract("the password of a hash by HMAC signs in, for each digest and order") { subject in
      let key = try bytes(key)
      try await check(hmacs.map { (.hmac($0.digest, signerKey: key, $0.mixing), $0.hash) }, subject)
    },
    Contract("the password of a hash by a repeated digest signs in, for each digest and order") { subject in
      try await check(digests.map { (.digest($0.digest, rounds: 3, $0.mixing), $0.hash) }, subject)
    },
    Contract("the password of a hash by bcrypt signs in") { subject in
      let text = "$2b$05$CCCCCCCCCCCCCCCCCCCCC.5ldVCuXqZZ7rz3Z2rIzdzUD4jVqu4c2"
      try await check([(.bcrypt, Base64.standard.encode(Array(text.utf8)))], subject)
    },
  ]

  // The password and the salt of every vector, and the key where there is one: the vector that is published with
  // Firebase's scrypt. The others were computed with the functions of Python and of the C library.
  private static let password = "user1password"
  private static let salt = "42xEC+ixf3L2lw=="
  private static let key =
    "jxspr8Ki0RYycVU8zykbdLGjFQ3McFUH0uiiTvC8pVMXAn210wjLNmdZJzxUECKbm0QsEmYUSDzZvpjeJ9WmXA=="
  private static let published =
    "lSrfV15cpx95/sZS2W9c9Kp6i/LVgQNDNC/qzrCnh1SAyZvqmZqAjTdn3aoItz+VHjoZilo78198JAdRuid5lQ=="

  private static let scrypt = [
    "6VIfkweNiv4W1yVmwNyis02yXxcoG+aKBu2hsEXAtag=",
    "6VIfkweNiv4W1yVmwNyis02yXxcoG+aKBu2hsEXAtai2h6msNRzQeLLu156XA1G9xU6dlAQQqCqMusbfUmrNvA==",
  ]

  /// A hash of the password, made with a separator between password and salt.
  private struct Vector: Sendable {
    var digest: ImportHash.Digest
    var isSaltFirst: Bool
    var hash: String

    init(_ digest: ImportHash.Digest, saltFirst isSaltFirst: Bool, _ hash: String) {
      (self.digest, self.isSaltFirst, self.hash) = (digest, isSaltFirst, hash)
    }

    var mixing: ImportHash.Mixing { ImportHash.Mixing(isSaltFirst: isSaltFirst, separator: [7]) }
  }

  private static let hmacs = [
    Vector(.md5, saltFirst: true, "t3TSELTGvhE/hd+g6DW13w=="),
    Vector(.md5, saltFirst: false, "OCjHbdtUYhJt7XvtTMk7rw=="),
    Vector(.sha1, saltFirst: true, "KeaVm+j+RIbKv6S9h/s9mWHf0/M="),
    Vector(.sha1, saltFirst: false, "4V2b/0FZg6xcNxtDriIwXQEcBi0="),
    Vector(.sha256, saltFirst: true, "U+E0/p7RK4bKQUsG1gmKYMnrWqNDu2HLeSEmYZei0Kw="),
    Vector(.sha256, saltFirst: false, "lyaiA+brDzrR3c6HbMltP8yWiEuRckdosOUIoDjMxX0="),
    Vector(
      .sha512, saltFirst: true,
      "FR171jQRi3ytH7kAILm8JRZXX14Wi+SUmFVPgIIpDKk4Uxy7uGIRS3szexfO7Eni5LPkgDGjW2gxJjOR5p2B1w=="),
    Vector(
      .sha512, saltFirst: false,
      "tCD1BiJHkEaVa9vgtrCFuGx30qgxsPTyVS5DwafeTUM6KvS4eTHL07GmrawmyLGzTXUvbgKDThdyNBKARfRnpw=="),
  ]

  private static let digests = [
    Vector(.md5, saltFirst: true, "vAU/d818yT6NQjj0bnQKQQ=="),
    Vector(.md5, saltFirst: false, "wGQlNBsV3ZUV6hmNnxXuuQ=="),
    Vector(.sha1, saltFirst: true, "hKhFeWul9qoSgBldvKFo6tpHwqs="),
    Vector(.sha1, saltFirst: false, "c6ZwIsAv1VEcyEG8E6xelUzKDEk="),
    Vector(.sha256, saltFirst: true, "KeTHsel0U+Qo/iQcsXyrULDTlr80zx6KNz0pEow6WtA="),
    Vector(.sha256, saltFirst: false, "s+GekdiGovgSGn3NB6gtwINoVKqrYVSkh/7K8LMVK30="),
    Vector(
      .sha512, saltFirst: true,
      "/Zq2MfIraiyjvkAP362ER61Pbl1OBlMttmJlDA4FYrdd5F5OO106mgu41IH94xqJHoyYCYxsJQedBlcvfzP2Uw=="),
    Vector(
      .sha512, saltFirst: false,
      "tD7vy4WaMAXFoA0KZUcGwuKtgLB3M45ZSufAfo7n28VpXjecEdo3brF8ZsIVuWVUjJQnf/PbgYD8+MaLe1iZMw=="),
  ]

  private static func bytes(_ base64: String) throws -> [UInt8] { try Base64.standard.decode(base64) }

  /// Imports an account for each hash, and signs in to it.
  private static func check(_ vectors: [(ImportHash, String)], _ subject: PasswordImportSubject) async throws {
    for (index, (hash, digest)) in vectors.enumerated() {
      let user = ImportedUser(
        localID: "user\(index)", email: "user\(index)@example.com", passwordHash: try bytes(digest),
        salt: hash == .bcrypt ? [] : try bytes(salt))
      let errors = try await subject.importUsers(BatchCreateRequest(users: [user], hash: hash)).errors
      try expect(errors.isEmpty, "the import with \(hash) was refused: \(errors)")
      try await expectRefusal(.invalidPassword, .invalidLoginCredentials, of: "another password with \(hash)") {
        try await signIn(index, "user1passwort", subject)
      }
      // Twice, as a service may hash the password again when it is first used.
      for _ in 0..<2 {
        try expect(try await signIn(index, password, subject).localID, equals: user.localID, "the account")
      }
    }
  }

  private static func signIn(
    _ index: Int, _ password: String, _ subject: PasswordImportSubject
  ) async throws -> PasswordSignInResponse {
    let request = PasswordSignInRequest(email: "user\(index)@example.com", password: password)
    return try await subject.backend.signInWithPassword(request, context: CallContext())
  }
}
