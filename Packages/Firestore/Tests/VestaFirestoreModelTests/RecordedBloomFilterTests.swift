import Foundation
import Testing
import VestaFirestoreBackend

@testable import VestaFirestoreModel

extension MD5 {
  /// The whole part of 2^32 times the sine of each number from 1 to 64, without its sign.
  static let constants = (1...64).map { UInt32(abs(sin(Double($0))) * 0x1p32) }
}

/// Filters that the service's own tests made, where the data lies next to the checkout.
@Suite struct RecordedBloomFilterTests {
  private struct Filter: Decodable {
    struct Bits: Decodable {
      let bitmap: String?
      let padding: Int32?
    }
    let bits: Bits?
    let hashCount: Int32?
  }

  private struct Answers: Decodable { let membershipTestResults: String }

  static let folder = URL(
    fileURLWithPath: ProcessInfo.processInfo.environment["VESTA_CONFORMANCE_DIR"] ?? "../../../shared/conformance"
  ).appendingPathComponent("firestore-bloom-filter")

  static let hasData = FileManager.default.fileExists(atPath: folder.path)

  @Test func `digests equal the standard's`() {
    let digest = MD5.digest(Array("message digest".utf8)).map { String($0, radix: 16) }.joined(separator: " ")
    #expect(digest == "f9 6b 69 7d 7c b7 93 8d 52 5a 2f 31 aa f1 61 d0")
  }

  @Test(.enabled(if: hasData, "there is no conformance data")) func `recorded filters give the recorded answers`()
    throws
  {
    let ending = "_bloom_filter_proto.json"
    let files = try FileManager.default.contentsOfDirectory(atPath: Self.folder.path).filter { $0.hasSuffix(ending) }
    #expect(!files.isEmpty)
    // The digests of the names serve all files: they are what takes the time.
    var digests: [[UInt8]] = []
    for file in files {
      let filter: Filter = try Self.read(file)
      let answers: Answers = try Self.read(file.dropLast(ending.count) + "_membership_test_result.json")
      let bitmap = try #require(Data(base64Encoded: filter.bits?.bitmap ?? ""))
      let message = BloomFilterMessage(
        bitmap: Array(bitmap), padding: filter.bits?.padding ?? 0, hashCount: filter.hashCount ?? 0
      )
      while digests.count < answers.membershipTestResults.count {
        digests.append(MD5.digest(Array(Self.name(of: digests.count).utf8)))
      }
      let known = digests
      let bloom = try BloomFilter(message) { name in known[Self.number(of: name)] }
      let wrong = answers.membershipTestResults.enumerated().filter { number, answer in
        bloom.mayContain(Self.name(of: number)) != (answer == "1")
      }
      #expect(wrong.isEmpty, "\(file): \(wrong.count) answers differ")
    }
  }

  private static func name(of number: Int) -> String {
    "projects/project-1/databases/database-1/documents/coll/doc\(number)"
  }

  /// The number that a name ends with.
  private static func number(of name: [UInt8]) -> Int {
    name.reversed().prefix { (0x30...0x39).contains($0) }.reversed().reduce(0) { $0 * 10 + Int($1 - 0x30) }
  }

  private static func read<Content: Decodable>(_ file: some StringProtocol) throws -> Content {
    try JSONDecoder().decode(Content.self, from: Data(contentsOf: folder.appendingPathComponent(String(file))))
  }
}
