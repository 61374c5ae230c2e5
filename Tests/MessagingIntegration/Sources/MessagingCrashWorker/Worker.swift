import Foundation
import VestaMessagingBackend
import VestaMessagingService
import VestaRemoteConfigBackend
import VestaRemoteConfigService
import VestaSQLite
import VestaServiceInterop
import VestaStoreInterop

/// Sends numbered messages, or publishes numbered templates, until it is killed.
///
/// Usage: `MessagingCrashWorker <directory> send <first number> <token>`, `<directory> publish <first number>` or
/// `<directory> receive <first number> <count> <milliseconds for each>`.
/// A line with the number follows whatever was accepted.
enum Worker {
  static func run(_ arguments: [String]) async {
    guard arguments.count >= 4, let first = Int(arguments[3]) else { exit(64) }
    do {
      // From here on nothing runs on the main actor.
      try await Task.detached {
        if arguments[2] == "receive", arguments.count > 5 {
          try await Receiver.run(
            in: arguments[1], first: first, count: Int(arguments[4]) ?? 0, pause: Int(arguments[5]) ?? 0)
        } else if arguments[2] == "send" {
          try await send(in: arguments[1], first: first, token: arguments.count > 4 ? arguments[4] : "")
        } else {
          try await publish(in: arguments[1], first: first)
        }
      }.value
    } catch {
      say("error \(error)")
      exit(1)
    }
  }

  static func messaging(in directory: String) -> MessagingEngine {
    MessagingEngine(projectID: "p", senderID: "1") {
      try await SQLiteStoreProvider().openStore(named: "messaging", in: directory, options: StoreOptions())
    }
  }

  static func remoteConfig(in directory: String) -> RemoteConfigEngine {
    RemoteConfigEngine(projectID: "p") {
      try await SQLiteStoreProvider().openStore(named: "remote-config", in: directory, options: StoreOptions())
    }
  }

  /// Sends directly and to a topic in turns, while a connection receives and acknowledges every other message.
  private static func send(in directory: String, first: Int, token: String) async throws {
    let engine = messaging(in: directory)
    let connection = engine.connect(token: token, context: CallContext(), onEnd: { _ in }) { delivery in
      guard let number = Int(delivery.message.data["number"] ?? "") else { return }
      say("received \(number) \(delivery.messageID)")
      guard number % 2 == 0 else { return }
      Task {
        say("acknowledging \(number)")
        try await engine.acknowledge(token: token, messageIDs: [delivery.messageID], context: CallContext())
        say("acknowledged \(number)")
      }
    }
    say("ready")
    for number in first... {
      let target: PushMessage.Target = number % 3 == 0 ? .topic("news") : .token(token)
      let message = PushMessage(to: target, data: ["number": "\(number)"])
      let name = try await engine.send(message, isValidateOnly: false, context: .owner)
      say("sent \(number) \(name)")
      // The window of the connection is not to fill up: half of the messages stay unacknowledged on purpose.
      if number - first == 150 { break }
    }
    withExtendedLifetime(connection) {}
    while true { try await Task.sleep(for: .seconds(60)) }
  }

  private static func publish(in directory: String, first: Int) async throws {
    let engine = remoteConfig(in: directory)
    say("ready")
    for number in first... {
      let template = ConfigTemplate(parameters: ["number": ConfigParameter(defaultValue: .value("\(number)"))])
      let stored = try await engine.publish(PublishRequest(template: template, precondition: .any), context: .owner)
      say("published \(number) \(stored.template.version?.versionNumber ?? 0)")
    }
  }

  /// One line in one system call, so that a kill leaves no half of it behind.
  private static func say(_ line: String) {
    FileHandle.standardOutput.write(Data("\(line)\n".utf8))
  }
}
