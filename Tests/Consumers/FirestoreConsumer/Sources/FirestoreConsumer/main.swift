import Foundation

let directory = FileManager.default.temporaryDirectory.appending(path: "vesta-firestore-\(UUID().uuidString)")
defer { try? FileManager.default.removeItem(at: directory) }
let names = try await liveQuery(in: directory)
guard names == ["Berlin", "Bonn"], try await liveQuery(in: directory) == names else {
  print("does not hold: the live query has both cities, also after a restart: \(names)")
  exit(1)
}
print("ok: the live query has both cities, also after a restart")
