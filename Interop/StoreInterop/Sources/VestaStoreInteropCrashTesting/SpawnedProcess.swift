import Foundation

/// A program that was started with pipes as its standard input and output.
///
/// Foundation's `Process` reads the list of open descriptors past the end of its memory where this process has more
/// than about 1,350 of them (Swift 6.3 on Linux), and ends the test with SIGSEGV.
struct SpawnedProcess {
  let identifier: pid_t
  let input: FileHandle
  let output: FileHandle

  /// Starts a program.
  ///
  /// - Parameter words: Its path and its arguments.
  /// - Throws: The system's reason for not starting it.
  init(_ words: [String]) throws {
    let (childInput, input) = try Self.pipe()
    let (output, childOutput) = try Self.pipe()
    var (actions, attributes) = (Platform.noFileActions, Platform.noSpawnAttributes)
    posix_spawn_file_actions_init(&actions)
    posix_spawnattr_init(&attributes)
    defer {
      posix_spawn_file_actions_destroy(&actions)
      posix_spawnattr_destroy(&attributes)
    }
    posix_spawn_file_actions_adddup2(&actions, childInput.fileDescriptor, 0)
    posix_spawn_file_actions_adddup2(&actions, childOutput.fileDescriptor, 1)
    // The other open descriptors of this process are not the program's: locks of files, and pipes that would never end.
    for descriptor in 3..<min(Int32(clamping: sysconf(Int32(_SC_OPEN_MAX))), 8192) {
      posix_spawn_file_actions_addclose(&actions, descriptor)
    }
    // Threads of the pool block signals, and the program would inherit that.
    var blocked = sigset_t()
    sigemptyset(&blocked)
    posix_spawnattr_setsigmask(&attributes, &blocked)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
    // Unsafe pointers: C strings that are freed when the program has been started.
    var arguments = words.map { strdup($0) } + [nil]
    var environment = ProcessInfo.processInfo.environment.map { strdup("\($0.key)=\($0.value)") } + [nil]
    defer { for text in arguments + environment { free(text) } }
    var child: pid_t = 0
    let failure = posix_spawn(&child, words.first ?? "", &actions, &attributes, &arguments, &environment)
    guard failure == 0 else { throw POSIXError(POSIXErrorCode(rawValue: failure) ?? .EIO) }
    (identifier, self.input, self.output) = (child, input, output)
  }

  private static func pipe() throws -> (reading: FileHandle, writing: FileHandle) {
    var ends: [Int32] = [0, 0]
    guard Foundation.pipe(&ends) == 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
    return (
      FileHandle(fileDescriptor: ends[0], closeOnDealloc: true),
      FileHandle(fileDescriptor: ends[1], closeOnDealloc: true)
    )
  }
}
