// swift-format-ignore-file: NeverForceUnwrap

// (The Firebase SDK's documentation is written so.)
import FirebaseCore
import FirebaseStorage
import Foundation

// A program as users of the Firebase SDK write it: references, tasks that are observed, paused and cancelled, results,
// and asynchronous forms with progress.

// Sound as @unchecked Sendable: used by one test at a time.
final class TaskModel: @unchecked Sendable {
  let storage: Storage
  init(storage: Storage) {
    self.storage = storage
    storage.maxUploadRetryTime = 60
    storage.maxDownloadRetryTime = 60
    storage.maxOperationRetryTime = 30
    storage.uploadChunkSizeBytes = 256 * 1024
    storage.callbackQueue = DispatchQueue(label: "storage")
  }

  func walk() throws -> [String] {
    let spaceRef = storage.reference().child("images/space.jpg")
    let earthRef = spaceRef.parent()!.child("earth.jpg")
    let sameRef = storage.reference(forURL: "gs://\(spaceRef.bucket)/images/space.jpg")
    let urlRef = try storage.reference(for: URL(string: "gs://\(spaceRef.bucket)/images/space.jpg")!)
    return [
      earthRef.fullPath, spaceRef.name, "\(sameRef == spaceRef)", "\(urlRef == spaceRef)",
      "\(spaceRef.root().parent() == nil)", "\(spaceRef.description.hasPrefix("gs://"))",
    ]
  }

  func pauseAndResume(_ data: Data, to path: String, _ completion: @escaping @Sendable ([String]) -> Void) {
    let uploadTask = storage.reference(withPath: path).putData(data)
    uploadTask.observe(.pause) { snapshot in
      snapshot.reference.storage.callbackQueue.async { uploadTask.resume() }
    }
    let handle = uploadTask.observe(.progress) { snapshot in }
    uploadTask.removeObserver(withHandle: handle)
    uploadTask.observe(.success) { snapshot in
      let total = snapshot.progress?.totalUnitCount ?? -1
      uploadTask.removeAllObservers()
      completion(["\(snapshot.status == .success)", "\(total)", snapshot.metadata?.name ?? "none"])
    }
    uploadTask.observe(.failure) { snapshot in completion(["\(snapshot.error!)"]) }
    uploadTask.pause()
  }

  func cancel(_ data: Data, to path: String, _ completion: @escaping @Sendable (StorageErrorCode?) -> Void) {
    let uploadTask = storage.reference(withPath: path).putData(data, metadata: nil) { metadata, error in
      guard let error = error as NSError?, error.domain == StorageErrorDomain else { return completion(nil) }
      completion(StorageErrorCode(rawValue: error.code))
    }
    uploadTask.cancel()
  }

  func results(_ path: String, _ completion: @escaping @Sendable (String) -> Void) {
    let reference = storage.reference(withPath: path)
    reference.putData(Data("four".utf8)) { (result: Result<StorageMetadata, Error>) in
      guard case .success(let metadata) = result else { return completion("not stored") }
      let size = metadata.size
      reference.getData(maxSize: 100) { (result: Result<Data, Error>) in
        switch result {
        case .success(let data): completion("\(size) \(data.count)")
        case .failure(let error): completion("\(error)")
        }
      }
    }
  }

  func tooLarge(_ path: String, _ completion: @escaping @Sendable (String) -> Void) {
    storage.reference(withPath: path).getData(maxSize: 1) { data, error in
      guard let error = error as NSError? else { return completion("no error") }
      switch StorageErrorCode(rawValue: error.code) {
      case .downloadSizeExceeded?: completion("too large")
      case .some(let code): completion("\(code)")
      case .none: completion("another error")
      }
    }
  }

  func missing() async -> [String] {
    var outcomes: [String] = []
    do {
      _ = try await storage.reference(withPath: "missing").getMetadata()
    } catch StorageError.objectNotFound(let object, _) {
      outcomes.append(object)
    } catch {
      outcomes.append("\(error)")
    }
    do {
      try await storage.reference(withPath: "missing").delete()
    } catch {
      switch StorageErrorCode(rawValue: (error as NSError).code) {
      case .objectNotFound: outcomes.append("not found")
      case .unauthenticated, .unauthorized: outcomes.append("not allowed")
      default: outcomes.append("\(error)")
      }
    }
    return outcomes
  }

  func modern(_ file: URL, _ copy: URL) async throws -> [String] {
    let reference = storage.reference(withPath: "modern/a.bin")
    let metadata = StorageMetadata()
    metadata.contentType = "application/octet-stream"
    metadata.contentLanguage = "en"
    metadata.customMetadata = ["owner": "ada"]
    let stored = try await reference.putFileAsync(from: file, metadata: metadata) { progress in
      if let progress = progress, progress.fractionCompleted > 1 { print("too much") }
    }
    let url = try await reference.writeAsync(toFile: copy)
    let change = StorageMetadata()
    change.customMetadata = ["owner": "bob"]
    let changed = try await reference.updateMetadata(change)
    for name in ["b", "c"] { _ = try await storage.reference(withPath: "modern/\(name)").putDataAsync(Data([1])) }
    let page = try await storage.reference(withPath: "modern").list(maxResults: 2)
    let rest = try await storage.reference(withPath: "modern").list(maxResults: 2, pageToken: page.pageToken!)
    return [
      stored.contentType ?? "none", "\(stored.size)", "\(url == copy)", changed.customMetadata?["owner"] ?? "none",
      "\(changed.metageneration)", changed.contentLanguage ?? "none",
      (page.items + rest.items).map(\.name).joined(separator: " "), "\(rest.pageToken == nil)",
      "\(stored.md5Hash != nil && stored.timeCreated != nil && stored.isFile)",
    ]
  }
}
