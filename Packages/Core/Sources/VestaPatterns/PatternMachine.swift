/// Runs all ways through an expression side by side, so that the time is that of the text times the instructions,
/// whatever the expression.
///
/// The order of the ways is that of preference.
struct PatternMachine {
  private let program: PatternProgram
  private let classes: [Int]
  private var current = ThreadList()
  /// Counts the positions, so that a place is added once at each of them.
  private var generation = 0
  /// The places that are still to be added; kept, so that adding allocates nothing.
  private var waiting: [Int] = []
  /// The places before the character that is being taken.
  private var ways: [(place: Int, start: Int)] = []
  /// The steps that may still be taken.
  private(set) var steps: Int
  /// The position at which a search continues.
  private var position = 0
  /// Whether a match has been added.
  private var hasMatch = false

  private struct ThreadList {
    var places: [(place: Int, start: Int)] = []
    /// For each place the generation in which it was added.
    var seen: [Int] = []
  }

  init(_ program: PatternProgram, _ text: String, steps: Int) {
    self.program = program
    classes = text.unicodeScalars.map { program.alphabet.class(of: $0.value) }
    self.steps = steps
    current.seen = [Int](repeating: -1, count: program.instructions.count)
  }

  /// The number of characters.
  var count: Int { classes.count }

  /// Whether the whole text matches; nil when the steps are used up.
  mutating func matchesWhole() -> Bool? {
    begin()
    add(0, start: 0, at: 0)
    for position in classes.indices {
      advance(position)
      if steps < 0 { return nil }
      if current.places.isEmpty { return false }
    }
    return current.places.contains { isMatch($0.place) }
  }

  /// The first match at or after a position, the preferred one that begins there; nil without one.
  mutating func find(from start: Int) -> Range<Int>? {
    begin()
    var found: Range<Int>?
    for position in start...classes.count {
      if found == nil { add(0, start: position, at: position) }
      if let index = current.places.firstIndex(where: { isMatch($0.place) }) {
        // Ways that are less preferred end here.
        found = current.places[index].start..<position
        current.places.removeSubrange(index...)
      }
      if current.places.isEmpty, found != nil { break }
      if position == classes.count || steps < 0 { break }
      advance(position)
    }
    return found
  }

  /// Continues to look for a match anywhere in the text, from the position at which the call before paused.
  ///
  /// - Parameter units: The number of steps that are left; it is compared after each character.
  /// - Returns: Whether there is a match; nil when the steps are used up before that is known.
  mutating func search(_ units: inout Int) -> Bool? {
    steps = units
    defer { units = steps }
    while steps > 0 {
      // A match may begin at each position, unless the expression is tied to the start.
      if position == 0 || !program.isAnchored { add(0, start: position, at: position) }
      if hasMatch { return true }
      if position == classes.count || current.places.isEmpty && program.isAnchored { return false }
      advance(position)
      position += 1
    }
    return nil
  }

  private mutating func begin() {
    current.places.removeAll(keepingCapacity: true)
    generation += 1
  }

  private func isMatch(_ place: Int) -> Bool {
    if case .match = program.instructions[place] { return true }
    return false
  }

  /// Takes the character at a position.
  private mutating func advance(_ position: Int) {
    let member = program.alphabet.members[classes[position]]
    generation += 1
    swap(&ways, &current.places)
    current.places.removeAll(keepingCapacity: true)
    steps -= ways.count + 1
    for index in ways.indices {
      let way = ways[index]
      if case .set(let set) = program.instructions[way.place], member[set] {
        add(way.place + 1, start: way.start, at: position + 1)
      }
    }
  }

  /// Adds a place and all that is reachable from it without a character, in the order of preference.
  private mutating func add(_ place: Int, start: Int, at position: Int) {
    waiting.append(place)
    while let place = waiting.popLast() {
      guard current.seen[place] != generation else { continue }
      current.seen[place] = generation
      steps -= 1
      switch program.instructions[place] {
      case .set: current.places.append((place, start))
      case .match:
        current.places.append((place, start))
        hasMatch = true
      case .jump(let target): waiting.append(target)
      case .split(let first, let second):
        waiting.append(second)
        waiting.append(first)
      case .assertion(let assertion): if holds(assertion, position) { waiting.append(place + 1) }
      }
    }
  }

  private func holds(_ assertion: PatternAssertion, _ position: Int) -> Bool {
    switch assertion {
    case .textStart: position == 0
    case .textEnd: position == classes.count
    case .lineStart: position == 0 || isNewline(position - 1)
    case .lineEnd: position == classes.count || isNewline(position)
    case .wordBoundary: isWord(position - 1) != isWord(position)
    case .noWordBoundary: isWord(position - 1) == isWord(position)
    }
  }

  private func isWord(_ position: Int) -> Bool {
    classes.indices.contains(position) && program.alphabet.members[classes[position]][program.sets.count]
  }

  private func isNewline(_ position: Int) -> Bool {
    program.alphabet.members[classes[position]][program.sets.count + 1]
  }
}
