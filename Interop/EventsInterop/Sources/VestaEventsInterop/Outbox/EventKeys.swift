import VestaBytes
import VestaStoreInterop

/// Every key of an outbox, below the prefix that its engine gives it.
///
/// | key | value |
/// |---|---|
/// | `(1, function, version, number)` | an event that is to be delivered: an `EventRecord` |
/// | `(2, function, version, number)` | its failed attempts: an `EventState` |
/// | `(3, function, version, number)` | a dead letter: a `DeadRecord` |
/// | `(4)` | the right to deliver: a `LeaseRecord` |
struct EventKeys: Sendable {
  enum Table: Int64 {
    case queue = 1
    case states = 2
    case dead = 3
    case lease = 4
  }

  let prefix: [UInt8]

  var lease: [UInt8] { table(.lease).bytes }

  func all(_ table: Table, of function: String) -> KeyRange { self.table(table, function).range }

  func key(_ table: Table, _ function: String, _ position: EventPosition) -> [UInt8] {
    var key = self.table(table, function)
    key.append(int: position.version)
    key.append(int: position.number)
    return key.bytes
  }

  /// The events of one commit.
  func commit(_ function: String, _ version: Int64) -> KeyRange {
    var key = table(.queue, function)
    key.append(int: version)
    return key.range
  }

  /// The rows from one position to another, both of them too.
  func range(_ table: Table, _ function: String, _ first: EventPosition, _ last: EventPosition) -> KeyRange {
    KeyRange(from: key(table, function, first), to: key(table, function, last) + [0])
  }

  /// A part of a queue: after one position, up to and with another.
  func queue(_ function: String, after: EventPosition?, through: EventPosition?) -> KeyRange {
    let all = all(.queue, of: function)
    let lower = after.map { key(.queue, function, $0) + [0] } ?? all.lower
    let upper = through.map { key(.queue, function, $0) + [0] } ?? all.upper
    return KeyRange(from: lower, to: upper)
  }

  func position(_ key: [UInt8], _ table: Table, _ function: String) throws -> EventPosition {
    var decoder = KeyDecoder(key, from: self.table(table, function).bytes.count)
    return EventPosition(version: try decoder.int(), number: try decoder.int())
  }

  private func table(_ table: Table) -> KeyEncoder {
    var key = KeyEncoder(continuing: prefix)
    key.append(int: table.rawValue)
    return key
  }

  private func table(_ table: Table, _ function: String) -> KeyEncoder {
    var key = self.table(table)
    key.append(string: function)
    return key
  }
}
