import Foundation
import VestaCore

/// The registration.
struct StoredRegistration: Codable, Sendable, Equatable {
  var token: String?
  /// The time at which the token was last confirmed, in microseconds since 1970.
  var tokenTime: Int64 = 0
  /// The app id, version and language that the token was made for: with others it is stale.
  var context = ""
  /// The tokens for other senders.
  var otherTokens: [String: String] = [:]
  var isAutoInitEnabled: Bool?
  /// The changes of topics that wait, where an earlier version has kept them; they have a separate file now.
  var topics: TopicQueue?
}

/// The file of the registration, replaced as a whole; a damaged one counts as absent and is kept next to it.
struct RegistrationFile: Sendable {
  private let file: ValueFile<StoredRegistration>

  init(directory: URL) { file = ValueFile(directory.appending(path: "messaging-client/registration.json")) }

  func load() -> StoredRegistration { file.load() ?? StoredRegistration() }

  /// Writes the newest state: `current` is called when it is this call's turn.
  func save(_ current: () -> StoredRegistration) {
    do {
      try file.save(current)
    } catch {
      log.error("I-MSG000001", "The registration could not be saved, and holds until the process ends: \(error)")
    }
  }
}

private let log = Logger(service: "VestaMessaging")
