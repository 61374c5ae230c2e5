import VestaStorageBackend

/// A reference to an object, or to what lies below a path.
///
/// Creating one sends no request: the object need not be there.
///
/// ```swift
/// let images = Storage.storage().reference().child("images")
/// let cat = images.child("cat.jpg")
/// try await cat.putDataAsync(data)
/// let url = try await cat.downloadURL()
/// ```
public final class StorageReference: Sendable, Hashable, CustomStringConvertible {
  /// The storage of the reference.
  public let storage: Storage

  let location: StorageLocation

  init(storage: Storage, location: StorageLocation) {
    self.storage = storage
    self.location = location
  }

  var objectName: ObjectName { ObjectName(bucket: location.bucket, name: location.path) }

  /// The bucket.
  public var bucket: String { location.bucket }

  /// The path in the bucket, without slashes at either end; "" at the root.
  public var fullPath: String { location.path }

  /// The last component of the path; "" at the root.
  public var name: String { location.name }

  /// The root of the bucket.
  public func root() -> StorageReference {
    StorageReference(storage: storage, location: StorageLocation(bucket: bucket, path: ""))
  }

  /// The reference one level up; `nil` at the root.
  public func parent() -> StorageReference? {
    location.parent.map { StorageReference(storage: storage, location: $0) }
  }

  /// A reference further down.
  ///
  /// - Parameter path: The path from here; empty components are left out.
  public func child(_ path: String) -> StorageReference {
    StorageReference(storage: storage, location: location.child(path))
  }

  /// The `gs://` URL.
  public var description: String { location.gsURL }

  /// The reference itself: it does not change.
  public func copy() -> Any { self }

  /// Whether both refer to the same object of the same storage.
  public static func == (left: StorageReference, right: StorageReference) -> Bool {
    left.storage == right.storage && left.location == right.location
  }

  /// Feeds storage and location.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(storage)
    hasher.combine(location)
  }
}
