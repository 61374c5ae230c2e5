// The one file of this module that knows the platform.
#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Makes the system refuse files above a size, as a full disk does, for the rest of the process.
///
/// - Returns: Whether the system agreed.
func limitFiles(toBytes size: Int) -> Bool {
  // The signal of a refused write would end the process.
  signal(SIGXFSZ, SIG_IGN)
  #if canImport(Glibc)
    var limit = rlimit(rlim_cur: rlim_t(size), rlim_max: rlim_t(size))
    return setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0
  #else
    var limit = rlimit(rlim_cur: rlim_t(size), rlim_max: rlim_t(size))
    return setrlimit(RLIMIT_FSIZE, &limit) == 0
  #endif
}

/// Bounds the number of files that the process may have open.
///
/// - Returns: Whether the system agreed.
func limitDescriptors(to count: Int) -> Bool {
  var limit = rlimit(rlim_cur: rlim_t(count), rlim_max: rlim_t(count))
  #if canImport(Glibc)
    return setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0
  #else
    return setrlimit(RLIMIT_NOFILE, &limit) == 0
  #endif
}
