import Foundation
import VestaBytes
import VestaConcurrency
import VestaCore
import VestaCrypto
import VestaCryptoInterop
import VestaSQLite
import VestaServiceInterop
import VestaStorage
import VestaStorageBackend
import VestaStorageService
import VestaStoreInterop

/// An app with Storage, a file of 1 GiB and two buckets; made when the first line needs it.
final class StorageBench: Sendable {
  static let fileLength = 1 << 30
  /// The largest file of which the service computes the MD5 digest.
  static let digestedLength = Int(StorageServiceOptions().digestLimit)
  static let large = "bench-large"
  static let little = "bench-little"
  static let largeCount = 1_000_000

  let directory: URL
  let source: URL
  let digested: URL
  let target: URL
  let small = [UInt8](repeating: 7, count: 4096)
  let storage: Storage
  let backend: any StorageBackend
  private let crypto: any CryptoProvider
  private let app: VestaApp

  private static let made = Locked<StorageBench?>(nil)
  private static let making = SingleFlight<Bool, StorageBench>()

  static func shared() async throws -> StorageBench {
    if let made = made.withLock({ $0 }) { return made }
    return try await making.value(for: true) {
      let bench = try await StorageBench()
      made.withLock { $0 = bench }
      return bench
    }
  }

  private init() async throws {
    directory = FileManager.default.temporaryDirectory.appending(path: "vesta-bench-\(UUID().uuidString)")
    source = directory.appending(path: "source")
    target = directory.appending(path: "target")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    digested = directory.appending(path: "digested")
    try RawFiles.make(source, length: Self.fileLength)
    try RawFiles.make(digested, length: Self.digestedLength)
    let options = VestaOptions(projectID: "bench", backend: .embedded(directory: directory))
    options.storageBucket = "bench-bucket"
    options.callbackQueue = DispatchQueue(label: "bench.callbacks")
    app = try VestaApp.configure(
      name: "storage-bench", options: options,
      libraries: [StorageLibrary.self, StorageServiceLibrary.self, SeededStores.self, CryptoLibrary.self])
    storage = Storage.storage(app: app)
    backend = try app.container.require((any StorageBackend).self)
    crypto = try app.container.require((any CryptoProvider).self)
    try await fill(Self.little, 1000)
    try await fill(Self.large, Self.largeCount)
    _ = try await upload()
  }

  /// Names that begin with all ten digits; a page of those with one digit lies in the middle of the bucket.
  ///
  /// One object is put by the service. The rows of the others are copies of its row, put into the store in batches: a
  /// listing reads nothing else.
  private func fill(_ bucket: String, _ count: Int) async throws {
    func key(_ name: String) -> [UInt8] { KeyEncoder(.int(1), .string(bucket), .string(name)).bytes }
    // All thousand of the little bucket are on the page, as many as of the large one.
    let names = (0..<count).map { "\(bucket == Self.little ? 5 : $0 % 10)-\($0)" }.sorted()
    let first = ObjectName(bucket: bucket, name: names[0])
    _ = try await backend.putObject(UploadRequest(object: first), content: [1], context: CallContext())
    guard let store = SeededStores.store.withLock({ $0 }), let row = try await store.get(key(names[0])) else {
      preconditionFailure("the rows of objects have other keys now")
    }
    for start in stride(from: 1, to: count, by: 10_000) {
      let batch = names[start..<min(start + 10_000, count)].map(key)
      try await store.write { transaction in for key in batch { try await transaction.put(row, for: key) } }
    }
  }

  func upload() async throws { _ = try await storage.reference(withPath: "file").putFileAsync(from: source) }

  func uploadDigested() async throws { _ = try await storage.reference(withPath: "d").putFileAsync(from: digested) }

  func download() async throws { _ = try await storage.reference(withPath: "file").writeAsync(toFile: target) }

  func putSmall(_ number: Int) async throws {
    _ = try await storage.reference(withPath: "small/\(number)").putDataAsync(Data(small))
  }

  func hash() throws {
    let digest = try crypto.makeDigestStream(.md5)
    var checksum = CRC32C()
    let file = try FileHandle(forReadingFrom: source)
    while let data = try file.read(upToCount: 1 << 20), !data.isEmpty {
      let bytes = [UInt8](data)
      try digest.update(bytes)
      checksum.update(bytes)
    }
    _ = try digest.finish()
  }

  /// Deletes the app and its files.
  static func remove() async throws {
    guard let bench = made.withLock({ $0.take() }) else { return }
    SeededStores.store.withLock { $0 = nil }
    await bench.app.delete()
    try FileManager.default.removeItem(at: bench.directory)
  }
}

/// Stores on SQLite, of which that of the object service can be seeded.
private enum SeededStores: Library {
  static let name = "storage-bench-stores"
  static let version = "1.0.0"
  static let store = Locked<(any OrderedStore)?>(nil)

  static func components() -> [Component] {
    [Component((any StoreProvider).self, caching: .shared) { _ in Provider() }]
  }

  struct Provider: StoreProvider {
    func openStore(
      named name: String, in directory: String, options: StoreOptions
    ) async throws -> any OrderedStore {
      let opened = try await SQLiteStoreProvider().openStore(named: name, in: directory, options: options)
      if name == "storage" { SeededStores.store.withLock { $0 = opened } }
      return opened
    }
  }
}

/// Deletes the files of the benchmarks of Storage.
public func removeStorageBenchmarkFiles() async {
  do {
    try await StorageBench.remove()
  } catch {
    print("the files of the storage benchmarks could not be removed: \(error)")
  }
}
