/// The targets whose first results are read from the engine in the process, until the stream is asked to follow them.
///
/// A target is *being read* until its results are there, and *due* until the request to follow it is sent. One that is
/// removed before costs the stream no request at all. How long a target is due is in `SyncTuning.followSeconds`; a
/// change that arrives in between is not lost, because the target is followed from its version on.
struct FetchedTargets: Sendable {
  private var reading: Set<Int32> = []
  private var due: Set<Int32> = []

  /// Notes that the first results of a target are being read.
  mutating func begin(_ id: Int32) {
    due.remove(id)
    reading.insert(id)
  }

  /// Whether the first results of a target are being read.
  func isReading(_ id: Int32) -> Bool { reading.contains(id) }

  /// Notes that the first results of a target have been used.
  ///
  /// - Returns: Whether it is the first target that is due.
  mutating func end(_ id: Int32) -> Bool {
    reading.remove(id)
    defer { due.insert(id) }
    return due.isEmpty
  }

  /// Forgets a target and returns whether the stream has not been asked for it.
  @discardableResult
  mutating func remove(_ id: Int32) -> Bool { reading.remove(id) != nil || due.remove(id) != nil }

  /// Takes the targets that are due, in the order of their numbers.
  mutating func takeDue() -> [Int32] {
    if due.isEmpty { return [] }
    defer { due = [] }
    return due.sorted()
  }
}
