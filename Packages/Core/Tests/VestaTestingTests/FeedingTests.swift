import Testing
import VestaTesting

@Suite struct FeedingTests {
  @Test func `a parser that does not care about cuts passes`() throws {
    let sum = try Feeding.verify([1, 2, 3, 4]) { $0.joined().reduce(0) { $0 + Int($1) } }
    #expect(sum == 10)
  }

  @Test func `a parser that loses what a cut separates is found`() {
    // Finds a pair of equal bytes only when both arrive in one piece.
    let bytes: [UInt8] = [1, 2, 2, 3]
    #expect(throws: ContractViolation.self) {
      try Feeding.verify(bytes) { pieces in
        pieces.contains { piece in zip(piece, piece.dropFirst()).contains { $0 == $1 } }
      }
    }
  }

  @Test func `random pieces join to the bytes`() {
    var random = SplitMix(seed: 3)
    let bytes = random.bytes(500)
    for _ in 0..<50 { #expect(Array(Feeding.pieces(of: bytes, &random).joined()) == bytes) }
  }
}
