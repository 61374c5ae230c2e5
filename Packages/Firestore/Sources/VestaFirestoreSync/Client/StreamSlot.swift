import VestaConcurrency
import VestaFirestoreBackend

/// The current stream of one kind, watch or write: its call, and the task that reads it.
///
/// Streams are numbered. A later one takes the place of the one before it, whose task is cancelled; a call that is
/// opened for an earlier stream, or for a stream that was closed in the meantime, is not kept.
final class StreamSlot<Request: Sendable, Response: Sendable>: Sendable {
  typealias Call = DuplexCall<Request, Response>

  private struct Current {
    let stream: Int
    var call: Call?
    let task: Task<Void, Never>
  }

  private let current = Locked<Current?>(nil)

  /// The call of a stream; `nil` while it is not open, and for a stream that is not the current one.
  func call(_ stream: Int) -> Call? {
    current.withLock { current in current.flatMap { $0.stream == stream ? $0.call : nil } }
  }

  /// Starts the task of a stream, in place of the one before.
  ///
  /// - Parameter read: Opens the call, and reads it if `isCurrent` keeps it.
  func open(_ stream: Int, _ read: @escaping @Sendable (_ isCurrent: @Sendable (Call) -> Bool) async -> Void) {
    let task = Task { await read { self.keep($0, stream) } }
    let old = current.withLock { current in
      // The task may have kept its call already.
      defer { if current?.stream != stream { current = Current(stream: stream, call: nil, task: task) } }
      return current
    }
    if let old, old.stream != stream { old.task.cancel() }
  }

  private func keep(_ call: Call, _ stream: Int) -> Bool {
    current.withLock { current in
      if let known = current, known.stream > stream || known.stream == stream && known.task.isCancelled { return false }
      if current?.stream == stream {
        current?.call = call
      } else {
        current = Current(stream: stream, call: call, task: Task {})
      }
      return true
    }
  }

  /// Ends a stream, if it is the current one.
  ///
  /// - Parameter end: Ends its call, if that is open.
  func close(_ stream: Int, _ end: (Call) -> Void) {
    guard let old = current.withLock({ $0 }), old.stream == stream else { return }
    if let call = old.call { end(call) }
    old.task.cancel()
  }
}
