import Foundation
import VestaCore
import VestaCrypto
import VestaSQLite
import VestaStorage
import VestaStorageService

// Files: uploads that can be resumed, downloads that are verified.
@Sendable
func filesChapter(_ guide: Guide) async throws {
  try await withTemporaryDirectory { directory in
    let app = try VestaApp.configure(
      options: VestaOptions(projectID: "tour", backend: .embedded(directory: directory)),
      libraries: [StorageLibrary.self, StorageServiceLibrary.self, SQLiteLibrary.self, CryptoLibrary.self])
    let photos = Storage.storage().reference().child("photos")
    let picture = Data((0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })

    let upload = photos.child("tour.raw").putData(picture)
    var reached: Int64 = 0
    for try await snapshot in upload.progressUpdates {
      reached = snapshot.progress?.completedUnitCount ?? reached
      guide.bar("uploading", done: reached, of: Int64(picture.count))
    }
    let metadata = try await photos.child("tour.raw").getMetadata()
    try guide.show("\(metadata.size / 1000) KB went up, with a checksum", metadata.size == Int64(picture.count))

    let back = try await photos.child("tour.raw").data(maxSize: 4_000_000)
    try guide.show("and came back unchanged", back == picture)

    let names = try await photos.listAll().items.map(\.name)
    try guide.show("the folder lists it: \(names)", names == ["tour.raw"])
    await app.delete()
  }
}
