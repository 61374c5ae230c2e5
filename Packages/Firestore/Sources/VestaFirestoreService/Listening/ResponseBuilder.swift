import VestaFirestoreBackend
import VestaFirestoreIndexes

/// The number of an open call in its hub.
typealias WatchCallID = Int

/// A document's state for the listeners of one subject.
struct WatchFact: Sendable {
  var pathKey: PathKey
  var name: String
  /// The current document; `nil` for a deleted one.
  var document: Document?
  /// Whether the document matches the subject now; otherwise it matched before.
  var isIn: Bool
}

/// The responses of one version to the calls: for each document one, for all targets of a call together.
///
/// Calls with equal responses share them. Their facts are numbered, so that a call costs a number: `ends` has, for each
/// call, its last line, and a line has the number of the one before it.
struct ResponseBuilder {
  private struct Line: Hashable {
    /// The number of the line before it; 0 for none.
    var before: Int
    var document: Int
    var targets: [Int32]
    var isIn: Bool
  }

  private var facts: [WatchFact] = []
  private var numbers: [PathKey: Int] = [:]
  /// The line with the number n is the one at n - 1.
  private var lines: [Line] = []
  private var numbersOfLines: [Line: Int] = [:]
  private var ends: [WatchCallID: Int] = [:]

  /// Notes a fact for targets of calls.
  mutating func add(_ fact: WatchFact, for members: [WatchCallID: [Int32]]) {
    let document = number(of: fact)
    var last: (line: Line, number: Int)?
    for (call, targets) in members {
      let line = Line(before: ends[call] ?? 0, document: document, targets: targets, isIn: fact.isIn)
      let number = last.flatMap { $0.line == line ? $0.number : nil } ?? number(of: line)
      last = (line, number)
      ends[call] = number
    }
  }

  private mutating func number(of line: Line) -> Int {
    if let number = numbersOfLines[line] { return number }
    lines.append(line)
    numbersOfLines[line] = lines.count
    return lines.count
  }

  private mutating func number(of fact: WatchFact) -> Int {
    if let number = numbers[fact.pathKey] { return number }
    numbers[fact.pathKey] = facts.count
    facts.append(fact)
    return facts.count - 1
  }

  /// The messages for each call, in the order of names; the calls in the order of their beginnings.
  ///
  /// That order is that of connections too, and of what was allocated for the calls: thousands of them are sent their
  /// responses in half of the time that another order takes.
  ///
  /// - Parameter last: The responses after them.
  func responses(
    readTime: Timestamp, last: [ListenResponse] = []
  ) -> [(call: WatchCallID, responses: [ListenResponse])] {
    var made: [Int: [ListenResponse]] = [:]
    return ends.sorted { $0.key < $1.key }.map { call, end in
      if let responses = made[end] { return (call, responses) }
      let responses = responses(upTo: end, readTime) + last
      made[end] = responses
      return (call, responses)
    }
  }

  private func responses(upTo end: Int, _ readTime: Timestamp) -> [ListenResponse] {
    var targets: [Int: (added: [Int32], removed: [Int32])] = [:]
    var number = end
    while number > 0 {
      let line = lines[number - 1]
      number = line.before
      if line.isIn {
        targets[line.document, default: ([], [])].added += line.targets
      } else {
        targets[line.document, default: ([], [])].removed += line.targets
      }
    }
    let sorted = targets.map { (facts[$0.key], $0.value) }
      .sorted { $0.0.pathKey.bytes.lexicographicallyPrecedes($1.0.pathKey.bytes) }
    return sorted.map { fact, targets in
      guard let document = fact.document else {
        return .documentDelete(
          DocumentDelete(document: fact.name, removedTargetIDs: targets.removed.sorted(), readTime: readTime))
      }
      return .documentChange(
        DocumentChange(
          document: document, targetIDs: targets.added.sorted(), removedTargetIDs: targets.removed.sorted()))
    }
  }
}
