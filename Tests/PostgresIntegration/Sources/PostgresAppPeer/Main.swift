import Foundation
import VestaCore
import VestaFirestore
import VestaFirestoreService
import VestaMessaging
import VestaMessagingBackend
import VestaMessagingService
import VestaPostgres
import VestaRemoteConfig
import VestaRemoteConfigBackend
import VestaRemoteConfigService
import VestaServiceInterop

/// One process of an app, set up as the README of Packages/Postgres says and in no other way.
///
/// It has a separate data directory, and a space. It prints the events that reach it, and obeys the lines of
/// its input.
///
/// `PostgresAppPeer <data directory> <space>`; the connection string is `VESTA_POSTGRES_URL`.
@main
enum Main {
  /// The options that the README asks for, with the space.
  private enum OptionsLibrary: Library {
    static let name = "peer-options"
    static let version = VestaVersion()

    static func components() -> [Component] {
      [
        Component(PostgresOptions.self) { _, isCacheable in
          isCacheable = true
          var options = PostgresOptions()
          options.space = CommandLine.arguments[2]
          // Of 100 connections of the server, as the README works out.
          options.connections = 3
          return options
        }
      ]
    }
  }

  static func main() async {
    guard CommandLine.arguments.count > 2 else { exit(64) }
    await Task.detached {
      do {
        try await serve()
      } catch {
        say("failed \(error)")
        exit(1)
      }
    }.value
  }

  private static func serve() async throws {
    let directory = URL(filePath: CommandLine.arguments[1], directoryHint: .isDirectory)
    let options = VestaOptions(projectID: "demo", backend: .embedded(directory: directory))
    options.gcmSenderID = "1"
    options.callbackQueue = .global()
    let app = try VestaApp.configure(
      options: options,
      libraries: [
        FirestoreLibrary.self, FirestoreServiceLibrary.self, MessagingLibrary.self, MessagingServiceLibrary.self,
        RemoteConfigLibrary.self, RemoteConfigServiceLibrary.self, PostgresLibrary.self, OptionsLibrary.self,
      ])
    try await begin()
    say("ready")
    for await line in lines() {
      let words = line.split(separator: " ").map(String.init)
      guard words.count == 2 else { continue }
      try await perform(words[0], words[1], app)
    }
    await app.delete()
    say("over")
  }

  /// Subscribes and listens, as programs do.
  private static func begin() async throws {
    let messaging = Messaging.messaging()
    try await messaging.subscribe(toTopic: "news")
    Task {
      for await message in messaging.foregroundMessages { say("message \(message.data["text"] ?? "")") }
    }
    let config = RemoteConfig.remoteConfig()
    config.addOnConfigUpdateListener { _, _ in
      Task {
        try await config.activate()
        say("value \(config["key"].stringValue)")
      }
    }
    Firestore.firestore().document("rooms/a").addSnapshotListener(includeMetadataChanges: true) { snapshot, _ in
      guard let number = snapshot?.data()?["n"] else { return }
      say("document \(number) \(snapshot?.metadata.hasPendingWrites == true ? "pending" : "there")")
    }
  }

  private static func perform(_ call: String, _ argument: String, _ app: VestaApp) async throws {
    switch call {
    case "send":
      let admin = try app.container.require((any MessagingAdminBackend).self)
      let message = PushMessage(to: .topic("news"), data: ["text": argument])
      _ = try await admin.send(message, isValidateOnly: false, context: .owner)
    case "publish":
      let admin = try app.container.require((any RemoteConfigAdminBackend).self)
      let template = ConfigTemplate(parameters: ["key": ConfigParameter(defaultValue: .value(argument))])
      _ = try await admin.publish(PublishRequest(template: template, precondition: .any), context: .owner)
    case "increment":
      try await Firestore.firestore().document("rooms/a").setData(
        ["n": FieldValue.increment(Int64(argument) ?? 0)], merge: true)
    default: say("what")
    }
    say("done \(call) \(argument)")
  }

  /// The lines of the input, read on a separate thread.
  private static func lines() -> AsyncStream<String> {
    let (stream, continuation) = AsyncStream.makeStream(of: String.self)
    Thread.detachNewThread {
      while let line = readLine() { continuation.yield(line) }
      continuation.finish()
    }
    return stream
  }

  /// Says a line in one system call, so that a kill leaves no half of it.
  private static func say(_ line: String) { FileHandle.standardOutput.write(Data("\(line)\n".utf8)) }
}
