import VestaFirestoreBackend
import VestaFirestoreModel

/// How far the backend has brought all targets of a stream together.
///
/// A global snapshot carries one token for every active target. Writing it into the record of each would make a change
/// of one document cost as much as all listeners; so the newest token is kept here, once, and a record gets it when it
/// is needed.
struct TokenProgress: Sendable {
  private var token: [UInt8] = []
  private var version = Timestamp.zero
  /// The number of the newest global token.
  private var number = 0
  /// The targets that follow the stream, each with the global token that its record has.
  private var followers: [Int32: Int] = [:]
  /// The version at which all records were brought up to date.
  private(set) var settledVersion = Timestamp.zero

  /// Notes a global token.
  mutating func advance(to token: [UInt8], at version: Timestamp) {
    guard !token.isEmpty else { return }
    (self.token, self.version) = (token, version)
    number += 1
  }

  /// Notes that a target follows the stream, and that its record is up to date.
  mutating func follow(_ id: Int32) { followers[id] = number }

  /// Notes that a target has ceased to follow the stream.
  mutating func forget(_ id: Int32) { followers[id] = nil }

  /// The record of a target with the newest token; `nil` when it has that already, or does not follow the stream.
  mutating func settle(_ id: Int32, _ record: TargetRecord) -> TargetRecord? {
    guard let known = followers[id], known < number else { return nil }
    followers[id] = number
    return record.resuming(at: token, version: version)
  }

  /// The targets that follow the stream, about to be brought up to date.
  mutating func takeAll() -> [Int32] {
    settledVersion = version
    return followers.keys.sorted()
  }

  /// Whether records have not been brought up to date for a number of seconds.
  func isStale(after seconds: Int64) -> Bool { version.seconds - settledVersion.seconds >= seconds }

  /// Notes that the stream has ended; nothing follows it.
  mutating func end() { followers = [:] }
}
