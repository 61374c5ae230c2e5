public import Foundation
import VestaBytes
import VestaConcurrency
import VestaServiceInterop
import VestaStorageBackend

/// The bytes of an object as a sequence of chunks, fetched when the loop asks for them.
///
/// Memory stays at one chunk however slow the loop is. Failures that may pass are retried; all chunks are of one
/// generation of the object, and a loop that reaches the end has seen content with the object's checksum. Leaving the
/// loop, cancelling its task or dropping the iterator closes the object. A stream beyond the 64 that a process has open
/// at once closes it after each chunk and opens it again for the next one; it fails when the object was replaced
/// in between.
///
/// ```swift
/// for try await chunk in reference.contents() { try file.write(contentsOf: chunk) }
/// ```
public struct StorageContents: AsyncSequence, Sendable {
  /// A chunk.
  public typealias Element = Data
  /// `StorageError`.
  public typealias Failure = any Error
  /// The iterator.
  public typealias AsyncIterator = Iterator

  private let reader: @Sendable () -> StorageContentsReader

  init(reader: @escaping @Sendable () -> StorageContentsReader) { self.reader = reader }

  /// Begins a download, which opens the object at the first chunk.
  public func makeAsyncIterator() -> Iterator { Iterator(reader()) }

  /// The iterator of the sequence; of one task only.
  public struct Iterator: AsyncIteratorProtocol {
    private let reader: StorageContentsReader

    init(_ reader: StorageContentsReader) { self.reader = reader }

    /// The next chunk; `nil` at the end.
    public mutating func next() async throws -> Data? { try await reader.next() }
  }
}

@available(*, unavailable, message: "An iterator belongs to the task that reads it.")
extension StorageContents.Iterator: Sendable {}

/// Reads an object chunk by chunk; closes it when the iterator is released.
final class StorageContentsReader: Sendable {
  private struct State {
    var machine: DownloadMachine
    var checksum = CRC32C()
    var content: (any ObjectContent)?
    var expected: UInt32 = 0
    /// Whether the object stays open between two chunks.
    var staysOpen = false
    var isOver = false
  }

  private let object: ObjectName
  private let caller: StorageCaller
  private let transfers: TransferTable
  private let length: Int
  private let state: Locked<State>

  init(
    _ object: ObjectName, caller: StorageCaller, transfers: TransferTable, length: Int, retrySeconds: Double
  ) {
    self.object = object
    self.caller = caller
    self.transfers = transfers
    self.length = length
    let machine = DownloadMachine(hasTarget: false, canRestart: false, retrySeconds: retrySeconds)
    state = Locked(State(machine: machine))
  }

  deinit { close() }

  func next() async throws -> Data? {
    guard state.withLock({ !$0.isOver }) else { return nil }
    do {
      if staysOpen() { return try await nextChunk(nil) }
      let place = caller.places.place(of: transfers)
      try await place.enter()
      defer {
        let content = state.withLock { $0.content.take() }
        content?.close()
        place.leave()
      }
      return try await nextChunk(place)
    } catch {
      close()
      throw StorageErrorTable.thrown(for: error, object: object)
    }
  }

  /// Whether the object stays open to the end, from now on if there is a place for that.
  private func staysOpen() -> Bool {
    state.withLock { state in
      if !state.staysOpen { state.staysOpen = caller.streams.enter() }
      return state.staysOpen
    }
  }

  /// - Parameter place: The place among the transfers, of a stream whose object does not stay open.
  private func nextChunk(_ place: TransferPlace?) async throws -> Data? {
    var notice = RetryNotice(.download, of: object)
    var action: DownloadMachine.Action =
      state.withLock { state in state.content == nil ? state.machine.begin() : .read }
    while true {
      try Task.checkCancellation()
      guard !transfers.isClosed else { throw TransferTable.closed }
      do {
        switch action {
        case .open(let offset, let generation): action = try await open(offset, generation)
        case .wait(let seconds):
          if let place {
            try await place.outside { try await caller.clock.sleep(for: .seconds(seconds)) }
          } else {
            try await caller.clock.sleep(for: .seconds(seconds))
          }
          action = state.withLock { $0.machine.waited() }
        case .read: return try await read()
        case .check, .publish, .succeed: return try end()
        case .prepare, .restart: throw StorageError.internalError(message: "A stream of chunks cannot begin again.")
        case .fail(let error): throw StreamFailure(error)
        }
      } catch let failure as StreamFailure {
        throw failure.error
      } catch {
        try Task.checkCancellation()
        action = state.withLock { $0.machine.failed(error, jitter: caller.random()) }
        if case .wait = action { notice.give(after: error) }
      }
    }
  }

  private func open(_ offset: Int64, _ generation: Int64?) async throws -> DownloadMachine.Action {
    let request = ReadRequest(
      object: object, offset: offset, preconditions: Preconditions(ifGenerationMatch: generation))
    let download = try await caller.attempt { try await $0.openObject(request, context: $1) }
    return state.withLock { state in
      state.content?.close()
      state.content = download.content
      state.expected = download.object.crc32c
      return state.machine.opened(download.object)
    }
  }

  private func read() async throws -> Data? {
    guard let content = state.withLock({ $0.content }) else { return nil }
    let bytes = try await content.read(maximumLength: length)
    let action = state.withLock { state in
      state.checksum.update(bytes)
      return state.machine.received(bytes.count)
    }
    if case .fail(let error) = action { throw StreamFailure(error) }
    // The last chunk is returned only if the whole content is right.
    if action == .check { _ = try end() }
    return Data(bytes)
  }

  private func end() throws -> Data? {
    let isWhole = state.withLock { $0.checksum.value == $0.expected }
    close()
    guard isWhole else { throw StreamFailure(StorageError.nonMatchingChecksum) }
    return nil
  }

  private func close() {
    let (content, stayedOpen) = state.withLock { state in
      defer { (state.isOver, state.staysOpen) = (true, false) }
      return (state.content.take(), state.staysOpen)
    }
    content?.close()
    if stayedOpen { caller.streams.leave() }
  }
}

/// A failure that is not tried again.
private struct StreamFailure: Error {
  let error: any Error
  init(_ error: any Error) { self.error = error }
}
