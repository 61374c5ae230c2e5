import Foundation
import Testing
import VestaCrypto
import VestaCryptoInterop

/// Vectors of other projects, where they lie next to the checkout.
///
/// The folder is `VESTA_CONFORMANCE_DIR`, or `../shared/conformance` seen from the root of the repository.
@Suite struct ConformanceTests {
  private static let folder: URL? = {
    let root = URL(filePath: #filePath).appending(path: "../../../../../").standardized
    let given = ProcessInfo.processInfo.environment["VESTA_CONFORMANCE_DIR"]
    let folder = given.map { URL(filePath: $0) } ?? root.appending(path: "../shared/conformance").standardized
    return FileManager.default.fileExists(atPath: folder.path) ? folder : nil
  }()

  private static let skipped: Comment =
    "SKIPPED: no conformance data; set VESTA_CONFORMANCE_DIR or put it into ../shared/conformance"

  private func cases(_ path: String) throws -> [[String: Any]] {
    let folder = try #require(Self.folder)
    let data = try Data(contentsOf: folder.appending(path: path))
    let json = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
    return try #require(json["cases"] as? [[String: Any]])
  }

  @Test(.enabled(if: folder != nil, skipped))
  func `Firebase scrypt vectors`() async throws {
    let crypto = OpenSSLCrypto(slowOperations: 2)
    var kept = 0
    let cases = try cases("auth-scrypt/vectors.json")
    for (index, vector) in cases.enumerated() {
      func bytes(_ name: String) throws -> [UInt8] {
        try Base64.standard.decode(try #require(vector[name] as? String))
      }
      let parameters = FirebaseScryptParameters(
        rounds: try #require(vector["rounds"] as? Int), memoryCost: try #require(vector["memCost"] as? Int),
        saltSeparator: try bytes("saltSeparator"))
      let hash = try PasswordHash(
        scheme: .firebaseScrypt(parameters), salt: try bytes("salt"), digest: try bytes("hash"))
      let password = try #require(vector["password"] as? String)
      let key = SecretBytes(try bytes("signerKey"))
      let stored = try PasswordHash(text: hash.text)
      let isKept = try await crypto.verifyPassword(password, against: stored, signerKey: key)
      #expect(isKept, "auth-scrypt case \(index)")
      kept += isKept ? 1 : 0
    }
    print("auth-scrypt: \(kept) of \(cases.count) vectors")
  }

  @Test(
    .enabled(if: folder != nil, skipped),
    arguments: ["crc-buffer-cases", "crc-string-cases", "crc-to-string-cases"])
  func `checksum vectors`(name: String) throws {
    let crypto = OpenSSLCrypto()
    let cases = try cases("storage-crc32c/\(name).json")
    var kept = 0
    for (index, vector) in cases.enumerated() {
      let input: [UInt8]
      if let text = vector["input"] as? String {
        input = Array(text.utf8)
      } else {
        input = try #require(vector["input"] as? [Int]).map { try #require(UInt8(exactly: $0)) }
      }
      let checksum = crypto.crc32c(input)
      let isKept =
        if let text = vector["want"] as? String {
          CRC32C.text(checksum) == text
        } else {
          Int(checksum) == vector["want"] as? Int
        }
      #expect(isKept, "\(name) case \(index)")
      kept += isKept ? 1 : 0
    }
    print("storage-crc32c \(name): \(kept) of \(cases.count) vectors")
  }
}
