/// A regular expression that is matched in time proportional to the length of the string, whatever the expression.
///
/// Conditions are written by the project's owner and matched against what any client sends: with a backtracking matcher
/// one client could stop the service. The expression is compiled to tables, and all of its states are followed at once;
/// a ``PatternRun`` does so, in slices. It matches when it occurs anywhere in the string; `^` and `$` tie it to the
/// ends.
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

  /// One row of the table.
  struct Step: Sendable {
    enum Kind: UInt8, Sendable { case character, start, end, split, jump, match }

    var kind: Kind
    /// The next step, or the index of the set of characters; a split has another next step.
    var first: Int32 = 0
    var second: Int32 = 0
  }

  /// The set of characters of a step: bits for ASCII, ranges for the others.
  struct CharacterTable: Sendable {
    private var low: UInt64 = 0
    private var high: UInt64 = 0
    private let set: CharacterSet

    init(_ set: CharacterSet) {
      self.set = set
      for scalar in 0..<UInt32(64) {
        if set.contains(scalar) { low |= 1 << UInt64(scalar) }
        if set.contains(scalar + 64) { high |= 1 << UInt64(scalar) }
      }
    }

    func contains(_ scalar: UInt32) -> Bool {
      if scalar < 64 { return low >> UInt64(scalar) & 1 == 1 }
      if scalar < 128 { return high >> UInt64(scalar - 64) & 1 == 1 }
      return set.contains(scalar)
    }
  }

  private(set) var steps: [Step] = []
  private(set) var tables: [CharacterTable] = []
  /// Whether it can only begin at the start of a string.
  private(set) var isAnchored = false

  /// The most nodes that are compiled, repetitions counted: groups of repetitions of groups multiply.
  static let maximumSize = 5000

  private var size = 0

  init(_ source: String) throws(SyntaxError) {
    var parser = PatternParser(source)
    try emit(try parser.parse())
    steps.append(Step(kind: .match))
    isAnchored = needsStart()
  }

  // MARK: Compiling

  private mutating func emit(_ node: Node) throws(SyntaxError) {
    size += 1
    guard size <= Self.maximumSize else { throw SyntaxError("It is too large.") }
    switch node {
    case .empty: break
    case .character(let set):
      steps.append(Step(kind: .character, first: Int32(tables.count)))
      tables.append(CharacterTable(set))
    case .start: steps.append(Step(kind: .start))
    case .end: steps.append(Step(kind: .end))
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
      let split = beginSplit()
      try emit(node)
      jumps.append(steps.count)
      steps.append(Step(kind: .jump))
      endSplit(split)
    }
    if let last = nodes.last { try emit(last) }
    for jump in jumps { steps[jump].first = Int32(steps.count) }
  }

  private mutating func emit(star node: Node) throws(SyntaxError) {
    let split = beginSplit()
    try emit(node)
    steps.append(Step(kind: .jump, first: Int32(split)))
    endSplit(split)
  }

  private mutating func emit(optional node: Node) throws(SyntaxError) {
    let split = beginSplit()
    try emit(node)
    endSplit(split)
  }

  /// Appends a split whose first way is the next step.
  private mutating func beginSplit() -> Int {
    steps.append(Step(kind: .split, first: Int32(steps.count + 1)))
    return steps.count - 1
  }

  /// Sets the second way of a split to the next step.
  private mutating func endSplit(_ split: Int) { steps[split].second = Int32(steps.count) }

  /// Whether every way from the beginning meets `^` before a character or the end.
  private func needsStart() -> Bool {
    var (waiting, seen) = ([0], Set<Int>())
    while let state = waiting.popLast() {
      guard seen.insert(state).inserted else { continue }
      switch steps[state].kind {
      case .match, .character: return false
      case .start: break
      case .end: waiting.append(state + 1)
      case .jump: waiting.append(Int(steps[state].first))
      case .split: waiting += [Int(steps[state].first), Int(steps[state].second)]
      }
    }
    return true
  }

  /// Whether the expression occurs in a string.
  func matches(_ text: String) -> Bool {
    var (run, units) = (PatternRun(self, text), Int.max)
    return run.advance(&units) ?? false
  }
}
