/// Holds back the work of a repo until what the device keeps has been loaded.
struct StartGate: Sendable {
  typealias Work = @Sendable (isolated Repo) -> Void

  private var hasBegun = false
  private var isOpen = false
  private var waiting: [Work] = []

  /// Whether this is the first use.
  mutating func begin() -> Bool {
    defer { hasBegun = true }
    return !hasBegun
  }

  /// Holds back a piece of work.
  ///
  /// - Returns: False when the gate is open: the work runs at once.
  mutating func hold(_ work: @escaping Work) -> Bool {
    if !isOpen { waiting.append(work) }
    return !isOpen
  }

  /// Opens the gate, and returns the work that has waited, in order.
  mutating func open() -> [Work] {
    isOpen = true
    defer { waiting = [] }
    return waiting
  }
}
