/// A regular expression as instructions.
struct PatternProgram: Sendable {
  enum Instruction: Sendable {
    /// Takes a character of a set.
    case set(Int)
    /// Continues at either place, the first one preferred.
    case split(Int, Int)
    case jump(Int)
    case assertion(PatternAssertion)
    case match

    /// The instruction with its targets behind where they were.
    func moved(by offset: Int) -> Instruction {
      switch self {
      case .split(let first, let second): .split(first + offset, second + offset)
      case .jump(let target): .jump(target + offset)
      case .set, .assertion, .match: self
      }
    }
  }

  private(set) var instructions: [Instruction] = []
  private(set) var sets: [ScalarSet] = []
  let alphabet: Alphabet
  /// Whether a place matters beyond the start and the end of the text.
  private(set) var needsNeighbours = false
  /// Whether a match can only begin at the start of the text.
  private(set) var isAnchored = false

  /// Makes the instructions of a tree.
  ///
  /// - Parameter steps: The steps that were taken so far, to which the own ones are added.
  init(_ tree: PatternTree, limits: PatternLimits, steps: inout Int) throws(PatternError) {
    var builder = Builder(limits: limits)
    do throws(PatternError) {
      try builder.add(tree)
    } catch {
      throw error.after(steps + 4 * builder.instructions.count)
    }
    builder.instructions.append(.match)
    instructions = builder.instructions
    sets = builder.sets
    needsNeighbours = builder.needsNeighbours
    let cuts = sets.reduce(16) { $0 + 2 * $1.ranges.count }
    steps += 4 * instructions.count + cuts * (sets.count + 2)
    guard cuts * (sets.count + 2) <= limits.alphabet, steps <= limits.steps else {
      throw PatternError(.tooLarge, "the expression has too many different characters").after(steps)
    }
    alphabet = Alphabet(sets)
    isAnchored = needsStart()
  }

  /// Whether every way from the beginning meets the start of the text before a character or the end.
  private func needsStart() -> Bool {
    var (waiting, seen) = ([0], Set<Int>())
    while let place = waiting.popLast() {
      guard seen.insert(place).inserted else { continue }
      switch instructions[place] {
      case .match, .set: return false
      case .assertion(.textStart): break
      case .assertion: waiting.append(place + 1)
      case .jump(let target): waiting.append(target)
      case .split(let first, let second): waiting += [first, second]
      }
    }
    return true
  }

  private struct Builder {
    let limits: PatternLimits
    var instructions: [Instruction] = []
    var sets: [ScalarSet] = []
    var numbers: [ScalarSet: Int] = [:]
    var needsNeighbours = false

    mutating func append(_ instruction: Instruction) throws(PatternError) {
      guard instructions.count < limits.instructions else {
        throw PatternError(.tooLarge, "the expression is too large")
      }
      instructions.append(instruction)
    }

    mutating func add(_ tree: PatternTree) throws(PatternError) {
      switch tree {
      case .empty: break
      case .set(let set):
        let number = numbers[set] ?? sets.count
        if number == sets.count {
          sets.append(set)
          numbers[set] = number
        }
        try append(.set(number))
      case .assertion(let assertion):
        if assertion != .textStart, assertion != .textEnd { needsNeighbours = true }
        try append(.assertion(assertion))
      case .sequence(let list): for part in list { try add(part) }
      case .alternatives(let list): try add(alternatives: list)
      case .repetition(let inner, let minimum, let maximum, let isGreedy):
        try add(inner, minimum, maximum, isGreedy)
      }
    }

    private mutating func add(alternatives list: [PatternTree]) throws(PatternError) {
      var jumps: [Int] = []
      for (index, alternative) in list.enumerated() {
        guard index < list.count - 1 else {
          try add(alternative)
          break
        }
        let split = instructions.count
        try append(.split(split + 1, 0))
        try add(alternative)
        jumps.append(instructions.count)
        try append(.jump(0))
        instructions[split] = .split(split + 1, instructions.count)
      }
      for jump in jumps { instructions[jump] = .jump(instructions.count) }
    }

    private mutating func add(
      _ inner: PatternTree, _ minimum: Int, _ maximum: Int?, _ isGreedy: Bool
    ) throws(PatternError) {
      func fork(_ body: Int, _ exit: Int) -> Instruction { isGreedy ? .split(body, exit) : .split(exit, body) }
      var copied: Range<Int>?
      guard let maximum else {
        // At the end of a round: a round that took nothing then leaves the loop, in the place of its preference.
        for _ in 0..<max(0, minimum - 1) { try add(inner, copying: &copied) }
        let start = instructions.count
        if minimum == 0 { try append(.split(0, 0)) }
        let body = instructions.count
        try add(inner, copying: &copied)
        try append(fork(body, instructions.count + 1))
        if minimum == 0 { instructions[start] = fork(body, instructions.count) }
        return
      }
      for _ in 0..<minimum { try add(inner, copying: &copied) }
      var splits: [Int] = []
      for _ in minimum..<max(minimum, maximum) {
        splits.append(instructions.count)
        try append(.split(0, 0))
        try add(inner, copying: &copied)
      }
      for split in splits { instructions[split] = fork(split + 1, instructions.count) }
    }

    /// Adds a part that is repeated: once from its tree, then by its instructions, as the sets of a tree may be large.
    private mutating func add(_ inner: PatternTree, copying copied: inout Range<Int>?) throws(PatternError) {
      let start = instructions.count
      if let copied {
        for index in copied { try append(instructions[index].moved(by: start - copied.lowerBound)) }
      } else {
        try add(inner)
        copied = start..<instructions.count
      }
    }
  }
}

/// The characters in classes that no set of an expression distinguishes.
struct Alphabet: Sendable {
  /// The first scalar of each class range.
  private let starts: [UInt32]
  private let classOfRange: [UInt16]
  private let ascii: [UInt16]
  /// The sets that contain the characters of each class.
  private(set) var members: [[Bool]]

  init(_ sets: [ScalarSet]) {
    var cuts: Set<UInt32> = [0, 48, 58, 65, 91, 95, 96, 97, 123, 10, 11]
    for set in sets {
      for range in set.ranges {
        cuts.insert(range.lowerBound)
        cuts.insert(range.upperBound + 1)
      }
    }
    let starts = cuts.filter { $0 <= ScalarSet.maximum }.sorted()
    var members: [[Bool]] = []
    var numbers: [[Bool]: UInt16] = [:]
    var classes: [UInt16] = []
    for start in starts {
      // Whether it is a letter of a word and a line end is a part of the class, for assertions.
      let signature = sets.map { $0.contains(start) } + [ScalarSet.words.contains(start), start == 10]
      if numbers[signature] == nil {
        numbers[signature] = UInt16(members.count)
        members.append(signature)
      }
      classes.append(numbers[signature] ?? 0)
    }
    self.starts = starts
    classOfRange = classes
    self.members = members
    ascii = (0..<128).map { scalar in classes[(starts.lastIndex { $0 <= scalar }) ?? 0] }
  }

  var count: Int { members.count }

  func `class`(of scalar: UInt32) -> Int {
    if scalar < 128 { return Int(ascii[Int(scalar)]) }
    var (low, high) = (0, starts.count)
    while high - low > 1 {
      let middle = (low + high) / 2
      if starts[middle] <= scalar { low = middle } else { high = middle }
    }
    return Int(classOfRange[low])
  }
}
