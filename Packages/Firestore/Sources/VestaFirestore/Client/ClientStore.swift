internal import VestaFiles
internal import VestaStoreInterop

/// The store of the clients of one data directory: pending writes, and the cache of a remote backend.
///
/// It belongs to one process at a time, also where the stores of the provider are shared by all processes, as on a
/// database server. A client that shared it would send the pending writes of another one, and show them as its own.
struct ClientStore: Sendable {
  let store: any OrderedStore
  /// The lock of the data directory; `nil` where opening the store locks it.
  private let claim: OpenFile?

  /// Opens the store.
  ///
  /// - Parameters:
  ///   - stores: The provider.
  ///   - directory: The data directory.
  ///   - installation: The identifier of the data directory, which distinguishes it from one with the same path on
  ///     another machine.
  /// - Throws: `StoreError`: `locked` while another process has the store of the directory.
  init(_ stores: any StoreProvider, in directory: String, installation: () -> String) async throws {
    var name = "firestore-client"
    var claim: OpenFile?
    if stores.sharesStores {
      claim = try Self.claim(directory)
      name += "-" + installation()
    }
    store = try await stores.openStore(named: name, in: directory, options: StoreOptions())
    self.claim = claim
  }

  func close() async throws {
    defer { claim?.close() }
    try await store.close()
  }

  private static func claim(_ directory: String) throws -> OpenFile {
    let path = directory + "/firestore-client.lock"
    do {
      try DurableFile.makeDirectory(directory)
      let file = try OpenFile(writing: path, .ifMissing)
      if try file.lockIfFree() { return file }
    } catch {
      throw StoreError(.inputOutput, operation: "open the cache", path: path, message: "\(error)")
    }
    throw StoreError(
      .locked, operation: "open the cache", path: path,
      message: "Another process has the pending writes of this data directory open.",
      hint: "End the other process, or name another directory for this one, such as by VESTA_DIRECTORY.")
  }
}
