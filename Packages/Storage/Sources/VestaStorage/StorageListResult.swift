/// A page of a listing.
public final class StorageListResult: Sendable {
  /// The references to what lies further below: one for each first component.
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
