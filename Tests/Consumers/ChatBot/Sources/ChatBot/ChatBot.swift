import Foundation
import VestaAuth
import VestaCore
import VestaFirestore
import VestaMessaging

/// A step that did not hold.
struct Unexpected: Error {
  let what: String
}

/// A chat with a bot: two people, a room, a command, a mention, and what the rules refuse.
@main
enum ChatBot {
  static func main() async {
    let directory = FileManager.default.temporaryDirectory.appending(path: "chat-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: directory) }
    do {
      try await run(directory)
      print("the chat works")
    } catch {
      print("ChatBot: \(error)")
      exit(1)
    }
  }

  private static func run(_ directory: URL) async throws {
    // Functions are registered before the first change.
    let bot = try await Bot(directory: directory)
    let (ada, eve) = (try ChatApp("ada", directory: directory), try ChatApp("eve", directory: directory))
    do {
      try await ada.join("hall")
      throw Unexpected(what: "a person who is not signed in has joined")
    } catch let error as Unexpected { throw error } catch { print("refused: \(error.localizedDescription)") }
    let adaID = try await ada.auth.createUser(withEmail: "ada@example.com", password: "correct horse").user.uid
    try await eve.auth.signInAnonymously()
    try await refused("reading before joining") { _ = try await eve.messages(of: "hall").getDocuments(source: .server) }
    try await ada.join("hall")
    try await eve.join("hall")

    // A command, and its answer for all.
    try await ada.say("/sum 1 2 3", in: "hall")
    try await until(eve.texts(of: "hall"), { $0 == ["/sum 1 2 3", "6"] }, "the bot's answer")
    try await ada.say("/dance", in: "hall")
    try await until(ada.texts(of: "hall"), { $0.last == "I do not know /dance. /help" }, "the bot's confusion")

    // A mention is a message for a person who does not read the room.
    try await eve.messaging.subscribe(toTopic: "mentions-eve")
    try await ada.say("hello @eve", in: "hall")
    for await message in try eve.messaging.foregroundMessages {
      guard message.title == "hall", message.body == "hello @eve" else { throw Unexpected(what: "\(message)") }
      print("eve was told: \(message.body ?? "")")
      break
    }

    try await refused("writing as somebody else") { try await eve.say("I owe Eve 10", in: "hall", as: adaID) }
    try await refused("making oneself a member") {
      try await eve.db.document("rooms/attic").setData(["members": [eve.auth.currentUser?.uid ?? ""]])
    }
    try await refused("a long speech") { try await eve.say(String(repeating: "a", count: 501), in: "hall") }
    for chat in [ada, eve, bot.chat] { await chat.app.delete() }
  }

  private static func refused(_ what: String, _ call: () async throws -> Void) async throws {
    do {
      try await call()
    } catch FirestoreErrorCode.permissionDenied {
      return print("refused: \(what)")
    }
    throw Unexpected(what: "\(what) was allowed")
  }

  private static func until(
    _ states: some AsyncSequence<[String], any Error>, _ isMet: ([String]) -> Bool, _ what: String
  ) async throws {
    for try await texts in states where isMet(texts) { return print("arrived: \(what)") }
    throw Unexpected(what: what)
  }
}
