import Foundation

/// The values that `posix_spawn` begins with: pointers on Darwin, structs on Linux.
enum Platform {
  #if canImport(Darwin)
    static var noFileActions: posix_spawn_file_actions_t? { nil }
    static var noSpawnAttributes: posix_spawnattr_t? { nil }
  #else
    static var noFileActions: posix_spawn_file_actions_t { posix_spawn_file_actions_t() }
    static var noSpawnAttributes: posix_spawnattr_t { posix_spawnattr_t() }
  #endif
}
