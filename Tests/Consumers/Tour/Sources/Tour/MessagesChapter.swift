import Foundation
import VestaCore
import VestaInstallationsRemote
import VestaMessaging
import VestaMessagingBackend
import VestaMessagingRemote
import VestaMessagingService
import VestaSQLite
import VestaServiceInterop
import VestaTransport

// Messages: to one installation, or to all that follow a topic.
@Sendable
func messagesChapter(_ guide: Guide) async throws {
  let app = try VestaApp.configure(
    options: guide.remoteOptions("messaging"),
    libraries: [
      MessagingLibrary.self, MessagingServiceLibrary.self, SQLiteLibrary.self, MessagingRemoteLibrary.self,
      InstallationsRemoteLibrary.self, TransportLibrary.self,
    ])
  let suffix = guide.suffix
  let messaging = Messaging.messaging()
  let token = try await messaging.token()
  try guide.show("this installation has a token of \(token.count) characters", !token.isEmpty)
  try await messaging.subscribe(toTopic: "news")

  // It is sent before there is a listener: the service keeps it.
  let admin = try app.container.require((any MessagingAdminBackend).self)
  let message = PushMessage(
    to: .topic("news"), notification: PushNotification(title: "Hello"), data: ["run": suffix])
  _ = try await admin.send(message, isValidateOnly: false, context: .owner)
  var title: String?
  for await received in messaging.foregroundMessages where received.data["run"] == suffix {
    title = received.title
    break
  }
  try guide.show("a message to a topic arrived: \(title ?? "none")", title == "Hello")
  await app.delete()
}
