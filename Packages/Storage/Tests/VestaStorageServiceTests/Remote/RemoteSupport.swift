import VestaBytes
import VestaCryptoInteropFakes
import VestaServiceInterop
import VestaServiceInteropFakes
import VestaStorageBackend
import VestaStorageEndpoints
import VestaStorageRemote
import VestaStoreInteropFakes
import VestaTesting
import VestaTransportInterop
import VestaTransportInteropFakes

@testable import VestaStorageService

/// An engine behind its endpoints, and a remote backend in front of them.
struct Served {
  let engine: StorageEngine
  let remote: StorageRemote
  private let directory: TemporaryDirectory

  /// Serves an engine with an empty store.
  ///
  /// - Parameter client: The way from the remote backend to a handler.
  init(
    options: StorageRemoteOptions = StorageRemoteOptions(),
    over client: (any HTTPHandler) async throws -> any HTTPClient
  ) async throws {
    directory = try TemporaryDirectory()
    var service = StorageServiceOptions()
    (service.inlineLimit, service.checkpointInterval) = (16, 100)
    engine = StorageEngine(
      options: service, crypto: BarredCrypto(),
      content: .provided(FileBlobStore(directory: directory.path(of: "blobs"))),
      clock: ManualClock().service, openStore: { ModelStore() })
    let host = FakeEndpointHost(project: "demo")
    host.add((any StorageBackend).self, engine)
    var tuning = StorageEndpointsTuning()
    (tuning.chunkLength, tuning.readLength) = (10_000, 7_000)
    let handler = StorageEndpoints(tuning: tuning).handler(in: host)
    remote = StorageRemote(on: try RESTService(try await client(handler), at: "http://localhost:80"), options: options)
  }

  /// Serves an engine on a network in memory.
  static func onFakeNetwork(options: StorageRemoteOptions = StorageRemoteOptions()) async throws -> Served {
    let network = FakeNetwork()
    return try await Served(options: options) { handler in
      _ = try await network.listen(at: .internet(host: "localhost", port: 80), handler: handler)
      return network
    }
  }

  static let context = CallContext()
  static let name = ObjectName(bucket: "bucket", name: "a/b")

  static func content(_ length: Int) -> [UInt8] {
    (0..<length).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ $0 / 251) }
  }

  /// Everything that a download has.
  static func drain(_ download: ObjectDownload, _ piece: Int = 4_096) async throws -> [UInt8] {
    defer { download.content.close() }
    var bytes: [UInt8] = []
    while case let next = try await download.content.read(maximumLength: piece), !next.isEmpty { bytes += next }
    return bytes
  }

  /// Uploads in parts, as a client does that continues after each loss; returns how often it had to.
  static func upload(
    _ bytes: [UInt8], to remote: StorageRemote, chunk: Int = 60_000
  ) async throws -> (object: StorageObject, losses: Int) {
    var losses = 0
    func again<Value>(_ call: () async throws -> Value) async throws -> Value {
      while true {
        do {
          return try await call()
        } catch let error as StorageServiceError where error.code == .unavailable || error.code == .deadlineExceeded {
          losses += 1
        }
      }
    }
    let request = UploadRequest(object: name, size: Int64(bytes.count))
    let id = try await again { try await remote.startUpload(request, context: context) }
    var checksum = CRC32C()
    checksum.update(bytes)
    let digest = ContentDigest(size: Int64(bytes.count), crc32c: checksum.value)
    while true {
      let status = try await again { try await remote.uploadStatus(id, context: context) }
      do {
        var offset = status.state == .final ? bytes.count : Int(status.received)
        while offset < bytes.count {
          let part = Array(bytes[offset..<min(bytes.count, offset + chunk)])
          offset = Int(
            try await remote.appendToUpload(id, offset: Int64(offset), bytes: part, context: context).received)
        }
        return (try await remote.finalizeUpload(id, expected: digest, context: context), losses)
      } catch let error as StorageServiceError
        where [.unavailable, .deadlineExceeded, .outOfRange].contains(error.code)
      {
        losses += 1
      }
    }
  }
}
