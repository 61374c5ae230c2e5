// swift-format-ignore-file: NeverForceUnwrap

// (The Firebase SDK's documentation is written so.)
import FirebaseCore
import FirebaseStorage
import Foundation

// A program as users of the Firebase SDK write it, with Storage.

// Sound as @unchecked Sendable: used by one test at a time.
final class AlbumModel: @unchecked Sendable {
  let storage: Storage
  init(storage: Storage) { self.storage = storage }

  func upload(_ data: Data, to path: String, _ completion: @escaping @Sendable (Int64?, URL?) -> Void) {
    let storageRef = storage.reference()
    let riversRef = storageRef.child(path)
    _ = riversRef.putData(data, metadata: nil) { (metadata, error) in
      guard let metadata = metadata else {
        return completion(nil, nil)
      }
      let size = metadata.size
      riversRef.downloadURL { (url, error) in
        guard let downloadURL = url else {
          return completion(size, nil)
        }
        completion(size, downloadURL)
      }
    }
  }

  func uploadFile(_ localFile: URL, to path: String, _ completion: @escaping @Sendable (String) -> Void) {
    let metadata = StorageMetadata()
    metadata.contentType = "image/jpeg"
    metadata.customMetadata = ["place": "Rhine"]
    let uploadTask = storage.reference(withPath: path).putFile(from: localFile, metadata: metadata)
    uploadTask.observe(.resume) { snapshot in }
    uploadTask.observe(.pause) { snapshot in }
    uploadTask.observe(.progress) { snapshot in
      let percentComplete =
        100.0 * Double(snapshot.progress!.completedUnitCount)
        / Double(snapshot.progress!.totalUnitCount)
      if percentComplete > 100 { completion("too much") }
    }
    uploadTask.observe(.success) { snapshot in
      completion(snapshot.metadata?.contentType ?? "no type")
    }
    uploadTask.observe(.failure) { snapshot in
      if let error = snapshot.error as NSError? {
        switch StorageErrorCode(rawValue: error.code)! {
        case .objectNotFound: completion("no such object")
        case .unauthorized: completion("not allowed")
        case .cancelled: completion("cancelled")
        case .unknown: completion("unknown")
        default: completion("another error")
        }
      }
    }
  }

  func download(_ path: String, _ completion: @escaping @Sendable (Data?, StorageErrorCode?) -> Void) {
    storage.reference().child(path).getData(maxSize: 1 * 1024 * 1024) { data, error in
      if let error = error as NSError? {
        completion(nil, StorageErrorCode(rawValue: error.code))
      } else {
        completion(data, nil)
      }
    }
  }

  func downloadToFile(_ path: String, _ localURL: URL, _ completion: @escaping @Sendable (URL?) -> Void) {
    let downloadTask = storage.reference(withPath: path).write(toFile: localURL) { url, error in
      completion(error == nil ? url : nil)
    }
    downloadTask.pause()
    downloadTask.resume()
  }

  func list(_ path: String, _ completion: @escaping @Sendable ([String]) -> Void) {
    let storageReference = storage.reference().child(path)
    storageReference.listAll { (result, error) in
      if let error = error { return print(error) }
      var names: [String] = []
      for prefix in result!.prefixes { names.append(prefix.name + "/") }
      for item in result!.items { names.append(item.name) }
      completion(names)
    }
  }

  func page(_ path: String, _ completion: @escaping @Sendable (Int, Bool) -> Void) {
    storage.reference(withPath: path).list(maxResults: 1) { (result, error) in
      guard let result = result else { return completion(-1, false) }
      completion(result.items.count, result.pageToken != nil)
    }
  }

  func describe(_ path: String, _ completion: @escaping @Sendable (String?) -> Void) {
    let newMetadata = StorageMetadata()
    newMetadata.cacheControl = "public,max-age=300"
    storage.reference(withPath: path).updateMetadata(newMetadata) { metadata, error in
      if let error = error {
        print(error)
      } else {
        completion(metadata?.cacheControl)
      }
    }
  }

  func modern(_ path: String) async throws -> [String] {
    let reference = storage.reference(withPath: path)
    let metadata = try await reference.putDataAsync(Data("hello".utf8))
    let data = try await reference.data(maxSize: 10)
    let described = try await reference.getMetadata()
    try await reference.delete()
    do {
      _ = try await reference.downloadURL()
    } catch let error as StorageError {
      if case .objectNotFound(let object, _) = error { return [metadata.name ?? "", described.path ?? "", object] }
      throw error
    }
    return ["\(data.count)"]
  }
}
