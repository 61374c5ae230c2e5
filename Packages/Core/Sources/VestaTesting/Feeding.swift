/// Feeds a parser the same bytes in many ways: whole, byte by byte, cut in two at each place, and cut at random.
///
/// The results must be equal: how the network cuts a stream has no meaning.
///
/// ```swift
/// let events = try Feeding.verify(bytes, seed: 7) { pieces in
///   var machine = FrameMachine()
///   return try pieces.flatMap { try machine.feed($0) }.merged
/// }
/// ```
public enum Feeding {
  /// Feeds the bytes in all ways.
  ///
  /// - Parameters:
  ///   - bytes: The bytes of the stream.
  ///   - seed: The seed of the random cuts; it is part of the message.
  ///   - rounds: How often the bytes are cut at random.
  ///   - feed: Feeds the pieces to a new parser, one after the other, and returns the result. A result must not show
  ///     where the stream was cut: join neighbouring pieces of a body.
  /// - Returns: The result of feeding the bytes whole.
  /// - Throws: `ContractViolation` with the cut that gave another result; the error of `feed`.
  @discardableResult
  public static func verify<Result: Equatable>(
    _ bytes: [UInt8], seed: UInt64 = 1, rounds: Int = 20, _ feed: ([[UInt8]]) throws -> Result
  ) throws -> Result {
    let whole = try feed([bytes])
    func compare(_ pieces: [[UInt8]], _ what: @autoclosure () -> String) throws {
      let result = try feed(pieces)
      try expect(result == whole, "\(what()) gives \(result), and whole gives \(whole)")
    }
    try compare(bytes.map { [$0] }, "byte by byte")
    // Every place where it can be cut in two, or some of them in a long stream.
    let step = Swift.max(1, bytes.count / 256)
    for cut in stride(from: 0, through: bytes.count, by: step) {
      try compare([Array(bytes[..<cut]), Array(bytes[cut...])], "cut at \(cut)")
    }
    var random = SplitMix(seed: seed)
    for round in 0..<rounds {
      try compare(pieces(of: bytes, &random), "round \(round) with seed \(seed)")
    }
    return whole
  }

  /// The bytes, cut at random places; some pieces are empty.
  public static func pieces(of bytes: [UInt8], _ random: inout SplitMix) -> [[UInt8]] {
    var pieces: [[UInt8]] = []
    var rest = bytes[...]
    let longest = random.pick([1, 2, 7, 64, 1_000])
    while !rest.isEmpty {
      let count = Swift.min(rest.count, random.below(longest + 1))
      pieces.append(Array(rest.prefix(count)))
      rest = rest.dropFirst(count)
    }
    return pieces
  }
}
