import Foundation
import VestaCore
import VestaCrypto
import VestaSQLite
import VestaStorage
import VestaStorageService

/// Uploads a file with a progress bar, reads it back, lists it and deletes it.
func consume() async -> Int32 {
  let directory = FileManager.default.temporaryDirectory.appending(path: "storage-consumer-\(UUID().uuidString)")
  defer { try? FileManager.default.removeItem(at: directory) }
  do {
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    let options = VestaOptions(googleAppID: "1:1:ios:1", gcmSenderID: "1")
    options.projectID = "consumer"
    options.storageBucket = "consumer-bucket"
    options.backend = .embedded(directory: directory)
    options.callbackQueue = DispatchQueue(label: "callbacks")
    let app = try VestaApp.configure(
      options: options,
      libraries: [StorageLibrary.self, StorageServiceLibrary.self, SQLiteLibrary.self, CryptoLibrary.self])
    try await use(Storage.storage(), directory)
    await app.delete()
    return 0
  } catch {
    print("failed: \(error)")
    return 1
  }
}

private func use(_ storage: Storage, _ directory: URL) async throws {
  let file = directory.appending(path: "photo.jpg")
  try Data(repeating: 7, count: 5_000_000).write(to: file)
  let photo = storage.reference(withPath: "photos/cat.jpg")
  let task = photo.putFile(from: file)
  for try await snapshot in task.progressUpdates {
    let done = Int((snapshot.progress?.fractionCompleted ?? 0) * 20)
    print(String(repeating: "#", count: done) + String(repeating: ".", count: 20 - done))
  }
  let metadata = try await photo.getMetadata()
  print("stored \(metadata.size) bytes of \(metadata.contentType ?? "?"), MD5 \(metadata.md5Hash ?? "?")")
  var count = 0
  for try await chunk in photo.contents() { count += chunk.count }
  guard count == 5_000_000 else { throw StorageErrorCode.internalError }
  let names = try await storage.reference(withPath: "photos").listAll().items.map(\.name)
  print("listed \(names), URL \(try await photo.downloadURL().path)")
  try await photo.delete()
}
