/// The match of one ``LinearPattern`` with one string, in slices.
///
/// One unit of work is a state that is looked at: at most as many for each character as the pattern has steps. Nothing
/// is allocated after the beginning.
struct PatternRun {
  /// The states after some characters, in the order in which they were reached.
  private struct States {
    var members: [Int32] = []
    /// The position at which each state was reached last, plus one.
    var reached: [Int32]

    init(count: Int) {
      reached = Array(repeating: 0, count: count)
      members.reserveCapacity(count)
    }
  }

  private let pattern: LinearPattern
  private let scalars: [UInt32]
  private var position = 0
  private var current: States
  private var next: States
  private var waiting: [Int32] = []

  init(_ pattern: LinearPattern, _ text: String) {
    self.pattern = pattern
    scalars = text.unicodeScalars.map(\.value)
    current = States(count: pattern.steps.count)
    next = States(count: pattern.steps.count)
    // Each state that is looked at for the first time at a position leaves one for later, at most.
    waiting.reserveCapacity(pattern.steps.count + 1)
  }

  /// Continues until the end, or until the units are used up, which is looked at after each character.
  ///
  /// - Parameter units: Less what was used.
  /// - Returns: Whether the pattern occurs; `nil` when there is more to do.
  mutating func advance(_ units: inout Int) -> Bool? {
    while units > 0 {
      let isAtEnd = position == scalars.count
      // The expression may begin at every position, unless it is tied to the start.
      if position == 0 || !pattern.isAnchored {
        if Self.follow(0, pattern.steps, position, isAtEnd, &current, &waiting, &units) { return true }
      }
      if isAtEnd || current.members.isEmpty && pattern.isAnchored { return false }
      if step(&units) { return true }
      position += 1
    }
    return nil
  }

  /// Reads one character; answers whether the match is reached with it.
  private mutating func step(_ units: inout Int) -> Bool {
    let (scalar, isLast) = (scalars[position], position + 1 == scalars.count)
    units -= current.members.count
    for state in current.members {
      let step = pattern.steps[Int(state)]
      guard step.kind == .character, pattern.tables[Int(step.first)].contains(scalar) else { continue }
      if Self.follow(state + 1, pattern.steps, position + 1, isLast, &next, &waiting, &units) { return true }
    }
    swap(&current, &next)
    next.members.removeAll(keepingCapacity: true)
    return false
  }

  /// Adds the states that are reached without a character; answers whether the match is among them.
  private static func follow(
    _ start: Int32, _ steps: [LinearPattern.Step], _ position: Int, _ isAtEnd: Bool, _ states: inout States,
    _ waiting: inout [Int32], _ units: inout Int
  ) -> Bool {
    let mark = Int32(truncatingIfNeeded: position + 1)
    var state = Int(start)
    while true {
      units -= 1
      if states.reached[state] != mark {
        states.reached[state] = mark
        let step = steps[state]
        // The next state, where there is one to look at without a character.
        var next = -1
        switch step.kind {
        case .match:
          waiting.removeAll(keepingCapacity: true)
          return true
        case .character: states.members.append(Int32(state))
        case .start: if position == 0 { next = state + 1 }
        case .end: if isAtEnd { next = state + 1 }
        case .jump: next = Int(step.first)
        case .split:
          waiting.append(step.second)
          next = Int(step.first)
        }
        if next >= 0 {
          state = next
          continue
        }
      }
      guard let next = waiting.popLast() else { return false }
      state = Int(next)
    }
  }
}
