import VestaConcurrency
import VestaTransportInterop

/// Compresses a stream into another one, no faster than that one is read, without a task.
// Sound as @unchecked Sendable: the writer is used by the caller that set `isMoving`, one at a time.
final class GzipRelay: @unchecked Sendable {
  private struct State {
    var isMoving = false
    /// Whether something has happened while a thread was moving.
    var goesOn = false
  }

  private let source: ByteStream
  private let target: ByteStream
  private let limit: Int
  private let writer: GzipWriter
  private let state = Locked(State())

  /// - Parameter limit: The number of bytes that are made before they are read.
  init(_ source: ByteStream, _ writer: GzipWriter, limit: Int) {
    self.source = source
    self.limit = max(1, limit)
    target = ByteStream(limit: self.limit)
    self.writer = writer
  }

  /// - Returns: The compressed stream.
  func start() -> ByteStream {
    target.pipe.setDemand({ self.move() }, onCancel: { self.source.cancel() })
    source.pipe.setReadable { self.move() }
    return target
  }

  /// Moves what is there; hooks may call it while it runs, on this thread and on others.
  private func move() {
    let isFirst = state.withLock { state in
      defer { if state.isMoving { state.goesOn = true } else { state.isMoving = true } }
      return !state.isMoving
    }
    guard isFirst else { return }
    repeat { moveAll() } while !stops()
  }

  private func stops() -> Bool {
    state.withLock { state in
      state.isMoving = state.goesOn
      defer { state.goesOn = false }
      return !state.goesOn
    }
  }

  private func moveAll() {
    while target.pipe.backlog < limit, !target.pipe.isFinished {
      switch source.pipe.take() {
      case .nothingYet: return
      case .element(let bytes): if !bytes.isEmpty { target.offer(writer.write(bytes)) }
      case .ended(nil):
        target.offer(writer.finish())
        end { target.finish(trailers: source.trailers) }
      case .ended(let error?): end { target.fail(error) }
      }
    }
  }

  private func end(_ say: () -> Void) {
    say()
    // The hooks hold this object.
    source.pipe.setReadable(nil)
  }
}
