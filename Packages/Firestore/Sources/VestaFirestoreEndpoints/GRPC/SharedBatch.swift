import VestaConcurrency

/// Writes batches of responses, and a batch that many calls share once.
///
/// A commit sends one array of responses to all calls that follow the same document. The last batch is kept with its
/// messages: the next call that has the same array gets them without writing them again.
final class SharedBatch<Response: Sendable>: Sendable {
  private struct Written: Sendable {
    var batch: [Response] = []
    var messages: [[UInt8]] = []
  }

  private let last = Locked(Written())
  private let limit: Int
  private let write: @Sendable (Response) throws -> [UInt8]

  /// - Parameters:
  ///   - limit: The number of bytes up to which messages are kept.
  ///   - write: Writes a response.
  init(limit: Int, _ write: @escaping @Sendable (Response) throws -> [UInt8]) {
    self.limit = limit
    self.write = write
  }

  /// The messages of a batch.
  func messages(of batch: [Response]) throws -> [[UInt8]] {
    let known = last.withLock { $0.batch.isSame(as: batch) ? $0.messages : nil }
    if let known { return known }
    let messages = try batch.map(write)
    let isSmall = messages.reduce(0) { $0 + $1.count } <= limit
    let written = isSmall ? Written(batch: batch, messages: messages) : Written()
    // The former one is released with the lock open.
    _ = last.withLock { last in
      defer { last = written }
      return last
    }
    return messages
  }
}

extension Array {
  /// Whether two arrays that are not empty are one in memory.
  ///
  /// Both are alive, and an array that has two owners is not changed in place: so their elements are the same.
  fileprivate func isSame(as other: Self) -> Bool {
    // Unsafe pointers, compared and not used.
    count > 0 && count == other.count
      && withUnsafeBufferPointer { one in other.withUnsafeBufferPointer { one.baseAddress == $0.baseAddress } }
  }
}
