/// What registrations call this system.
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
