import Testing
import VestaBytes
import VestaTesting

@testable import VestaAuthService

@Suite struct CBORTests {
  private func value(_ hex: String) throws -> CBOR {
    var reader = CBORReader(try Hex.decode(hex)[...])
    let value = try reader.value()
    guard reader.rest.isEmpty else { throw BytesError(.malformed, "bytes are left") }
    return value
  }

  // Appendix A of RFC 8949.
  @Test(
    arguments: [
      ("00", .integer(0)), ("17", .integer(23)), ("1818", .integer(24)), ("1903e8", .integer(1_000)),
      ("1a000f4240", .integer(1_000_000)), ("1b000000e8d4a51000", .integer(1_000_000_000_000)), ("20", .integer(-1)),
      ("3863", .integer(-100)), ("3903e7", .integer(-1_000)), ("40", .bytes([])), ("4401020304", .bytes([1, 2, 3, 4])),
      ("60", .text("")), ("6449455446", .text("IETF")), ("62c3bc", .text("ü")), ("80", .array([])),
      ("83010203", .array([.integer(1), .integer(2), .integer(3)])), ("a0", .map([])),
      ("a201020304", .map([.init(key: .integer(1), value: .integer(2)), .init(key: .integer(3), value: .integer(4))])),
      ("826161a161626163", .array([.text("a"), .map([.init(key: .text("b"), value: .text("c"))])])),
      ("f4", .other), ("f6", .other), ("f93c00", .other), ("fb3ff199999999999a", .other), ("f820", .other),
      ("c11a514b67b0", .integer(1_363_896_240)),
    ] as [(String, CBOR)])
  func `values are read`(hex: String, expected: CBOR) throws { #expect(try value(hex) == expected) }

  @Test(
    arguments: [
      "", "18", "1c", "1bffffffffffffffff", "3bffffffffffffffff", "5f42010243030405ff", "9f01ff", "bf6161019f0203ffff",
      "ff", "44010203", "5bffffffffffffff7f", "5b7fffffffffffffff", "9b7fffffffffffffff", "bb7fffffffffffffff", "61ff",
      "a101", "818181818181818101", "c1c1c1c1c1c1c1c101",
    ])
  func `what is cut off, without a length, too deep or no text is refused`(hex: String) {
    #expect(throws: BytesError.self) { try value(hex) }
  }

  @Test func `seven values in one another are read`() throws { _ = try value("8181818181818101") }

  @Test(arguments: ["00", "40", "60", "80", "a0", "f4"])
  func `a thousand values are read, and no more`(element: String) throws {
    func list(_ count: Int) -> String { "9a0000" + Hex.encode([UInt8(count >> 8), UInt8(count & 0xFF)]) }
    _ = try value(list(999) + String(repeating: element, count: 999))
    #expect(throws: BytesError.self) { try value(list(1_000) + String(repeating: element, count: 1_000)) }
    // In pairs, in other lists, and after one another.
    #expect(throws: BytesError.self) { try value("ba000001f4" + String(repeating: element, count: 1_000)) }
    let lists = String(repeating: list(500) + String(repeating: element, count: 500), count: 2)
    #expect(throws: BytesError.self) { try value("82" + lists) }
  }

  @Test func `the first of two values of a key counts, and only maps have keys`() throws {
    #expect(try value("a201020103")[.integer(1)] == .integer(2))
    #expect(try value("820102")[.integer(1)] == nil)
  }
}

@Suite struct AuthenticatorDataTests {
  private static let hash = [UInt8](repeating: 7, count: 32)

  private func data(_ flags: UInt8, _ rest: [UInt8] = []) throws -> AuthenticatorData {
    try AuthenticatorData(Self.hash + [flags, 0, 0, 1, 2] + rest)
  }

  /// The model, an id of two bytes and a key.
  private let credential = [UInt8](repeating: 0, count: 16) + [0, 2, 8, 9, 0xA1, 0x01, 0x02]

  @Test func `flags say what follows`() throws {
    let bare = try data(0x05)
    #expect(bare.relyingPartyHash == Self.hash && bare.isUserPresent && bare.signCount == 258)
    #expect(bare.credential == nil)
    #expect(try !data(0x04).isUserPresent)
    let full = try #require(try data(0x41, credential).credential)
    #expect(full.id == [8, 9] && full.publicKey == [0xA1, 0x01, 0x02])
    let extended = try #require(try data(0xC1, credential + [0xA1, 0x60, 0xF5]).credential)
    #expect(extended.publicKey == [0xA1, 0x01, 0x02], "extensions are no part of the key")
    #expect(try data(0x81, [0xA0]).credential == nil)
  }

  @Test func `bytes too many and too few are refused, and a backup of what has none`() {
    #expect(throws: BytesError.self) { try data(0x01, [0]) }
    #expect(throws: BytesError.self) { try data(0x41, credential + [0]) }
    #expect(throws: BytesError.self) { try data(0x81) }
    #expect(throws: BytesError.self) { try data(0x11) }
    #expect(throws: Never.self) { try data(0x19) }
    for count in credential.indices {
      #expect(throws: BytesError.self, "\(count)") { try data(0x41, Array(credential.prefix(count))) }
    }
    for count in 0..<37 {
      #expect(throws: BytesError.self, "\(count)") {
        try AuthenticatorData(Array((Self.hash + [1, 0, 0, 0, 0]).prefix(count)))
      }
    }
  }

  @Test func `random changes of bytes are read or refused`() throws {
    var random = SplitMix(seed: 5)
    let good = Self.hash + [0xC1, 0, 0, 0, 1] + credential + [0xA0]
    for _ in 0..<20_000 {
      var bytes = good
      for _ in 0..<Int.random(in: 1...4, using: &random) {
        bytes[Int.random(in: bytes.indices, using: &random)] = .random(in: 0...255, using: &random)
      }
      bytes.removeLast(Int.random(in: 0...3, using: &random))
      do throws(BytesError) { _ = try AuthenticatorData(bytes) } catch { #expect(!error.message.isEmpty) }
    }
  }
}
