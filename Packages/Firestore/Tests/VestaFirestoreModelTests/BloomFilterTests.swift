import Foundation
import Testing
import VestaFirestoreBackend
import VestaTesting

@testable import VestaFirestoreModel

@Suite struct BloomFilterTests {
  /// Sixteen well mixed bytes; that they are no MD5 does not matter to the filter.
  static let digest: BloomFilter.Digest = { bytes in
    let seed = bytes.reduce(14_695_981_039_346_656_037) { ($0 ^ UInt64($1)) &* 1_099_511_628_211 }
    var random = SplitMix(seed: seed)
    return (0..<16).map { _ in UInt8(truncatingIfNeeded: random.next()) }
  }

  @Test func `names that were added are found, and others rarely`() throws {
    var filter = BloomFilter(expecting: 1000, falsePositives: 0.01, digest: Self.digest)
    for number in 0..<1000 { filter.insert("doc\(number)") }
    let received = try BloomFilter(filter.message, digest: Self.digest)
    #expect((0..<1000).allSatisfy { received.mayContain("doc\($0)") })
    let found = (1000..<11_000).count { received.mayContain("doc\($0)") }
    #expect(found < 300)
  }

  @Test(arguments: [0.5, 0.3, 0.1, 0.01, 0.0001]) func `a filter is as large as its share of false positives asks`(
    share: Double
  ) {
    let filter = BloomFilter(expecting: 10_000, falsePositives: share, digest: Self.digest).message
    let bits = Double(filter.bitmap.count * 8 - Int(filter.padding))
    // The optimum: -ln(p) / ln(2)^2 bits a name, and -log2(p) hashes.
    let bitsPerName = -log(share) / (log(2) * log(2))
    #expect(abs(bits / 10_000 / bitsPerName - 1) < 0.05)
    #expect(abs(Double(filter.hashCount) + log2(share)) <= 0.75)
  }

  @Test func `bits are where the wire has them`() throws {
    // Halves 1 and 2 give the bits 1, 3 and 5 of a bitmap of 12.
    let filter = BloomFilterMessage(bitmap: [0b10_1010, 0], padding: 4, hashCount: 3)
    let known: BloomFilter.Digest = { _ in [1, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0] }
    #expect(try BloomFilter(filter, digest: known).mayContain("x"))
    let less = BloomFilterMessage(bitmap: [0b10_0010, 0], padding: 4, hashCount: 3)
    #expect(try !BloomFilter(less, digest: known).mayContain("x"))
  }

  @Test func `empty filters contain nothing`() throws {
    let empty = BloomFilter(expecting: 0, digest: Self.digest)
    #expect(empty.message == BloomFilterMessage(bitmap: [], padding: 0, hashCount: 0))
    #expect(!empty.mayContain("x"))
    for hashCount in 0...1 as ClosedRange<Int32> {
      let received = BloomFilterMessage(bitmap: [], padding: 0, hashCount: hashCount)
      #expect(try !BloomFilter(received, digest: Self.digest).mayContain("x"))
    }
  }

  @Test(arguments: [([1], 8, 1), ([1], -1, 1), ([], 1, 0), ([1], 0, 0), ([1], 0, -1)] as [([UInt8], Int32, Int32)])
  func `filters that make no sense are refused`(bitmap: [UInt8], padding: Int32, hashes: Int32) {
    let message = BloomFilterMessage(bitmap: bitmap, padding: padding, hashCount: hashes)
    #expect(throws: FirestoreServiceError.self) { try BloomFilter(message, digest: Self.digest) }
  }
}
