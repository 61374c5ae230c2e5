// The one file of this module that knows the platform.
#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Android)
  import Android
#endif

/// The modes of files, in tests that root may run, whom no mode stops.
public enum FileModes {
  /// Runs a body for which the modes of files hold, also when the test runs as root.
  ///
  /// On Linux the calling thread gives up the capabilities to read and write in spite of the mode until the body has
  /// returned. The body stays the owner of its files, and must do its work on the calling thread.
  ///
  /// ```swift
  /// #expect(throws: FileFailure.self) { try FileModes.enforced { try DurableFile.replace(path, with: [1]) } }
  /// ```
  public static func enforced<Result>(_ body: () throws -> Result) rethrows -> Result {
    #if canImport(Glibc) || canImport(Musl) || canImport(Android)
      guard let capget = capabilityCall("capget"), let capset = capabilityCall("capset") else { return try body() }
      // Version 3 of the call; the calling thread.
      var header: [UInt32] = [0x2008_0522, 0]
      // Effective, permitted and inheritable capabilities, in two halves.
      var capabilities = [UInt32](repeating: 0, count: 6)
      guard capget(&header, &capabilities) == 0 else { return try body() }
      let before = capabilities[0]
      let overrides: UInt32 = 1 << 1 | 1 << 2  // CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH
      capabilities[0] &= ~overrides
      _ = capset(&header, &capabilities)
      defer {
        capabilities[0] = before
        _ = capset(&header, &capabilities)
      }
    #endif
    return try body()
  }

  #if canImport(Glibc) || canImport(Musl) || canImport(Android)
    private typealias CapabilityCall =
      @convention(c) (_ header: UnsafeMutableRawPointer, _ data: UnsafeMutableRawPointer) -> Int32

    /// A call of the C library that its headers do not declare.
    private static func capabilityCall(_ name: String) -> CapabilityCall? {
      // Sound: both calls take two pointers and return an int, on all of these platforms.
      dlsym(nil, name).map { unsafeBitCast($0, to: CapabilityCall.self) }
    }
  #endif
}
