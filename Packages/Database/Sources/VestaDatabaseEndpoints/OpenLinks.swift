import VestaConcurrency
import VestaTransportInterop

/// The streams that a server has open: they end in order when it shuts down.
final class OpenLinks: Sendable {
  private struct State {
    var ends: [Int: @Sendable () -> Void] = [:]
    var next = 0
    var isOver = false
  }

  private let state = Locked(State())

  init(_ host: any EndpointHost) { host.onShutDown { [weak self] in self?.endAll() } }

  /// The number of open streams.
  var count: Int { state.withLock { $0.ends.count } }

  /// Adds a stream.
  ///
  /// - Parameter end: Ends it; called once at most, also at once where the server shuts down already.
  /// - Returns: The number by which it is removed.
  func add(_ end: @escaping @Sendable () -> Void) -> Int {
    let (number, isOver) = state.withLock { state in
      state.next += 1
      if !state.isOver { state.ends[state.next] = end }
      return (state.next, state.isOver)
    }
    if isOver { end() }
    return number
  }

  /// Removes a stream that has ended.
  func remove(_ number: Int) {
    let removed = state.withLock { $0.ends.removeValue(forKey: number) }
    withExtendedLifetime(removed) {}
  }

  private func endAll() {
    let ends = state.withLock { state in
      state.isOver = true
      defer { state.ends = [:] }
      return state.ends
    }
    for end in ends.values { end() }
  }
}
