import Synchronization
public import VestaConcurrency
public import VestaRules

/// The rules that a guard decides by, which can be replaced while it decides.
///
/// A replacement is compiled concurrently with the traffic and takes effect at once and as a whole: each decision is
/// made by one ruleset. One that does not compile leaves the rules in force as they are. Before the first rules
/// everything is denied.
public final class RulesInForce<Rules: Sendable>: Sendable {
  /// The place of a replacement in the order of all of them.
  struct Turn: Sendable {
    fileprivate let number: Int
  }

  private struct State: Sendable {
    var rules: Rules?
    /// The number of the call that the rules are from.
    var number = 0
    var calls = 0
  }

  private let state = Locked(State())
  private let changes = ListenerRegistry<Void>()
  private let bits = Atomic<UInt8>(0)
  private let summarize: @Sendable (Rules) -> UInt8

  /// Nothing at first, or rules that are compiled already.
  public convenience init(_ rules: Rules? = nil) { self.init(rules) { _ in 0 } }

  /// Nothing at first, or rules that are compiled already.
  ///
  /// - Parameters:
  ///   - rules: The rules.
  ///   - summarize: Returns the ``summary`` of rules.
  init(_ rules: Rules?, summarize: @escaping @Sendable (Rules) -> UInt8) {
    self.summarize = summarize
    guard let rules else { return }
    state.withLock { $0.rules = rules }
    bits.store(summarize(rules), ordering: .releasing)
  }

  /// A summary of the rules in force for the shortest decisions, read without the lock; zero for no rules.
  var summary: UInt8 { bits.load(ordering: .acquiring) }

  /// The rules that decisions are made by now; `nil` for none.
  public var current: Rules? { state.withLock { $0.rules } }

  /// The rules that decisions are made by now, with their number: later rules have a larger one.
  var numbered: (rules: Rules, number: Int)? { state.withLock { state in state.rules.map { ($0, state.number) } } }

  /// Compiles rules, and puts them in force if they compile.
  ///
  /// Of several calls at once the last one counts, whichever of them takes longest to compile.
  ///
  /// - Parameter compile: Compiles the rules, on a dedicated thread.
  /// - Returns: The compiled rules.
  /// - Throws: What `compile` throws; the rules in force are unchanged.
  @discardableResult
  public func replace(
    _ compile: @escaping @Sendable () throws(RulesetError) -> Rules
  ) async throws(RulesetError) -> Rules {
    let turn = turn()
    let rules = try await RulesCompilers.run(compile)
    if put(rules, turn) { announce() }
    return rules
  }

  /// Calls back after each replacement, until the registration is cancelled.
  public func observe(_ changed: @escaping @Sendable () -> Void) -> ListenerRegistration {
    changes.add { _ in changed() }
  }

  // MARK: In steps

  /// The number of replacements that have begun.
  var turnsTaken: Int { state.withLock { $0.calls } }

  /// Begins a replacement, before its rules are compiled.
  func turn() -> Turn {
    state.withLock { state in
      state.calls += 1
      return Turn(number: state.calls)
    }
  }

  /// Puts rules in force unless rules of a later turn are; whether it has.
  func put(_ rules: Rules, _ turn: Turn) -> Bool {
    state.withLock { state in
      guard turn.number > state.number else { return false }
      (state.rules, state.number) = (rules, turn.number)
      bits.store(summarize(rules), ordering: .releasing)
      return true
    }
  }

  /// Tells the observers that the rules were replaced.
  func announce() { changes.emit(()) }
}
