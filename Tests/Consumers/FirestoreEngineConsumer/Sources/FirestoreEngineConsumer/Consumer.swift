import Foundation
import VestaCore
import VestaFirestoreBackend
import VestaFirestoreService
import VestaSQLite

/// An expectation that was not met.
struct Broken: Error, CustomStringConvertible {
  let description: String
}

func expect(_ condition: Bool, _ what: String) throws {
  guard condition else { throw Broken(description: "does not hold: \(what)") }
  print("ok: \(what)")
}

/// Runs the shop in an app, deletes the app, and looks at the shop in a new one.
func runConsumer() async throws {
  let directory = FileManager.default.temporaryDirectory.appending(path: "vesta-engine-\(UUID().uuidString)")
  defer { try? FileManager.default.removeItem(at: directory) }
  let options = VestaOptions()
  options.backend = .embedded(directory: directory)
  let libraries: [any Library.Type] = [FirestoreServiceLibrary.self, SQLiteLibrary.self]

  let first = try VestaApp.configure(options: options, libraries: libraries)
  let shop = Shop(backend: try first.container.require((any FirestoreBackend).self))
  try await shop.open()
  try await shop.sell()
  try await shop.watch()
  try expect(await first.delete(), "the app is deleted and its store closed")

  let second = try VestaApp.configure(options: options, libraries: libraries)
  let reopened = Shop(backend: try second.container.require((any FirestoreBackend).self))
  try expect(try await reopened.stock(of: "tea") == 3, "what was sold is still sold after a restart")
  try expect(await second.delete(), "the second app is deleted")
}
