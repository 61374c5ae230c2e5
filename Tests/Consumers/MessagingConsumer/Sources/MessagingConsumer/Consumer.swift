import Dispatch
import Foundation
import VestaCore
import VestaMessaging
import VestaMessagingBackend
import VestaMessagingService
import VestaSQLite
import VestaServiceInterop

/// An expectation that was not met.
struct Failure: Error { let what: String }

func expect(_ condition: Bool, _ what: String) throws { if !condition { throw Failure(what: what) } }

/// Registers, subscribes and receives in a separate directory, and continues after a restart of the app.
func consume() async -> Int32 {
  let directory = FileManager.default.temporaryDirectory.appending(path: "messaging-consumer-\(UUID().uuidString)")
  defer { try? FileManager.default.removeItem(at: directory) }
  do {
    let token = try await run(in: directory) { try await receive($0) }
    try await run(in: directory) { try await goOn($0, token) }
    print("MessagingConsumer: everything holds")
    return 0
  } catch {
    print("MessagingConsumer: \(error)")
    return 1
  }
}

private func run<Value>(in directory: URL, _ body: (VestaApp) async throws -> Value) async throws -> Value {
  let options = VestaOptions(projectID: "consumer", backend: .embedded(directory: directory))
  options.callbackQueue = DispatchQueue(label: "callbacks")
  let app = try VestaApp.configure(
    options: options, libraries: [MessagingLibrary.self, MessagingServiceLibrary.self, SQLiteLibrary.self])
  let value = try await body(app)
  await app.delete()
  return value
}

private func send(_ text: String, to target: PushMessage.Target, _ app: VestaApp) async throws {
  let admin = try app.container.require((any MessagingAdminBackend).self)
  let message = PushMessage(to: target, notification: PushNotification(title: text), data: ["text": text])
  let name = try await admin.send(message, isValidateOnly: false, context: .owner)
  try expect(name.hasPrefix("projects/consumer/messages/"), "a message has a name")
}

private func receive(_ app: VestaApp) async throws -> String {
  let messaging = Messaging.messaging()
  let token = try await messaging.token()
  try await messaging.subscribe(toTopic: "news")
  try await send("direct", to: .token(token), app)
  try await send("topic", to: .condition("'news' in topics && !('sport' in topics)"), app)
  var received: [MessagingRemoteMessage] = []
  // Each message is acknowledged when the loop asks for the next one, and the last one when it is left.
  for await message in messaging.foregroundMessages {
    received.append(message)
    if received.count == 2 { break }
  }
  try expect(received[0].title == "direct", "a direct message arrives")
  try expect(received[1].data == ["text": "topic"], "a message to a condition arrives")
  let admin = try app.container.require((any MessagingAdminBackend).self)
  while try await admin.statistics(context: .owner).acknowledged < 2 { await Task.yield() }
  return token
}

private func goOn(_ app: VestaApp, _ token: String) async throws {
  let messaging = Messaging.messaging()
  try expect(messaging.fcmToken == token, "the token is there after a restart")
  try await send("later", to: .topic("news"), app)
  var messages = messaging.foregroundMessages.makeAsyncIterator()
  try expect(await messages.next()?.title == "later", "nothing that was acknowledged comes again")
  try await messaging.deleteToken()
  try expect(
    !messaging.isAutoInitEnabled || messaging.fcmToken == nil || messaging.fcmToken != token, "a token is deleted")
}
