import Foundation
import StorageHarness
import Testing
import VestaConcurrency
import VestaStorageBackend
import VestaStorageBackendFakes
import VestaTesting

@testable import VestaStorage

/// Every async member ends its wait when its task is cancelled, at each call of the service that it makes.
@Suite struct CancellationTests: HookedSuite {
  let directory: TemporaryDirectory
  let harness: StorageHarness

  init() throws {
    directory = try TemporaryDirectory()
    harness = try StorageHarness(directory: directory.path + "/data")
  }

  private typealias Member = @Sendable (StorageReference, URL) async throws -> Void

  private static let members: [(String, Member)] = [
    ("getMetadata", { reference, _ in _ = try await reference.getMetadata() }),
    ("updateMetadata", { reference, _ in _ = try await reference.updateMetadata(StorageMetadata()) }),
    ("downloadURL", { reference, _ in _ = try await reference.downloadURL() }),
    ("delete", { reference, _ in try await reference.delete() }),
    ("list", { reference, _ in _ = try await reference.root().list(maxResults: 2) }),
    ("listAll", { reference, _ in _ = try await reference.root().listAll() }),
    ("data", { reference, _ in _ = try await reference.data(maxSize: 2_000_000) }),
    ("write", { reference, url in _ = try await reference.writeAsync(toFile: url.appendingPathExtension("back")) }),
    ("putData", { reference, _ in _ = try await reference.putDataAsync(Data(count: 700_000)) }),
    ("putFile", { reference, url in _ = try await reference.putFileAsync(from: url) }),
    ("contents", { reference, _ in for try await _ in reference.contents() {} }),
  ]

  @Test func `each async member ends with the code cancelled, wherever it waits`() async throws {
    let url = URL(fileURLWithPath: directory.path(of: "source"))
    try ClientTests.data(700_000).write(to: url)
    let plain = harness.storage.reference(withPath: "a")
    for (name, member) in Self.members {
      // The member waits at its first call, then at its second one, until it has no further one.
      var position = 0
      var isOver = false
      while !isOver {
        _ = try await plain.putDataAsync(ClientTests.data(700_000))
        let (reached, calls, wanted) = (Gate(), Locked(0), position)
        let storage = storage { call, _ in
          let number = calls.withLock { calls in
            defer { calls += 1 }
            return calls
          }
          guard number == wanted, call != .cancel else { return }
          reached.open()
          try await Gate().pass()
        }
        let task = Task {
          defer { reached.open() }
          try await member(storage.reference(withPath: "a"), url)
        }
        await reached.wait()
        task.cancel()
        switch await task.result {
        case .success: isOver = true
        case .failure(let error):
          #expect((error as? StorageError)?.code == .cancelled, "\(name) at call \(position): \(error)")
        }
        await storage.close()
        position += 1
      }
      #expect(position > 1, "\(name) made no call")
    }
  }
}
