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
/// Calls with equal responses share them.
struct ResponseBuilder {
  private struct Line: Hashable {
    var document: Int
    var targets: [Int32]
    var isIn: Bool
  }

  private var facts: [WatchFact] = []
  private var numbers: [PathKey: Int] = [:]
  private var lines: [WatchCallID: [Line]] = [:]

  /// Notes a fact for targets of calls.
  mutating func add(_ fact: WatchFact, for members: [WatchCallID: [Int32]]) {
    let number = number(of: fact)
    for (call, targets) in members {
      lines[call, default: []].append(Line(document: number, targets: targets, isIn: fact.isIn))
    }
  }

  private mutating func number(of fact: WatchFact) -> Int {
    if let number = numbers[fact.pathKey] { return number }
    numbers[fact.pathKey] = facts.count
    facts.append(fact)
    return facts.count - 1
  }

  /// The messages for each call, in the order of names.
  ///
  /// - Parameter last: The responses after them.
  func responses(readTime: Timestamp, last: [ListenResponse] = []) -> [WatchCallID: [ListenResponse]] {
    var made: [[Line]: [ListenResponse]] = [:]
    return lines.mapValues { lines in
      if let responses = made[lines] { return responses }
      let responses = responses(to: lines, readTime) + last
      made[lines] = responses
      return responses
    }
  }

  private func responses(to lines: [Line], _ readTime: Timestamp) -> [ListenResponse] {
    var targets: [Int: (added: [Int32], removed: [Int32])] = [:]
    for line in lines {
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
