import VestaConcurrency
import VestaServiceInterop
import VestaStorageBackend
import VestaTransportInterop

/// The content of a download as its response brings it; one reader at a time.
///
/// It ends with the number of bytes that were promised. A response that ends earlier, is cut or is silent for too long
/// fails with `UNAVAILABLE`: the caller continues with another response.
final class RemoteContent: ObjectContent {
  private struct State {
    var piece: ArraySlice<UInt8> = []
    var skipped: Int64
    var left: Int64
    var isSilent = false
    /// The failure that follows the bytes which were handed out.
    var failure: (any Error)?

    /// Takes bytes that have arrived; `nil` when there are none.
    mutating func take(_ limit: Int) -> [UInt8]? {
      let dropped = piece.prefix(Int(clamping: skipped)).count
      piece = piece.dropFirst(dropped)
      skipped -= Int64(dropped)
      guard !piece.isEmpty else { return nil }
      let part = piece.prefix(min(limit, Int(clamping: left)))
      piece = piece.dropFirst(part.count)
      left -= Int64(part.count)
      return Array(part)
    }
  }

  private let stream: ByteStream
  private let clock: ServiceClock
  private let silence: Duration
  private let failure: @Sendable (any Error) -> StorageServiceError
  private let state: Locked<State>

  /// The content of a response.
  ///
  /// - Parameters:
  ///   - stream: The body.
  ///   - skipping: The number of its first bytes that are not wanted.
  ///   - length: The number of bytes that are.
  ///   - clock: The clock of the silence.
  ///   - silence: The time without any byte after which the response counts as lost.
  ///   - failure: The failure for an error of the body.
  init(
    _ stream: ByteStream, skipping: Int64, length: Int64, clock: ServiceClock, silence: Duration,
    failure: @escaping @Sendable (any Error) -> StorageServiceError
  ) {
    self.stream = stream
    self.clock = clock
    self.silence = silence
    self.failure = failure
    state = Locked(State(skipped: skipping, left: length))
  }

  deinit { stream.cancel() }

  /// Reads as many bytes as are asked for, or to the end: pieces of networks are small.
  ///
  /// Bytes that arrived before a failure are handed out first, and the next read fails.
  func read(maximumLength: Int) async throws -> [UInt8] {
    var bytes: [UInt8] = []
    while bytes.count < maximumLength, state.withLock({ $0.left > 0 }) {
      if let part = state.withLock({ $0.take(maximumLength - bytes.count) }) {
        bytes = bytes.isEmpty ? part : bytes + part
        continue
      }
      do {
        let piece = try await arrived()
        state.withLock { $0.piece = piece[...] }
      } catch {
        guard !bytes.isEmpty, !(error is CancellationError) else { throw error }
        state.withLock { $0.failure = error }
        break
      }
    }
    return bytes
  }

  private func arrived() async throws -> [UInt8] {
    if let failure = state.withLock({ $0.failure }) { throw failure }
    guard let piece = try await next() else {
      throw StorageServiceError(.unavailable, "The connection ended before the content did.")
    }
    return piece
  }

  func close() { stream.cancel() }

  private func next() async throws -> [UInt8]? {
    let timer = clock.schedule(after: silence) { [weak self] in
      self?.state.withLock { $0.isSilent = true }
      self?.stream.cancel()
    }
    defer { timer.cancel() }
    do {
      return try await stream.next()
    } catch {
      if state.withLock({ $0.isSilent }) {
        throw StorageServiceError(.unavailable, "No byte of the content has arrived for \(silence).")
      }
      if error is CancellationError { throw error }
      throw failure(error)
    }
  }
}
