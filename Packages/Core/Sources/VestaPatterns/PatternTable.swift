/// The table of states with which whole strings are matched, a look-up for each character.
///
/// It is built ahead of time, so that any number of threads read it; an expression that needs too many states has none.
struct PatternTable: Sendable {
  private var next: [Int32] = []
  private var accepts: [Bool] = []
  private let classes: Int
  private let acceptsEmpty: Bool
  private static let dead: Int32 = -1

  init?(_ program: PatternProgram, limits: PatternLimits) {
    guard !program.needsNeighbours, program.instructions.count <= 512 else { return nil }
    classes = program.alphabet.count
    acceptsEmpty = PatternTable.closure([0], program, atStart: true, atEnd: true).isAccepting
    var numbers: [[Int]: Int32] = [:]
    var states: [[Int]] = []
    var steps = limits.tableSteps
    func number(_ seeds: [Int], atStart: Bool) -> Int32? {
      let closed = PatternTable.closure(seeds, program, atStart: atStart, atEnd: false)
      guard !closed.places.isEmpty else { return PatternTable.dead }
      if let known = numbers[closed.places] { return known }
      guard states.count < limits.states else { return nil }
      numbers[closed.places] = Int32(states.count)
      states.append(closed.places)
      accepts.append(PatternTable.closure(closed.places, program, atStart: false, atEnd: true).isAccepting)
      return Int32(states.count - 1)
    }
    guard number([0], atStart: true) != nil else { return nil }
    var state = 0
    while state < states.count {
      for character in 0..<classes {
        var seeds: [Int] = []
        steps -= states[state].count + 1
        guard steps > 0 else { return nil }
        for place in states[state] {
          if case .set(let set) = program.instructions[place], program.alphabet.members[character][set] {
            seeds.append(place + 1)
          }
        }
        guard let target = number(seeds, atStart: false) else { return nil }
        next.append(target)
      }
      state += 1
    }
  }

  /// The places that take a character, and ends of the text that are still ahead, reachable without one.
  private static func closure(
    _ seeds: [Int], _ program: PatternProgram, atStart: Bool, atEnd: Bool
  ) -> (places: [Int], isAccepting: Bool) {
    var (seen, places, waiting, isAccepting) = (Set<Int>(), [Int](), seeds, false)
    while let place = waiting.popLast() {
      guard seen.insert(place).inserted else { continue }
      switch program.instructions[place] {
      case .set: places.append(place)
      case .split(let first, let second): waiting += [first, second]
      case .jump(let target): waiting.append(target)
      case .assertion(.textStart): if atStart { waiting.append(place + 1) }
      case .assertion:
        if atEnd { waiting.append(place + 1) } else { places.append(place) }
      case .match:
        isAccepting = true
        places.append(place)
      }
    }
    return (places.sorted(), isAccepting)
  }

  /// Whether the expression matches the whole text.
  func matches(_ text: String, _ alphabet: Alphabet) -> Bool {
    var state: Int32 = 0
    var isEmpty = true
    if next.isEmpty { return text.isEmpty && acceptsEmpty }
    for scalar in text.unicodeScalars {
      isEmpty = false
      state = next[Int(state) * classes + alphabet.class(of: scalar.value)]
      if state == PatternTable.dead { return false }
    }
    return isEmpty ? acceptsEmpty : accepts[Int(state)]
  }
}
