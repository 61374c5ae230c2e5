// swift-tools-version: 6.2
import PackageDescription

// The settings every Vesta target is built with; `make check` keeps them alike in all manifests.
let settings: [SwiftSetting] = [
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("MemberImportVisibility"),
]

let package = Package(
  name: "Core",
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
  products: [
    .library(name: "VestaConcurrency", targets: ["VestaConcurrency"]),
    .library(name: "VestaBytes", targets: ["VestaBytes"]),
    .library(name: "VestaPatterns", targets: ["VestaPatterns"]),
    .library(name: "VestaFiles", targets: ["VestaFiles"]),
    .library(name: "VestaTesting", targets: ["VestaTesting"]),
    .library(name: "VestaCore", targets: ["VestaCore"]),
    .library(name: "VestaDataCoding", targets: ["VestaDataCoding"]),
  ],
  targets: [
    .target(name: "VestaConcurrency", swiftSettings: settings),
    .target(name: "CVestaChecksum"),
    .target(name: "VestaBytes", dependencies: ["CVestaChecksum"], swiftSettings: settings),
    .target(name: "VestaPatterns", swiftSettings: settings),
    .target(name: "VestaFiles", dependencies: ["VestaBytes", "VestaConcurrency"], swiftSettings: settings),
    .target(name: "VestaTesting", dependencies: ["VestaConcurrency"], swiftSettings: settings),
    .target(
      name: "VestaCore", dependencies: ["VestaBytes", "VestaConcurrency", "VestaFiles"], swiftSettings: settings),
    .target(name: "VestaDataCoding", swiftSettings: settings),
    .testTarget(
      name: "VestaConcurrencyTests", dependencies: ["VestaConcurrency", "VestaTesting"], swiftSettings: settings),
    .testTarget(
      name: "VestaBytesTests", dependencies: ["VestaBytes", "VestaTesting"], swiftSettings: settings),
    .testTarget(
      name: "VestaPatternsTests", dependencies: ["VestaPatterns", "VestaTesting"], swiftSettings: settings),
    .testTarget(
      name: "VestaFilesTests", dependencies: ["VestaBytes", "VestaFiles", "VestaTesting"], swiftSettings: settings),
    .testTarget(
      name: "VestaTestingTests", dependencies: ["VestaTesting", "VestaConcurrency"], swiftSettings: settings),
    .testTarget(
      name: "VestaDataCodingTests", dependencies: ["VestaDataCoding", "VestaTesting"], swiftSettings: settings),
    .testTarget(
      name: "VestaCoreTests", dependencies: ["VestaCore", "VestaConcurrency", "VestaFiles", "VestaTesting"],
      swiftSettings: settings),
  ],
  swiftLanguageModes: [.v6]
)
