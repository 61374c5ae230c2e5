import Foundation
import Testing

@testable import VestaFirestore

/// The sizes that a cache can have.
@Suite struct CacheSettingsTests {
  @Test func `a cache has at least a mebibyte, or no limit`() {
    #expect(CacheSize.minimum == 1_048_576)
    for size in [FirestoreCacheSizeUnlimited, CacheSize.minimum, Int64.max] {
      #expect(PersistentCacheSettings(sizeBytes: NSNumber(value: size)).sizeBytes == size)
      #expect(MemoryLRUGCSettings(sizeBytes: NSNumber(value: size)).sizeBytes == size)
    }
    #expect(PersistentCacheSettings().sizeBytes == 104_857_600)
  }

  #if os(Linux) || os(macOS) || os(Windows)
    @Test func `a cache of less than a mebibyte stops the program`() async {
      await #expect(processExitsWith: .failure) { _ = PersistentCacheSettings(sizeBytes: 1_048_575) }
      await #expect(processExitsWith: .failure) { _ = MemoryLRUGCSettings(sizeBytes: 0) }
    }
  #endif
}
