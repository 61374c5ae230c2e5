public import Dispatch
public import Foundation
import VestaConcurrency
public import VestaCore
import VestaServiceInterop
import VestaStorageBackend

/// The files of an app: references to objects in a bucket, and the settings of transfers.
///
/// ```swift
/// let storage = Storage.storage()
/// let reference = storage.reference(withPath: "images/cat.jpg")
/// let task = reference.putFile(from: file)
/// for try await snapshot in task.progressUpdates { print(snapshot.progress?.fractionCompleted ?? 0) }
/// ```
///
/// - All members may be called from any thread, in any callback.
/// - Each operation has an `async` form and a completion form; completion handlers and observers are called on
///   ``callbackQueue``.
/// - There is one `Storage` for each app and bucket.
///
/// To read on: `StorageReference.swift`, `Tasks/TransferMachine.swift`, `Upload/UploadMachine.swift`.
public final class Storage: Sendable, Hashable {
  /// The app.
  public let app: VestaApp

  /// The bucket; "" for a `Storage` that accepts references to any bucket.
  let bucket: String

  let transfers = TransferTable()
  let uploads: UploadSessionBook
  let downloads: DownloadBook
  private let settings: Locked<Settings>

  private struct Settings {
    var upload: TimeInterval = 600
    var download: TimeInterval = 600
    var operation: TimeInterval = 120
    var chunkLength: Int64 = .max
    var queue: DispatchQueue
    var address: ServiceAddress
    /// The way to the backend of the app, or to the emulator.
    var caller: StorageCaller
    var isUsed = false
  }

  init(
    app: VestaApp, bucket: String, caller: StorageCaller, uploads: UploadSessionBook? = nil,
    downloads: DownloadBook? = nil
  ) {
    self.app = app
    self.bucket = bucket
    self.uploads = uploads ?? UploadSessionBook(directory: app.dataDirectory.appending(path: "storage-uploads"))
    self.downloads = downloads ?? DownloadBook(directory: app.dataDirectory.appending(path: "storage-downloads"))
    settings = Locked(
      Settings(
        queue: app.options.callbackQueue ?? .main, address: ServiceAddress(of: app.options.backend), caller: caller))
  }

  // MARK: Settings

  /// The seconds for which failures of an upload are retried; 600 unless it was set.
  public var maxUploadRetryTime: TimeInterval {
    get { settings.withLock { $0.upload } }
    set { settings.withLock { $0.upload = newValue } }
  }

  /// The seconds for which failures of a download are retried; 600 unless it was set.
  public var maxDownloadRetryTime: TimeInterval {
    get { settings.withLock { $0.download } }
    set { settings.withLock { $0.download = newValue } }
  }

  /// The seconds for which failures of other operations are retried; 120 unless it was set.
  public var maxOperationRetryTime: TimeInterval {
    get { settings.withLock { $0.operation } }
    set { settings.withLock { $0.operation = newValue } }
  }

  /// The length of the chunks of an upload in bytes.
  ///
  /// Multiples of 256 KiB up to 8 MiB are taken as they are, other values are rounded down to one. Unless it was set
  /// the chunks have 1 MiB.
  public var uploadChunkSizeBytes: Int64 {
    get { settings.withLock { $0.chunkLength } }
    set { settings.withLock { $0.chunkLength = newValue } }
  }

  /// The queue of completion handlers and observers: the callback queue of the app's options, or the main queue.
  ///
  /// Transfers keep the queue with which they were started.
  public var callbackQueue: DispatchQueue {
    get { settings.withLock { $0.queue } }
    set { settings.withLock { $0.queue = newValue } }
  }

  /// Connects to an emulator, which download URLs name from now on.
  ///
  /// Transfers go there where the app's list has a library that reaches emulators, `StorageRemoteLibrary`. An app with
  /// the embedded backend has no such library: its transfers go to the engine all the same, and the log says so.
  ///
  /// - Parameters:
  ///   - host: The host, not empty.
  ///   - port: The port.
  public func useEmulator(withHost host: String, port: Int) {
    guard !host.isEmpty else { VestaApp.stop("Invalid host argument: Cannot connect to empty host.") }
    let isLate = settings.withLock { settings in
      guard !settings.isUsed else { return true }
      settings.address = ServiceAddress(scheme: "http", host: host, port: port)
      return false
    }
    connect(toEmulatorAt: host, port)
    guard !isLate else {
      VestaApp.stop(
        """
        Cannot connect to emulator after Storage SDK initialization. \
        Call useEmulator(host:port:) before creating a Storage reference or trying to load data.
        """
      )
    }
  }

  private func connect(toEmulatorAt host: String, _ port: Int) {
    guard let emulators = caller.emulators else {
      return Logger(service: "VestaStorage").warning(
        "I-STR000011",
        """
        useEmulator names \(host):\(port), but the backend of the app is "\(app.options.backend)", and transfers go \
        there. Configure the app with VestaOptions.backend = .emulator(host:port:) and StorageRemoteLibrary \
        (with FirebaseCompat: link FirebaseRemote and set VESTA_BACKEND=emulator:HOST:PORT), or leave \
        useEmulator out.
        """)
    }
    do {
      let backend = try emulators.backend(at: EmulatorOrigin(host: host, port: port))
      settings.withLock { $0.caller.backend = backend }
    } catch {
      VestaApp.stop("The emulator at \(host):\(port) cannot be used. \(error)")
    }
  }

  var caller: StorageCaller { settings.withLock { $0.caller } }
  var address: ServiceAddress { settings.withLock { $0.address } }
  var chunkLength: Int { ChunkSize.length(for: uploadChunkSizeBytes) }

  // MARK: References

  /// The root of the bucket.
  public func reference() -> StorageReference { reference(to: StorageLocation(bucket: bucket, path: "")) }

  /// A reference to an object.
  ///
  /// - Parameter path: The path in the bucket, such as `images/cat.jpg`.
  public func reference(withPath path: String) -> StorageReference {
    reference(to: StorageLocation(bucket: bucket, path: path))
  }

  /// A reference to the object that a URL names.
  ///
  /// Stops the process for a URL of another form or bucket; use ``reference(for:)`` for untrusted URLs.
  ///
  /// - Parameter url: A `gs://` URL, or an `http(s)://` download URL.
  public func reference(forURL url: String) -> StorageReference {
    do {
      return try reference(toURL: url)
    } catch {
      VestaApp.stop(error.localizedDescription)
    }
  }

  /// A reference to the object that a URL names.
  ///
  /// - Parameter url: A `gs://` URL, or an `http(s)://` download URL.
  /// - Throws: `StorageError.pathError` for a URL of another form, `.bucketMismatch` for one of another bucket.
  public func reference(for url: URL) throws -> StorageReference {
    do {
      return try reference(toURL: url.absoluteString)
    } catch {
      throw error.thrown
    }
  }

  private func reference(toURL url: String) throws(StorageError) -> StorageReference {
    let location = try StorageLocation.parse(url)
    try location.check(bucketOfInstance: bucket)
    return reference(to: location)
  }

  func reference(to location: StorageLocation) -> StorageReference {
    settings.withLock { $0.isUsed = true }
    return StorageReference(storage: self, location: location)
  }

  // MARK: Uploads of before

  /// Continues the file uploads that were interrupted when the process ended.
  ///
  /// Only files that have not changed since are uploaded. Calling `putFile` with the same file, object and metadata
  /// continues an interrupted upload as well.
  ///
  /// - Returns: A running task for each upload.
  @discardableResult
  public func resumeInterruptedUploads() -> [StorageUploadTask] {
    uploads.interrupted().filter { bucket.isEmpty || $0.bucket == bucket }.map { entry in
      let metadata = StorageMetadata(StorageMetadata.Fields(settable: entry.metadata))
      return reference(to: entry.location).upload(fileAt: entry.path, metadata: metadata)
    }
  }

  /// Ends all transfers; the app is being deleted.
  func close() async { await transfers.close() }

  // MARK: Identity

  /// The instance itself.
  public func copy() -> Any { self }

  /// Whether both are the same instance.
  public static func == (left: Storage, right: Storage) -> Bool { left === right }

  /// Feeds the identity.
  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
