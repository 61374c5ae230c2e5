// The one file of this package that knows the platform.
#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Android)
  import Android
#elseif canImport(WinSDK)
  import WinSDK
  import ucrt
#endif

/// Identifies a thread while it lives.
struct PlatformThreadID: Hashable, Sendable {
  private let value: UInt

  /// The thread that asks.
  static var current: PlatformThreadID {
    #if os(Windows)
      PlatformThreadID(value: UInt(GetCurrentThreadId()))
    #elseif canImport(Darwin)
      PlatformThreadID(value: UInt(bitPattern: pthread_self()))
    #else
      PlatformThreadID(value: UInt(pthread_self()))
    #endif
  }
}

/// The name of this system in user-agent strings.
let platformName: String = {
  #if os(Linux)
    "linux"
  #elseif os(macOS)
    "macos"
  #elseif os(iOS)
    "ios"
  #elseif os(tvOS)
    "tvos"
  #elseif os(watchOS)
    "watchos"
  #elseif os(visionOS)
    "visionos"
  #elseif os(Windows)
    "windows"
  #elseif os(Android)
    "android"
  #else
    "other"
  #endif
}()

/// The name of this processor in user-agent strings.
let architectureName: String = {
  #if arch(x86_64)
    "x86_64"
  #elseif arch(arm64)
    "arm64"
  #else
    "other"
  #endif
}()

/// Writes a line to the standard error output in one call, so that lines of several threads do not mix.
func writeToStandardError(_ line: String) {
  var bytes = Array(line.utf8)
  bytes.append(UInt8(ascii: "\n"))
  bytes.withUnsafeBytes { buffer in  // unsafe pointer: what the system's `write` takes; it does not outlive the call
    #if os(Windows)
      _ = _write(2, buffer.baseAddress, UInt32(buffer.count))
    #else
      _ = write(2, buffer.baseAddress, buffer.count)
    #endif
  }
}
