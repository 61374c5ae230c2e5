import Foundation
import VestaConcurrency
import VestaCore
import VestaDatabase
import VestaDatabaseService
import VestaSQLite

// The tree: values that everybody sees at once, and who is there.
@Sendable
func databaseChapter(_ guide: Guide) async throws {
  let app = try VestaApp.configure(
    options: guide.options("database"),
    libraries: [DatabaseLibrary.self, DatabaseServiceLibrary.self, SQLiteLibrary.self])
  let room = Database.database().reference(withPath: "rooms/lobby-\(guide.run)")
  // One counter for all runs.
  let visits = Database.database().reference(withPath: "visits")
  let before = try await visits.getData().value as? Int ?? 0

  let texts = Task {
    var texts: [String] = []
    for try await event in room.child("messages").events() {
      if case .childAdded(let message, _) = event { texts.append(message.value as? String ?? "") }
      if texts.count == 2 { break }
    }
    return texts
  }
  try await room.child("messages").childByAutoId().setValue("hello")
  try await room.child("messages").childByAutoId().setValue("is anybody there?")
  let seen = try await texts.value
  try guide.show("two messages arrived in order: \(seen)", seen == ["hello", "is anybody there?"])

  try await withThrowingTaskGroup { group in
    for _ in 0..<8 {
      group.addTask { try await visits.setValue(ServerValue.increment(1)) }
    }
    try await group.waitForAll()
  }
  let after = try await visits.getData().value as? Int ?? 0
  try guide.show("8 visitors at once were counted, \(after) in all runs", after == before + 8)

  try await room.child("people/ada").setValue(["name": "Ada"])
  try await room.child("people/ada").onDisconnectRemoveValue()
  let here = try await room.child("people/ada").getData().exists()
  Database.database().goOffline()
  Database.database().goOnline()
  let gone = try await !room.child("people/ada").getData().exists()
  try guide.show("whoever loses the connection is taken off the list", here && gone)
  await app.delete()
}
