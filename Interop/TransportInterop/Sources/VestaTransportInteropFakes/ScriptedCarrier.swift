import VestaConcurrency
import VestaTransportInterop

/// Carries the frames of one request over a scripted pipe, and runs the tasks of both of its ends: the part that
/// exchanges and sockets have in common.
final class ScriptedCarrier: Sendable {
  private struct State: Sendable {
    var fromServer = ScriptedFrames()
    var fromClient = ScriptedFrames()
    var tasks: [Task<Void, Never>] = []
    var isOver = false
  }

  let pipe: ScriptedPipe
  private let drive: @Sendable () -> Void
  private let onEnd: @Sendable () -> Void
  private let state = Locked(State())

  /// - Parameters:
  ///   - pipe: The connection.
  ///   - drive: Called when something was sent.
  ///   - onEnd: Called once, at the end of the request.
  init(_ pipe: ScriptedPipe, drive: @escaping @Sendable () -> Void, onEnd: @escaping @Sendable () -> Void) {
    self.pipe = pipe
    self.drive = drive
    self.onEnd = onEnd
  }

  /// The frames that are complete with bytes from the server.
  func framesFromServer(_ bytes: [UInt8]) -> [ScriptedFrames.Frame] {
    state.withLock { $0.fromServer.feed(bytes) }
  }

  /// The frames that are complete with bytes from the client.
  func framesFromClient(_ bytes: [UInt8]) -> [ScriptedFrames.Frame] {
    state.withLock { $0.fromClient.feed(bytes) }
  }

  func send(_ frame: ScriptedFrames.Frame, from end: ScriptedPipe.End) {
    end.send(ScriptedFrames.bytes(of: frame))
    drive()
  }

  /// Cuts the connection, from the client.
  func cut() {
    pipe.client.cut()
    drive()
  }

  /// Runs a task of one of the ends.
  @discardableResult
  func run(_ work: @escaping @Sendable () async -> Void) -> Task<Void, Never> {
    let task = Task { await work() }
    state.withLock { $0.tasks.append(task) }
    return task
  }

  /// Cancels the tasks that were run so far.
  func cancelTasks() {
    for task in state.withLock({ $0.tasks }) { task.cancel() }
  }

  /// Notes the end of the request; only the first call counts.
  func end() {
    let isFirst = state.withLock { state in
      defer { state.isOver = true }
      return !state.isOver
    }
    if isFirst { onEnd() }
  }
}
