import VestaConcurrency

/// The streams of content of a process that may have their object open between two chunks.
///
/// A loop may take any time for a chunk, so a stream cannot wait in a queue for another one to end: of two nested loops
/// the inner one would wait for the outer one for ever. Streams beyond the limit close their object after each chunk,
/// and open it again for the next one, in turn with the transfers.
final class OpenStreams: Sendable {
  /// The streams of the process.
  static let shared = OpenStreams(limit: StorageTuning().openStreams)

  private let limit: Int
  private let count = Locked(0)

  init(limit: Int) { self.limit = limit }

  /// Takes a place that the stream keeps to its end, if there is one.
  func enter() -> Bool {
    count.withLock { count in
      guard count < limit else { return false }
      count += 1
      return true
    }
  }

  /// Gives the place back.
  func leave() { count.withLock { $0 -= 1 } }
}
