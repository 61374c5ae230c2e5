import Foundation
import StorageHarness
import Testing
import VestaAuthInterop
import VestaAuthInteropFakes
import VestaConcurrency
import VestaServiceInterop
import VestaStorageBackend
import VestaStorageBackendFakes
import VestaTesting

@testable import VestaStorage

/// The ID token of a call, when the service no longer takes the one that the client has.
@Suite struct TokenTests {
  private let directory: TemporaryDirectory
  private let harness: StorageHarness
  private let auth = FakeAuth()
  private let refusals = Log<HookedStorageBackend.Call>()
  private let calls = Log<HookedStorageBackend.Call>()

  init() throws {
    directory = try TemporaryDirectory()
    harness = try StorageHarness(directory: directory.path + "/data")
    auth.signIn("ada")
  }

  /// A storage whose service takes each token for one call.
  ///
  /// - Parameter isNeverTaken: Whether it takes none.
  private func storage(isNeverTaken: Bool = false) -> Storage {
    let used = Locked<Set<String>>(["token-1-of-ada"])
    let backend = HookedStorageBackend(
      harness.backend,
      context: { [refusals, calls] call, context in
        guard case .credential(.idToken(let token)) = context.caller, !isNeverTaken,
          used.withLock({ $0.insert(token).inserted })
        else {
          refusals.add(call)
          throw StorageServiceError(.unauthenticated, "The token has expired.")
        }
        calls.add(call)
        var context = context
        context.caller = .nobody
        return context
      }, hook: { _, _ in })
    let storage = Storage(
      app: harness.app, bucket: "test-bucket", caller: StorageCaller(backend: backend, auth: auth, appCheck: nil))
    storage.uploadChunkSizeBytes = 256 * 1024
    return storage
  }

  @Test func `a token that is refused is refreshed once, in every step`() async throws {
    let storage = storage()
    let reference = storage.reference(withPath: "a")
    let data = ClientTests.data(700_000)
    let file = URL(fileURLWithPath: directory.path(of: "source"))
    try data.write(to: file)
    _ = try await reference.putFileAsync(from: file)
    #expect(try await reference.data(maxSize: 1_000_000) == data)
    _ = try await reference.writeAsync(toFile: URL(fileURLWithPath: directory.path(of: "target")))
    #expect(try await reference.getMetadata().size == 700_000)
    _ = try await storage.reference(withPath: "b").putDataAsync(Data([1]))
    try await reference.delete()
    #expect(Set(calls.entries).isSuperset(of: [.start, .append, .finalize, .open, .get, .put, .delete]))
    #expect(refusals.entries == calls.entries)
  }

  @Test func `a user whose tokens are never taken has that error after one refresh`() async throws {
    let reference = storage(isNeverTaken: true).reference(withPath: "a")
    for transfer in ["upload", "metadata"] {
      let error = await #expect(throws: StorageError.self) {
        if transfer == "upload" {
          _ = try await reference.putDataAsync(ClientTests.data(700_000))
        } else {
          _ = try await reference.getMetadata()
        }
      }
      #expect(error?.code == .unauthenticated)
    }
    #expect(calls.entries.isEmpty)
    // The upload starts its session twice, and then ends; the metadata is asked for twice.
    #expect(refusals.entries == [.start, .start, .get, .get])
  }

  @Test func `a token that cannot be refreshed fails with the cause`() async throws {
    auth.failRefreshes(with: AuthInteropError(.userRejected, "disabled"))
    let error = await #expect(throws: StorageError.self) {
      try await storage().reference(withPath: "a").getMetadata()
    }
    #expect(error?.code == .unauthenticated)
    #expect(refusals.entries == [.get])
  }
}
