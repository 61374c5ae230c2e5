/// A regular expression that is matched in time proportional to the length of the string, whatever the expression.
///
/// Conditions are written by the project's owner and matched against what any client sends: with a backtracking matcher
/// one client could stop the service. The expression is compiled to a list of steps, and all of its states are followed
/// at once. It matches when it occurs anywhere in the string; `^` and `$` tie it to the ends.
///
/// Known: `.`, classes with ranges and `^`, `\d \w \s` and their opposites, groups, `|`, `* + ?` (greedy or not makes
/// no difference here) and `{m,n}` with counts up to 100. Not known: back references, look-around, named groups.
struct LinearPattern: Sendable {
  struct SyntaxError: Error, Equatable {
    var message: String
    init(_ message: String) { self.message = message }
  }

  indirect enum Node: Equatable, Sendable {
    case empty
    case character(CharacterSet)
    case start
    case end
    case sequence([Node])
    case choice([Node])
    case repeated(Node, minimum: Int, maximum: Int?)
  }

  /// A set of characters: ranges, or everything else.
  struct CharacterSet: Equatable, Sendable {
    var ranges: [ClosedRange<UInt32>]
    var isNegated = false

    func contains(_ scalar: UInt32) -> Bool { ranges.contains { $0.contains(scalar) } != isNegated }
  }

  enum Step: Sendable {
    case character(CharacterSet)
    case start
    case end
    case split(Int, Int)
    case jump(Int)
    case match
  }

  private(set) var steps: [Step] = []

  /// The most nodes that are compiled, repetitions counted: groups of repetitions of groups multiply.
  static let maximumSize = 5000

  private var size = 0

  init(_ source: String) throws(SyntaxError) {
    var parser = PatternParser(source)
    try emit(try parser.parse())
    steps.append(.match)
  }

  // MARK: Compiling

  private mutating func emit(_ node: Node) throws(SyntaxError) {
    size += 1
    guard size <= Self.maximumSize else { throw SyntaxError("It is too large.") }
    switch node {
    case .empty: break
    case .character(let set): steps.append(.character(set))
    case .start: steps.append(.start)
    case .end: steps.append(.end)
    case .sequence(let nodes): for node in nodes { try emit(node) }
    case .choice(let nodes): try emit(choice: nodes)
    case .repeated(let node, let minimum, let maximum):
      for _ in 0..<minimum { try emit(node) }
      guard let maximum else { return try emit(star: node) }
      for _ in minimum..<max(minimum, maximum) { try emit(optional: node) }
    }
  }

  private mutating func emit(choice nodes: [Node]) throws(SyntaxError) {
    var jumps: [Int] = []
    for node in nodes.dropLast() {
      let split = steps.count
      steps.append(.split(split + 1, 0))
      try emit(node)
      jumps.append(steps.count)
      steps.append(.jump(0))
      steps[split] = .split(split + 1, steps.count)
    }
    if let last = nodes.last { try emit(last) }
    for jump in jumps { steps[jump] = .jump(steps.count) }
  }

  private mutating func emit(star node: Node) throws(SyntaxError) {
    let split = steps.count
    steps.append(.split(split + 1, 0))
    try emit(node)
    steps.append(.jump(split))
    steps[split] = .split(split + 1, steps.count)
  }

  private mutating func emit(optional node: Node) throws(SyntaxError) {
    let split = steps.count
    steps.append(.split(split + 1, 0))
    try emit(node)
    steps[split] = .split(split + 1, steps.count)
  }

  // MARK: Matching

  /// Whether the expression occurs in a string.
  func matches(_ text: String) -> Bool {
    var states = StateSet(count: steps.count)
    var next = StateSet(count: steps.count)
    let scalars = Array(text.unicodeScalars)
    for position in 0...scalars.count {
      // The expression may begin at every position.
      if follow(0, into: &states, isAtStart: position == 0, isAtEnd: position == scalars.count) { return true }
      guard position < scalars.count else { break }
      let isLast = position + 1 == scalars.count
      for state in states.members {
        guard case .character(let set) = steps[state], set.contains(scalars[position].value) else { continue }
        if follow(state + 1, into: &next, isAtStart: false, isAtEnd: isLast) { return true }
      }
      swap(&states, &next)
      next.removeAll()
    }
    return false
  }

  /// Adds the states that are reached without a character; answers whether the match is among them.
  private func follow(_ start: Int, into states: inout StateSet, isAtStart: Bool, isAtEnd: Bool) -> Bool {
    var waiting = [start]
    while let state = waiting.popLast() {
      guard states.insert(state) else { continue }
      switch steps[state] {
      case .match: return true
      case .character: break
      case .start: if isAtStart { waiting.append(state + 1) }
      case .end: if isAtEnd { waiting.append(state + 1) }
      case .jump(let target): waiting.append(target)
      case .split(let first, let second): waiting += [second, first]
      }
    }
    return false
  }

  /// A set of states that remembers the order in which they came.
  private struct StateSet {
    private(set) var members: [Int] = []
    private var isMember: [Bool]

    init(count: Int) { isMember = Array(repeating: false, count: count) }

    mutating func insert(_ state: Int) -> Bool {
      guard !isMember[state] else { return false }
      isMember[state] = true
      members.append(state)
      return true
    }

    mutating func removeAll() {
      for state in members { isMember[state] = false }
      members.removeAll(keepingCapacity: true)
    }
  }
}
