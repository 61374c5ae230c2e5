/// Values by path, in pieces of bounded size: a copy of the table that changes a value copies a piece, not the whole.
///
/// Each snapshot of a listener is such a copy, so a change of one document of ten thousand must not copy all of them.
struct PathTable<Value: Sendable>: Sendable {
  /// A power of two of pieces; a path is in the piece of its hash.
  private var pieces: [[ResourcePath: Value]]
  private(set) var count = 0

  /// How many values a piece has on average before there are twice as many pieces.
  private static var load: Int { 64 }

  /// An empty table.
  ///
  /// - Parameter capacity: For how many values there is to be room.
  init(capacity: Int = 0) {
    var size = 1
    while size * Self.load < capacity { size *= 2 }
    pieces = Array(repeating: [:], count: size)
    for piece in pieces.indices { pieces[piece].reserveCapacity(min(capacity, Self.load)) }
  }

  subscript(path: ResourcePath) -> Value? { pieces[piece(of: path)][path] }

  /// Puts a value in place of the one at its path.
  mutating func put(_ value: Value, at path: ResourcePath) {
    guard pieces[piece(of: path)].updateValue(value, forKey: path) == nil else { return }
    count += 1
    if count > pieces.count * Self.load { grow() }
  }

  /// Removes the value at a path and returns it.
  mutating func remove(_ path: ResourcePath) -> Value? {
    guard let value = pieces[piece(of: path)].removeValue(forKey: path) else { return nil }
    count -= 1
    return value
  }

  private func piece(of path: ResourcePath) -> Int { pieces.count == 1 ? 0 : path.digest & (pieces.count - 1) }

  private mutating func grow() {
    let old = pieces
    pieces = Array(repeating: [:], count: old.count * 2)
    for piece in old { for (path, value) in piece { pieces[self.piece(of: path)][path] = value } }
  }
}
