import Foundation
import VestaCore
import VestaMessaging
import VestaMessagingBackend
import VestaMessagingService
import VestaSQLite
import VestaServiceInterop

/// A program that receives messages as programs do, in a loop over `foregroundMessages`, and takes some time for each.
enum Receiver {
  /// The app, with its data in a directory.
  static func configure(in directory: String) throws -> VestaApp {
    let options = VestaOptions(
      projectID: "p",
      backend: .embedded(directory: URL(filePath: directory, directoryHint: .isDirectory)))
    options.gcmSenderID = "1"
    return try VestaApp.configure(
      options: options, libraries: [MessagingLibrary.self, MessagingServiceLibrary.self, SQLiteLibrary.self])
  }

  /// Sends numbered messages, directly and to a topic in turns, and notes each one that was taken in a line.
  ///
  /// - Parameters:
  ///   - directory: The data directory.
  ///   - first: The number of the first message.
  ///   - count: How many messages are sent; none to receive what is left.
  ///   - pause: How long the program takes for a message, in milliseconds.
  static func run(in directory: String, first: Int, count: Int, pause: Int) async throws {
    let app = try configure(in: directory)
    let messaging = Messaging.messaging()
    let token = try await messaging.token()
    try await messaging.subscribe(toTopic: "news")
    let admin = try app.container.require((any MessagingAdminBackend).self)
    say("ready")
    let sender = Task {
      for number in first..<(first + count) {
        let target: PushMessage.Target = number % 2 == 0 ? .topic("news") : .token(token)
        _ = try await admin.send(
          PushMessage(to: target, data: ["number": "\(number)"]), isValidateOnly: false, context: .owner)
        say("sent \(number)")
      }
      // The end of what is received again.
      if count == 0 {
        _ = try await admin.send(
          PushMessage(to: .token(token), data: ["end": "x"]), isValidateOnly: false, context: .owner)
      }
    }
    for await message in messaging.foregroundMessages {
      if message.data["end"] != nil { break }
      say("taken \(message.data["number"] ?? "")")
      try await Task.sleep(for: .milliseconds(pause))
    }
    try await sender.value
    await app.delete()
    say("over")
  }

  private static func say(_ line: String) { FileHandle.standardOutput.write(Data("\(line)\n".utf8)) }
}
