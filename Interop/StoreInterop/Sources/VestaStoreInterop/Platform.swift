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

/// The clocks of the system.
enum PlatformClock {
  #if canImport(WinSDK)
    static var now: StoreTime {
      var time = FILETIME()
      GetSystemTimePreciseAsFileTime(&time)
      let ticks = Int64(time.dwHighDateTime) << 32 | Int64(time.dwLowDateTime)
      // Ticks of 100 ns since 1601; the tick count in milliseconds includes sleep.
      return StoreTime(wall: ticks / 10 - 11_644_473_600_000_000, steady: Int64(GetTickCount64()) * 1_000)
    }
  #else
    static var now: StoreTime { StoreTime(wall: microseconds(of: CLOCK_REALTIME), steady: microseconds(of: steady)) }

    #if canImport(Darwin)
      // Runs on during sleep on these systems.
      private static var steady: clockid_t { CLOCK_MONOTONIC }
    #else
      private static var steady: clockid_t { CLOCK_BOOTTIME }
    #endif

    private static func microseconds(of clock: clockid_t) -> Int64 {
      var time = timespec()
      clock_gettime(clock, &time)
      return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1_000
    }
  #endif
}
