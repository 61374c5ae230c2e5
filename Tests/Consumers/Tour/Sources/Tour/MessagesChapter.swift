import Foundation
import VestaCore
import VestaMessaging
import VestaMessagingBackend
import VestaMessagingService
import VestaSQLite
import VestaServiceInterop

// Messages: to one installation, or to all that follow a topic.
@Sendable
func messagesChapter(_ guide: Guide) async throws {
  try await withTemporaryDirectory { directory in
    let app = try VestaApp.configure(
      options: VestaOptions(projectID: "tour", backend: .embedded(directory: directory)),
      libraries: [MessagingLibrary.self, MessagingServiceLibrary.self, SQLiteLibrary.self])
    let messaging = Messaging.messaging()
    let token = try await messaging.token()
    try guide.show("this installation has a token of \(token.count) characters", !token.isEmpty)
    try await messaging.subscribe(toTopic: "news")

    // It is sent before anybody listens: the service keeps it.
    let admin = try app.container.require((any MessagingAdminBackend).self)
    let message = PushMessage(to: .topic("news"), notification: PushNotification(title: "Hello"), data: ["id": "5"])
    _ = try await admin.send(message, isValidateOnly: false, context: .owner)
    var title: String?
    for await received in messaging.foregroundMessages {
      title = received.title
      break
    }
    try guide.show("a message to a topic arrived: \(title ?? "none")", title == "Hello")
    await app.delete()
  }
}
