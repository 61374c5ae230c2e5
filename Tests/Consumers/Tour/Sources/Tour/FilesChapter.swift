import Foundation
import VestaCore
import VestaCrypto
import VestaSQLite
import VestaStorage
import VestaStorageRemote
import VestaStorageService
import VestaTransport

// Files: uploads that can be resumed, downloads that are verified.
@Sendable
func filesChapter(_ guide: Guide) async throws {
  let app = try VestaApp.configure(
    options: guide.remoteOptions("storage"),
    libraries: [
      StorageLibrary.self, StorageServiceLibrary.self, SQLiteLibrary.self, CryptoLibrary.self,
      StorageRemoteLibrary.self,
      TransportLibrary.self,
    ])
  let photos = Storage.storage().reference().child("photos")
  let name = "tour-\(guide.suffix).raw"
  let picture = Data((0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })

  let upload = photos.child(name).putData(picture)
  var reached: Int64 = 0
  for try await snapshot in upload.progressUpdates {
    reached = snapshot.progress?.completedUnitCount ?? reached
    guide.bar("uploading", done: reached, of: Int64(picture.count))
  }
  let metadata = try await photos.child(name).getMetadata()
  try guide.show("\(metadata.size / 1000) KB went up, with a checksum", metadata.size == Int64(picture.count))

  let copy = FileManager.default.temporaryDirectory.appending(path: "vesta-tour-\(UUID().uuidString).raw")
  defer { try? FileManager.default.removeItem(at: copy) }
  let download = photos.child(name).write(toFile: copy)
  for try await snapshot in download.progressUpdates {
    guide.bar("downloading", done: snapshot.progress?.completedUnitCount ?? 0, of: Int64(picture.count))
  }
  try guide.show("and came back unchanged, into a file", try Data(contentsOf: copy) == picture)

  let names = try await photos.listAll().items.map(\.name)
  try guide.show(
    "the folder lists it: \(names.joined(separator: ", "))",
    names.contains(name) && (guide.emulator != nil || names.count <= guide.run))
  await app.delete()
}
