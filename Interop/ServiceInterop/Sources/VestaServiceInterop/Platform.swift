// The one file of this module that knows the platform.
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
#endif

/// The time of the machine in microseconds since 1970.
@Sendable func systemMicroseconds() -> Int64 {
  #if canImport(WinSDK)
    var time = FILETIME()
    GetSystemTimePreciseAsFileTime(&time)
    // Ticks of 100 ns since 1601.
    let ticks = Int64(time.dwHighDateTime) << 32 | Int64(time.dwLowDateTime)
    return ticks / 10 - 11_644_473_600_000_000
  #else
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1_000
  #endif
}
