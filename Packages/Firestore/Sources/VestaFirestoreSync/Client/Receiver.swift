import VestaConcurrency

/// The closure of a listener, until it is muted.
final class Receiver<Element: Sendable>: Sendable {
  /// The closure in a separate structure, as `Locked` requires.
  private struct Action: Sendable {
    let perform: @Sendable (Element) -> Void
  }

  private struct End: Sendable {
    let perform: @Sendable () -> Void
  }

  private let action: Locked<Action?>
  private let onEnd: Locked<End?>

  /// - Parameters:
  ///   - onEnd: Called by `end()`, once.
  ///   - action: Called with each element.
  init(onEnd: (@Sendable () -> Void)? = nil, _ action: @escaping @Sendable (Element) -> Void) {
    self.action = Locked(Action(perform: action))
    self.onEnd = Locked(onEnd.map(End.init))
  }

  func receive(_ element: Element) {
    let action = action.withLock { $0 }
    action?.perform(element)
  }

  func mute() {
    let action = action.withLock { $0.take() }
    let end = onEnd.withLock { $0.take() }
    withExtendedLifetime((action, end)) {}
  }

  /// Mutes the receiver because its client ends.
  @Sendable func end() {
    let end = onEnd.withLock { $0.take() }
    mute()
    end?.perform()
  }
}

/// The reads that are under way, for an end that waits for them.
package final class ReadGate: Sendable {
  private struct State {
    var count = 0
    var isClosed = false
  }

  private let state = Locked(State())
  private let idle = Latch()

  /// A gate that is open.
  package init() {}

  /// Begins a read; `false` when the end has begun.
  package func begin() -> Bool {
    state.withLock { state in
      if !state.isClosed { state.count += 1 }
      return !state.isClosed
    }
  }

  /// Ends a read that has begun.
  package func end() {
    let isIdle = state.withLock { state in
      state.count -= 1
      return state.isClosed && state.count == 0
    }
    if isIdle { idle.open() }
  }

  /// Lets no read begin from now on, and waits for the ones that have begun.
  package func close() async {
    let isIdle = state.withLock { state in
      state.isClosed = true
      return state.count == 0
    }
    if isIdle { idle.open() }
    await idle.wait()
  }
}

/// An event that waits until what it needs of the cache is in memory.
struct WaitingEvent: Sendable {
  let needs: CacheNeeds
  let perform: @Sendable (ClientMachine) -> Void
  /// Called in place of `perform` when the client ends first.
  let drop: (@Sendable () -> Void)?
}
