import Foundation
import StorageHarness
import Testing
import VestaStorage
import VestaTesting

/// The settings of a `Storage`.
@Suite struct SettingsTests {
  private let directory: TemporaryDirectory

  init() throws { directory = try TemporaryDirectory() }

  @Test func `the settings equal upstream's until they are set`() throws {
    let storage = try StorageHarness(directory: directory.path).storage
    #expect(storage.maxUploadRetryTime == 600)
    #expect(storage.maxDownloadRetryTime == 600)
    #expect(storage.maxOperationRetryTime == 120)
    #expect(storage.uploadChunkSizeBytes == .max)
  }

  @Test func `download URLs name the emulator's host`() async throws {
    let storage = try StorageHarness(directory: directory.path).storage
    storage.useEmulator(withHost: "localhost", port: 9199)
    let object = storage.reference(withPath: "a/b")
    _ = try await object.putDataAsync(Data([1]))
    let url = try await object.downloadURL()
    #expect(url.absoluteString.hasPrefix("http://localhost:9199/v0/b/test-bucket/o/a%2Fb?alt=media&token="))
    #expect(try await storage.reference(for: url).data(maxSize: 10) == Data([1]))
  }

  @Test func `the host cannot be set once there are references`() async {
    await #expect(processExitsWith: .failure) {
      let directory = try TemporaryDirectory()
      let storage = try StorageHarness(directory: directory.path).storage
      _ = storage.reference(withPath: "a")
      storage.useEmulator(withHost: "localhost", port: 9199)
    }
  }
}
