import VestaConcurrency
import VestaFunctionsBackend
import VestaServiceInterop

/// The reader's end of a streaming call: starts the call when it is first read, and cancels it when it is no longer
/// read.
final class StreamReader: Sendable {
  private let channel: StreamChannel
  private let start: @Sendable (StreamChannel) -> Task<Void, Never>
  private let task = Locked<Task<Void, Never>?>(nil)

  /// - Parameter capacity: The largest number of unread messages.
  init(capacity: Int, start: @escaping @Sendable (StreamChannel) -> Task<Void, Never>) {
    channel = StreamChannel(capacity: capacity)
    self.start = start
  }

  deinit { leave() }

  func next() async throws -> FunctionEvent? {
    task.withLock { task in
      if task == nil { task = start(channel) }
    }
    do {
      return try await channel.next()
    } catch {
      // The failure of the call, or the cancellation of the reading task.
      leave()
      if error is CancellationError { throw FunctionsServiceError(.cancelled, "CANCELLED") }
      throw error
    }
  }

  private func leave() {
    task.withLock { $0 }?.cancel()
    channel.abandon()
  }
}
