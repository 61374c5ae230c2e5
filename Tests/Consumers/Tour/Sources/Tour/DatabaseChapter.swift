import Foundation
import VestaConcurrency
import VestaCore
import VestaDatabase
import VestaDatabaseRemote
import VestaDatabaseService
import VestaSQLite
import VestaTransport

// The tree: values that every client sees at once, and the members that are there.
@Sendable
func databaseChapter(_ guide: Guide) async throws {
  let app = try VestaApp.configure(
    options: guide.remoteOptions("database"),
    libraries: [
      DatabaseLibrary.self, DatabaseServiceLibrary.self, SQLiteLibrary.self, DatabaseRemoteLibrary.self,
      TransportLibrary.self,
    ])
  let room = Database.database().reference(withPath: "rooms/lobby-\(guide.suffix)")
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
  // A server may notice the end of the old connection after the start of the new one.
  var gone = false
  for try await person in room.child("people/ada").value where !person.exists() {
    gone = true
    break
  }
  try guide.show("whoever loses the connection is taken off the list", here && gone)
  await app.delete()
}
