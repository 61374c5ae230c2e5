import Foundation
import VestaFiles
import VestaServiceInterop
import VestaStorageBackend

/// A folder of objects in a bucket: `gs://bucket/path`.
struct BucketFolder: Equatable {
  let bucket: String
  /// The names of the objects begin with it and a slash; empty for the whole bucket.
  let path: String

  /// The URI of the folder.
  var uri: String { path.isEmpty ? "gs://\(bucket)" : "gs://\(bucket)/\(path)" }

  /// The last part of the path, after which the first file of an export is named.
  var name: String { path.split(separator: "/").last.map(String.init) ?? "" }

  init(bucket: String, path: String) { (self.bucket, self.path) = (bucket, path) }

  /// Reads a URI.
  ///
  /// - Throws: `INVALID_ARGUMENT` for one that is not of a bucket.
  init(_ uri: String) throws(ServiceStatus) {
    let parts = uri.dropFirst("gs://".count).split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
    guard uri.hasPrefix("gs://"), let bucket = parts.first, !bucket.isEmpty else {
      throw ServiceStatus(.invalidArgument, "\"\(uri.prefix(200))\" is not the URI of a folder: gs://bucket/path.")
    }
    let path = parts.count > 1 ? parts[1].split(separator: "/").joined(separator: "/") : ""
    self.init(bucket: String(bucket), path: path)
  }

  /// Uploads all files of a local folder.
  func upload(_ folder: String, to storage: any StorageBackend, _ context: CallContext) async throws {
    for name in try FileManager.default.subpathsOfDirectory(atPath: folder).sorted() {
      var isDirectory: ObjCBool = false
      guard FileManager.default.fileExists(atPath: "\(folder)/\(name)", isDirectory: &isDirectory),
        !isDirectory.boolValue
      else { continue }
      let object = ObjectName(bucket: bucket, name: "\(path)/\(name)")
      try await upload(file: "\(folder)/\(name)", as: object, storage, context)
    }
  }

  private func upload(
    file path: String, as name: ObjectName, _ storage: any StorageBackend, _ context: CallContext
  ) async throws {
    let file = try OpenFile(reading: path)
    defer { file.close() }
    let id = try await storage.startUpload(UploadRequest(object: name), context: context)
    do {
      var offset: Int64 = 0
      while case let bytes = try file.read(at: offset, length: Self.pieceLength), !bytes.isEmpty {
        _ = try await storage.appendToUpload(id, offset: offset, bytes: bytes, context: context)
        offset += Int64(bytes.count)
      }
      _ = try await storage.finalizeUpload(id, expected: ContentDigest(size: offset), context: context)
    } catch {
      try? await storage.cancelUpload(id, context: context)
      throw error
    }
  }

  /// Downloads all objects of the folder to a local one.
  ///
  /// - Throws: `NOT_FOUND` where there are none, `INVALID_ARGUMENT` for a name that no file can have.
  func download(to folder: String, from storage: any StorageBackend, _ context: CallContext) async throws {
    var request = ListRequest(bucket: bucket, prefix: path.isEmpty ? "" : path + "/")
    var count = 0
    repeat {
      let page = try await storage.listObjects(request, context: context)
      for object in page.items where !object.name.name.hasSuffix("/") {
        let name = object.name.name.dropFirst(request.prefix.count)
        let parts = name.split(separator: "/", omittingEmptySubsequences: false)
        guard !parts.contains(where: { ["", ".", ".."].contains($0) }) else {
          throw ServiceStatus(.invalidArgument, "\(object.name) is no file of an export.")
        }
        try await download(object.name, to: "\(folder)/\(name)", storage, context)
        count += 1
      }
      request.pageToken = page.nextPageToken
    } while request.pageToken != nil
    guard count > 0 else { throw ServiceStatus(.notFound, "There are no objects in \(uri).") }
  }

  private func download(
    _ name: ObjectName, to path: String, _ storage: any StorageBackend, _ context: CallContext
  ) async throws {
    try FileManager.default.createDirectory(atPath: FilePath.parent(of: path), withIntermediateDirectories: true)
    let download = try await storage.openObject(ReadRequest(object: name), context: context)
    defer { download.content.close() }
    let file = try OpenFile(writing: path, .always, isPrivate: true)
    defer { file.close() }
    var offset: Int64 = 0
    while case let bytes = try await download.content.read(maximumLength: Self.pieceLength), !bytes.isEmpty {
      try file.write(bytes, at: offset)
      offset += Int64(bytes.count)
    }
  }

  private static let pieceLength = 1 << 18
}
