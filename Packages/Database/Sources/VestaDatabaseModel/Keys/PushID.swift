/// Makes push ids: keys of twenty characters that sort by the time at which they were made.
///
/// Eight characters of time, twelve of chance. Two ids of one millisecond differ by one in the part of chance, so ids
/// of one generator only grow.
public struct PushID: Sendable {
  private static let alphabet = Array("-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz".unicodeScalars)

  /// The last time that eight characters can say.
  private static let latest: Int64 = (1 << 48) - 1

  private var lastTime: Int64 = -1
  private var chance = [Int](repeating: 0, count: 12)

  /// A generator that has made no id yet.
  public init() {}

  /// Makes an id.
  ///
  /// - Parameters:
  ///   - milliseconds: The time of the server, as far as it is known. A clock that is set back counts as one that has
  ///     stopped.
  ///   - draw: Returns a random number from 0 to 63.
  public mutating func next(at milliseconds: Int64, draw: () -> Int = { Int.random(in: 0..<64) }) -> String {
    // A clock that was never set can be before 1970, where no id is.
    let milliseconds = min(max(0, milliseconds), Self.latest)
    if milliseconds > lastTime {
      lastTime = milliseconds
      for index in chance.indices { chance[index] = draw() }
    } else {
      increment()
    }
    var time = lastTime
    var head: [Unicode.Scalar] = []
    for _ in 0..<8 {
      head.append(Self.alphabet[Int(time % 64)])
      time /= 64
    }
    return String(String.UnicodeScalarView(head.reversed() + chance.map { Self.alphabet[$0] }))
  }

  private mutating func increment() {
    for index in chance.indices.reversed() {
      if chance[index] < 63 {
        chance[index] += 1
        return
      }
      chance[index] = 0
    }
    // All twelve were at the end: the next id takes the next millisecond, so that ids still grow.
    lastTime = min(lastTime + 1, Self.latest)
  }

  static func neighbor(of scalar: Unicode.Scalar, by step: Int) -> Unicode.Scalar? {
    guard let index = alphabet.firstIndex(of: scalar), alphabet.indices.contains(index + step) else { return nil }
    return alphabet[index + step]
  }
}
