import Dispatch
import VestaCore
import VestaDatabase
import VestaDatabaseService
import VestaMemoryStore

/// A chat room: messages with separate keys, a count of them, and the members that are there.
enum Chat {
  /// Runs the program; the result is its exit status.
  static func run() async -> Int32 {
    do {
      try await chat()
      return 0
    } catch {
      print("the chat has failed: \(error)")
      return 1
    }
  }

  private struct Message: Codable, Equatable {
    var author: String
    var text: String
  }

  private struct Unexpected: Error {
    let what: String
  }

  private static func chat() async throws {
    let options = VestaOptions(projectID: "chat")
    options.callbackQueue = DispatchQueue(label: "chat.callbacks")
    let app = try VestaApp.configure(
      options: options, libraries: [DatabaseLibrary.self, DatabaseServiceLibrary.self, MemoryStoreLibrary.self])
    let room = Database.database().reference(withPath: "rooms/hall")
    let messages = room.child("messages")
    try await room.child("present/ada").setValue(true)
    try await room.child("present/ada").onDisconnectRemoveValue()

    var events = messages.queryLimited(toLast: 2).events().makeAsyncIterator()
    for text in ["one", "two", "three"] {
      try messages.childByAutoId().setValue(from: Message(author: "ada", text: text))
      let (isCommitted, _) = try await room.child("count").runTransactionBlock { data in
        data.value = (data.value as? Int ?? 0) + 1
        return .success(withValue: data)
      }
      guard isCommitted else { throw Unexpected(what: "a transaction that aborts") }
    }
    var seen: [String] = []
    while seen.count < 3, let event = try await events.next() {
      if case .childAdded(let snapshot, _) = event { seen.append(try snapshot.data(as: Message.self).text) }
    }
    print("messages: \(seen.joined(separator: ", "))")
    let snapshot = try await room.getData()
    print("count: \(snapshot.childSnapshot(forPath: "count").value ?? "none")")
    guard seen == ["one", "two", "three"], snapshot.childSnapshot(forPath: "count").value as? Int == 3 else {
      throw Unexpected(what: "other messages than those that were sent")
    }
    Database.database().goOffline()
    Database.database().goOnline()
    guard try await !room.child("present/ada").getData().exists() else { throw Unexpected(what: "a ghost in the room") }
    await app.delete()
  }
}
