import VestaConcurrency

/// The bytes of an asynchronous sequence, of which the last chunk is kept to send it again.
///
/// The sequence is read in a separate task: pausing an upload cancels its attempt, and many sequences take a
/// cancellation for their end. Only ``close()`` cancels that task. It reads one chunk and ends, so that the sequence is
/// read as fast as the service takes it.
final class SequenceSource: UploadSource {
  private struct State {
    var start: Int64 = 0
    var chunk: [UInt8] = []
    var isAtEnd = false
    var failure: (any Error)?
    var reading: Task<Void, Never>?
    var waiter: Turn<Void>?
    var isClosed = false
  }

  private enum Step {
    case bytes([UInt8])
    case failure(any Error)
    case wait
  }

  private let next: @Sendable () async throws -> [UInt8]?
  private let state = Locked(State())

  /// A source.
  ///
  /// - Parameter next: The next bytes, some or none; `nil` at the end. Called by one task at a time.
  init(next: @escaping @Sendable () async throws -> [UInt8]?) { self.next = next }

  var size: Int64? { nil }
  var isRepeatable: Bool { false }

  func read(at offset: Int64, length: Int) async throws -> [UInt8] {
    try drop(before: offset)
    while true {
      switch step(length) {
      case .bytes(let bytes): return bytes
      case .failure(let error): throw error
      case .wait: try await waitForChunk()
      }
    }
  }

  func close() {
    let reading = state.withLock { state in
      state.isClosed = true
      return state.reading
    }
    reading?.cancel()
  }

  private func step(_ length: Int) -> Step {
    state.withLock { state in
      if state.chunk.count >= length || state.isAtEnd { return .bytes(Array(state.chunk.prefix(length))) }
      if let failure = state.failure { return .failure(failure) }
      guard !state.isClosed else { return .failure(CancellationError()) }
      if state.reading == nil { state.reading = Task { await self.fill(length) } }
      return .wait
    }
  }

  private func waitForChunk() async throws {
    try await Turn<Void>().wait { turn in
      let isReading = state.withLock { state in
        if state.reading != nil { state.waiter = turn }
        return state.reading != nil
      }
      if !isReading { turn.begin()?.resume() }
    }
  }

  /// Reads until there is a chunk, the end or a failure.
  private func fill(_ length: Int) async {
    do {
      var isFull = false
      while !isFull {
        let bytes = try await next()
        isFull = state.withLock { state in
          if let bytes { state.chunk += bytes } else { state.isAtEnd = true }
          return state.isAtEnd || state.isClosed || state.chunk.count >= length
        }
      }
    } catch {
      state.withLock { $0.failure = error }
    }
    let waiter = state.withLock { state in
      state.reading = nil
      return state.waiter.take()
    }
    waiter?.begin()?.resume()
  }

  /// Forgets what has arrived.
  private func drop(before offset: Int64) throws {
    try state.withLock { state in
      guard offset >= state.start, offset <= state.start + Int64(state.chunk.count) else {
        throw StorageError.unknown(
          message: "The upload was interrupted and the sequence cannot be read again. Upload from a new sequence.",
          serverError: [:])
      }
      state.chunk.removeFirst(Int(offset - state.start))
      state.start = offset
    }
  }
}
