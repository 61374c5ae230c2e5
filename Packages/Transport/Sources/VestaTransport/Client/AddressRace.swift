/// Decides which address of a host is tried when (RFC 8305): one after the other, the next one when the one before has
/// failed or has not answered for a moment, and the first that answers wins.
///
/// Pure: its inputs are events, its outputs the next steps. Addresses are known by their places in the order in which
/// to try them.
struct AddressRace {
  enum Action: Equatable {
    /// Begin to connect to an address.
    case attempt(Int)
    /// Tell ``delayPassed(_:)`` this number after the delay between attempts.
    case startDelay(Int)
    /// Give up an attempt that is under way.
    case giveUp(Int)
    /// The race is over: this address has won.
    case win(Int)
    /// The race is over: no address answers.
    case fail
  }

  private let count: Int
  private var next = 0
  private var running: [Int] = []
  /// The number of the delay that runs; earlier ones count no more.
  private var delay = 0
  private var isOver = false

  /// - Parameter count: The number of addresses.
  init(count: Int) { self.count = count }

  mutating func begin() -> [Action] { count == 0 ? end([.fail]) : tryNext() }

  /// The delay after the last attempt has passed.
  mutating func delayPassed(_ number: Int) -> [Action] { number == delay ? tryNext() : [] }

  /// An address does not take the connection.
  mutating func failed(_ index: Int) -> [Action] {
    guard !isOver, running.contains(index) else { return [] }
    running.removeAll { $0 == index }
    if next < count { return tryNext() }
    return running.isEmpty ? end([.fail]) : []
  }

  /// An address has taken the connection.
  mutating func succeeded(_ index: Int) -> [Action] {
    guard !isOver, running.contains(index) else { return [] }
    running.removeAll { $0 == index }
    return end([.win(index)])
  }

  /// The time for all of it is over.
  mutating func timedOut() -> [Action] { isOver ? [] : end([.fail]) }

  private mutating func tryNext() -> [Action] {
    guard !isOver, next < count else { return [] }
    let index = next
    next += 1
    running.append(index)
    delay += 1
    return next < count ? [.attempt(index), .startDelay(delay)] : [.attempt(index)]
  }

  private mutating func end(_ last: [Action]) -> [Action] {
    isOver = true
    defer { running = [] }
    return running.map(Action.giveUp) + last
  }

  /// Puts addresses in the order in which to try them: families take turns, the system's favourite first.
  static func order<Address, Family: Equatable>(_ addresses: [Address], by family: (Address) -> Family) -> [Address] {
    guard let favourite = addresses.first.map(family) else { return [] }
    var first = addresses.filter { family($0) == favourite }[...]
    var second = addresses.filter { family($0) != favourite }[...]
    var ordered: [Address] = []
    while !first.isEmpty || !second.isEmpty {
      if let address = first.popFirst() { ordered.append(address) }
      if let address = second.popFirst() { ordered.append(address) }
    }
    return ordered
  }
}
