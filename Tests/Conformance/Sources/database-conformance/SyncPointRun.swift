import Foundation
import VestaDatabaseBackend
import VestaDatabaseModel

/// Runs the steps of one case on a fresh tree, with a service that only keeps book of the listens.
struct SyncPointRun {
  private let base: DatabasePath
  private var tree = SyncTree()
  private var nextWriteID = 0
  private var nextRegistration = 1
  private var callbacks: [Int: Int] = [:]
  private var listens: Set<String> = []

  init(base: DatabasePath) { self.base = base }

  mutating func run(_ step: [String: Any]) throws {
    guard let type = step["type"] as? String else { throw UnreadableCase(description: "a step without a type") }
    let path = base.appending(DatabasePath(step["path"] as? String ?? ""))
    let expected = try (step["events"] as? [[String: Any]] ?? []).map { try ExpectedEvent($0, base: base) }
    let events = try events(of: type, step, path).compactMap { ActualEvent($0) }
    try checkListens()
    try type == "listen" || type == "unlisten" ? compareExactly(events, expected) : compareByPath(events, expected)
  }

  private mutating func events(of type: String, _ step: [String: Any], _ path: DatabasePath) throws -> [SyncEvent] {
    switch type {
    case "listen": return try listen(step, path)
    case "unlisten":
      guard let id = step["callbackId"] as? Int else { throw UnreadableCase(description: "no callbackId") }
      return tree.remove(callbacks[id], at: path, .all)
    case "serverUpdate":
      return tree.serverOverwrite(path, try node(step["data"]), tag: step["tag"] as? Int)
    case "serverMerge": return tree.serverMerge(path, try trie(step["data"]), tag: step["tag"] as? Int)
    case "set":
      let isVisible = step["visible"] as? Bool ?? true
      defer { nextWriteID += 1 }
      return tree.userOverwrite(path, try node(step["data"]), writeID: nextWriteID, isVisible: isVisible)
    case "update":
      defer { nextWriteID += 1 }
      return tree.userMerge(path, try trie(step["data"]), writeID: nextWriteID)
    case "ackUserWrite":
      guard let id = step["writeId"] as? Int else { throw UnreadableCase(description: "no writeId") }
      return tree.acknowledge(writeID: id, isRevert: step["revert"] as? Bool ?? false)
    case "suppressWarning": return []
    default: throw UnreadableCase(description: "unknown type of step")
    }
  }

  private mutating func listen(_ step: [String: Any], _ path: DatabasePath) throws -> [SyncEvent] {
    let parameters = step["params"] as? [String: Any] ?? [:]
    let spec = try QueryParameters.spec(parameters)
    var registration = nextRegistration
    if let id = step["callbackId"] as? Int {
      registration = callbacks[id] ?? nextRegistration
      callbacks[id] = registration
    }
    nextRegistration += 1
    let kinds = Set(SyncEventKind.allCases)
    let events = tree.add(SyncRegistration(id: registration, kinds: kinds), at: path, spec)
    if !spec.loadsAllData, let tag = parameters["tag"] as? Int, tree.tag(path, spec) != tag {
      throw Mismatch("the tag is \(tree.tag(path, spec).map { "\($0)" } ?? "none"), not \(tag)")
    }
    return events
  }

  /// A listen is started once and stopped once.
  private mutating func checkListens() throws {
    for action in tree.takeListenActions() {
      switch action {
      case .start(let path, let spec, let tag):
        guard listens.insert("\(path) \(spec) \(String(describing: tag))").inserted else {
          throw Mismatch("a second listen at \(path)")
        }
      case .stop(let path, let spec, let tag):
        guard listens.remove("\(path) \(spec) \(String(describing: tag))") != nil else {
          throw Mismatch("the end of a listen that is not there, at \(path)")
        }
      }
    }
  }

  private func compareExactly(_ actual: [ActualEvent], _ expected: [ExpectedEvent]) throws {
    guard actual.count == expected.count else { throw Mismatch("\(actual) instead of \(expected)") }
    for (actual, expected) in zip(actual, expected) where !expected.matches(actual) {
      throw Mismatch("\(actual) instead of \(expected)")
    }
  }

  /// Events of one path may arrive in any order, but for the order of their kinds.
  private func compareByPath(_ actual: [ActualEvent], _ expected: [ExpectedEvent]) throws {
    guard actual.count == expected.count else { throw Mismatch("\(actual) instead of \(expected)") }
    var start = 0
    while start < expected.count {
      let end = expected[start...].firstIndex { $0.path != expected[start].path } ?? expected.count
      var rest = Array(actual[start..<end])
      for event in expected[start..<end] {
        guard let index = rest.firstIndex(where: event.matches) else { throw Mismatch("\(rest) lacks \(event)") }
        rest.remove(at: index)
      }
      for (_, events) in Dictionary(grouping: actual[start..<end], by: \.listener) {
        guard zip(events, events.dropFirst()).allSatisfy({ $0.kind.rawValue <= $1.kind.rawValue }) else {
          throw Mismatch("the kinds of \(events) are not in order")
        }
      }
      start = end
    }
  }

  private func node(_ value: Any?) throws -> DatabaseNode { try NodeImport(at: base).node(value) }

  private func trie(_ value: Any?) throws -> WriteTrie {
    guard let fields = value as? [String: Any] else { throw UnreadableCase(description: "no data to merge") }
    var trie = WriteTrie.empty
    for (path, value) in fields { trie.add(try node(value), at: DatabasePath(path)) }
    return trie
  }
}

/// A difference from the specification.
struct Mismatch: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}
