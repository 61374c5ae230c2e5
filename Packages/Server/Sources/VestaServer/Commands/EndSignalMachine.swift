/// Decides which of the signals that a program receives end it; pure.
///
/// Control-C arrives twice under `npm run`, `make` and `timeout`: from the terminal, which sends it to all of them, and
/// once more from the program between. A person who sends a second one takes longer, and wants no export.
struct EndSignalMachine: Sendable {
  /// The reaction to a signal.
  enum Action: Sendable, Hashable {
    /// Export, where that was asked for, and stop.
    case end
    /// Nothing: it is the signal before, once more.
    case ignore
    /// End without an export.
    case endAtOnce
  }

  private let interval: Duration
  private var last: Duration?

  /// A machine for a program that has received no signal.
  ///
  /// - Parameter interval: The time within which another signal is the same one.
  init(interval: Duration) { self.interval = interval }

  /// Takes a signal.
  ///
  /// - Parameters:
  ///   - time: The time since the start of the program.
  ///   - isServing: Whether the server has started: before that there is nothing to export.
  /// - Returns: The reaction.
  mutating func received(at time: Duration, isServing: Bool) -> Action {
    if let last {
      // A clock that was set back is no reason to ignore someone who wants the end.
      guard time - last >= interval || time < last else { return .ignore }
      return .endAtOnce
    }
    last = time
    return isServing ? .end : .endAtOnce
  }
}
