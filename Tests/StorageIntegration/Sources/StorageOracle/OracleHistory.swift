/// The objects of a bucket, and what has to be true of a log of calls.
public struct OracleHistory: Sendable {
  private var objects: [String: OracleObject] = [:]

  /// A bucket without objects.
  public init() {}

  /// Takes the log of a period at whose end nothing runs.
  ///
  /// - Returns: The rules that it breaks.
  public mutating func take(_ events: [OracleEvent]) -> [String] {
    var problems: [String] = [], names: [Int: String] = [:], rows: [String: [OracleEvent]] = [:]
    for event in events {
      switch event {
      case .call(let call):
        names[call.id] = call.name
        rows[call.name, default: []].append(event)
      case .answer(let answer):
        if let name = names[answer.id] { rows[name, default: []].append(event) }
      case .broken(let rule): problems.append(rule)
      }
    }
    for (name, events) in rows.sorted(by: { $0.key < $1.key }) {
      let before = objects[name, default: OracleObject()]
      var object = before
      if !object.take(events) {
        problems.append("\(name), from \(before.states): " + events.map(\.line).joined(separator: "\n  "))
      }
      objects[name] = object
    }
    return problems
  }

  /// The objects that exist for sure, and the objects that may exist.
  public var names: (sure: Set<String>, possible: Set<String>) {
    var sure: Set<String> = [], possible: Set<String> = []
    for (name, object) in objects {
      if object.states.allSatisfy({ $0.content != nil }) { sure.insert(name) }
      if object.states.contains(where: { $0.content != nil }) { possible.insert(name) }
    }
    return (sure, possible)
  }
}
