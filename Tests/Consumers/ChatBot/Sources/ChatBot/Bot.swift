import Foundation
import VestaAuth
import VestaAuthBackend
import VestaCore
import VestaFirestore
import VestaFunctionsService
import VestaMessagingBackend
import VestaServiceInterop

/// The bot: a user with the claim `bot`, whose functions answer what is said in the rooms.
struct Bot: Sendable {
  let chat: ChatApp
  let uid: String
  private let messages: any MessagingAdminBackend

  /// Signs the bot in and registers its functions.
  init(directory: URL) async throws {
    chat = try ChatApp("bot", directory: directory)
    uid = try await Self.signIn(chat)
    messages = try chat.app.container.require((any MessagingAdminBackend).self)
    try register()
  }

  /// The session of an earlier run, or a new account, with the claim that the rules ask for.
  private static func signIn(_ chat: ChatApp) async throws -> String {
    if let user = chat.auth.currentUser { return user.uid }
    let user = try await chat.auth.signInAnonymously().user
    let admin = try chat.app.container.require((any AuthAdminBackend).self)
    _ = try await admin.updateUser(
      AdminUpdateRequest(localID: user.uid, customAttributes: #"{"bot": true}"#), context: .owner)
    _ = try await user.getIDToken(forcingRefresh: true)
    return user.uid
  }

  private func register() throws {
    let registry = try FunctionRegistry.registry(for: chat.app)
    registry.onCall("join") { (room: String, request) in
      guard let caller = request.auth?.uid else { throw HTTPSError(.unauthenticated, "Sign in first.") }
      guard !room.isEmpty, !room.contains("/") else { throw HTTPSError(.invalidArgument, "This is no name of a room.") }
      try await chat.db.document("rooms/\(room)").setData(
        ["members": FieldValue.arrayUnion([caller])], merge: true)
      return "Welcome to \(room)."
    }
    try registry.onDocumentCreated("answer", document: "rooms/{room}/messages/{message}") { event in
      guard let author = event.data.get("author") as? String, author != uid,
        let text = event.data.get("text") as? String, let room = event.params["room"], let id = event.params["message"]
      else { return }
      try await notify(mentionsIn: text, room: room, message: id)
      guard let answer = answer(to: text) else { return }
      // An event may be delivered twice: the name of the answer is that of its question.
      try await chat.messages(of: room).document("answer-\(id)").setData(
        ["author": uid, "text": answer, "sent": FieldValue.serverTimestamp()])
    }
  }

  /// The answer to a command; `nil` for what is said to others.
  func answer(to text: String) -> String? {
    let words = text.split(separator: " ").map(String.init)
    switch words.first {
    case "/sum"?: return "\(words.dropFirst().compactMap(Int.init).reduce(0, +))"
    case "/help"?: return "/sum NUMBERS, @NAME"
    case let word? where word.hasPrefix("/"): return "I do not know \(word). /help"
    default: return nil
    }
  }

  /// Sends a message to each person who is mentioned by `@name`.
  private func notify(mentionsIn text: String, room: String, message: String) async throws {
    for word in text.split(separator: " ") where word.hasPrefix("@") && word.dropFirst().allSatisfy(\.isLetter) {
      guard word.count > 1 else { continue }
      let push = PushMessage(
        to: .topic("mentions-\(word.dropFirst())"), notification: PushNotification(title: room, body: text),
        data: ["room": room, "message": message])
      _ = try await messages.send(push, isValidateOnly: false, context: .owner)
    }
  }
}
