import VestaConcurrency
import VestaTransportInterop

/// Writes batches of responses, and a batch that many calls share once.
///
/// A commit sends one array of responses to all calls that follow the same document. The last batch is kept with its
/// messages, framed: the next call that has the same array sends these bytes.
final class SharedBatch<Response: Sendable>: Sendable {
  private struct Written: Sendable {
    var batch: [Response] = []
    var frames = GRPCFrames([])
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

  /// Whether the messages of a batch are there already.
  func has(_ batch: [Response]) -> Bool { last.withLock { $0.batch.isSame(as: batch) } }

  /// The messages of a batch.
  func frames(of batch: [Response]) throws -> GRPCFrames {
    let known = last.withLock { $0.batch.isSame(as: batch) ? $0.frames : nil }
    if let known { return known }
    let frames = GRPCFrames(try batch.map(write))
    let written = frames.count <= limit ? Written(batch: batch, frames: frames) : Written()
    // The former one is released with the lock open.
    _ = last.withLock { last in
      defer { last = written }
      return last
    }
    return frames
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
