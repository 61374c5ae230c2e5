import Foundation
import VestaStorage

// A program as users of the Firebase SDK write it: completion handlers with what is optional left out,
// observers, casts to `NSError`, and the asynchronous forms. Only the imports differ.

@MainActor
final class PhotoModel {
  var progress = 0.0
  var message = ""
  let storage: Storage

  init(storage: Storage) { self.storage = storage }

  func upload(_ data: Data, named name: String, _ done: @escaping @Sendable (String) -> Void) {
    let reference = storage.reference().child("photos").child(name)
    let metadata = StorageMetadata()
    metadata.contentType = "image/jpeg"
    metadata.customMetadata = ["owner": "ada"]
    let task = reference.putData(data, metadata: metadata) { metadata, error in
      guard let metadata = metadata else { return done("failed \(String(describing: error))") }
      let size = metadata.size
      reference.downloadURL { url, error in
        guard let url = url else { return done("no URL") }
        done("\(size) \(url.lastPathComponent)")
      }
    }
    task.observe(.progress) { snapshot in
      guard let progress = snapshot.progress else { return }
      let fraction = Double(progress.completedUnitCount) / Double(progress.totalUnitCount)
      Task { @MainActor in self.progress = fraction }
    }
    task.observe(.failure) { snapshot in
      if let error = snapshot.error as NSError? {
        guard let code = StorageErrorCode(rawValue: error.code) else { return }
        switch code {
        case .objectNotFound: print("no such object")
        case .unauthorized: print("not allowed")
        case .cancelled: print("cancelled")
        case .unknown: print("unknown")
        default: print("another failure")
        }
      }
    }
  }

  func read(_ name: String, _ done: @escaping @Sendable (Data?, NSError?) -> Void) {
    storage.reference(withPath: "photos/\(name)").getData(maxSize: 1 * 1024 * 1024) { data, error in
      done(data, error as NSError?)
    }
  }

  func everything() async -> [String] {
    do {
      let result = try await storage.reference(withPath: "photos").listAll()
      return result.items.map { $0.name }
    } catch {
      message = error.localizedDescription
      return []
    }
  }

  func replace(_ name: String) async throws -> String? {
    let reference = storage.reference(forURL: "gs://test-bucket/photos/\(name)")
    let metadata = try await reference.getMetadata()
    metadata.cacheControl = "public,max-age=300"
    metadata.customMetadata?["owner"] = nil
    return try await reference.updateMetadata(metadata).cacheControl
  }

  func remove(_ name: String) async -> Int {
    do {
      try await storage.reference(withPath: "photos/\(name)").delete()
      return 0
    } catch {
      return (error as NSError).code
    }
  }
}
