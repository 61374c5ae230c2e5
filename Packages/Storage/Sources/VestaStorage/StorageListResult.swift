/// A page of a listing.
public final class StorageListResult: Sendable {
  /// The references to the "folders" directly below: each has objects or further folders.
  public let prefixes: [StorageReference]

  /// The references to the objects.
  public let items: [StorageReference]

  /// The token of the next page; `nil` on the last page.
  public let pageToken: String?

  init(prefixes: [StorageReference], items: [StorageReference], pageToken: String?) {
    self.prefixes = prefixes
    self.items = items
    self.pageToken = pageToken
  }

  /// The result itself: it does not change.
  public func copy() -> Any { self }
}
