import Foundation
import VestaConcurrency
import VestaCore

/// The registration and the pending changes of topics.
struct StoredRegistration: Codable, Sendable, Equatable {
  var token: String?
  /// The time at which the token was last confirmed, in microseconds since 1970.
  var tokenTime: Int64 = 0
  /// The app id, version and language that the token was made for: with others it is stale.
  var context = ""
  /// The tokens for other senders.
  var otherTokens: [String: String] = [:]
  var isAutoInitEnabled: Bool?
  /// The changes of topics that the service has not confirmed, in order.
  var topics = TopicQueue()
}

/// The file of the registration, replaced as a whole; a damaged one counts as absent.
final class RegistrationFile: Sendable {
  private let file: URL
  private let writing = Locked(())

  init(directory: URL) { file = directory.appending(path: "messaging-client/registration.json") }

  func load() -> StoredRegistration {
    guard let data = try? Data(contentsOf: file) else { return StoredRegistration() }
    return (try? JSONDecoder().decode(StoredRegistration.self, from: data)) ?? StoredRegistration()
  }

  /// Writes the newest state: `current` is called when it is this call's turn.
  func save(_ current: () -> StoredRegistration) {
    // The file is written under a lock of its own, which orders the writers; nothing else is locked or called.
    let failure = writing.withLock { _ -> (any Error)? in
      do {
        try FileManager.default.createDirectory(
          at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try JSONEncoder().encode(current()).write(to: file, options: .atomic)
        return nil
      } catch {
        return error
      }
    }
    if let failure { log.error("I-MSG000001", "The registration could not be saved: \(failure)") }
  }
}

private let log = Logger(service: "VestaMessaging")
