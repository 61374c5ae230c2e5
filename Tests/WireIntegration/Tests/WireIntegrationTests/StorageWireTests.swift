import Foundation
import Testing
import VestaBytes
import VestaConcurrency
import VestaCore
import VestaCrypto
import VestaServiceInterop
import VestaServiceInteropFakes
import VestaStorage
import VestaStorageBackend
import VestaStorageBackendContracts
import VestaStorageEndpoints
import VestaStorageRemote
import VestaStoreInteropFakes
import VestaTesting
import VestaTransport
import VestaTransportInterop
import VestaTransportInteropFakes

@testable import VestaStorageService

/// Storage over sockets: its contracts, and transfers whose connections are cut all the time.
@Suite(.serialized, .timeLimit(.minutes(10))) struct StorageWireTests {
  private let directory: TemporaryDirectory
  private let engine: StorageEngine
  private let context = CallContext()

  init() throws {
    directory = try TemporaryDirectory("storage-wire")
    engine = Self.engine(in: directory)
  }

  private static func engine(in directory: TemporaryDirectory) -> StorageEngine {
    StorageEngine(
      options: StorageServiceOptions(), crypto: OpenSSLCrypto(),
      content: .provided(FileBlobStore(directory: directory.path(of: "blobs-\(UUID().uuidString)"))), clock: .system,
      openStore: { ModelStore() })
  }

  private func host(_ engine: StorageEngine) -> FakeEndpointHost {
    let host = FakeEndpointHost(project: "demo")
    host.add((any StorageBackend).self, engine)
    return host
  }

  @Test func `the contracts are kept over sockets, as far as the protocol allows`() async throws {
    for contract in StorageContracts.overFirebase {
      let engine = Self.engine(in: directory)
      let server = try await SocketServer(StorageEndpoints(), in: host(engine))
      let client = try VestaTransportClient()
      do {
        try await contract.verify(StorageRemote(on: try server.service(client)))
      } catch {
        Issue.record("\(contract.name): \(error)")
      }
      await client.close()
      await server.stop()
      try await engine.close()
    }
  }

  @Test func `64 MiB arrive once and whole although all connections are cut each 100 ms, both ways`() async throws {
    let server = try await SocketServer(StorageEndpoints(), in: host(engine))
    let options = VestaOptions(
      projectID: "demo-\(UUID().uuidString)", backend: .emulators(["storage": "127.0.0.1:\(server.port)"]))
    options.storageBucket = "test-bucket"
    options.callbackQueue = DispatchQueue(label: "callbacks")
    let app = try VestaApp.configure(
      name: "storage-\(UUID().uuidString)", options: options,
      libraries: [StorageLibrary.self, StorageServiceLibrary.self, StorageRemoteLibrary.self, TransportLibrary.self])
    defer { try? FileManager.default.removeItem(at: app.dataDirectory.deletingLastPathComponent()) }

    var random = SplitMix(seed: 31)
    let file = URL(filePath: directory.path(of: "large"))
    let bytes = random.bytes(64 << 20)
    try Data(bytes).write(to: file)
    var checksum = CRC32C()
    checksum.update(bytes)

    let cuts = Locked(0)
    let cutting = Task {
      while !Task.isCancelled {
        try await ServiceClock.system.sleep(for: .milliseconds(100))
        await server.cut()
        try await server.listen()
        cuts.withLock { $0 += 1 }
      }
    }
    let reference = try Storage.instance(for: app).reference(withPath: "large")
    _ = try await reference.putFileAsync(from: file)
    let copy = URL(filePath: directory.path(of: "copy"))
    _ = try await reference.writeAsync(toFile: copy)
    cutting.cancel()
    _ = await cutting.result

    let list = try await engine.listObjects(ListRequest(bucket: "test-bucket"), context: context)
    #expect(list.items.map(\.size) == [64 << 20] && list.items.map(\.crc32c) == [checksum.value])
    #expect(list.items.map(\.metageneration) == [1])
    #expect(try Data(contentsOf: copy) == Data(bytes))
    print("64 MiB went up and down through \(cuts.withLock { $0 }) cuts")
    await app.delete()
    await server.stop()
    try await engine.close()
  }
}
