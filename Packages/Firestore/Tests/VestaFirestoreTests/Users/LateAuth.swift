import VestaAuthInterop
import VestaConcurrency
import VestaTesting

/// An Auth whose notifications arrive when a test says so: late, twice, or in another order.
final class LateAuth: AuthInterop {
  /// A closure in a separate structure, as `Locked` requires.
  private struct Action: Sendable {
    let run: @Sendable () -> Void
  }

  private struct Listener: Sendable {
    let receive: @Sendable (AuthTokenChange) -> Void
  }

  private struct State {
    var user: String?
    var listeners: [Int: Listener] = [:]
    var waiting: [AuthTokenChange] = []
    var afterToken: Action?

    var current: AuthTokenChange { user.map { AuthTokenChange(userID: $0, token: $0) } ?? .signedOut }
  }

  private let state: Locked<State>
  /// The tokens that were read, each with the name of its user.
  let tokens = Log<String?>()

  init(_ user: String? = nil) { state = Locked(State(user: user)) }

  func getUserID() -> String? { state.withLock { $0.user } }

  /// The token of the user; others may sign in before it reaches the caller.
  func getToken(forcingRefresh: Bool) async throws -> String? {
    let (token, action) = state.withLock { ($0.user, $0.afterToken.take()) }
    tokens.add(token)
    action?.run()
    await Task.yield()
    return token
  }

  func addTokenListener(_ listener: @escaping @Sendable (AuthTokenChange) -> Void) -> ListenerRegistration {
    let id = state.withLock { state in
      let id = state.listeners.count
      state.listeners[id] = Listener(receive: listener)
      state.waiting.append(state.current)
      return id
    }
    return ListenerRegistration { [state] in _ = state.withLock { $0.listeners.removeValue(forKey: id) } }
  }

  /// Signs a user in, or out, without a notification.
  func sign(in user: String?) {
    state.withLock { state in
      state.user = user
      state.waiting.append(state.current)
    }
  }

  /// Runs something once, after the next token was read and before its caller has it.
  func afterNextToken(_ action: @escaping @Sendable () -> Void) {
    state.withLock { $0.afterToken = Action(run: action) }
  }

  /// Delivers one of the notifications that wait.
  ///
  /// - Parameters:
  ///   - index: Which one, the oldest first.
  ///   - isKept: Whether it is delivered once more later.
  func deliver(_ index: Int = 0, isKept: Bool = false) {
    let (change, listeners) = state.withLock { state -> (AuthTokenChange?, [Listener]) in
      guard !state.waiting.isEmpty else { return (nil, []) }
      let index = index % state.waiting.count
      let change = isKept ? state.waiting[index] : state.waiting.remove(at: index)
      return (change, Array(state.listeners.values))
    }
    guard let change else { return }
    for listener in listeners { listener.receive(change) }
  }

  /// Delivers all notifications that wait.
  func deliverAll() { while state.withLock({ !$0.waiting.isEmpty }) { deliver() } }
}
