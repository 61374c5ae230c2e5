import Testing
import VestaConcurrency
import VestaServiceInterop
import VestaServiceInteropFakes
import VestaStorageBackend
import VestaStorageBackendContracts
import VestaTesting
import VestaTransportInterop
import VestaTransportInteropFakes

@testable import VestaStorageRemote
@testable import VestaStorageService

/// The remote backend, its endpoints and an engine as one service.
@Suite(.timeLimit(.minutes(10))) struct RemoteTests {
  private typealias Script = ScriptedNetwork.Script

  static let sayable = StorageContracts.overFirebase

  /// The contracts that hold where the last part of an append waits in memory: the service cannot refuse it yet.
  static let sayableInMultiples = sayable.filter {
    ![
      "the status has the number of bytes that have arrived, and their checksum",
      "a cancelled upload takes nothing more", "a credential that cannot be verified is refused in every call",
      "calls on one upload at the same time take turns",
    ].contains($0.name)
  }

  @Test func `all contracts but the named ones are checked`() {
    #expect(Self.sayable.count == StorageContracts.all.count - 5)
    #expect(Self.sayableInMultiples.count == StorageContracts.all.count - 9)
  }

  @Test(arguments: sayable)
  func `an engine behind its endpoints keeps the contract`(contract: Contract<any StorageBackend>) async throws {
    let served = try await Served.onFakeNetwork()
    try await contract.verify(served.remote)
    try await served.engine.close()
  }

  @Test(arguments: sayableInMultiples)
  func `the contract is kept where parts are multiples of a length`(
    contract: Contract<any StorageBackend>
  ) async throws {
    let served = try await Served.onFakeNetwork(options: StorageRemoteOptions(granularity: 1 << 16))
    try await contract.verify(served.remote)
    #expect(served.remote.rests.count <= 1)
    try await served.engine.close()
  }

  @Test(arguments: sayable)
  func `the contract is kept over small pieces and delays`(contract: Contract<any StorageBackend>) async throws {
    let seed = UInt64.random(in: 0...UInt64(UInt32.max))
    let served = try await Served { handler in
      ScriptedNetwork(to: handler, seed: seed) { number in
        var random = SplitMix(seed: seed &+ UInt64(number))
        let conditions = { (random: inout SplitMix) in
          ScriptedPipe.Conditions(
            latency: .milliseconds(random.below(500)), largestPiece: random.oneIn(2) ? 500 + random.below(9_000) : nil)
        }
        return Script(fromClient: conditions(&random), fromServer: conditions(&random))
      }
    }
    do {
      try await contract.verify(served.remote)
    } catch {
      Issue.record("seed \(seed): \(error)")
    }
    try await served.engine.close()
  }

  @Test func `an upload without a token is refused, and tokens of the sender are kept`() async throws {
    let served = try await Served.onFakeNetwork()
    let without = UploadRequest(object: Served.name, downloadTokens: .none)
    let error = await #expect(throws: StorageServiceError.self) {
      try await served.remote.putObject(without, content: [1], context: Served.context)
    }
    #expect(error?.code == .unimplemented)
    let request = UploadRequest(object: Served.name, downloadTokens: .these(["one", "two"]))
    let object = try await served.remote.putObject(request, content: [1], context: Served.context)
    #expect(object.downloadTokens == ["one", "two"])
    let id = try await served.remote.startUpload(request, context: Served.context)
    let again = try await served.remote.finalizeUpload(id, expected: ContentDigest(), context: Served.context)
    #expect(again.downloadTokens == ["one", "two"])
  }

  @Test func `an upload that is cut anywhere continues, and has its content once`() async throws {
    let bytes = Served.content(200_000)
    var continued = 0
    for cut in stride(from: 0, through: 62_000, by: 3_100) {
      for isOfServer in [false, true] {
        let served = try await Served { handler in
          ScriptedNetwork(to: handler) { number in
            guard number % 3 == 1 || (number == 0 && cut < 600) else { return Script() }
            // A later attempt of the same step gets further.
            let lossy = ScriptedPipe.Conditions(largestPiece: 9_000, cutAfter: cut + number * 700)
            return isOfServer ? Script(fromServer: lossy) : Script(fromClient: lossy)
          }
        }
        let (object, losses) = try await Served.upload(bytes, to: served.remote)
        continued += losses
        let read = try await Served.drain(
          served.engine.openObject(ReadRequest(object: Served.name), context: Served.context))
        #expect(read == bytes && object.size == 200_000, "cut after \(cut)")
        let list = try await served.engine.listObjects(ListRequest(bucket: "bucket"), context: Served.context)
        #expect(list.items.map(\.generation) == [object.generation] && object.metageneration == 1)
        try await served.engine.close()
      }
    }
    #expect(continued > 20, "\(continued) cuts took effect")
  }

  @Test func `a download that is cut anywhere continues where it stopped`() async throws {
    let bytes = Served.content(120_000)
    for cut in stride(from: 0, through: 90_000, by: 4_999) {
      let served = try await Served { handler in
        ScriptedNetwork(to: handler) { number in
          number == 0 ? Script(fromServer: .init(largestPiece: 5_000, cutAfter: cut)) : Script()
        }
      }
      let request = UploadRequest(object: Served.name)
      let id = try await served.engine.startUpload(request, context: Served.context)
      _ = try await served.engine.appendToUpload(id, offset: 0, bytes: bytes, context: Served.context)
      let made = try await served.engine.finalizeUpload(id, expected: ContentDigest(), context: Served.context)
      var read: [UInt8] = []
      var losses = 0
      while read.count < bytes.count {
        do {
          let condition = Preconditions(ifGenerationMatch: made.generation)
          let part = ReadRequest(object: Served.name, offset: Int64(read.count), preconditions: condition)
          let download = try await served.remote.openObject(part, context: Served.context)
          #expect(download.object.size == 120_000 && download.object.crc32c == made.crc32c)
          while case let next = try await download.content.read(maximumLength: 3_000), !next.isEmpty { read += next }
        } catch let error as StorageServiceError where error.code == .unavailable {
          losses += 1
        }
      }
      #expect(read == bytes && losses == 1, "cut after \(cut)")
      try await served.engine.close()
    }
  }
}
