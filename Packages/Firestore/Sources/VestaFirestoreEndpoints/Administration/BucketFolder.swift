import Foundation
import VestaBytes
import VestaFiles
import VestaServiceInterop
import VestaStorageBackend

/// A folder of a bucket, which is copied to files of this machine and from them.
struct BucketFolder: Sendable {
  let storage: any StorageBackend
  let bucket: String
  /// The names of the objects begin with it: empty, or with a slash at the end.
  let prefix: String

  /// How many bytes are copied at once.
  private static let chunk = 1 << 20

  /// Reads a place such as `gs://bucket/folder`.
  static func parts(of place: String) throws(ServiceStatus) -> (bucket: String, path: String) {
    let parts = place.parts(at: "/", maxSplits: 3)
    guard parts.count >= 3, parts[0] == "gs:", parts[1].isEmpty, !parts[2].isEmpty else {
      throw ServiceStatus(.invalidArgument, "\"\(place.prefix(200))\" is no place such as gs://bucket/folder.")
    }
    let path = parts.count > 3 ? parts[3] : ""
    return (String(parts[2]), String(path.hasSuffix("/") ? path.dropLast() : path))
  }

  /// Uploads all files of a folder.
  func upload(_ root: String, context: CallContext) async throws {
    for name in try FileManager.default.subpathsOfDirectory(atPath: root).sorted() {
      var isFolder: ObjCBool = false
      guard FileManager.default.fileExists(atPath: "\(root)/\(name)", isDirectory: &isFolder), !isFolder.boolValue
      else { continue }
      try await upload(file: "\(root)/\(name)", as: name, context)
    }
  }

  private func upload(file path: String, as name: String, _ context: CallContext) async throws {
    let file = try OpenFile(reading: path)
    defer { file.close() }
    let object = ObjectName(bucket: bucket, name: prefix + name)
    let id = try await storage.startUpload(UploadRequest(object: object), context: context)
    var offset: Int64 = 0
    while case let bytes = try file.read(at: offset, length: Self.chunk), !bytes.isEmpty {
      _ = try await storage.appendToUpload(id, offset: offset, bytes: bytes, context: context)
      offset += Int64(bytes.count)
    }
    _ = try await storage.finalizeUpload(id, expected: ContentDigest(size: offset), context: context)
  }

  /// Downloads the objects of an export into a folder, which is made; other objects are left out.
  func download(to root: String, context: CallContext) async throws {
    var request = ListRequest(bucket: bucket, prefix: prefix)
    repeat {
      let page = try await storage.listObjects(request, context: context)
      for object in page.items {
        let name = String(object.name.name.dropFirst(prefix.count))
        guard Self.isExported(name) else { continue }
        try await download(object.name, to: try DatabaseFiles.path(name, in: root), context)
      }
      request.pageToken = page.nextPageToken
    } while request.pageToken != nil
  }

  /// Whether a name is one of the files that exports have.
  private static func isExported(_ name: String) -> Bool {
    let last = name.parts(at: "/").last ?? ""
    return last.hasPrefix("output-") || last.hasSuffix("export_metadata")
  }

  private func download(_ object: ObjectName, to path: String, _ context: CallContext) async throws {
    try FileManager.default.createDirectory(
      atPath: FilePath.parent(of: path), withIntermediateDirectories: true)
    let file = try OpenFile(writing: path, .always, isPrivate: true)
    defer { file.close() }
    let content = try await storage.openObject(ReadRequest(object: object), context: context).content
    defer { content.close() }
    var offset: Int64 = 0
    while case let bytes = try await content.read(maximumLength: Self.chunk), !bytes.isEmpty {
      try file.write(bytes, at: offset)
      offset += Int64(bytes.count)
    }
  }
}
