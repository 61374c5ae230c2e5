/// The options of the embedded object service.
///
/// An app may bring its own by registering a component that provides them.
public struct StorageServiceOptions: Sendable, Hashable {
  /// Objects up to this many bytes that are uploaded in one call are kept in the store instead of a separate file.
  ///
  /// At most 256 KiB.
  public var inlineLimit = 64 * 1024

  /// After how many bytes an upload is made durable, so that it continues from there after a crash.
  public var checkpointInterval: Int64 = 64 * 1024 * 1024

  /// Up to which size an object has an MD5 digest; every object has a CRC-32C checksum, which verifies transfers.
  ///
  /// MD5 takes longer than reading and writing a file together. Larger objects have no `md5Hash`, as the composite
  /// objects of Google's storage have none. `Int64.max` gives every object one, 0 none but those in the store.
  public var digestLimit: Int64 = 256 * 1024 * 1024

  /// The size of the largest object, uploaded or made of others: 5 TiB, as in Google's storage, or less.
  public var objectSizeLimit: Int64 = 5 << 40

  /// The time for which an upload session can be continued.
  public var sessionLifetime: Duration = .seconds(7 * 24 * 3600)

  /// The largest number of uploads with open files; others are opened again when they continue.
  public var maximumOpenUploads = 64

  /// The folder of the content of objects, where several processes use one store: a folder that all of them share.
  ///
  /// Without it, and without a `BlobStore` of the app, a store that several processes may use, such as PostgreSQL, has
  /// the content itself, in pieces. The processes need not call the folder by the same path; a process with another
  /// folder is refused. `nil` for a folder of the app's own data directory, or the store.
  public var sharedContentFolder: String?

  var tuning = StorageServiceTuning()

  /// The options with their defaults.
  public init() {}
}
