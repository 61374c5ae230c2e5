import Foundation
import VestaCrypto
import VestaCryptoInterop

/// Runs the suites that are named on the command line, or all that this runner knows.
@main
enum Main {
  static func main() async {
    let arguments = Array(CommandLine.arguments.dropFirst())
    // Off the main actor, which nothing here needs.
    let isFine = await Task.detached {
      let results = [
        await run("auth-scrypt", arguments, files: ["vectors.json"]) { try await ScryptCase.check($0, with: $1) },
        await run(
          "storage-crc32c", arguments,
          files: ["crc-buffer-cases.json", "crc-string-cases.json", "crc-to-string-cases.json"]
        ) { try ChecksumCase.check($0, with: $1) },
      ]
      return !results.contains(false)
    }.value
    exit(isFine ? 0 : 1)
  }

  /// Runs the cases of one suite, and prints its line.
  private static func run<Case: Decodable>(
    _ suite: String, _ arguments: [String], files: [String], _ check: (Case, OpenSSLCrypto) async throws -> Bool
  ) async -> Bool {
    guard arguments.isEmpty || arguments.contains(suite) else { return true }
    let root = ProcessInfo.processInfo.environment["VESTA_CONFORMANCE_DIR"] ?? "../shared/conformance"
    let folder = URL(filePath: root).appending(path: suite)
    guard FileManager.default.fileExists(atPath: folder.path) else {
      print("\(suite): 0 passed, 0 failed, 0 skipped (there is no data at \(folder.path))")
      return true
    }
    let crypto = OpenSSLCrypto()
    var (passed, failed) = (0, 0)
    for file in files {
      do {
        let data = try Data(contentsOf: folder.appending(path: file))
        for (index, vector) in try JSONDecoder().decode(Cases<Case>.self, from: data).cases.enumerated() {
          let isKept = (try? await check(vector, crypto)) ?? false
          if !isKept { print("\(suite): failed: \(file), case \(index)") }
          (passed, failed) = isKept ? (passed + 1, failed) : (passed, failed + 1)
        }
      } catch {
        print("\(suite): \(file) cannot be read: \(error)")
        failed += 1
      }
    }
    print("\(suite): \(passed) passed, \(failed) failed, 0 skipped")
    return failed == 0
  }
}

private struct Cases<Case: Decodable>: Decodable {
  let cases: [Case]
}

/// A password and its hash by Firebase's scrypt.
struct ScryptCase: Decodable {
  let signerKey, saltSeparator, salt, hash, password: String
  let rounds, memCost: Int

  static func check(_ vector: ScryptCase, with crypto: OpenSSLCrypto) async throws -> Bool {
    let parameters = FirebaseScryptParameters(
      rounds: vector.rounds, memoryCost: vector.memCost,
      saltSeparator: try Base64.standard.decode(vector.saltSeparator))
    let hash = try PasswordHash(
      scheme: .firebaseScrypt(parameters), salt: try Base64.standard.decode(vector.salt),
      digest: try Base64.standard.decode(vector.hash))
    let signerKey = SecretBytes(try Base64.standard.decode(vector.signerKey))
    return try await crypto.verifyPassword(vector.password, against: hash, signerKey: signerKey)
  }
}

/// Bytes or a text, and the checksum as a number or in base64.
struct ChecksumCase: Decodable {
  private let input: [UInt8]
  private let number: UInt32?
  private let text: String?

  private enum Keys: String, CodingKey { case input, want }

  init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: Keys.self)
    if let text = try? values.decode(String.self, forKey: .input) {
      input = Array(text.utf8)
    } else {
      input = try values.decode([UInt8].self, forKey: .input)
    }
    number = try? values.decode(UInt32.self, forKey: .want)
    text = number == nil ? try values.decode(String.self, forKey: .want) : nil
  }

  static func check(_ vector: ChecksumCase, with crypto: OpenSSLCrypto) throws -> Bool {
    let checksum = crypto.crc32c(vector.input)
    return vector.number.map { $0 == checksum } ?? (CRC32C.text(checksum) == vector.text)
  }
}
